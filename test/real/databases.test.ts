// Three databases (Debian: redis-server) of one StatefulSet, each with a claim of its own on a host of its own: whatever ends them, each comes back with
// its data, and there are never two of one name. Their volumes need root.

import {execFile} from 'node:child_process';
import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {containerOf, isReady, pidOf} from '../../bench/rigs/cluster/pods.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {eventually, followObjects, type Following} from '../../bench/rigs/cluster/waiting.js';
import {systemClock} from '../../system/time/clock.js';
import {openAgent, openServer, type Agent} from '../e2e/_hosts.js';
import {openHome, type Home} from '../e2e/_rig.js';
import {parentOf} from '../lane/processes.js';

const run = promisify(execFile);
const names = ['db-0', 'db-1', 'db-2'] as const;
const patienceMs = 120_000;

const databases = (version: string, spread: boolean) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db'},
	spec: {
		serviceName: 'db',
		replicas: 3,
		podManagementPolicy: 'Parallel',
		selector: {matchLabels: {app: 'db'}},
		template: {
			metadata: {labels: {app: 'db'}, annotations: {version}},
			spec: {
				terminationGracePeriodSeconds: 5,
				...(spread ? {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [apart]}}} : {}),
				containers: [
					{
						name: 'redis',
						image: 'redis',
						command: ['redis-server', '--port', '6379', '--bind', '$(POD_IP)', '--protected-mode', 'no'],
						args: ['--dir', '/srv/db', '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''],
						env: [{name: 'POD_IP', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}}],
						volumeMounts: [{name: 'data', mountPath: '/srv/db'}],
						readinessProbe: {tcpSocket: {port: 6379}, periodSeconds: 1},
					},
				],
			},
		},
		volumeClaimTemplates: [{metadata: {name: 'data'}, spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '64Mi'}}}}],
	},
});

const apart = {labelSelector: {matchLabels: {app: 'db'}}, topologyKey: 'kubernetes.io/hostname'};

// ---- processes -----------------------------------------------------------------------------------------------------------

/** The uid of the pod that a process writes its log for. */
function podOf(pid: number): string | undefined {
	try {
		if (!readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('redis-server')) return undefined;
		return /\/data\/runtime\/(?:.*\/)?([0-9a-f]{8}-[0-9a-f-]{27})\//.exec(readlinkSync(`/proc/${pid}/fd/1`))?.[1];
	} catch {
		return undefined; // It has ended.
	}
}

/** Who runs, all the time. */
class Processes {
	/** Names of pods by uid, of all that there ever were. */
	readonly #names = new Map<string, string>();
	readonly twice: string[] = [];
	looks = 0;
	#isOver = false;
	#changes: Following['changes'] = [];
	#learnt = 0;

