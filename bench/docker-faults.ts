// What happens, in order and when, after what pods of class docker stand on is killed or hangs: a program, an infra container, the agent, the control
// plane, dockerd. Round after round; what had to survive has survived, what had to begin again did so once, and nothing is left of it.

import {existsSync} from 'node:fs';
import {groupFolders} from '../agent/docker/cgroups/pod-cgroup.js';
import {readOwner} from '../agent/docker/owner.js';
import {limits} from '../api/limits.js';
import {readMountinfo} from '../agent/os/mountinfo.js';
import {homeOf} from '../cli/files/home.js';
import type {Benchmark} from './harness/benchmark.js';
import {pause} from './harness/pause.js';
import {rssBytes} from './harness/process-figures.js';
import {createScope, type Scope} from './harness/scope.js';
import {tableOf, type Row} from './harness/table.js';
import {temporaryFolder} from './rigs/cluster/cluster.js';
import {startParted, type Part, type PartedCluster} from './rigs/cluster/parted.js';
import {eventually} from './rigs/cluster/waiting.js';
import {differences, takeCensus, type Census} from './rigs/faults/census.js';
import {openJournals, type Journals} from './rigs/faults/journals.js';
import {createMarks, stepsOf, type Mark, type Marks} from './rigs/faults/marks.js';
import {observeApi, observeEngine} from './rigs/faults/observers.js';
import {createPods, deletePods, standingOf, untilReady, type Standing} from './rigs/faults/workload.js';
import {startDockerd, type Dockerd} from './rigs/servers/dockerd.js';
import {engineApi, pidOfContainer, type EngineApi} from './rigs/servers/engine-api.js';
import {mountsBelow} from './rigs/servers/mounts.js';

const defaultRounds = 20;
/** What was killed is started again after so long, as by a service manager. */
const awayMs = 1_000;
const hungMs = 30_000;
/** What ought not to happen has so long to do so. */
const lateMs = 2_000;
const deadlineMs = 90_000;
/** An agent or a control plane that is away for longer than this may cost an exclusive pod its lease. */
const leaseLeftMs = limits.podLeaseTtlMs - limits.podLeaseRenewMs;
/** Connections that a client keeps may be more than at the first time. */
const sockets = 8;

type Rig = PartedCluster & {
	readonly scope: Scope;
	readonly dockerd: Dockerd;
	readonly engine: EngineApi;
	readonly journals: Journals;
	readonly marks: Marks;
	/** The pod of which something is killed in this round. */
	readonly victim: {name: string | undefined};
};

type Fault = {
	readonly name: string;
	readonly liveRestore: boolean;
	/** One of the Deployment's pods is the one that it is about. */
	readonly hasVictim: boolean;
	readonly inject: (rig: Rig, victim: Standing | undefined) => Promise<void>;
	/** What has to begin again; all else runs on. */
	readonly restarts: (pod: string, container: string, isVictim: boolean) => boolean;
	/** Whether the pod gets another infra container. */
	readonly losesSandbox: (pod: string, isVictim: boolean) => boolean;
};

const never = (): boolean => false;
const onDocker = (pod: string): boolean => pod !== 'process';

const killed = async ({marks}: Rig, name: string, part: Pick<Part, 'kill' | 'start'>): Promise<void> => {
	await part.kill();
	marks.note(`${name}: has ended`);
	await pause(awayMs);
	marks.note(`${name}: is started again`);
	await part.start();
	marks.note(`${name}: says that it is ready`);
};

