// How a program tells the bench that it lives, whoever started it: one line into a FIFO, which costs it no process and the bench
// no polling. The program is the same for all: a shell that writes the line and becomes `sleep`, for a time that tells its name.

import {execFileSync} from 'node:child_process';
import {chmodSync, constants, openSync, readFileSync, readdirSync} from 'node:fs';
import {Socket} from 'node:net';
import path from 'node:path';
import {temporaryFolder} from '../cluster/cluster.js';
import type {Scope} from '../../harness/scope.js';

export type Arrival = {readonly atMs: number};

export type Beacon = {
	/** The words of a program that announces itself under this name. */
	readonly words: (name: string) => readonly [string, ...string[]];
	/** The next arrival under the name, from now on. */
	readonly next: (name: string) => Promise<Arrival>;
	/** The process of this node that last announced itself under the name and lives; a program knows itself by another number. */
	readonly pidOf: (name: string) => number;
	/** When so many more have arrived, under whatever name. */
	readonly count: (arrivals: number) => Promise<readonly Arrival[]>;
};

type Listener = (name: string, arrival: Arrival) => void;

/** A line is shorter than PIPE_BUF, so lines of several writers never mix (pipe(7)). */
const script = 'echo "$1" >"$2"; exec sleep 2147483 "$3"';

export function openBeacon(scope: Scope): Beacon {
	const folder = temporaryFolder(scope, 'beacon');
	chmodSync(folder, 0o755); // Pods run as another user.
	const fifo = path.join(folder, 'beacon');
	execFileSync('mkfifo', [fifo]);
	chmodSync(fifo, 0o666);
	// Both ends, so that it never comes to its end while nobody writes.
	const descriptor = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
	const socket = new Socket({fd: descriptor, readable: true, writable: false});
	const listeners = new Set<Listener>();
	/** No two benches that run at a time have one. */
	const numbers = new Map<string, string>();
	let rest = '';
	socket.on('data', (chunk: Buffer) => {
		const atMs = performance.now();
		const lines = (rest + chunk.toString()).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			for (const listener of [...listeners]) listener(line, {atMs});
		}
	});
	scope.defer(() => socket.destroy());

	const listen = <Value>(hear: (name: string, arrival: Arrival, resolve: (value: Value) => void) => void): Promise<Value> =>
		new Promise(resolve => {
			const listener: Listener = (name, arrival) =>
				hear(name, arrival, value => {
					listeners.delete(listener);
					resolve(value);
				});
			listeners.add(listener);
		});

	return {
		words(name) {
			if (!numbers.has(name)) numbers.set(name, `${process.pid}.${numbers.size}`);
			return ['/bin/sh', '-c', script, 'sh', name, fifo, String(numbers.get(name))];
		},
		pidOf: name => sleeperOf(['sleep', '2147483', String(numbers.get(name))]),
		next: wanted => listen((name, arrival, resolve) => (name === wanted ? resolve(arrival) : undefined)),
		count(wanted) {
			const arrivals: Arrival[] = [];
			return listen((_name, arrival, resolve) => {
				if (arrivals.push(arrival) === wanted) resolve(arrivals);
			});
		},
	};
}

/** Throws an Error when none has these words. */
function sleeperOf(words: readonly string[]): number {
	const pid = readdirSync('/proc').findLast(each => /^\d+$/.test(each) && wordsOf(each) === `${words.join('\0')}\0`);
	if (pid === undefined) throw new Error(`no process has the words "${words.join(' ')}"`);
	return Number(pid);
}

function wordsOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
	} catch {
		return ''; // It has ended meanwhile.
	}
}
