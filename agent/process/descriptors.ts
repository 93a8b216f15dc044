// No file that this process has open ends up in a container. Node opens everything so that it is closed on exec. What is not
// was left open by whoever started this process, or was opened by the store's library: a program could write into the store.

import {closeSync, fstatSync, readFileSync, readdirSync} from 'node:fs';

/** O_CLOEXEC in the octal flags of /proc/<pid>/fdinfo/<n>. Source: proc(5), asm-generic/fcntl.h. */
const closeOnExec = 0o2000000;

/** Closes what this process has inherited besides stdin, stdout and stderr. To be called first of all by a program. */
export function closeInheritedDescriptors(): void {
	for (const descriptor of openDescriptors()) if (descriptor > 2 && isInheritable(descriptor)) closeSync(descriptor);
}

/** Of the files found open at an earlier start, by descriptor: which file it was, and whether programs would get it. */
const looked = new Map<number, {readonly file: string; readonly inheritable: boolean}>();

/** The files that a program started now would get, besides what it is given. */
export function inheritableFiles(): number[] {
	return openDescriptors().filter(descriptor => {
		const file = fileOf(descriptor);
		if (file === undefined) return false;
		const known = looked.get(descriptor);
		// To read the flags is slow, and whoever opened a file opens it the same way again.
		if (known?.file === file) return known.inheritable;
		const inheritable = isInheritable(descriptor);
		looked.set(descriptor, {file, inheritable});
		return inheritable;
	});
}

const openDescriptors = (): number[] => readdirSync('/proc/self/fd').map(Number);

/** Which file it is; undefined for sockets, pipes and the like. */
function fileOf(descriptor: number): string | undefined {
	try {
		const found = fstatSync(descriptor);
		return found.isFile() ? `${found.dev}/${found.ino}` : undefined;
	} catch {
		return undefined; // Closed since.
	}
}

function isInheritable(descriptor: number): boolean {
	try {
		const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
		return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
	} catch {
		return false; // The one that listed them.
	}
}
