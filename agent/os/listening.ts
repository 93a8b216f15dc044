// Who listens at a port, as the kernel tells it: the sockets of a network in /proc/<pid>/net, and those that a process holds.
//
// Where pods and the host share a network, a program that listens on all addresses answers at those of all pods. So it is asked, before a connection
// is made for a client of a pod, whose socket that would reach.

import {readFile, readdir, readlink} from 'node:fs/promises';
import net from 'node:net';

type Listener = {readonly address: string; readonly inode: string};

/** The addresses, in this order, at which a process of those listens at the port and no other program would answer. */
export async function listeningAt(pids: readonly number[], addresses: readonly string[], port: number): Promise<readonly string[]> {
	const [pid] = pids;
	if (pid === undefined) return [];
	const [own, tables] = await Promise.all([
		isOurNetwork(pid),
		Promise.all(['tcp', 'tcp6'].map(name => textOf(`/proc/${pid}/net/${name}`))),
	]);
	const listeners = tables.flatMap(table => listenersIn(table, port));
	const there = addresses.map(address => ({address, inodes: answering(listeners, address)})).filter(({inodes}) => inodes.length > 0);
	// In a network of the pod's own nothing else listens, and its loopback is not ours.
	if (!own) return there.map(({address}) => address).filter(address => !isLoopback(address));
	const held = await heldOf(pids, new Set(there.flatMap(({inodes}) => inodes)));
	return there.filter(({inodes}) => inodes.every(inode => held.has(inode))).map(({address}) => address);
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');

async function isOurNetwork(pid: number): Promise<boolean> {
	const [theirs, ours] = await Promise.all([pid, 'self'].map(each => readlink(`/proc/${each}/ns/net`).catch(() => undefined)));
	return theirs === undefined || theirs === ours;
}

const textOf = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => '');

/** TCP_LISTEN. */
const listening = '0A';

/** The lines of a table that are of sockets that listen at the port: `0: 0100007F:1F90 00000000:0000 0A ... uid timeout inode`. */
export function listenersIn(table: string, port: number): readonly Listener[] {
	const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
	return table.split('\n').flatMap(line => {
		if (!line.includes(ending)) return [];
		const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
		return local.endsWith(ending) && state === listening && inode !== undefined ? [{address: local.slice(0, -ending.length), inode}] : [];
	});
}

const anyV4 = '0'.repeat(8);
const anyV6 = '0'.repeat(32);
const loopbackV6 = `${'0'.repeat(24)}01000000`;
const mappedV4 = `${'0'.repeat(16)}FFFF0000`;

/** The sockets that a connection to the address would reach: those of the address itself, or else those of all addresses. */
function answering(listeners: readonly Listener[], address: string): readonly string[] {
	const isV4 = net.isIPv4(address);
	const exact = isV4 ? hexOf(address) : loopbackV6;
	// A socket of all addresses of version 6 takes those of version 4 as well, unless it was told not to.
	for (const forms of isV4 ? [[exact, mappedV4 + exact], [anyV4], [anyV6]] : [[exact], [anyV6]]) {
		const found = listeners.filter(listener => forms.includes(listener.address));
		if (found.length > 0) return found.map(({inode}) => inode);
	}
	return [];
}

/** As the kernel of a little-endian machine writes it. */
const hexOf = (address: string): string => Buffer.from(address.split('.').map(Number)).reverse().toString('hex').toUpperCase();

/** Which of those sockets the processes hold. A program that listens has its socket among its first descriptors. */
async function heldOf(pids: readonly number[], inodes: ReadonlySet<string>): Promise<ReadonlySet<string>> {
	const held = new Set<string>();
	for (const pid of pids) {
		for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
			if (held.size === inodes.size) return held;
			const [, inode] = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')) ?? [];
			if (inode !== undefined && inodes.has(inode)) held.add(inode);
		}
	}
	return held;
}
