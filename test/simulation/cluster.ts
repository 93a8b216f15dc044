// A cluster of the virtual world: servers and nodes as processes that can be stopped, killed and started again, simulated hosts below the
// nodes that outlive their agents, a broker in the leader's process or elsewhere.

import {failure, type Outcome} from '../../api/errors.js';
import {controlSystem, collectionAddress, objectAddress} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {controlDesign} from '../../actors/control/design.js';
import type {ControlSystem} from '../../actors/control/start.js';
import type {NodeSystem} from '../../actors/node/start.js';
import {createSimulatedHost, createSimulatedNetwork, type SimulatedNetwork} from '../../agent/simulated/host.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {Clock} from '../../system/time/clock.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import {createLeaseStore, type LeaseStore} from '../../system/leadership/memory-election.js';
import type {SystemObserver} from '../../system/kernel/observer.js';
import {emptyDisk, type World} from '../../system/world/world.js';
import {WorldBroker} from '../../system/world/broker.js';
import {monotonicMs, worldDelayMs, type WorldHost} from '../../system/world/network.js';
import {wellStore} from '../../system/world/store.js';
import {Hearing} from './hearing.js';
import {Invariants} from './invariants.js';
import {boot, kill, newMachine, type Machine} from './machine.js';
import {startNode, type SimulatedNode} from './node.js';
import {Programs} from './programs.js';
import {startServer, type Server, type Term} from './server.js';

export type {SimulatedNode} from './node.js';
export type {Server} from './server.js';

export type ClusterOptions = {
	readonly nodes: number;
	readonly servers: number;
	readonly externalBroker: boolean;
	readonly localNodes: boolean;
	readonly watcher: boolean;
	/** No node may be given up, no program may end. */
	readonly keepsAll: boolean;
	readonly resync: boolean;
	readonly drifts: boolean;
	readonly checksums: boolean;
	readonly design?: SystemDesign | undefined;
	/** A bug planted into a control plane that has just been put together. */
	readonly sabotage?: ((control: ControlSystem) => void) | undefined;
	/** The same for a node. */
	readonly nodeSabotage?: ((node: NodeSystem) => void) | undefined;
	/** A leader that does not look whether it is one. */
	readonly goesOn: boolean;
	readonly note: (text: string) => void;
	readonly isTraced: boolean;
};

const restartMs = 1_000;

export class SimulatedCluster {
	readonly world: World;
	readonly servers: readonly Server[];
	readonly nodes: readonly SimulatedNode[];
	readonly invariants: Invariants;
	readonly programs: Programs;
	readonly hearing: Hearing;
	/** The code that servers run from their next start on. */
	design: SystemDesign;
	/** The code they had at first. */
	readonly olderDesign: SystemDesign;
	readonly note: (text: string) => void;
	readonly isTraced: boolean;
	readonly sabotage: ((control: ControlSystem) => void) | undefined;
	readonly nodeSabotage: ((node: NodeSystem) => void) | undefined;
	readonly goesOn: boolean;
	readonly checksums: boolean;
	readonly hasExternalBroker: boolean;
	readonly hasWatcher: boolean;
	readonly keepsAll: boolean;
	/** Names of the nodes that are alive by definition. */
	readonly localNodes: readonly string[];
	/** Whether control ever ran newer code. */
	wasUpgraded = false;
	/** Puts back what is damaged, by the disk. */
	readonly repairs = new Map<Machine<never>['disk'], () => void>();
	/** Whether a wall clock was ever set. */
	hasJumpedClocks = false;
	/** How many actors were made to crash. */
	crashesWanted = 0;
	readonly #leases: LeaseStore | undefined;
	readonly #brokerMachine: Machine<never>;
	externalBroker: WorldBroker | undefined;

