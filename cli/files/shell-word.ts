// A word of a command that is shown to be copied: quoted where a POSIX shell would read it otherwise.

export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
