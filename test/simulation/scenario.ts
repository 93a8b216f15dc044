// Pods and a ReplicaSet under everything that goes wrong: lost, repeated and late messages, failed and undecided commits,
// actors that crash, programs that die, agents, hosts and control planes that are killed. Then quiet; and then everything must
// be as it was asked for, as if nothing had happened.

import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {failure} from '../../api/errors.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Message} from '../../system/behavior.js';
import type {SystemDesign} from '../../system/durable-system.js';
import {noFaults, World, type Faults} from '../../system/world.js';
import {SimulatedCluster, type SimulatedNode} from './cluster.js';

export type ScenarioResult = {
	readonly seed: number;
	readonly violations: readonly string[];
	readonly steps: number;
	readonly virtualMs: number;
	readonly history: readonly string[];
};

export type ScenarioOptions = {
	/** A design with a planted bug. */
	readonly design?: SystemDesign;
	/** Whether the history tells of actors too. */
	readonly trace?: boolean;
};

const faultsOf = (world: World): Faults => ({
	dropPacket: world.random.next() * 0.2,
	repeatPacket: world.random.next() * 0.1,
	delayPacket: world.random.next() * 0.3,
	delayMs: 20 + world.random.next() * 400,
	failCommit: world.random.next() * 0.1,
	unknownCommit: world.random.next() * 0.05,
	commitMs: world.chance(0.5) ? world.random.next() * 10 : 0,
});

/** Runs the scenario of one seed. */
export function runScenario(seed: number, options: ScenarioOptions = {}): ScenarioResult {
	const world = new World(seed);
	const startMs = world.clock.nowMs();
	world.faults = world.chance(0.8) ? faultsOf(world) : noFaults;
	const scenario = new Scenario(world, options);
	scenario.cluster.startAll();
	const rounds = 4 + world.pick(8);
	for (let round = 0; round < rounds; round++) {
		scenario.act();
		world.run(world.chance(0.5) ? world.random.next() * 50 : world.random.next() * 4_000);
	}
	scenario.calm();
	// Longer than the longest back-off and two rounds of the resync.
	world.run(1_300_000);
	scenario.check();
	const virtualMs = world.clock.nowMs() - startMs;
	return {seed, violations: scenario.cluster.violations, steps: world.steps, virtualMs, history: scenario.history};
}

/** What a client was promised: the last acknowledged number of replicas of a set; undefined once its deletion was acknowledged. */
type Promised = {replicas: number | undefined; /** Requests whose outcome is not known. */ open: Set<number | undefined>};

class Scenario {
	readonly world: World;
	readonly cluster: SimulatedCluster;
	readonly history: string[] = [];
	readonly #sets = new Map<string, Promised>();
	#created = 0;

	constructor(world: World, {design, trace = false}: ScenarioOptions) {
		this.world = world;
		this.cluster = new SimulatedCluster(world, {
			nodes: 1 + world.pick(3),
			...(design === undefined ? {} : {design}),
			observer: {
				lifecycle: event =>
					trace ? this.#note(`${event.type} ${event.address} ${'error' in event ? event.error.message : ''}`) : undefined,
			},
		});
	}

