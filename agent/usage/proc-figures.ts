// What /proc says of the processor, the memory and the disks that processes use, and the whole host. Pure.
//
// Source: proc_pid_stat(5), proc_pid_status(5), proc_pid_io(5), proc_stat(5), proc_meminfo(5), proc_loadavg(5).

import type {Left} from '../../actors/node/runtime/runtime-port.js';
import type {DiskFigures} from './traffic-figures.js';

/** The kernel tells times in these, whatever its own clock is. */
const nanosPerTick = 10_000_000;

/** `/proc/<pid>/stat`: of the process, and of its children that have ended and were waited for. */
export function processNanos(stat: string): number | undefined {
	const nameEnd = stat.lastIndexOf(')');
	// utime, stime, cutime and cstime, fields 14 to 17; what follows the name is field 3.
	return nameEnd < 0
		? undefined
		: nanosOf(
				stat
					.slice(nameEnd + 2)
					.split(' ')
					.slice(11, 15),
				4,
			);
}

/** `/proc/<pid>/status`: what no file holds. */
export const processBytes = (status: string): number | undefined => kibibytesOf(status, 'RssAnon');

/** `/proc/<pid>/io`: what came from disks, and what went to them. */
export function processDisks(io: string): DiskFigures | undefined {
	const [read, written] = ['read_bytes', 'write_bytes'].map(name => new RegExp(`^${name}: (\\d{1,20})$`, 'm').exec(io)?.[1]);
	return read === undefined || written === undefined ? undefined : {readBytes: Number(read), writtenBytes: Number(written)};
}

/** `/proc/stat`: all processors together since the boot, at whatever work. */
export function hostNanos(stat: string): number | undefined {
	const words = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ') ?? [];
	// user nice system (idle iowait) irq softirq steal.
	return nanosOf([...words.slice(0, 3), ...words.slice(5, 8)], 6);
}

/** `/proc/meminfo`: what programs could not have. */
export function hostBytes(meminfo: string): number | undefined {
	const [total, available] = [kibibytesOf(meminfo, 'MemTotal'), kibibytesOf(meminfo, 'MemAvailable')];
	return total === undefined || available === undefined ? undefined : Math.max(0, total - available);
}

/** `/proc/meminfo`: what programs could still have. */
export function memoryLeft(meminfo: string): Left | undefined {
	const [all, free] = [kibibytesOf(meminfo, 'MemTotal'), kibibytesOf(meminfo, 'MemAvailable')];
	return all === undefined || free === undefined ? undefined : {free, all};
}

/** `/proc/loadavg`, whose fourth word has how many threads there are, of as many as the smaller of these bounds allows. */
export function processesLeft(loadavg: string, bounds: readonly number[]): Left | undefined {
	const [, threads] = /^\S+ \S+ \S+ \d{1,10}\/(\d{1,10}) /.exec(loadavg) ?? [];
	const all = Math.min(...bounds);
	return threads === undefined || !(all > 0) ? undefined : {free: Math.max(0, all - Number(threads)), all};
}

function nanosOf(words: readonly string[], count: number): number | undefined {
	if (words.length !== count || !words.every(word => /^\d{1,20}$/.test(word))) return undefined;
	return words.reduce((sum, word) => sum + Number(word), 0) * nanosPerTick;
}

/** A line such as `RssAnon:     1234 kB`, in bytes. */
function kibibytesOf(text: string, name: string): number | undefined {
	const line = text.split('\n').find(each => each.startsWith(`${name}:`)) ?? '';
	const kibibytes = /^\s*(\d{1,15}) kB$/.exec(line.slice(name.length + 1))?.[1];
	return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
}
