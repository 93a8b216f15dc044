// Which process listens on a port of this machine, or has files of a folder open, as far as the kernel lets this user see (proc_pid_net(5), proc_pid_fd(5)).

import {readFileSync, readdirSync, readlinkSync} from 'node:fs';

export type Holder = {readonly pid: number; readonly name: string};

/** The state of a listening socket in /proc/net/tcp. */
const listening = '0A';

/** The holder of a TCP port, on whatever address; undefined when no process is seen to hold it. */
export function holderOf(port: number): Holder | undefined {
	const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap(table => listenersIn(linesOf(table), port)));
	if (sockets.size === 0) return undefined;
	return processWith(descriptor => sockets.has(descriptor));
}

/** What is not looked for: files below some folders, and processes that are known. */
export type Except = {readonly folders?: readonly string[]; readonly pids?: readonly number[]};

/** A process that has a file below this folder open; undefined when none is seen to have one. */
export const holderOfFolder = (folder: string, {folders = [], pids = []}: Except = {}): Holder | undefined =>
	processWith(descriptor => descriptor.startsWith(`${folder}/`) && !folders.some(each => descriptor.startsWith(`${each}/`)), pids);

/** The first process with a descriptor that links to what is looked for. */
function processWith(isIt: (descriptor: string) => boolean, except: readonly number[] = []): Holder | undefined {
	const isAsked = (entry: string): boolean => /^\d+$/.test(entry) && !except.includes(Number(entry));
	const pid = entriesOf('/proc').find(entry => isAsked(entry) && hasOne(`/proc/${entry}/fd`, isIt));
	return pid === undefined ? undefined : {pid: Number(pid), name: linesOf(`/proc/${pid}/comm`)[0] ?? ''};
}

/** What the descriptors of listening sockets link to. Columns: number, local address, remote address, state, …, inode (the tenth). */
function listenersIn(lines: readonly string[], port: number): string[] {
	const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
	return lines
		.map(line => line.trim().split(/\s+/))
		.filter(columns => columns[3] === listening && columns[1]?.endsWith(suffix) === true)
		.map(columns => `socket:[${columns[9] ?? ''}]`);
}

const hasOne = (folder: string, isIt: (descriptor: string) => boolean): boolean =>
	entriesOf(folder).some(descriptor => isIt(orNothing(() => readlinkSync(`${folder}/${descriptor}`), '')));

const linesOf = (file: string): readonly string[] => orNothing(() => readFileSync(file, 'utf8'), '').split('\n');
const entriesOf = (folder: string): readonly string[] => orNothing<readonly string[]>(() => readdirSync(folder), []);

/** Processes end while we look, and those of others are not ours to see. */
function orNothing<Value>(read: () => Value, nothing: Value): Value {
	try {
		return read();
	} catch {
		return nothing;
	}
}
