// No file that this process has open ends up in a container. Node opens everything so that it is closed on exec. What is not
// was left open by whoever started this process, or was opened by the store's library: a program could write into the store.

import {closeSync, fstatSync, readFileSync, readdirSync} from 'node:fs';

/** O_CLOEXEC in the octal flags of /proc/<pid>/fdinfo/<n>. Source: proc(5), asm-generic/fcntl.h. */
const closeOnExec = 0o2000000;

/** Closes what this process has inherited besides stdin, stdout and stderr. To be called first of all by a program. */
export function closeInheritedDescriptors(): void {
	for (const descriptor of openDescriptors()) if (descriptor > 2 && isInheritable(descriptor)) closeSync(descriptor);
}

/** The files that a program started now would get, besides what it is given. Their flags are read only of files: it is slow. */
export const inheritableFiles = (): number[] => openDescriptors().filter(descriptor => isFile(descriptor) && isInheritable(descriptor));

const openDescriptors = (): number[] => readdirSync('/proc/self/fd').map(Number);

function isFile(descriptor: number): boolean {
	try {
		return fstatSync(descriptor).isFile();
	} catch {
		return false; // Closed since.
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
