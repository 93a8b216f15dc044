// The mounts that this process sees. Source: proc_pid_mountinfo(5).

import {readFileSync} from 'node:fs';

/** Which part (`root`) of which file system is at which place (`point`). */
export type MountEntry = {
	readonly device: string;
	readonly root: string;
	readonly point: string;
	readonly type: string;
	/** Of the file system. */
	readonly options: string;
};

/** Throws errno exceptions where there is no /proc. */
export const readMountinfo = (): string => readFileSync('/proc/self/mountinfo', 'utf8');

export const mountsIn = (text: string): readonly MountEntry[] =>
	text
		.split('\n')
		.filter(line => line !== '')
		.map(line => {
			const [left = '', right = ''] = line.split(' - ');
			const [, , device = '', root = '', point = ''] = left.split(' ');
			const [type = '', , options = ''] = right.split(' ');
			return {device, root: unescaped(root), point: unescaped(point), type, options};
		});

/** Blanks and the like are octal. */
const unescaped = (word: string): string =>
	word.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
