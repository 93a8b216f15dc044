// What the files of a control group say of the processor, the memory and the disks that were used in it. Pure: a text that is none of the kernel's is no figure.
//
// Source: the kernel's admin-guide/cgroup-v1 (cpuacct, memory, blkio-controller) and admin-guide/cgroup-v2.

import type {DiskFigures} from './traffic-figures.js';

/** Version 1: `cpuacct.usage`, in nanoseconds. */
export const cpuNanosInV1 = (usage: string): number | undefined => wholeNumber(usage.trim());

/** Version 2: `cpu.stat`, which has microseconds. */
export function cpuNanosInV2(stat: string): number | undefined {
	const micros = entryOf(stat, 'usage_usec');
	return micros === undefined ? undefined : micros * 1_000;
}

/** What `memory.stat` calls pages of files that were not used lately; of version 1 with those of the groups below. */
const inactiveFile = {1: 'total_inactive_file', 2: 'inactive_file'} as const;

/**
 * The working set, as the kubelet has it: all memory but pages of files that were not used lately, which the kernel drops first. `usage` is
 * `memory.usage_in_bytes` or `memory.current`.
 */
export function workingSetBytes(usage: string, stat: string, version: 1 | 2): number | undefined {
	const all = wholeNumber(usage.trim());
	const inactive = entryOf(stat, inactiveFile[version]);
	return all === undefined || inactive === undefined ? undefined : Math.max(0, all - inactive);
}

/** Version 1: `blkio.throttle.io_service_bytes_recursive`, of all devices; one that has done nothing has no line. */
export const diskBytesInV1 = (bytes: string): DiskFigures => sumOf(bytes, / Read (\d{1,20})$/gm, / Write (\d{1,20})$/gm);

/** Version 2: `io.stat`. */
export const diskBytesInV2 = (stat: string): DiskFigures => sumOf(stat, / rbytes=(\d{1,20})/g, / wbytes=(\d{1,20})/g);

const sumOf = (text: string, read: RegExp, written: RegExp): DiskFigures => ({
	readBytes: sum(text, read),
	writtenBytes: sum(text, written),
});

const sum = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].reduce((all, [, bytes]) => all + Number(bytes), 0);

function entryOf(text: string, name: string): number | undefined {
	const line = text.split('\n').find(each => each.startsWith(`${name} `));
	return line === undefined ? undefined : wholeNumber(line.slice(name.length + 1));
}

/** At most 2^64. */
const wholeNumber = (word: string): number | undefined => (/^\d{1,20}$/.test(word) ? Number(word) : undefined);
