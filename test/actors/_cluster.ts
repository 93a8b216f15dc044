// The control system as it is, on a clock that only tests move, with nodes that are no more than what control hears of them.

import {detectorAddress} from '../../actors/addresses.js';
import {volumeKey} from '../../actors/config-references.js';
import {controlDesign} from '../../actors/control/design.js';
import type {SignsMessage} from '../../actors/control/nodes/detector.js';
import type {ControlRootInput} from '../../actors/control/root.js';
import type {RuntimeInfo} from '../../actors/protocol/runtime-info.js';
import {
	syncProtocol,
	type ConfigEntry,
	type Delta,
	type Hello,
	type Observed,
	type PodGone,
	type VolumeRemoval,
	type VolumeUsage,
} from '../../actors/protocol/sync-message.js';
import {failed, type Outcome} from '../../api/errors.js';
import {address, collectionAddress, controlSystem, objectAddress, objectKey} from '../../api/keys.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {Presence} from '../../api/presence.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {Clock} from '../../system/time/clock.js';
import {openDurableSystem, type DurableSystem} from '../../system/commit/durable-system.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {createMemoryStore, emptyMemoryStore} from '../../system/store/memory-store.js';
import {seededRandom} from '../../system/time/random.js';
import {createSequencer} from '../../system/world/sequencer.js';
import {aHello, aRuntimeInfo} from './_agent.js';

type Told = Message & {readonly [member: string]: unknown};

/** A node as control hears it: it takes what it is assigned, and reports that it runs. */
export class FakeNode {
	readonly name: string;
	/** What runs there, by key; the number is the pid, another one for each start. */
	readonly runs = new Map<string, {readonly uid: string; readonly version: string; readonly pid: number}>();
	/** Copies of what its pods name, and volumes that it has to remove. */
	readonly copies = new Map<string, ConfigEntry>();
	/** Nothing comes from it or reaches it. */
	cut = false;
	#session = '';
	hellos = 0;
	#reports = 0;
	static #pids = 100;
	readonly #send: (to: string, message: Told) => void;