const faults: readonly Fault[] = [
	{
		name: 'container',
		liveRestore: false,
		hasVictim: true,
		inject(_rig, victim) {
			process.kill(victim?.containers['a']?.pid ?? Number.NaN, 'SIGKILL');
			return Promise.resolve();
		},
		restarts: (_pod, container, isVictim) => isVictim && container === 'a',
		losesSandbox: never,
	},
	{
		name: 'infra',
		liveRestore: false,
		hasVictim: true,
		inject: async ({engine}, victim) => void process.kill(await pidOfContainer(engine, victim?.infra ?? ''), 'SIGKILL'),
		restarts: (_pod, _container, isVictim) => isVictim,
		losesSandbox: (_pod, isVictim) => isVictim,
	},
	{
		name: 'agent',
		liveRestore: false,
		hasVictim: false,
		inject: rig => killed(rig, 'agent', rig.agent),
		restarts: never,
		losesSandbox: never,
	},
	{
		name: 'control',
		liveRestore: false,
		hasVictim: false,
		inject: rig => killed(rig, 'control plane', rig.server),
		restarts: never,
		losesSandbox: never,
	},
	{
		name: 'dockerd',
		liveRestore: false,
		hasVictim: false,
		inject: rig => killed(rig, 'dockerd', rig.dockerd),
		restarts: onDocker,
		losesSandbox: onDocker,
	},
	{
		name: 'hang',
		liveRestore: false,
		hasVictim: false,
		async inject({dockerd, marks}) {
			await dockerd.pause();
			marks.note('dockerd: is stopped');
			await pause(hungMs);
			dockerd.wake();
			marks.note('dockerd: goes on');
		},
		restarts: never,
		losesSandbox: never,
	},
	{
		name: 'dockerd-live-restore',
		liveRestore: true,
		hasVictim: false,
		inject: rig => killed(rig, 'dockerd', rig.dockerd),
		restarts: never,
		losesSandbox: never,
	},
];

export const dockerFaultsBenchmark: Benchmark = {
	name: 'docker-faults',
	about: 'what happens when things die under pods of class docker',
	async run({rounds = defaultRounds, nodeFlags, faults: names}, scope) {
		const unknown = names.filter(name => !faults.some(fault => fault.name === name));
		if (unknown.length > 0)
			throw new Error(`no fault is called ${unknown.join(', ')}: there are ${faults.map(({name}) => name).join(', ')}`);
		const chosen = faults.filter(({name}) => names.length === 0 || names.includes(name));
		const results: Result[] = [];
		for (const liveRestore of [false, true]) {
			const own = chosen.filter(fault => fault.liveRestore === liveRestore);
			if (own.length > 0) results.push(await onOneRig(scope, own, {liveRestore, rounds, nodeFlags}));
		}
		const rows = results.flatMap(result => result.rows);
		const problems = results.flatMap(result => result.problems);
		if (problems.length === 0) return rows;
		throw new Error(`${problems.length} things were not as they have to be:\n${problems.join('\n')}\n${tableOf('', rows)}`);
	},
};

type Result = {readonly rows: readonly Row[]; readonly problems: readonly string[]};

type RigOptions = {readonly liveRestore: boolean; readonly rounds: number; readonly nodeFlags: readonly string[]};

async function onOneRig(outer: Scope, chosen: readonly Fault[], {liveRestore, rounds, nodeFlags}: RigOptions): Promise<Result> {
	const scope = createScope();
	outer.defer(() => scope.close());
	const rig = await openRig(scope, liveRestore, nodeFlags);
	const rows: Row[] = [];
	const problems: string[] = [];
	try {
		for (const fault of chosen) {
			const result = await manyTimes(rig, fault, rounds);
			rows.push(...result.rows);
			problems.push(...result.problems);
		}
		problems.push(...(await leftAtTheEnd(rig)));
	} catch (error) {
		problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
	} finally {
		await scope.close();
	}
	return {rows, problems};
}

async function openRig(scope: Scope, liveRestore: boolean, nodeFlags: readonly string[]): Promise<Rig> {
	const dockerd = await startDockerd({teardown: scope.defer}, {liveRestore});
	const engine = engineApi(dockerd.socketPath);
	scope.defer(() => engine.close());
	const journals = openJournals(temporaryFolder(scope, 'journals'));
	// What is counted at the end is what pods leave behind.
	const agentFlags = ['--runtime=auto', `--docker=${dockerd.url}`, '--warm-sandboxes=0'];
	const parted = await startParted(scope, {node: 'bench', agentFlags, nodeFlags});
	const marks = createMarks();
	const victim: Rig['victim'] = {name: undefined};
	const nameOf = (pod: string): string | undefined => roleOf(pod, victim.name);
	observeEngine(scope, engine, nameOf, marks.note);
	await observeApi(scope, parted.client, nameOf, marks.note);
	return {...parted, scope, dockerd, engine, journals, marks, victim};
}

