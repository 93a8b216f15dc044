// Many mounts at once, as mount(8) reads them from a file. Source: fstab(5).

import path from 'node:path';

/** Binds each of these names, in the folder that the program stands in, to the same name in `folder`. */
export const mountTable = (names: readonly string[], folder: string): string =>
	names.map(name => `./${escaped(name)} ${escaped(path.join(folder, name))} none rbind 0 0\n`).join('');

const escaped = (name: string): string =>
	name.replace(/[ \t\n\\#]/g, character => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
