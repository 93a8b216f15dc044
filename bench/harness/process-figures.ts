// What the kernel tells of one process: memory, processor time, bytes written (proc_pid_status(5), proc_pid_stat(5),
// proc_pid_io(5)).

import {readFileSync} from 'node:fs';

/** USER_HZ, 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

const statusBytes = (pid: number, field: string): number => {
	const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
	return Number(kibibytes) * 1_024;
};

/** Resident memory now. */
export const rssBytes = (pid: number): number => statusBytes(pid, 'VmRSS');

/** The most resident memory there ever was. */
export const peakRssBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

/** Processor time of all threads, in user and kernel mode. */
export function cpuSeconds(pid: number): number {
	const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // From the third field on.
	return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Bytes that the process caused to be written to disks. */
export const writtenBytes = (pid: number): number => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/** How long its main thread could have run and had no processor, in milliseconds (`/proc/<pid>/schedstat`: sched-stats of the kernel's documentation). */
export const processorWaitMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
