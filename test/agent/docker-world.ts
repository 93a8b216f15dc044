// A node whose containers are a Docker Engine's, in a folder of its own; after the test neither has anything of it.

import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {until} from '../../bench/rigs/servers/server.js';
import {releaseMemory} from '../../agent/volumes/memory.js';
import {createDockerRuntime, type DockerRuntime, type DockerRuntimeOptions} from '../../agent/docker-runtime.js';
import {groupFolders, removeGroups} from '../../agent/docker/cgroups/pod-cgroup.js';
import {readOwner} from '../../agent/docker/owner.js';
import {labels} from '../../agent/docker/engine/names.js';
import {readSandbox} from '../../agent/docker/sandboxes/sandboxes.js';
import {readMountinfo} from '../../agent/os/mountinfo.js';
import type {RuntimeEvent} from '../../actors/node/runtime/runtime-port.js';
import {systemClock} from '../../system/time/clock.js';
import {isThere, whenTrue} from './process-world.js';
import type {LosingWorld} from './lost-sandbox-contract.js';

type Clean = (clean: () => Promise<void>) => void;

export type DockerWorld = Omit<LosingWorld, 'runtime'> & {
	readonly runtime: () => DockerRuntime;
	readonly directory: string;
	readonly warnings: string[];
	readonly events: RuntimeEvent[];
	/** Ids of all containers of this node that the Engine has. */
	readonly left: () => Promise<readonly string[]>;
};

export function dockerWorld(dockerd: Dockerd, teardown: Clean, options: Partial<DockerRuntimeOptions> = {}): DockerWorld {
	const directory = path.join(os.tmpdir(), `troupe-test-${process.pid}-${crypto.randomUUID()}`);
	const warnings: string[] = [];
	const events: RuntimeEvent[] = [];
	const make = (): DockerRuntime => {
		const made = createDockerRuntime({
			directory,
			clock: systemClock,
			address: {socketPath: dockerd.socketPath},
			onWarning: message => warnings.push(message),
			...options,
		});
		made.onEvent(event => events.push(event));
		return made;
	};
	let runtime = make();
	const left = async (): Promise<readonly string[]> => {
		const text = await dockerd.docker('ps', '-aq', '--no-trunc', '--filter', `label=${labels.owner}=${readOwner(directory) ?? ''}`);
		return text.split('\n').filter(Boolean);
	};
	const isRunning = async (id: string): Promise<boolean> =>
		(await dockerd.docker('inspect', '--format', '{{.State.Running}}', id)).trim() === 'true';
	teardown(async () => {
		await runtime.close();
		// Those that the agent was just removing are removed by it.
		await until('nothing of the node is left in the Engine', async () => {
			const ids = await left();
			// Those that the agent was just removing are removed by it; to others one that is still there may be joined.
			for (const id of ids) await dockerd.docker('rm', '-f', id).catch(() => undefined);
			return ids.length === 0;
		});
		await releaseMemory(directory);
		await removeGroups(groupFolders(`/troupe-${readOwner(directory) ?? ''}`, readMountinfo()));
		await rm(directory, {recursive: true, force: true});
	});
	return {
		directory,
		warnings,
		events,
		left,
		runtime: () => runtime,
		settle: promise => promise,
		kill: (_id, {pid}) => void process.kill(pid, 'SIGKILL'),
		stopAgent: () => runtime.close(),
		startAgent() {
			runtime = make();
		},
		async reboot() {
			for (const id of await left()) if (await isRunning(id)) await dockerd.docker('kill', id);
			forgetBoot(directory);
		},
		async gone({pid, handle}) {
			await whenTrue(() => !isThere(pid));
			await until('the Engine knows it, too', async () => !(await isRunning(handle.slice('docker://'.length))));
		},
		async loseSandbox(uid) {
			const id = readSandbox(path.join(directory, uid), uid)?.infra?.id ?? '';
			process.kill(Number(await dockerd.docker('inspect', '--format', '{{.State.Pid}}', id)), 'SIGKILL');
			await until('the Engine knows it, too', async () => !(await isRunning(id)));
		},
		programs: {
			// As the first process of its namespace it has no signal that ends it but SIGKILL, unless it handles one.
			runs: {image: 'busybox', argv: ['sh', '-c', "trap 'exit 143' TERM; sleep 1000000 & wait"]},
			succeeds: {image: 'busybox', argv: ['true']},
			fails: {image: 'busybox', argv: ['sh', '-c', 'exit 3']},
			ignoresTerm: {image: 'busybox', argv: ['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 1; done"]},
		},
		keepsAddress: false,
	};
}

/** As if what its files speak of had been started at another boot. */
function forgetBoot(directory: string): void {
	for (const name of readdirSync(directory, {recursive: true, encoding: 'utf8'})) {
		if (path.basename(name) !== 'container.json') continue;
		const file = path.join(directory, name);
		writeFileSync(file, readFileSync(file, 'utf8').replace(/"bootId":"[^"]*"/, '"bootId":"00000000-0000-0000-0000-000000000000"'));
	}
}
