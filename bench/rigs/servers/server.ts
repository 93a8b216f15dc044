// Real servers: started on free ports with a folder of their own, killed, paused, woken and started again.

import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import net from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {eventually, within} from '../cluster/waiting.js';
import type {Owner} from '../owner.js';

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as net.AddressInfo;
	server.close();
	await once(server, 'close');
	return port;
}

/** Waits until the condition holds; an error that names it otherwise. */
export const until = (what: string, holds: () => boolean | Promise<boolean>, deadlineMs?: number): Promise<void> =>
	eventually(what, holds, undefined, deadlineMs);

export function folder(t: Owner, name: string): string {
	const directory = mkdtempSync(path.join(tmpdir(), `troupe-${name}-`));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	return directory;
}

/** One process of a server that can be ended and started again with the same arguments. */
export type Server = {
	readonly start: () => Promise<void>;
	readonly kill: () => Promise<void>;
	/** SIGSTOP; resolves when every thread has stopped. */
	readonly pause: () => Promise<void>;
	readonly wake: () => void;
	readonly pid: () => number | undefined;
};

export function serverOf(t: Owner, command: string, args: readonly string[], isUp: () => Promise<boolean>): Server {
	let child: ChildProcess | undefined;
	const kill = async (): Promise<void> => {
		const running = child;
		child = undefined;
		if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
		const ended = once(running, 'exit');
		running.kill('SIGKILL');
		await within(`the end of ${command}`, ended);
	};
	t.teardown(kill);
	return {
		async start() {
			const started = spawn(command, args, {stdio: 'ignore'});
			child = started;
			let failure: string | undefined;
			started.once('error', error => (failure = error.message));
			started.once('exit', code => (failure ??= `it ended with code ${code}`));
			await until(`${command} answers`, async () => {
				if (failure !== undefined && child === started) throw new Error(`${command} does not run: ${failure}`);
				return isUp();
			});
		},
		kill,
		async pause() {
			const {pid} = child ?? {};
			if (pid === undefined) throw new Error(`${command} does not run`);
			await pauseProcess(pid);
		},
		wake: () => void child?.kill('SIGCONT'),
		pid: () => child?.pid,
	};
}

/** Pauses and wakes whatever has that pid just now. */
export const pausing = (what: string, pid: () => number | undefined): Pick<Server, 'pause' | 'wake'> => ({
	async pause() {
		const running = pid();
		if (running === undefined) throw new Error(`${what} does not run`);
		await pauseProcess(running);
	},
	wake() {
		const running = pid();
		if (running !== undefined) process.kill(running, 'SIGCONT');
	},
});

/** Stops a process with all its threads. */
export async function pauseProcess(pid: number): Promise<void> {
	process.kill(pid, 'SIGSTOP');
	const stateOf = (thread: string): string | undefined => /\) (\w) /.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1'))?.[1];
	await until(`process ${pid} has stopped`, () => readdirSync(`/proc/${pid}/task`).every(thread => stateOf(thread) === 'T'));
}

/** Whether somebody listens. */
export async function isOpen(port: number): Promise<boolean> {
	const socket = net.connect(port, '127.0.0.1');
	try {
		await within(`an answer of port ${port}`, once(socket, 'connect'));
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
}

/** A way to a port that can be cut: nothing passes and nothing is closed, as where a cable was pulled. */
export type Proxy = {readonly port: number; readonly cut: () => void; readonly heal: () => void};

export async function proxyTo(t: Owner, port: number): Promise<Proxy> {
	let isCut = false;
	const sockets = new Set<net.Socket>();
	const server = net.createServer(client => {
		const target = net.connect(port, '127.0.0.1');
		for (const [from, to] of [
			[client, target],
			[target, client],
		] as const) {
			sockets.add(from);
			from.on('data', data => {
				if (!isCut) to.write(data);
			});
			from.on('error', () => undefined);
			from.on('close', () => {
				sockets.delete(from);
				if (!isCut) to.destroy();
			});
		}
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const destroyAll = (): void => {
		for (const socket of sockets) socket.destroy();
	};
	t.teardown(() => {
		server.close();
		destroyAll();
	});
	return {
		port: (server.address() as net.AddressInfo).port,
		cut: () => void (isCut = true),
		heal() {
			isCut = false;
			// What was lost on the way cannot be made up for: the connections are of no use.
			destroyAll();
		},
	};
}