	constructor(name: string, send: (to: string, message: Told) => void) {
		this.name = name;
		this.#send = (to, message) => {
			if (!this.cut) send(to, message);
		};
	}

	/** Says what it has, as after each connect. */
	hello(lineage = ''): void {
		this.#session = `${this.name}-${++this.hellos}`;
		const have = Object.fromEntries([...this.runs, ...this.copies].map(([key, {version}]) => [key, version]));
		const info = aRuntimeInfo({...abilitiesOf(this.name), localVolumes: '/srv/volumes'});
		const hello: Hello & Told = {
			...aHello({node: this.name, session: this.#session, have, lineage, epoch: 0, info}),
			protocol: syncProtocol,
		};
		this.#send(address(controlSystem, 'sync'), hello);
	}

	take(message: Message, lineage: string): void {
		if (this.cut) return;
		if (message.type === 'callHello') this.hello(lineage);
		if (message.type === 'delta') this.#taken(message as unknown as Delta);
	}

	#taken({session, number, entries, complete}: Delta): void {
		if (session !== this.#session) return;
		const sync = address(controlSystem, `sync/${this.name}`);
		this.#send(sync, {type: 'deltaTaken', session, number});
		for (const entry of entries) {
			const {key, version, assignment} = entry;
			if (assignment === undefined) {
				this.#copied(entry);
				continue;
			}
			const present = this.runs.get(key);
			if (assignment === null || assignment.deletionGraceSeconds !== undefined) {
				this.runs.delete(key);
				if (present !== undefined) this.#send(sync, {type: 'podGone', key, uid: present.uid} satisfies PodGone);
			} else if (present?.uid === assignment.uid) this.runs.set(key, {...present, version});
			else this.runs.set(key, {uid: assignment.uid, version, pid: ++FakeNode.#pids});
		}
		if (complete || entries.length > 0) this.report();
	}

	#copied(entry: ConfigEntry): void {
		if (entry.named === null) this.copies.delete(entry.key);
		else this.copies.set(entry.key, entry);
	}

	/** Says of the volumes that it has to remove that they are gone, or why not. */
	sayRemoved(problem?: string): void {
		for (const {key, named} of this.copies.values())
			if (named?.type === 'removal')
				this.#send(address(controlSystem, `sync/${this.name}`), {
					type: 'volumeRemoval',
					key,
					uid: named.uid,
					...(problem === undefined ? {} : {problem}),
				} satisfies VolumeRemoval);
	}

	/** Says how much of the disk a volume takes. */
	sayUsed(volume: string, usedBytes: number): void {
		const message: VolumeUsage & Told = {type: 'volumeUsage', key: volumeKey(volume), usedBytes};
		this.#send(address(controlSystem, `sync/${this.name}`), message);
	}

	report(): void {
		const status: PodStatus = {phase: 'Running', conditions: [{type: 'Ready', status: 'True'}]};
		const pods = [...this.runs].map(([key, {uid}]) => ({key, uid, status, events: [], cause: 'test'}));
		const message: Observed & Told = {type: 'observed', session: this.#session, number: ++this.#reports, pods};
		if (pods.length > 0) this.#send(address(controlSystem, `sync/${this.name}`), message);
	}
}

export type ClusterOptions = {readonly nodes?: readonly string[]; readonly localNodes?: readonly string[]};

/** What its nodes can do; the last of three mounts NFS, and runs pods of both classes. */
const abilitiesOf = (name: string): Pick<RuntimeInfo, 'features' | 'classes'> =>
	name === 'node-c' ? {features: ['claims', 'volumes', 'nfs'], classes: ['process', 'docker']} : {features: ['claims', 'volumes']};

export class FakeCluster {
	readonly time = new ManualClock();
	/** How far the wall clock is off. */
	wallOffsetMs = 0;
	canaryHeard = true;
	readonly nodes = new Map<string, FakeNode>();
	presences: (Presence & {readonly node: string})[] = [];
	/** Commits of this life, by key. */
	writes: string[] = [];
	readonly #data = emptyMemoryStore();
	readonly #random = seededRandom(1);
	readonly #sequencer = createSequencer(this.#random);
	readonly #localNodes: readonly string[];
	#lives = 0;
	#durable: DurableSystem | undefined;
	#lastSignsMs = 0;

	constructor({nodes = [], localNodes = []}: ClusterOptions = {}) {
		this.#localNodes = localNodes;
		this.start();
		for (const name of nodes) this.join(name);
		this.pass(2_000);
	}

	join(name: string): FakeNode {
		const node = new FakeNode(name, (to, message) => this.#system.tell(to, message, 'test'));
		this.nodes.set(name, node);
		node.hello();
		return node;
	}

	node(name: string): FakeNode {
		const node = this.nodes.get(name);
		if (node === undefined) throw new Error(`no node ${name}`);
		return node;
	}

	/** A node is reached again, on another connection, and says so. */
	heal(name: string): void {
		const node = this.node(name);
		node.cut = false;
		if (!this.presences.some(each => each.node === name))
			this.presences.push({node: name, state: 'online', boot: `boot-of-${name}`, connection: node.hellos});
		node.hello(this.#durable?.pipeline.meta.lineage ?? '');
		this.settle();
	}

	/** A leader takes over, the old one is gone with all it had in mind. */
	start(): void {
		this.#durable?.kill();
		const life = ++this.#lives;
		const clock: Clock = {nowMs: () => this.time.nowMs() + this.wallOffsetMs, monotonicMs: this.time.monotonicMs, after: this.time.after};
		openDurableSystem(
			{
				name: controlSystem,
				design: {...controlDesign, resync: false},
				inputOf: ({epoch, lineage}): ControlRootInput => ({epoch, lineage, version: '0.0.0', localNodes: this.#localNodes}),
				driver: createMemoryStore(this.#sequencer.defer, this.#data),
				executor: {...this.#sequencer, close: () => undefined},
				clock,
				random: this.#random,
				onFenced: () => undefined,
				onEscalation: error => {
					throw new Error(error.message);
				},
				onChange: ({key}) => {
					if (life === this.#lives) this.writes.push(key);
				},
				remote: (system, _to, {message}) =>
					this.#sequencer.defer(() => this.nodes.get(system)?.take(message, this.#durable?.pipeline.meta.lineage ?? '')),
			},
			outcome => {
				if (!outcome.ok) throw new Error(outcome.error.message);
				this.#durable = outcome.value;
				outcome.value.begin();
			},
		);
		this.settle();
	}

	/** Everything that can happen without time passing. */
	settle(): void {
		for (let turns = 0; this.#sequencer.runOne(); turns++) if (turns > 2_000_000) throw new Error('it does not come to rest');
	}

	/** Lets time pass with a reading every 250 ms. */
	pass(ms: number): void {
		const untilMs = this.time.monotonicMs() + ms;
		while (this.time.monotonicMs() < untilMs) {
			this.time.advance(Math.min(limits.signsMs, untilMs - this.time.monotonicMs()));
			this.settle();
			if (this.time.monotonicMs() - this.#lastSignsMs >= limits.signsMs) this.read();
		}
	}

	read(overrides: Partial<SignsMessage> = {}): void {
		const beats = [...this.nodes.values()].filter(({cut}) => !cut).map(({name}) => name);
		const atMs = this.time.monotonicMs();
		this.#lastSignsMs = atMs;
		const signs: SignsMessage = {
			type: 'signs',
			atMs,
			lagMs: 5,
			canaryHeard: this.canaryHeard,
			beats,
			packets: beats,
			presences: this.presences,
			...overrides,
		};
		this.presences = [];
		this.#system.tell(detectorAddress, signs, 'signs');
		this.settle();
	}

	/** Asks an actor of control; the time that it takes passes. */
	ask(to: string, message: Told): Outcome<unknown> {
		let answer: Outcome<unknown> | undefined;
		this.#system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, outcome => (answer = outcome));
		this.settle();
		return answer ?? failed('ERR_TIMEOUT', {address: to, deadlineMs: 0});
	}

	/** Tells an actor of control, and lets no more than so many steps follow. */
	tell(to: string, message: Told, steps: number): void {
		this.#system.tell(to, message, 'test');
		for (let step = 0; step < steps && this.#sequencer.runOne(); step++);
	}

	create(plural: string, object: unknown): void {
		const outcome = this.ask(collectionAddress(plural), {type: 'create', object});
		if (!outcome.ok) throw new Error(outcome.error.message);
	}

	tellRecord(key: string, message: Told): Outcome<unknown> {
		return this.ask(objectAddress(key), message);
	}

	/** What a silent node has from now on. */
	setGrace(grace: string): void {
		const outcome = this.tellRecord('clusterconfigs/_/cluster', {type: 'patch', patch: {spec: {nodes: {grace}}}});
		if (!outcome.ok) throw new Error(outcome.error.message);
	}

	list(plural: string): readonly ApiObject[] {
		return [...(this.#durable?.index.list(plural) ?? [])];
	}

	pod(name: string): Pod | undefined {
		return this.#durable?.index.get(objectKey('pods', 'default', name)) as Pod | undefined;
	}

	nodeObject(name: string): NodeObject {
		const node = this.#durable?.index.get(objectKey('nodes', undefined, name));
		if (node === undefined) throw new Error(`node ${name} is not registered`);
		return node as NodeObject;
	}

	/** Where pods are, by their name. */
	places(): Record<string, string> {
		return Object.fromEntries((this.list('pods') as readonly Pod[]).map(({metadata, spec}) => [metadata.name, spec?.nodeName ?? '']));
	}

	/** Status and reason of a node's readiness. */
	ready(name: string): string {
		const ready = this.nodeObject(name).status?.conditions?.find(({type}) => type === 'Ready');
		return `${ready?.status} ${ready?.reason}`;
	}

	reasons(key: string): string[] {
		return (this.#durable?.events.of(key) ?? []).map(({reason}) => reason);
	}

	/** How often an object has told an event. */
	timesTold(key: string, reason: string): number {
		return (this.#durable?.events.of(key) ?? []).filter(each => each.reason === reason).reduce((sum, {count}) => sum + count, 0);
	}

	get #system() {
		if (this.#durable === undefined) throw new Error('control does not run');
		return this.#durable.system;
	}
}
