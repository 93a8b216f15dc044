// Podman's service with Docker's API (of Debian) in a network namespace of its own, with its own data; and the image `busybox` in it.
//
// It is driven as a dockerd is, also by the `docker` command. Containers are not the service's children: they outlive it however it ends. All of it
// ends with its owner. Only root can do that.

import {execFile, spawn} from 'node:child_process';
import {closeSync, mkdtempSync, openSync, readFileSync, rmSync, rmdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {valueOr} from '../../../api/value-or.js';
import {readMountinfo} from '../../../agent/os/mountinfo.js';
import {groupFolders} from '../../../agent/docker/cgroups/pod-cgroup.js';
import type {Owner} from '../owner.js';
import {importBusybox} from './busybox-image.js';
import type {Dockerd} from './dockerd.js';
import {unmountBelow} from './mounts.js';
import {childrenOf, isThere, programsOf, tryKill} from './programs-of.js';
import {pausing, until} from './server.js';

const run = promisify(execFile);

let count = 0;

export async function startPodman(t: Owner): Promise<Dockerd> {
	const folder = mkdtempSync('/tmp/troupe-p-');
	const namespace = `troupe-p-${process.pid}-${count++}`;
	const socketPath = path.join(folder, 's');
	const url = `unix://${socketPath}`;
	const env = {...process.env, DOCKER_HOST: url, DOCKER_CONFIG: folder, CONTAINERS_CONF: path.join(folder, 'containers.conf')};
	const docker = async (...words: readonly string[]): Promise<string> =>
		(await run('docker', words, {env, maxBuffer: 64 * 1024 * 1024, timeout: 60_000})).stdout;
	const podman = ['podman', ...globalFlags(folder)] as const;
	const nsenter = `--net=/var/run/netns/${namespace}`;
	let service: number | undefined;
	const pid = (): number | undefined => (service !== undefined && isThere(service) ? service : undefined);
	const answers = (): Promise<boolean> =>
		docker('version').then(
			() => true,
			() => false,
		);

	async function start(): Promise<void> {
		if (pid() !== undefined && (await answers())) return;
		rmSync(socketPath, {force: true});
		const log = openSync(path.join(folder, 'log'), 'a');
		const child = spawn('nsenter', [nsenter, ...podman, 'system', 'service', '--time=0', url], {
			stdio: ['ignore', log, log],
			detached: true,
			// Its programs leave files where they are started.
			cwd: folder,
			env,
		});
		closeSync(log);
		child.unref();
		let failure: string | undefined;
		child.once('error', error => (failure = error.message));
		child.once('exit', code => (failure ??= `it ended with code ${code}`));
		// nsenter becomes it.
		service = child.pid;
		await until('podman answers', async () => {
			if (failure !== undefined)
				throw new Error(`podman does not run: ${failure}\n${readFileSync(path.join(folder, 'log'), 'utf8').slice(-2_000)}`);
			return answers();
		});
	}

	async function end(signal: NodeJS.Signals): Promise<void> {
		const running = pid();
		if (running === undefined) return;
		process.kill(running, signal);
		if (signal !== 'SIGCONT') process.kill(running, 'SIGCONT');
		await until('podman has ended', () => !isThere(running), 60_000);
	}

	t.teardown(async () => {
		await end('SIGKILL');
		// What it has beside its folder, such as namespaces of networks, it removes itself.
		await run('nsenter', [nsenter, ...podman, 'rm', '--all', '--force', '--time=0'], {env, timeout: 60_000}).catch(() => undefined);
		await killAll(folder);
		await unmountBelow(folder);
		for (const group of groupFolders('/libpod_parent', readMountinfo())) valueOr(undefined, () => rmdirSync(group));
		await run('ip', ['netns', 'del', namespace]);
		rmSync(folder, {recursive: true, force: true});
	});
	writeFileSync(env.CONTAINERS_CONF, configOf());
	await run('ip', ['netns', 'add', namespace]);
	await run('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
	await start();
	await importBusybox({folder, docker});
	return {
		socketPath,
		url,
		namespace,
		folder,
		pid,
		start,
		stop: () => end('SIGTERM'),
		kill: () => end('SIGKILL'),
		...pausing('podman', pid),
		docker,
		inNamespace: async (...words) => (await run('nsenter', [nsenter, ...words])).stdout,
	};
}

const globalFlags = (folder: string): readonly string[] => [
	...['--root', path.join(folder, 'root'), '--runroot', path.join(folder, 'runroot'), '--tmpdir', path.join(folder, 'tmp')],
	...['--network-config-dir', path.join(folder, 'networks'), '--cgroup-manager', 'cgroupfs'],
];

/**
 * The limits that its containers have else are more than a machine without CAP_SYS_RESOURCE may give; its service has lowered those of its own by
 * then. And crun refuses where control groups of both versions are mounted.
 */
function configOf(): string {
	return `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
lock_type = "file"
[network]
network_backend = "netavark"
`;
}

/** Those that are left, their containers first. */
async function killAll(folder: string): Promise<void> {
	const names = ['conmon', 'podman', 'runc', 'netavark'];
	await until(
		'nothing of podman runs',
		() => {
			const left = programsOf(folder, names);
			for (const each of left) {
				for (const child of childrenOf(each)) tryKill(child);
				tryKill(each);
			}
			return left.length === 0;
		},
		60_000,
	);
}