function roleOf(pod: string, victim: string | undefined): string | undefined {
	if (pod === victim) return 'the pod';
	if (pod.startsWith('web-')) return victim === undefined ? 'a pod' : 'another pod';
	return pod === '' ? undefined : `pod ${pod}`;
}

/** The rounds of one fault, and what is there before and after them. */
async function manyTimes(rig: Rig, fault: Fault, rounds: number): Promise<Result> {
	const {client, journals} = rig;
	// Once before the first count: what is made once is there then.
	await createPods(client, journals.folder);
	await deletePods(client);
	const before = await census(rig);
	const seen: (readonly Mark[])[] = [];
	const silences: number[] = [];
	const memory = {agent: [] as number[], server: [] as number[]};
	const problems: string[] = [];
	const isFresh = fault.restarts !== never;
	for (let number = 1; number <= rounds && !rig.scope.isClosing(); number++) {
		if (isFresh || number === 1) await createPods(client, journals.folder);
		const round = await once(rig, fault, number).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
		if (round instanceof Error) {
			problems.push(`${fault.name}, round ${number}, the last: ${round.message}`);
			break;
		}
		seen.push(round.marks);
		silences.push(round.silenceMs);
		problems.push(...round.problems.map(problem => `${fault.name}, round ${number}: ${problem}`));
		memory.agent.push(rssBytes(rig.agent.pid()) / 1e6);
		memory.server.push(rssBytes(rig.server.pid()) / 1e6);
		if (isFresh && number < rounds) await deletePods(client);
	}
	await deletePods(client);
	const left = await leftOf(rig, before);
	problems.push(...left.map(each => `${fault.name}, after all rounds: ${each}`));
	const figures: Row[] = [
		{what: `${fault.name}: longest silence of a program that runs on`, values: silences, unit: 'ms', note: 'it speaks every 50 ms'},
		...(['agent', 'server'] as const).map(part => ({
			what: `${fault.name}: memory of the ${part}`,
			values: memory[part],
			unit: 'MB',
			note: `${Math.round(memory[part][0] ?? 0)} in the first round, ${Math.round(memory[part].at(-1) ?? 0)} in the last`,
		})),
		{what: `${fault.name}: left`, values: [left.length], unit: '', goal: {atMost: 0}},
	];
	return {rows: [...stepsOf(fault.name, seen), ...figures], problems};
}

type Round = {readonly marks: readonly Mark[]; readonly silenceMs: number; readonly problems: readonly string[]};

async function once(rig: Rig, fault: Fault, number: number): Promise<Round> {
	const {client, engine, marks, journals, victim} = rig;
	const before = await standingOf(client, engine);
	const webs = [...before.keys()].filter(name => name.startsWith('web-')).toSorted();
	const chosen = fault.hasVictim ? webs[number % webs.length] : undefined;
	victim.name = chosen;
	marks.take();
	const startMs = performance.now();
	await fault.inject(rig, before.get(chosen ?? ''));
	const isLeaseOver = ['agent', 'control'].includes(fault.name) && performance.now() - startMs > leaseLeftMs;
	if (isLeaseOver) {
		before.delete('exclusive');
		marks.note('it took so long that the lease of the exclusive pod may have ended');
	}
	let problems: readonly string[] = [];
	await eventually(
		`all is well again after the fault "${fault.name}"`,
		async () => (problems = changesOf(before, await standingOf(client, engine), fault, chosen)).length === 0,
		() => problems.join('; '),
		deadlineMs,
	);
	await untilReady(client);
	await pause(lateMs);
	problems = changesOf(before, await standingOf(client, engine), fault, chosen);
	const endMs = performance.now();
	const {changes, silenceMs, wrong} = toldByPrograms(journals.read(), before, fault, {startMs, endMs, chosen});
	const seen = [...marks.take(), ...changes].map(({what, atMs}) => ({what, atMs: atMs - startMs}));
	return {marks: seen, silenceMs, problems: [...problems, ...wrong]};
}

