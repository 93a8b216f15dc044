// No file that this process has open ends up in a container. Node opens everything so that it is closed on exec. What is not
// was left open by the parent of this process, or was opened by the store's library: a program could write into the store.

import {closeSync, fstatSync, readFileSync, readdirSync} from 'node:fs';
import {valueOr} from '../../api/value-or.js';

/** O_CLOEXEC in the octal flags of /proc/<pid>/fdinfo/<n>. Source: proc(5), asm-generic/fcntl.h. */
const closeOnExec = 0o2000000;

/** Closes what this process has inherited besides stdin, stdout and stderr. To be called first of all by a program. */
export function closeInheritedDescriptors(): void {
	for (const descriptor of openDescriptors()) if (descriptor > 2 && isInherited(descriptor) === true) closeSync(descriptor);
}

/** How the descriptors of this process are looked at. */
export type Look = {
	/** Which file it is; undefined for sockets, pipes and the like, and for what is closed. */
	readonly fileOf: (descriptor: number) => string | undefined;
	/** Undefined: it could not be found out. */
	readonly isInherited: (descriptor: number) => boolean | undefined;
};

/**
 * Finds the files that a program started now would get. To read the flags is slow, so those that were found to be inherited
 * are remembered; that one is not, never is: another file can have its descriptor and even its inode a moment later. What could
 * not be found out counts as inherited, since to cover a descriptor too many does no harm.
 */
export function createInheritance({fileOf, isInherited}: Look): (descriptors: readonly number[]) => number[] {
	const inherited = new Map<number, string>();
	return descriptors =>
		descriptors.filter(descriptor => {
			const file = fileOf(descriptor);
			if (file === undefined) return false;
			if (inherited.get(descriptor) === file) return true;
			if (isInherited(descriptor) === false) return false;
			inherited.set(descriptor, file);
			return true;
		});
}

const inheritedOf = createInheritance({fileOf, isInherited});

/** The files that a program started now would get, besides what it is given. */
export const inheritableFiles = (): number[] => inheritedOf(openDescriptors());

const openDescriptors = (): number[] => readdirSync('/proc/self/fd').map(Number);

function fileOf(descriptor: number): string | undefined {
	const found = valueOr(undefined, () => fstatSync(descriptor)); // It may be closed since.
	return found?.isFile() === true ? `${found.dev}/${found.ino}` : undefined;
}

function isInherited(descriptor: number): boolean | undefined {
	// It may be closed since, as the one that listed them; or none could be opened to look.
	const text = valueOr('', () => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'));
	const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
	return flags === undefined ? undefined : (Number.parseInt(flags, 8) & closeOnExec) === 0;
}