	constructor(world: World, options: ClusterOptions) {
		this.world = world;
		this.note = options.note;
		this.isTraced = options.isTraced;
		this.sabotage = options.sabotage;
		this.nodeSabotage = options.nodeSabotage;
		this.goesOn = options.goesOn;
		this.checksums = options.checksums;
		this.hasExternalBroker = options.externalBroker;
		this.hasWatcher = options.watcher;
		this.keepsAll = options.keepsAll;
		// Nobody watches here by HTTP.
		const design = options.design ?? controlDesign;
		this.olderDesign = {...design, watched: false, resync: design.resync && options.resync};
		this.design = this.olderDesign;
		const disk = emptyDisk();
		const {drifts} = options;
		this.servers = Array.from({length: options.servers}, (_, index) =>
			newMachine<Term>(`server-${index + 1}`, this.#host(`server-${index + 1}`, drifts), disk),
		);
		const network = createSimulatedNetwork();
		this.nodes = Array.from({length: options.nodes}, (_, index) => this.#node(`node-${index + 1}`, drifts, network));
		this.localNodes = options.localNodes ? this.nodes.map(({name}) => name) : [];
		this.#brokerMachine = newMachine('broker', this.#host('broker', drifts));
		this.#leases = options.servers > 1 ? createLeaseStore(world.clock) : undefined;
		this.hearing = new Hearing(this);
		this.invariants = new Invariants(this);
		this.programs = new Programs(this, this.invariants);
	}

	/** Clocks of two hosts never agree, and may run apart as far as is promised to be borne. */
	#host(name: string, drifts: boolean): WorldHost {
		const {random} = this.world;
		return this.world.host(name, Math.round((random.next() - 0.5) * 1_200_000), drifts ? 1 + random.next() / 10 : 1);
	}

	#node(name: string, drifts: boolean, network: SimulatedNetwork): SimulatedNode {
		const machine = newMachine<NodeSystem>(name, this.#host(name, drifts));
		const {clock} = this.world;
		const hostClock: Clock = {
			nowMs: () => clock.nowMs() + machine.host.wallOffsetMs,
			monotonicMs: () => monotonicMs(machine.host, clock.monotonicMs()),
			after: (delayMs, callback) => clock.after(worldDelayMs(machine.host, delayMs), callback),
		};
		return {...machine, programs: createSimulatedHost(hostClock, network), told: new Map(), runtimeTrouble: undefined};
	}

	startAll(): void {
		this.startBroker();
		for (const server of this.servers) this.restart(server);
		for (const node of this.nodes) this.restart(node);
	}

	/** Of all that think that they lead, the newest. */
	leader(): Server | undefined {
		let leader: Server | undefined;
		for (const server of this.servers)
			if (server.system !== undefined && server.system.epoch > (leader?.system?.epoch ?? -1)) leader = server;
		return leader;
	}

	get control(): ControlSystem | undefined {
		return this.leader()?.system?.control;
	}

	/** What control's servers keep their objects on. */
	get disk(): Server['disk'] {
		const [first] = this.servers;
		if (first === undefined) throw new Error('a cluster without a server');
		return first.disk;
	}

	get isStoreWell(): boolean {
		return this.servers.every(({trouble}) => trouble === wellStore);
	}

	restart(machine: Server | SimulatedNode): void {
		if (machine.process !== undefined || !machine.hasPower) return;
		if ('programs' in machine) startNode(this, machine);
		else startServer(this, machine, this.#leases);
	}

	// ---- broker ------------------------------------------------------------------------------------------------------

	startBroker(): void {
		const machine = this.#brokerMachine;
		if (!this.hasExternalBroker || machine.process !== undefined) return;
		this.externalBroker = new WorldBroker(this.world, boot(machine, this.world).process);
		// What comes late to one that led before is not heard by who leads now.
		this.externalBroker.onDelivery = (client, from, host) =>
			void (client === controlSystem && this.leader()?.host === host && this.hearing.onPacket(from));
	}

	stopBroker(): void {
		kill(this.#brokerMachine);
		this.externalBroker = undefined;
	}

	/** What a server hears counts while it leads. */
	lookOn(broker: WorldBroker, server: Server): void {
		broker.onPacket = login => void (this.leader() === server && this.hearing.onPacket(login));
	}

	/** Whom a client reaches: a standby takes nobody. One server is tried after another. */
	dialler(): () => WorldBroker | undefined {
		let tries = 0;
		return () => {
			if (this.hasExternalBroker) return this.externalBroker;
			const server = this.servers[tries++ % this.servers.length];
			return server?.system?.broker;
		};
	}

	// ---- ends --------------------------------------------------------------------------------------------------------

	/** The power is gone: nothing says good-bye, not even the kernel. */
	powerOff(node: SimulatedNode): void {
		node.hasPower = false;
		for (const host of this.hosts()) {
			this.world.network.cut(node.host, host);
			this.world.network.cut(host, node.host);
		}
		kill(node);
		this.programs.onReboot(node);
		node.programs.reboot();
	}

	powerOn(node: SimulatedNode): void {
		if (node.hasPower) return;
		node.hasPower = true;
		for (const host of this.hosts()) {
			this.world.network.mend(node.host, host);
			this.world.network.mend(host, node.host);
		}
		this.restart(node);
	}

	/** Those that nodes talk to. */
	hosts(): readonly WorldHost[] {
		return [...this.servers.map(({host}) => host), this.#brokerMachine.host];
	}

	killed(machine: Server | SimulatedNode): void {
		this.note(`${machine.name} was killed after a commit`);
		this.#restartSoon(machine);
	}

	gaveUp(machine: Server | SimulatedNode, why: string): void {
		this.note(`${machine.name} gave up: ${why}`);
		kill(machine);
		this.#restartSoon(machine);
	}

	/** An actor that was made to crash again and again may take its process with it; nothing else may. */
	escalated(machine: Server | SimulatedNode, message: string): void {
		if (this.crashesWanted < 4) this.invariants.broken(`I7: ${machine.name} gave up: ${message}`);
		this.gaveUp(machine, message);
	}

	/** As whoever watches the process would. */
	#restartSoon(machine: Server | SimulatedNode): void {
		this.world.clock.after(restartMs, () => this.restart(machine));
	}

	/** Of every actor system. */
	readonly observer: SystemObserver = {
		lifecycle: event => {
			this.note(`${event.type} ${event.address} ${'error' in event ? event.error.message : ''}`);
			if (event.type === 'crashed') this.invariants.onCrash(event.address);
		},
		deadLetter: ({why, error, from}) => {
			if (why === 'notUnderstood') this.invariants.broken(`I7: ${error.message}, which ${from} sent`);
		},
	};

	/** One record of a store is not what was written, until it is put back. */
	damage(machine: Server | SimulatedNode, share: number, how: 'changed' | 'lost'): void {
		const {bodies} = machine.disk;
		const keys = [...bodies.keys()];
		const key = keys[Math.floor(share * keys.length)];
		const body = key === undefined ? undefined : bodies.get(key);
		if (key === undefined || body === undefined || this.repairs.has(machine.disk)) return;
		kill(machine);
		if (how === 'lost') bodies.delete(key);
		else bodies.set(key, () => flipped(body(), share));
		this.note(`${key} of ${machine.name} is damaged`);
		this.repairs.set(machine.disk, () => {
			this.repairs.delete(machine.disk);
			// A cache that was found damaged is set aside.
			if (machine.disk.meta !== undefined && !('programs' in machine)) bodies.set(key, body);
		});
		this.restart(machine);
	}

	// ---- clients -----------------------------------------------------------------------------------------------------

	/** Asks as a client would; a client of a control plane that is down gets no answer. */
	ask(to: string, message: Message, done: (outcome: Outcome<ApiObject>) => void, server = this.leader()): void {
		const {system: term, process} = server ?? {};
		if (term === undefined || process === undefined || server === undefined) return;
		process.enter(() =>
			term.control.system.ask(to, message, {deadlineMs: 5_000, cause: 'client'}, outcome => {
				// A process that is gone answers nobody; what it held in its hands is dropped with it.
				if (process.liveness() !== 'running') return;
				if (outcome.ok) this.invariants.onSaid(server, term.ofWorld, 'an answer');
				done(outcome as Outcome<ApiObject>);
			}),
		);
	}

	askRecord(key: string, message: Message, done: (outcome: Outcome<ApiObject>) => void): void {
		this.ask(objectAddress(key), message, done);
	}

	create(plural: string, object: unknown, done: (outcome: Outcome<ApiObject>) => void): void {
		const message: Message & {object: unknown} = {type: 'create', object};
		this.ask(collectionAddress(plural), message, done);
	}

	objects(plural: string): ApiObject[] {
		return [...(this.control?.index.list(plural) ?? [])];
	}

	pods(): Pod[] {
		return this.objects('pods') as Pod[];
	}

	crash(machine: Server | SimulatedNode, address: string): void {
		const system = 'programs' in machine ? machine.system?.system : machine.system?.control.system;
		this.crashesWanted++;
		system?.crash(address, failure('ERR_ACTOR_CRASHED', {address, message: 'the world wants it'}));
	}
}

/** A text with one character changed. */
function flipped(text: string, share: number): string {
	const at = Math.floor(share * text.length);
	return `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
}
