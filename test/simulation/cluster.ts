// A cluster of the virtual world: control and nodes as processes that can be killed and started again, simulated hosts below
// them that outlive their agents, and clients that remember what was acknowledged.

import type {Outcome} from '../../api/errors.js';
import {objectAddress, collectionAddress} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import {controlDesign} from '../../actors/control/design.js';
import {openControl, type Control} from '../../actors/control/start.js';
import {openNode, type Node} from '../../actors/node/start.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {createSimulatedHost, createSimulatedNetwork, type SimulatedHost} from '../../agent/simulated/host.js';
import type {Message} from '../../system/behavior.js';
import type {SystemDesign} from '../../system/durable-system.js';
import type {MemoryStoreData} from '../../system/memory-store.js';
import type {Change} from '../../system/object-index.js';
import type {SystemObserver} from '../../system/observer.js';
import {emptyDisk, type World, type WorldProcess} from '../../system/world.js';

/** One program on one host of the world. */
type Machine<System> = {
	readonly name: string;
	readonly disk: MemoryStoreData;
	process: WorldProcess | undefined;
	system: System | undefined;
};

export type SimulatedNode = Machine<Node> & {
	readonly host: SimulatedHost;
	/** Starts of each container by this host, to find those that nothing called for. */
	readonly starts: Map<string, number>;
	/** Ends that the world brought about. */
	readonly ends: Map<string, number>;
};

export type SimulationOptions = {
	readonly nodes: number;
	readonly design?: SystemDesign;
	readonly observer?: SystemObserver;
};

export class SimulatedCluster {
	readonly world: World;
	readonly control: Machine<Control> = {name: 'control', disk: emptyDisk(), process: undefined, system: undefined};
	readonly nodes: readonly SimulatedNode[];
	/** Broken promises, as they are seen. */
	readonly violations: string[] = [];
	readonly #options: SimulationOptions;
	#lastVersion = 0;
	/** The newest change of each plural and namespace in this life of control, for the chain of `prev`. */
	#lastInScope = new Map<string, number>();
	boots = 0;
	/** A ReplicaSet's actor that crashed has forgotten what it asked for, and may rightly ask again. */
	replicaSetsCrashed = false;
	readonly #mostReplicas = new Map<string, number>();

	constructor(world: World, options: SimulationOptions) {
		this.world = world;
		this.#options = options;
		const network = createSimulatedNetwork();
		this.nodes = Array.from({length: options.nodes}, (_, index) => ({
			name: `node-${index + 1}`,
			disk: emptyDisk(),
			process: undefined,
			system: undefined,
			host: createSimulatedHost(world.clock, network),
			starts: new Map<string, number>(),
			ends: new Map<string, number>(),
		}));
	}

	startAll(): void {
		this.startControl();
		for (const node of this.nodes) this.startNode(node);
	}

