// A cluster in one process, without its doors: the control system and the node systems, their stores and runtimes.

import path from 'node:path';
import {AppError, type Outcome} from '../api/errors.js';
import {controlSystem, vaultStoreKey} from '../api/keys.js';
import type {Labels} from '../api/object.js';
import {openControl, type Control} from '../actors/control/start.js';
import {openNode, type Node} from '../actors/node/start.js';
import type {Runtime} from '../actors/node/runtime-port.js';
import type {ControlPlane} from '../server/control-plane.js';
import type {Clock} from '../system/clock.js';
import {createMemoryNetwork} from '../system/memory-link.js';
import {createMemoryStore} from '../system/memory-store.js';
import {createNactExecutor} from '../system/nact-executor.js';
import type {Change} from '../system/object-index.js';
import type {SystemDesign} from '../system/durable-system.js';
import type {ObjectEvent} from '../system/event-log.js';
import type {LifecycleEvent, SystemObserver} from '../system/observer.js';
import {systemRandom} from '../system/random.js';
import type {StoreDriver} from '../system/store.js';
import type {Log} from './log.js';
import type {UpOptions} from './up-options.js';

export type ClusterOptions = Pick<UpOptions, 'store' | 'node'> & {
	/** Where stores are kept. */
	readonly data: string;
	readonly clock: Clock;
	readonly log: Log;
	readonly version: string;
	/** Makes the runtime of this machine's node. Called once the stores are ours, so that no two work in one directory. */
	readonly openRuntime: () => Promise<Runtime>;
	/** Runtimes of nodes that only pretend, by node name; none of their state is kept. */
	readonly simulated: ReadonlyMap<string, Runtime>;
	readonly labels: Labels;
	readonly onChange: (change: Change) => void;
	readonly onEvent: (key: string, event: ObjectEvent) => void;
	readonly onLifecycle: (event: LifecycleEvent) => void;
	/** The control system's design, for tests that plant a bug in it. */
	readonly design?: SystemDesign;
	/** The process cannot go on: what failed for good. */
	readonly onFatal: (message: string) => void;
};

export type Cluster = {
	readonly control: Control;
	readonly controlPlane: ControlPlane;
	/** Sealed values in the store. */
	readonly kept: {readonly get: (name: string) => string | undefined; readonly put: (name: string, value: string) => Promise<void>};
	/** Starts the trees: control first, then the nodes, which adopt what runs. */
	readonly begin: () => void;
	/** Stops the trees and closes the stores; containers run on. */
	readonly stop: () => Promise<void>;
};

