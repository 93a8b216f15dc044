// Docker Swarm on hosts that are network namespaces: an Engine on each, the first one manages, the others work.

import {layNetwork} from '../fleet/network.js';
import type {Owner} from '../owner.js';
import {startDockerd, type Dockerd} from '../servers/dockerd.js';
import {engineApi, type EngineEvent} from '../servers/engine-api.js';
import {until} from '../servers/server.js';
import {sharedNowMs} from './endpoints-seen.js';

export type Swarm = {
	readonly workers: readonly string[];
	/** How many tasks of the service run there. */
	readonly tasksOn: (host: string) => Promise<number>;
	/** SIGKILL to the Engine of a host whose cable is out. */
	readonly kill: (host: string) => Promise<void>;
	/** Resolves when it is one of them again and all tasks run. */
	readonly revive: (host: string) => Promise<void>;
	/** Resolves with the moment at which so many more containers have started, on any of these hosts. */
	readonly started: (hosts: readonly string[], count: number) => Promise<number>;
};

const patienceMs = 120_000;

/** With a service of so many replicas, on workers alone. */
export async function startSwarm(owner: Owner, prefix: string, names: readonly [string, ...string[]], replicas: number): Promise<Swarm> {
	const network = layNetwork(owner, prefix, names);
	const [manager, ...workers] = names;
	const engines = new Map<string, Dockerd>();
	for (const [index, name] of names.entries())
		engines.set(name, await startDockerd(owner, {host: prefix + name, bip: `10.200.${index + 1}.1/24`}));
	const engineOf = (name: string): Dockerd => {
		const engine = engines.get(name);
		if (engine === undefined) throw new Error(`there is no host ${name}`);
		return engine;
	};
	const manage = (...words: readonly string[]): Promise<string> => engineOf(manager).docker(...words);
	await manage('swarm', 'init', '--advertise-addr', network.addressOf(manager));
	const token = (await manage('swarm', 'join-token', '--quiet', 'worker')).trim();
	for (const name of workers) {
		const own = network.addressOf(name);
		await engineOf(name).docker('swarm', 'join', '--token', token, '--advertise-addr', own, `${network.addressOf(manager)}:2377`);
	}
	const words = ['--name', 'web', '--replicas', String(replicas), '--constraint', 'node.role==worker', '--no-resolve-image', '--detach'];
	await manage('service', 'create', ...words, 'busybox:latest', 'httpd', '-f', '-p', '8000', '-h', '/');

	const tasksOn = async (name: string): Promise<number> =>
		(await engineOf(name).docker('ps', '--quiet')).split('\n').filter(Boolean).length;
	/** By what the manager says. */
	const isWhole = async (): Promise<boolean> => {
		const states = (await manage('service', 'ps', 'web', '--filter', 'desired-state=running', '--format', '{{.CurrentState}}'))
			.trim()
			.split('\n');
		const nodes = (await manage('node', 'ls', '--format', '{{.Status}}')).trim().split('\n');
		return states.length === replicas && states.every(state => state.startsWith('Running')) && nodes.every(status => status === 'Ready');
	};
	await until('all tasks run', isWhole, patienceMs);
	return {
		workers,
		tasksOn,
		async kill(name) {
			network.cut(name);
			await engineOf(name).kill();
		},
		async revive(name) {
			network.heal(name);
			await engineOf(name).start();
			await until('the swarm is whole again', isWhole, patienceMs);
			await until('what was replaced is gone', async () => (await tasksOn(name)) === 0, patienceMs);
		},
		async started(hosts, count) {
			let left = count;
			let close: readonly (() => void)[] = [];
			const seen = new Promise<number>(resolve => {
				const hear = ({Action}: EngineEvent): void => {
					if (Action !== 'start') return;
					left -= 1;
					if (left === 0) resolve(sharedNowMs());
				};
				close = hosts.map(name => followed(engineOf(name).socketPath, hear));
			});
			try {
				return await seen;
			} finally {
				for (const each of close) each();
			}
		},
	};
}

function followed(socketPath: string, hear: (event: EngineEvent) => void): () => void {
	const engine = engineApi(socketPath);
	const end = engine.follow(hear);
	return () =>
		void end.then(
			close => {
				close();
				engine.close();
			},
			() => engine.close(),
		);
}
