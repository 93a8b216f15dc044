// Pods of tests and benchmarks are processes unless one says otherwise, whatever Engine the machine has.

/** The words of a command, with the runtime where one that serves a node does not name it. */
export const asProcesses = (words: readonly string[]): readonly string[] =>
	!['up', 'agent'].includes(words[0] ?? '') || words.some(word => /^--(runtime|docker)\b/.test(word)) ? words : [...words, processFlag];

export const processFlag = '--runtime=process';
