// How a program tells the bench that it lives, whoever started it: one line into a FIFO, which costs it no process and the bench
// no polling. The program is the same for all: a shell that writes the line and becomes `sleep`.

import {execFileSync} from 'node:child_process';
import {chmodSync, constants, openSync} from 'node:fs';
import {Socket} from 'node:net';
import path from 'node:path';
import {temporaryFolder} from './cluster.js';
import type {Scope} from './scope.js';

export type Arrival = {readonly pid: number; readonly atMs: number};

export type Beacon = {
	/** The words of a program that announces itself under this name. */
	readonly words: (name: string) => readonly [string, ...string[]];
	/** The next arrival under the name, from now on. */
	readonly next: (name: string) => Promise<Arrival>;
	/** When so many more have arrived, under whatever name. */
	readonly count: (arrivals: number) => Promise<readonly Arrival[]>;
};

type Listener = (name: string, arrival: Arrival) => void;

/** A line is shorter than PIPE_BUF, so lines of several writers never mix (pipe(7)). */
const script = 'echo "$1 $$" >"$2"; exec sleep 2147483';

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
	let rest = '';
	socket.on('data', (chunk: Buffer) => {
		const atMs = performance.now();
		const lines = (rest + chunk.toString()).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			const [name = '', pid] = line.split(' ');
			for (const listener of [...listeners]) listener(name, {pid: Number(pid), atMs});
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
		words: name => ['/bin/sh', '-c', script, 'sh', name, fifo],
		next: wanted => listen((name, arrival, resolve) => (name === wanted ? resolve(arrival) : undefined)),
		count(wanted) {
			const arrivals: Arrival[] = [];
			return listen((_name, arrival, resolve) => {
				if (arrivals.push(arrival) === wanted) resolve(arrivals);
			});
		},
	};
}
