// Real pipes to a program. What Node itself makes are sockets, which a program cannot open by /dev/stdout and /dev/stderr as scripts do.

import {closeSync, constants, fchownSync, openSync, rmSync} from 'node:fs';
import {Socket} from 'node:net';
import path from 'node:path';
import type {Stock} from '../attempts/stock.js';
import type {User} from '../../os/user.js';

export type Pipes = {
	readonly stdin: Socket | undefined;
	readonly stdout: Socket;
	readonly stderr: Socket;
	readonly destroy: () => void;
};

type Opened = {
	readonly pipes: Pipes;
	readonly forChild: readonly (number | 'ignore')[];
	/** Gives up the child's ends, once it has them. */
	readonly close: () => void;
};

const {O_RDONLY, O_WRONLY, O_NONBLOCK} = constants;

/** They belong to that user, who may open them again by name; undefined: to the agent's own. Throws errno exceptions. */
export function openPipes(stock: Stock, hasStdin: boolean, owner: User | undefined): Opened {
	const folder = stock.take('pipes');
	const open: number[] = [];
	const opened = (name: string, flags: number): number => {
		const descriptor = openSync(path.join(folder, name), flags);
		open.push(descriptor);
		return descriptor;
	};
	/** The reading end is opened first and without waiting: then the writing one need not wait either. */
	const pair = (name: string): {readonly reading: number; readonly writing: number} => {
		const reading = opened(name, O_RDONLY | O_NONBLOCK);
		const writing = opened(name, O_WRONLY);
		if (owner !== undefined) fchownSync(writing, owner.uid, owner.gid);
		return {reading, writing};
	};
	try {
		const stdin = hasStdin ? {...pair('stdin'), blocking: openBlocking(opened, 'stdin')} : undefined;
		const stdout = pair('stdout');
		const stderr = pair('stderr');
		const ours = new Set([stdin?.writing, stdout.reading, stderr.reading]);
		const theirs = open.filter(descriptor => !ours.has(descriptor));
		const reader = (fd: number): Socket => new Socket({fd, readable: true, writable: false}).on('error', () => undefined);
		const streams = {
			// A program need not read what is written to it.
			stdin:
				stdin === undefined ? undefined : new Socket({fd: stdin.writing, readable: false, writable: true}).on('error', () => undefined),
			stdout: reader(stdout.reading),
			stderr: reader(stderr.reading),
		};
		const destroy = (): void => {
			for (const stream of Object.values(streams)) stream?.destroy();
		};
		return {
			pipes: {...streams, destroy},
			forChild: [stdin?.blocking ?? 'ignore', stdout.writing, stderr.writing],
			close() {
				for (const descriptor of theirs) closeSync(descriptor);
			},
		};
	} catch (error) {
		for (const descriptor of open) closeSync(descriptor);
		throw error;
	} finally {
		rmSync(folder, {recursive: true, force: true});
	}
}

/** A program expects to wait for input. There is a writer by now, so this open does not. */
const openBlocking = (opened: (name: string, flags: number) => number, name: string): number => opened(name, O_RDONLY);