/** Opens stores and loads everything. Throws an AppError that says what is wrong; then nothing is left open. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
	const {clock, log} = options;
	const executor = createNactExecutor(clock);
	const network = createMemoryNetwork({defer: executor.defer});
	const vault = new Map<string, string>();
	const drivers: StoreDriver[] = [];
	const openDriver = async (name: string): Promise<StoreDriver> => {
		const driver = await driverFor(options, name, executor.defer);
		drivers.push(driver);
		return driver;
	};
	const common = {
		executor,
		clock,
		random: systemRandom,
		observer: observerOf(options),
		onEscalation: (error: {message: string}) => options.onFatal(`the actor system failed for good: ${error.message}`),
		onFenced: (message: string) => options.onFatal(`the store is lost: ${message}`),
		measure: false,
	};
	const runtimes = [...options.simulated.values()];
	const closeAll = async (): Promise<void> => {
		await Promise.all(runtimes.map(runtime => runtime.close()));
		await Promise.all(drivers.map(driver => driver.close()));
		executor.close();
	};
	try {
		const control = await opened<Control>(async done =>
			openControl(
				{
					...common,
					driver: await openDriver(controlSystem),
					link: network.link(controlSystem),
					boot: systemRandom.uuid(),
					version: options.version,
					onChange: options.onChange,
					onEvent: options.onEvent,
					onRecord: (key, body) => vault.set(key, body),
					...(options.design === undefined ? {} : {design: options.design}),
				},
				done,
			),
		);
		const nodes: Node[] = [];
		const ownDriver = await openDriver('node');
		const ownRuntime = await options.openRuntime();
		runtimes.push(ownRuntime);
		for (const [name, runtime] of [[options.node, ownRuntime] as const, ...options.simulated]) {
			const driver = name === options.node ? ownDriver : createMemoryStore(executor.defer);
			const place = {name, link: network.link(name), boot: systemRandom.uuid(), driver, runtime};
			nodes.push(
				await opened<Node>(done => openNode({...common, ...place, labels: {...options.labels, 'kubernetes.io/hostname': name}}, done)),
			);
		}
		return {
			control,
			controlPlane: controlPlaneOf(control, nodes, options),
			kept: keptIn(control, vault),
			begin() {
				control.begin();
				for (const node of nodes) node.begin();
			},
			async stop() {
				await stopped(control);
				await Promise.all(nodes.map(stopped));
				await Promise.all([control.bus.close(), ...nodes.map(node => node.bus.close())]);
				await closeAll();
				log.info('the cluster has stopped');
			},
		};
	} catch (error) {
		await closeAll();
		throw error;
	}
}

const stopped = (system: Pick<Control, 'stop'>): Promise<void> => new Promise(resolve => system.stop(resolve));

function opened<Value>(open: (done: (outcome: Outcome<Value>) => void) => void | Promise<void>): Promise<Value> {
	return new Promise((resolve, reject) => {
		const settle = (outcome: Outcome<Value>): void => {
			if (outcome.ok) resolve(outcome.value);
			else reject(AppError.of(outcome.error));
		};
		Promise.resolve(open(settle)).catch(reject);
	});
}

async function driverFor({store, data}: ClusterOptions, name: string, defer: (callback: () => void) => void): Promise<StoreDriver> {
	if (store === 'memory') return createMemoryStore(defer);
	const {openLevelStore} = await import('../system/level-store.js');
	return openLevelStore(path.join(data, name));
}

function observerOf({log, onLifecycle}: ClusterOptions): SystemObserver {
	return {
		lifecycle(event) {
			const level = event.type === 'restarted' || event.type === 'unparked' ? 'info' : 'error';
			log[level](event, `actor ${event.address} ${event.type}`);
			onLifecycle(event);
		},
		deadLetter: letter => log.warn(letter, `a "${letter.messageType}" for ${letter.to} was not delivered: ${letter.why}`),
		slowStep: step => log.warn(step, `a step of ${step.address} took ${Math.round(step.ms)} ms`),
	};
}

function keptIn({pipeline}: Control, records: Map<string, string>): Cluster['kept'] {
	return {
		get: name => records.get(vaultStoreKey(name)),
		put: (name, value) =>
			new Promise((resolve, reject) => {
				pipeline.put(
					vaultStoreKey(name),
					() => value,
					outcome => {
						if (!outcome.ok) {
							reject(AppError.of(outcome.error));
							return;
						}
						records.set(vaultStoreKey(name), value);
						resolve();
					},
				);
			}),
	};
}

function controlPlaneOf(control: Control, nodes: readonly Node[], {clock}: ClusterOptions): ControlPlane {
	const {system, index, ring, events, journal, pipeline} = control;
	const systems = [system, ...nodes.map(node => node.system)];
	return {
		index,
		watches: ring,
		epoch: () => pipeline.epoch(),
		nowMs: clock.nowMs,
		ask: <Value>(to: string, message: Parameters<typeof system.ask>[1], options: {deadlineMs: number; cause: string}) =>
			new Promise<Outcome<Value>>(resolve => system.ask(to, message, options, outcome => resolve(outcome as Outcome<Value>))),
		eventsOf: key => events.of(key),
		eventKeys: () => events.keys(),
		journalOf: key => journal.of(key),
		trees: () => Promise.resolve(systems.map(each => ({system: each.name, tree: each.tree(), problem: undefined}))),
		counters: () => ({
			...Object.fromEntries(systems.map(each => [each.name, {...each.counters, actors: each.size}])),
			store: {waiting: pipeline.waiting(), epoch: pipeline.epoch(), version: pipeline.meta.version},
			bus: {...control.bus.counters},
		}),
	};
}