	constructor(t: ExecutionContext) {
		t.teardown(() => (this.#isOver = true));
		this.#look();
	}

	/** Takes from here on what pods there are from this. */
	learnFrom({changes}: Following): void {
		this.#changes = changes;
		this.#learnt = 0;
	}

	/** Databases that run now, by the names of their pods. What one has forked is it. */
	now(): readonly (readonly [name: string, pid: number])[] {
		for (const {object} of this.#changes.slice(this.#learnt)) this.#names.set(object.metadata.uid, object.metadata.name);
		this.#learnt = this.#changes.length;
		const found = readdirSync('/proc').flatMap((entry): readonly (readonly [string, number])[] => {
			const name = /^\d+$/.test(entry) ? this.#names.get(podOf(Number(entry)) ?? '') : undefined;
			return name === undefined ? [] : [[name, Number(entry)]];
		});
		return found.filter(([, pid]) => lives(pid) && !found.some(([, other]) => other === parentOf(pid)));
	}

	#look(): void {
		if (this.#isOver) return;
		this.looks++;
		const there = this.now();
		for (const name of names) {
			const pids = there.flatMap(([each, pid]) => (each === name ? [pid] : []));
			if (pids.length > 1) this.twice.push(`${name}: ${pids.join()}`);
		}
		systemClock.after(100, () => this.#look());
	}
}

// ---- the databases ---------------------------------------------------------------------------------------------------------

class Databases {
	readonly #t: ExecutionContext;
	readonly #pods: Following;
	readonly #fine: Home['fine'];
	/** What each has been given to keep. */
	readonly #kept: string[] = [];
	#places: Readonly<Record<string, string>> = {};
	#claims = '';

	constructor(t: ExecutionContext, pods: Following, fine: Home['fine']) {
		this.#t = t;
		this.#pods = pods;
		this.#fine = fine;
	}

	pod(name: string): Pod {
		const pod = this.#pods.objects.get(name);
		if (pod === undefined) throw new Error(`there is no pod ${name}`);
		return pod as Pod;
	}

	nodeOf = (name: string): string => this.#places[name] ?? '';

	whenever = (what: string, isSo: (pods: ReadonlyMap<string, ApiObject>) => boolean): Promise<void> =>
		eventually(
			what,
			() => isSo(this.#pods.objects),
			() => this.#told(),
			patienceMs,
		);

	#told(): string {
		return JSON.stringify([...this.#pods.objects.values()].map(object => [object.metadata.name, (object as Pod).status]));
	}

	/** All three run: other pods than these, other processes than these. */
	async back(what: string, others: readonly string[] = [], version?: string): Promise<void> {
		const isBack = (pod: ApiObject | undefined): boolean =>
			pod !== undefined &&
			isReady(pod) &&
			pod.metadata.deletionTimestamp === undefined &&
			!others.includes(pod.metadata.uid) &&
			!others.includes(String(pidOf(pod))) &&
			(version === undefined || pod.metadata.annotations?.['version'] === version);
		await this.whenever(`all are back after: ${what}`, pods => names.every(name => isBack(pods.get(name))));
	}

	uids = (): readonly string[] => names.map(name => this.pod(name).metadata.uid);
	pids = (): readonly string[] => names.map(name => String(pidOf(this.pod(name))));

	async #ask(name: string, ...command: readonly string[]): Promise<string> {
		const {stdout} = await run('redis-cli', ['-h', this.pod(name).status?.podIP ?? '', '-p', '6379', ...command]);
		return stdout.trim();
	}

	/** Each has all that it was given, on its node and in its claim of before; each gets one thing more. */
	async check(what: string): Promise<void> {
		const {items} = JSON.parse(await this.#fine('get', 'pvc', '-o', 'json')) as {
			readonly items: readonly ApiObject<unknown, {readonly phase: string}>[];
		};
		const claims = items.map(({metadata, status}) => `${metadata.name} ${metadata.uid} ${status?.phase}`).join('\n');
		const places = Object.fromEntries(names.map(name => [name, this.pod(name).spec?.nodeName ?? '']));
		if (this.#claims === '') [this.#claims, this.#places] = [claims, places];
		this.#t.is(claims, this.#claims, what);
		this.#t.deepEqual(places, this.#places, what);
		for (const name of names) {
			const kept = await this.#ask(name, 'lrange', 'kept', '0', '-1');
			this.#t.is(kept, this.#kept.map(each => `${name} ${each}`).join('\n'), `${name} after: ${what}`);
			await this.#ask(name, 'rpush', 'kept', `${name} ${what}`);
		}
		this.#kept.push(what);
	}

	/** From the record of the watch: a name comes again only when the pod before is gone. */
	neverTwo(): void {
		const present = new Set<string>();
		for (const {type, object} of this.#pods.changes) {
			const {name} = object.metadata;
			if (type === 'ADDED') this.#t.false(present.has(name), `${name} came before the one before was gone`);
			if (type === 'DELETED') present.delete(name);
			else present.add(name);
		}
	}
}

test('databases on three hosts keep their data, their hosts and their claims, and none runs twice', async t => {
	t.timeout(600_000);
	const server = await openServer(t);
	const agents: Agent[] = [];
	for (const node of ['host-1', 'host-2', 'host-3']) agents.push(await openAgent(t, [server.api()], await server.joinToken(), node));
	const agentOn = (node: string) => {
		const agent = agents.find(each => each.node === node);
		if (agent === undefined) throw new Error(`no agent on ${node}`);
		return agent;
	};
	const fine = (...args: readonly string[]): Promise<string> => server.fine(...args);
	const following = await followObjects(await server.client(), 'pods');
	t.teardown(following.close);
	const processes = new Processes(t);
	processes.learnFrom(following);
	const all = new Databases(t, following, fine);
	const whyWaiting = (name: string): string => all.pod(name).status?.conditions?.find(({type}) => type === 'PodScheduled')?.message ?? '';

	await server.apply(databases('1', true));
	await all.back('the start');
	await all.check('the start');
	t.is(new Set(names.map(all.nodeOf)).size, 3);

	const killed = all.pids();
	for (const pid of killed) process.kill(Number(pid), 'SIGKILL');
	await all.back('kill -9 of each', killed);
	t.true(names.every(name => (containerOf(all.pod(name))?.restartCount ?? 0) > 0));
	await all.check('kill -9 of each');

	const drained = all.nodeOf('db-1');
	const before = all.uids();
	await fine('drain', drained, '--timeout=60s');
	await all.whenever('the next db-1 waits', pods => pods.has('db-1') && whyWaiting('db-1') !== '');
	const others = agents.map(({node}) => node).filter(node => node !== drained);
	const reasons = [`${drained}: cordoned`, ...others.map(node => `${node}: had volume node affinity conflict`)];
	await eventually(
		'it says for what',
		() => reasons.every(reason => whyWaiting('db-1').includes(reason)),
		() => whyWaiting('db-1'),
	);
	await fine('uncordon', drained);
	await all.back('drain and uncordon', before.slice(1, 2));
	await all.check('drain and uncordon');

	const old = all.uids();
	await server.apply(databases('2', true));
	await all.back('a rollout', old, '2');
	await all.check('a rollout');

	const [killedAgent, stoppedAgent] = [agentOn(all.nodeOf('db-2')), agentOn(all.nodeOf('db-0'))];
	const signalStopped = (signal: NodeJS.Signals) => (): void => void process.kill(stoppedAgent.pid(), signal);
	const silences: readonly {what: string; node: string; begin: () => Promise<void> | void; end: () => Promise<void> | void}[] = [
		{what: 'its agent killed', node: killedAgent.node, begin: killedAgent.killIt, end: killedAgent.restart},
		{what: 'its agent stopped', node: stoppedAgent.node, begin: signalStopped('SIGSTOP'), end: signalStopped('SIGCONT')},
	];
	for (const {what, node, begin, end} of silences) {
		const name = names.find(each => all.nodeOf(each) === node) ?? 'db-0';
		const [uid] = [all.pod(name).metadata.uid];
		await begin();
		await all.whenever(`${name} is given up and waits for ${node}`, pods => {
			const pod = pods.get(name) as Pod | undefined;
			return pod !== undefined && pod.spec?.nodeName === undefined;
		});
		await eventually('no process of it runs', () => !processes.now().some(([each]) => each === name), undefined, patienceMs);
		await end();
		await all.back(what);
		t.log(`${name}: ${what}: ${all.pod(name).metadata.uid === uid ? 'the same pod' : 'another pod'} is back`);
		await all.check(what);
	}

	await fine('scale', 'sts/db', '--replicas', '1');
	await all.whenever('one is left', pods => pods.size === 1);
	t.regex(await fine('get', 'pvc'), /^data-db-2 +Bound/m);
	await fine('scale', 'sts/db', '--replicas', '3');
	await all.back('one, and three again');
	await all.check('one, and three again');

	for (const agent of agents) await agent.fine('down', '--pods');
	await eventually(
		'nothing runs',
		() => processes.now().length === 0,
		() => JSON.stringify(processes.now()),
		patienceMs,
	);
	for (const agent of agents) await agent.restart();
	await all.back('down --pods, and agents again');
	await all.check('down --pods, and agents again');

	await fine('delete', 'sts', 'db');
	await all.whenever('all are gone', pods => pods.size === 0);
	t.regex(await fine('get', 'pvc'), /^data-db-0 +Bound/m);
	await server.apply(databases('3', true));
	await all.back('the set made again');
	await all.check('the set made again');
	all.neverTwo();
	t.deepEqual(processes.twice, []);
	t.log(`looked ${processes.looks} times who runs`);
});

test('databases of one cluster have their data after down --pods, and after kill -9 of the cluster', async t => {
	t.timeout(300_000);
	const cluster = openHome(t);
	const processes = new Processes(t);
	await cluster.up();
	await cluster.apply(databases('1', false));
	const kept: string[] = [];
	for (const [what, doIt] of [
		['the start', () => Promise.resolve()],
		[
			'down --pods',
			async () => {
				await cluster.fine('down', '--pods');
				t.deepEqual(processes.now(), []);
				await cluster.up();
			},
		],
		[
			'kill -9',
			async () => {
				const before = processes.now();
				await cluster.killCluster();
				await cluster.up();
				t.deepEqual(processes.now().toSorted(), before.toSorted(), 'the databases were not touched');
			},
		],
	] as const) {
		await doIt();
		const following = await followObjects(await cluster.client(), 'pods');
		processes.learnFrom(following);
		await eventually(
			`all are back after: ${what}`,
			() => names.every(name => isReady(following.objects.get(name))) && processes.now().length === 3,
			() => JSON.stringify([...following.objects.values()]),
			patienceMs,
		);
		for (const name of names) {
			const ip = (following.objects.get(name) as Pod | undefined)?.status?.podIP ?? '';
			const ask = async (...command: readonly string[]) => (await run('redis-cli', ['-h', ip, ...command])).stdout.trim();
			t.is(await ask('lrange', 'kept', '0', '-1'), kept.map(each => `${name} ${each}`).join('\n'), `${name} after: ${what}`);
			await ask('rpush', 'kept', `${name} ${what}`);
		}
		kept.push(what);
		following.close();
	}
	t.deepEqual(processes.twice, []);
});