	startControl(): void {
		const machine = this.control;
		const process = this.world.process();
		machine.process = process;
		this.#lastInScope = new Map();
		openControl(
			{
				driver: process.store(machine.disk),
				executor: process.executor,
				clock: process.clock,
				random: process.random,
				link: process.link(machine.name),
				boot: this.#boot(machine.name),
				version: '0.0.0',
				measure: false,
				design: this.#options.design ?? controlDesign,
				...(this.#options.observer === undefined ? {} : {observer: this.#options.observer}),
				onFenced: () => this.#restartSoon(machine, () => this.startControl()),
				onChange: change => this.#watch(change),
				onEscalation: error => this.violations.push(`control gave up: ${error.message}`),
			},
			outcome => this.#started(machine, outcome, () => this.startControl()),
		);
	}

	startNode(node: SimulatedNode): void {
		const process = this.world.process();
		node.process = process;
		const runtime = createSimulatedRuntime({clock: process.clock, random: process.random, host: counting(node), hostIP: node.name});
		openNode(
			{
				name: node.name,
				driver: process.store(node.disk),
				executor: process.executor,
				clock: process.clock,
				random: process.random,
				link: process.link(node.name),
				boot: this.#boot(node.name),
				labels: {},
				measure: false,
				runtime,
				...(this.#options.observer === undefined ? {} : {observer: this.#options.observer}),
				onFenced: () => this.#restartSoon(node, () => this.startNode(node)),
				onEscalation: error => this.violations.push(`${node.name} gave up: ${error.message}`),
			},
			outcome => this.#started(node, outcome, () => this.startNode(node)),
		);
	}

	/** SIGKILL: nothing is said, nothing is finished. */
	kill(machine: Machine<Control> | Machine<Node>): void {
		machine.system?.kill();
		machine.process?.kill();
		machine.system = undefined;
		machine.process = undefined;
	}

	/** Asks control as a client would; a client of a control plane that is down gets no answer. */
	ask(to: string, message: Message, done: (outcome: Outcome<ApiObject>) => void): void {
		this.control.system?.system.ask(to, message, {deadlineMs: 5_000, cause: 'client'}, outcome => done(outcome as Outcome<ApiObject>));
	}

	askRecord(key: string, message: Message, done: (outcome: Outcome<ApiObject>) => void): void {
		this.ask(objectAddress(key), message, done);
	}

	create(plural: string, object: unknown, done: (outcome: Outcome<ApiObject>) => void): void {
		const message: Message & {object: unknown} = {type: 'create', object};
		this.ask(collectionAddress(plural), message, done);
	}

	objects(plural: string): ApiObject[] {
		return [...(this.control.system?.index.list(plural) ?? [])];
	}

	pods(): Pod[] {
		return this.objects('pods') as Pod[];
	}

	#boot(name: string): string {
		this.boots++;
		return `${name}-boot-${this.boots}`;
	}

	#started<System extends Control | Node>(machine: Machine<System>, outcome: Outcome<System>, again: () => void): void {
		if (outcome.ok) {
			machine.system = outcome.value;
			outcome.value.begin();
		} else {
			this.#restartSoon(machine, again);
		}
	}

	/** As whoever watches the process would: it could not start, or lost its store. */
	#restartSoon<System extends Control | Node>(machine: Machine<System>, again: () => void): void {
		this.kill(machine);
		this.world.clock.after(1_000, () => {
			if (machine.process === undefined) again();
		});
	}

	/** What a watcher may rely on: versions rise, and each change names the one before it. */
	#watch(change: Change): void {
		const {key, version, previous} = change;
		this.#watchCount(change);
		if (version <= this.#lastVersion) this.violations.push(`version ${version} of ${key} after ${this.#lastVersion}`);
		this.#lastVersion = version;
		const scope = key.slice(0, key.lastIndexOf('/'));
		const last = this.#lastInScope.get(scope) ?? 0;
		if (previous !== last) this.violations.push(`${key}@${version} names ${previous} as the change before it, which was ${last}`);
		this.#lastInScope.set(scope, version);
	}

	/** No set ever has more pods than were once asked for: nothing is created twice. */
	#watchCount({key, before, after}: Change): void {
		const index = this.control.system?.index;
		if (key.startsWith('replicasets/') && after !== undefined) {
			const {metadata, spec} = after.object as ReplicaSet;
			this.#mostReplicas.set(metadata.uid, Math.max(this.#mostReplicas.get(metadata.uid) ?? 0, spec?.replicas ?? 1));
		}
		const owner = after?.object.metadata.ownerReferences?.[0]?.uid;
		if (!key.startsWith('pods/') || before !== undefined || owner === undefined || index === undefined || this.replicaSetsCrashed) return;
		const pods = [...index.byOwner(owner)].filter(({metadata}) => metadata.deletionTimestamp === undefined).length;
		const most = this.#mostReplicas.get(owner) ?? 0;
		if (pods > most) this.violations.push(`${key} is pod number ${pods} of a set that never wanted more than ${most}`);
	}
}

/** The same host, with every start written down. */
function counting({host, starts}: Pick<SimulatedNode, 'host' | 'starts'>): SimulatedHost {
	return {
		...host,
		start(spec, program, watcher) {
			const key = `${spec.id.uid}/${spec.id.container}`;
			starts.set(key, (starts.get(key) ?? 0) + 1);
			return host.start(spec, program, watcher);
		},
	};
}
