// A real Docker Engine (of Debian) in a network namespace of its own, with its own data; and the image `busybox` in it.
//
// Nothing of it is reached from outside but its socket. All of it ends with its owner: the daemon, its containerd, its containers, their
// mounts, the namespace; also after any of them was killed. Only root can do that.

import {execFile, spawn} from 'node:child_process';
import {closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {importBusybox} from './busybox-image.js';
import {unmountBelow} from './mounts.js';
import {childrenOf, isThere, programsOf, tryKill} from './programs-of.js';
import {pausing, until} from './server.js';
import type {Owner} from '../owner.js';

const run = promisify(execFile);

export type Dockerd = {
	readonly socketPath: string;
	/** What `DOCKER_HOST` and `--docker` take. */
	readonly url: string;
	/** The network namespace in which pods have addresses. */
	readonly namespace: string;
	readonly folder: string;
	readonly pid: () => number | undefined;
	/** Waits until it answers. Fine when it runs. */
	readonly start: () => Promise<void>;
	/** SIGTERM: as a service is stopped. Without live-restore its containers end. */
	readonly stop: () => Promise<void>;
	/** SIGKILL to the daemon; its containerd goes with it, its containers stay. */
	readonly kill: () => Promise<void>;
	/** SIGSTOP; resolves when every thread has stopped. */
	readonly pause: () => Promise<void>;
	readonly wake: () => void;
	/** What the `docker` command prints. Rejects with what it said. */
	readonly docker: (...words: readonly string[]) => Promise<string>;
	/** Runs a program in its network namespace. */
	readonly inNamespace: (...words: readonly string[]) => Promise<string>;
};

export type DockerdOptions = {
	/** Containers outlive the daemon. */
	readonly liveRestore?: boolean;
	/** The address of its bridge. */
	readonly bip?: string;
	/** A network namespace that is there, and stays; it makes one of its own when nobody says. */
	readonly host?: string;
};

let count = 0;

export async function startDockerd(t: Owner, {liveRestore = false, bip = '10.244.1.1/24', host}: DockerdOptions = {}): Promise<Dockerd> {
	// containerd's socket is below it, and paths of sockets are short.
	const folder = mkdtempSync('/tmp/troupe-d-');
	const namespace = host ?? `troupe-d-${process.pid}-${count++}`;
	const socketPath = path.join(folder, 's');
	const url = `unix://${socketPath}`;
	const pidFile = path.join(folder, 'pid');
	const env = {...process.env, DOCKER_HOST: url, DOCKER_CONFIG: folder};
	const docker = async (...words: readonly string[]): Promise<string> =>
		(await run('docker', words, {env, maxBuffer: 64 * 1024 * 1024})).stdout;
	const pid = (): number | undefined => pidIn(pidFile);
	const answers = (): Promise<boolean> =>
		docker('version').then(
			() => true,
			() => false,
		);

	async function start(): Promise<void> {
		if (pid() !== undefined && (await answers())) return;
		rmSync(pidFile, {force: true});
		// Where the first process of the machine waits for no orphans, the number of a containerd that was killed is not free: it would be waited for.
		if (programsOf(folder, ['containerd']).length === 0) rmSync(path.join(folder, 'exec/containerd/containerd.pid'), {force: true});
		const log = openSync(path.join(folder, 'log'), 'a');
		// Not `ip netns exec`: that mounts a /sys without control groups.
		const words = [`--net=/var/run/netns/${namespace}`, 'dockerd', ...argumentsOf(folder, bip, liveRestore)];
		const child = spawn('nsenter', words, {stdio: ['ignore', log, log], detached: true});
		closeSync(log);
		child.unref();
		let failure: string | undefined;
		child.once('error', error => (failure = error.message));
		child.once('exit', code => (failure ??= `it ended with code ${code}`));
		await until(
			'dockerd answers',
			async () => {
				if (failure !== undefined)
					throw new Error(`dockerd does not run: ${failure}\n${readFileSync(path.join(folder, 'log'), 'utf8').slice(-2_000)}`);
				return (await answers()) && pid() !== undefined;
			},
			60_000,
		);
	}

	async function end(signal: NodeJS.Signals): Promise<void> {
		const running = pid();
		if (running === undefined) return;
		process.kill(running, signal);
		if (signal !== 'SIGCONT') process.kill(running, 'SIGCONT');
		await until('dockerd has ended', () => !isThere(running), 60_000);
		// It is no child of dockerd's any more, and would be taken up by the next one.
		if (signal === 'SIGKILL') await until('its containerd has ended', () => programsOf(folder, ['containerd']).length === 0, 60_000);
	}

	const rig: Dockerd = {
		socketPath,
		url,
		namespace,
		folder,
		pid,
		start,
		stop: () => end('SIGTERM'),
		kill: () => end('SIGKILL'),
		...pausing('dockerd', pid),
		docker,
		inNamespace: async (...words) => (await run('nsenter', [`--net=/var/run/netns/${namespace}`, ...words])).stdout,
	};
	if (host === undefined) {
		await run('ip', ['netns', 'add', namespace]);
		t.teardown(async () => void (await run('ip', ['netns', 'del', namespace])));
		await run('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
	}
	t.teardown(() => cleanUp(folder, pid));
	await start();
	await importBusybox(rig);
	return rig;
}

const argumentsOf = (folder: string, bip: string, liveRestore: boolean): readonly string[] => [
	...['--data-root', path.join(folder, 'data'), '--exec-root', path.join(folder, 'exec')],
	...['-H', `unix://${path.join(folder, 's')}`, '--pidfile', path.join(folder, 'pid'), '--bip', bip],
	...(liveRestore ? ['--live-restore'] : []),
];

function pidIn(file: string): number | undefined {
	if (!existsSync(file)) return undefined;
	const pid = Number(readFileSync(file, 'utf8'));
	return Number.isSafeInteger(pid) && pid > 1 && isThere(pid) ? pid : undefined;
}

/** Containers first, while there is somebody who knows them; then whatever is left by those who were killed. */
async function cleanUp(folder: string, pid: () => number | undefined): Promise<void> {
	const running = pid();
	if (running !== undefined) process.kill(running, 'SIGKILL');
	// A shim ends when what it holds does.
	await until(
		'nothing of dockerd runs',
		() => {
			for (const name of ['containerd', 'containerd-shim-runc-v2', 'containerd-shim']) {
				for (const each of programsOf(folder, [name])) {
					for (const child of childrenOf(each)) tryKill(child);
					tryKill(each);
				}
			}
			return (
				pid() === undefined && programsOf(folder, ['containerd', 'containerd-shim-runc-v2', 'containerd-shim', 'dockerd']).length === 0
			);
		},
		60_000,
	);
	await unmountBelow(folder);
	rmSync(folder, {recursive: true, force: true});
}