	#note(text: string): void {
		this.history.push(`${String(this.world.clock.nowMs() - 1_700_000_000_000).padStart(8)} ms  ${text}`);
	}

	act(): void {
		const actions = [
			() => this.#createSet(),
			() => this.#createSet(),
			() => this.#scale(),
			() => this.#scale(),
			() => this.#deleteSet(),
			() => this.#deletePod(),
			() => this.#killProgram(),
			() => this.#killProgram(),
			() => this.#crashActor(),
			() => this.#crashActor(),
			() => this.#killAgent(),
			() => this.#killControl(),
			() => this.#rebootHost(),
			() => this.#cut(),
		];
		actions[this.world.pick(actions.length)]?.();
	}

	/** The faults end, what is down comes up. */
	calm(): void {
		this.#note('quiet from here');
		this.world.faults = noFaults;
		this.world.heal();
		// Stores keep the faults they were opened with: everything starts once more, on a good disk.
		this.cluster.kill(this.cluster.control);
		this.cluster.startControl();
		for (const node of this.cluster.nodes) {
			this.cluster.kill(node);
			this.cluster.startNode(node);
		}
	}

	// ---- clients ---------------------------------------------------------------------------------------------------

	#createSet(): void {
		const name = `set-${++this.#created}`;
		const replicas = this.world.pick(6);
		const promised: Promised = {replicas: undefined, open: new Set([replicas])};
		this.#note(`create ${name} with ${replicas} replicas`);
		this.#sets.set(name, promised);
		this.cluster.create('replicasets', replicaSet(name, replicas), outcome => {
			this.#note(`create ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (!outcome.ok) return;
			promised.replicas = replicas;
			promised.open.clear();
		});
	}

	#anySet(): [string, Promised] | undefined {
		const known = [...this.#sets].filter(([, {replicas}]) => replicas !== undefined);
		return known[this.world.pick(known.length)];
	}

	#scale(): void {
		const [name, promised] = this.#anySet() ?? [];
		if (name === undefined || promised === undefined) return;
		const replicas = this.world.pick(8);
		this.#note(`scale ${name} to ${replicas}`);
		this.#request(promised, replicas, `replicasets/default/${name}`, {type: 'patch', patch: {spec: {replicas}}} as Message & {
			patch: JsonObject;
		});
	}

	#deleteSet(): void {
		const [name, promised] = this.#anySet() ?? [];
		if (name === undefined || promised === undefined) return;
		this.#note(`delete ${name}`);
		this.#request(promised, undefined, `replicasets/default/${name}`, {type: 'delete'});
	}

	/** Until the answer comes, either the old or the new state may be; afterwards only what was acknowledged. */
	#request(promised: Promised, replicas: number | undefined, key: string, message: Message): void {
		promised.open.add(replicas);
		this.cluster.askRecord(key, message, outcome => {
			this.#note(`${message.type} ${key}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (!outcome.ok) return;
			promised.replicas = replicas;
			promised.open.clear();
			if (replicas === undefined) promised.open.add(undefined);
		});
	}

	#deletePod(): void {
		const pods = this.cluster.pods();
		const pod = pods[this.world.pick(pods.length)];
		if (pod === undefined) return;
		this.#note(`delete pod ${pod.metadata.name}`);
		this.cluster.askRecord(`pods/default/${pod.metadata.name}`, {type: 'delete'}, () => undefined);
	}

	// ---- disturbances ------------------------------------------------------------------------------------------------

	#anyNode(): SimulatedNode | undefined {
		return this.cluster.nodes[this.world.pick(this.cluster.nodes.length)];
	}

	#killProgram(): void {
		const node = this.#anyNode();
		const uids = [...(node?.host.pods.keys() ?? [])];
		const uid = uids[this.world.pick(uids.length)];
		if (node === undefined || uid === undefined) return;
		if (!node.host.crash(uid, 'main', 137)) return;
		this.#note(`kill -9 of a program of ${uid} on ${node.name}`);
		node.ends.set(`${uid}/main`, (node.ends.get(`${uid}/main`) ?? 0) + 1);
	}

	#crashActor(): void {
		const system = this.world.chance(0.5) ? this.cluster.control.system?.system : this.#anyNode()?.system?.system;
		const addresses = [...(system?.addresses() ?? [])];
		const address = addresses[this.world.pick(addresses.length)];
		if (system === undefined || address === undefined || address.endsWith('/')) return; // The root is the process.
		this.#note(`crash ${address}`);
		if (address.includes('/replicasets')) this.cluster.replicaSetsCrashed = true;
		system.crash(address, failure('ERR_ACTOR_CRASHED', {address, message: 'the world wants it'}));
	}

	#killAgent(): void {
		const node = this.#anyNode();
		if (node?.process === undefined) return;
		this.#note(`kill -9 of the agent of ${node.name}`);
		this.cluster.kill(node);
		this.world.clock.after(this.world.random.next() * 3_000, () => {
			if (node.process === undefined) this.cluster.startNode(node);
		});
	}

	#killControl(): void {
		if (this.cluster.control.process === undefined) return;
		this.#note('kill -9 of control');
		this.cluster.kill(this.cluster.control);
		this.world.clock.after(this.world.random.next() * 3_000, () => {
			if (this.cluster.control.process === undefined) this.cluster.startControl();
		});
	}

	#rebootHost(): void {
		const node = this.#anyNode();
		if (node === undefined) return;
		this.#note(`reboot of ${node.name}`);
		this.cluster.kill(node);
		for (const uid of node.host.pods.keys()) node.ends.set(`${uid}/main`, (node.ends.get(`${uid}/main`) ?? 0) + 1);
		node.host.reboot();
		this.cluster.startNode(node);
	}

	#cut(): void {
		const node = this.#anyNode();
		if (node === undefined) return;
		this.#note(`cut between control and ${node.name}`);
		this.world.cut('control', node.name);
		this.world.clock.after(this.world.random.next() * 10_000, () => this.world.heal());
	}

	// ---- what must hold ------------------------------------------------------------------------------------------------

	check(): void {
		const {cluster} = this;
		if (cluster.control.system === undefined) {
			cluster.violations.push('control did not come back');
			return;
		}
		for (const [name, promised] of this.#sets) this.#checkSet(name, promised);
		this.#checkHosts();
		this.#checkAtRest();
	}

	/** I2 and I5: what was acknowledged is there, and as many pods run as were asked for. */
	#checkSet(name: string, {replicas, open}: Promised): void {
		const {violations} = this.cluster;
		const set = this.cluster.objects('replicasets').find(({metadata}) => metadata.name === name) as ReplicaSet | undefined;
		const found = set?.spec?.replicas;
		if (found !== replicas && !open.has(found))
			violations.push(`${name}: ${replicas ?? 'its deletion'} was acknowledged, found ${found ?? 'nothing'}`);
		const pods = this.cluster.pods().filter(({metadata}) => metadata.labels?.['set'] === name);
		if (pods.length !== (found ?? 0)) violations.push(`${name}: ${found ?? 0} pods are wanted, there are ${pods.length}`);
		for (const pod of pods)
			if (!isReady(pod)) violations.push(`${name}: pod ${pod.metadata.name} is not ready: ${JSON.stringify(pod.status)}`);
		if (set !== undefined && set.status?.readyReplicas !== found)
			violations.push(`${name}: its status says ${set.status?.readyReplicas} of ${found} ready`);
	}

	/** I1 in small, I4 and I5: each pod runs once and where it is bound, nothing else runs, and nothing was restarted for nothing. */
	#checkHosts(): void {
		const {violations} = this.cluster;
		const pods = new Map(this.cluster.pods().map(pod => [pod.metadata.uid, pod]));
		for (const {name, host, starts, ends} of this.cluster.nodes) {
			for (const uid of host.pods.keys()) {
				if (pods.get(uid)?.spec?.nodeName !== name) violations.push(`${name} still holds ${uid}, which is not its pod`);
			}
			for (const pod of pods.values()) {
				if (pod.spec?.nodeName !== name) continue;
				const {uid} = pod.metadata;
				const running = host.find({uid, container: 'main'});
				if (running === undefined || running.exit !== undefined) violations.push(`pod ${pod.metadata.name} does not run on ${name}`);
				const called = 1 + (ends.get(`${uid}/main`) ?? 0);
				const started = starts.get(`${uid}/main`) ?? 0;
				if (started > called) violations.push(`pod ${pod.metadata.name} was started ${started} times, ${called} were called for`);
			}
		}
	}

	/** I7: when nothing changes any more, nothing is written any more. */
	#checkAtRest(): void {
		const before = this.cluster.control.system?.pipeline.meta.version;
		this.world.run(700_000);
		const after = this.cluster.control.system?.pipeline.meta.version;
		if (before !== after) this.cluster.violations.push(`an idle cluster wrote ${Number(after) - Number(before)} versions`);
	}
}

const isReady = (pod: Pod): boolean => pod.status?.conditions?.some(({type, status}) => type === 'Ready' && status === 'True') === true;

const replicaSet = (name: string, replicas: number): Omit<ApiObject, 'metadata'> & {metadata: JsonObject} => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name, namespace: 'default'},
	spec: {
		replicas,
		selector: {matchLabels: {set: name}},
		template: {
			metadata: {labels: {set: name}},
			spec: {containers: [{name: 'main', image: 'program', command: ['serve']}], terminationGracePeriodSeconds: 1},
		},
	},
});