/** In words, where it is otherwise than it has to be after this fault. */
function changesOf(
	before: ReadonlyMap<string, Standing>,
	after: ReadonlyMap<string, Standing>,
	fault: Fault,
	victim: string | undefined,
): readonly string[] {
	const strangers = [...after.keys()]
		.filter(name => !before.has(name) && name !== 'exclusive')
		.map(name => `there is another pod, ${name}`);
	return [
		...strangers,
		...[...before].flatMap(([name, was]) => {
			const is = after.get(name);
			if (is === undefined || is.uid !== was.uid) return [`pod ${name} is not there any more`];
			const isVictim = name === victim;
			const loses = fault.losesSandbox(name, isVictim);
			const ofPod = loses
				? is.infra === was.infra || is.infra === ''
					? [`pod ${name} has no new infra container`]
					: []
				: is.infra !== was.infra || is.podIP !== was.podIP
					? [`pod ${name} has another infra container or address`]
					: [];
			const ofContainers = Object.entries(was.containers).flatMap(([container, former]) => {
				const now = is.containers[container];
				const times = fault.restarts(name, container, isVictim) ? 1 : 0;
				const isNew = now?.id !== former.id;
				if (now === undefined || now.restartCount !== former.restartCount + times || isNew !== (times === 1))
					return [
						`${name}, ${container}: ${JSON.stringify(now)} after ${JSON.stringify(former)}, and should have begun again ${times} times`,
					];
				return times === 0 && now.pid !== former.pid ? [`${name}, ${container} is another process`] : [];
			});
			return [...ofPod, ...ofContainers];
		}),
	];
}

type Spell = {readonly startMs: number; readonly endMs: number; readonly chosen: string | undefined};

/** What the programs tell themselves: which have begun again, and the longest time in which one that runs on said nothing. */
function toldByPrograms(
	told: ReturnType<Journals['read']>,
	before: ReadonlyMap<string, Standing>,
	fault: Fault,
	{startMs, endMs, chosen}: Spell,
) {
	const changes: Mark[] = [];
	const wrong: string[] = [];
	let silenceMs = 0;
	for (const {pod, container, begins, ends, runs, twice} of told.filter(each => before.has(each.pod))) {
		if (twice) wrong.push(`two of ${pod}, ${container} ran at once`);
		// Hundredths of a second are what the kernel tells.
		const isNow = (atMs: number): boolean => atMs > startMs - 10;
		const now = begins.filter(isNow);
		const role = roleOf(pod, chosen);
		changes.push(...now.map(atMs => ({what: `program: begins again in ${role}, ${container}`, atMs})));
		if (now.length > 0) changes.push(...ends.slice(-1).map(atMs => ({what: `program: says its last word in ${role}, ${container}`, atMs})));
		const times = fault.restarts(pod, container, pod === chosen) ? 1 : 0;
		if (now.length !== times) wrong.push(`the program of ${pod}, ${container} has begun ${now.length} times instead of ${times}`);
		if (times > 0) continue;
		const spoken = [startMs, ...runs.filter(atMs => atMs > startMs && atMs < endMs), endMs];
		silenceMs = Math.max(silenceMs, ...spoken.slice(1).map((atMs, index) => atMs - (spoken[index] ?? atMs)));
	}
	return {changes, silenceMs, wrong};
}

// ---- what is left ------------------------------------------------------------------------------------------------------------

const census = (rig: Rig): Promise<Census> =>
	takeCensus({dockerd: rig.dockerd, agentHome: rig.agent.home, pids: {agent: rig.agent.pid(), server: rig.server.pid()}});

/** What is removed a moment later, as a container whose log is being copied, has that moment. */
async function leftOf(rig: Rig, before: Census): Promise<readonly string[]> {
	let left: readonly string[] = [];
	const none = async (): Promise<boolean> => (left = differences(before, await census(rig), sockets)).length === 0;
	await eventually('nothing is left', none).catch(() => undefined);
	return left;
}

/** When server and agent have ended in good order. */
async function leftAtTheEnd({agent, server, dockerd}: Rig): Promise<readonly string[]> {
	const owner = readOwner(homeOf(agent.home).docker) ?? '';
	await agent.stop();
	await server.stop();
	const containers = (await dockerd.docker('ps', '--all', '--quiet')).split('\n').filter(Boolean);
	const groups = groupFolders(`/troupe-${owner}`, readMountinfo()).filter(existsSync);
	return [...containers, ...groups, ...mountsBelow(agent.home)].map(each => `after all: ${each} is left`);
}
