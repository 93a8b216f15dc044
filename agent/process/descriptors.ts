// Files that were left open by whoever started this process must not end up in containers. Node opens everything so that it is
// closed on exec; what is not was inherited.

import {closeSync, readFileSync, readdirSync} from 'node:fs';

/** O_CLOEXEC in the octal flags of /proc/<pid>/fdinfo/<n>. Source: proc(5), asm-generic/fcntl.h. */
const closeOnExec = 0o2000000;

/** Closes what this process has inherited besides stdin, stdout and stderr. To be called first of all by a program. */
export function closeInheritedDescriptors(): void {
	for (const name of readdirSync('/proc/self/fd')) {
		const descriptor = Number(name);
		if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
	}
}

function isInherited(descriptor: number): boolean {
	try {
		const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
		return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
	} catch {
		return false; // The one that listed them.
	}
}
