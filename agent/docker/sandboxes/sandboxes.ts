// The sandboxes of a node on Docker: a folder per pod with a small file that says whose it is and which infra container it has.
//
// The file says which infra container it is before that is used, so that a later agent takes up what is there and nothing is made twice.

import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import type {RuntimeEvent, Sandbox, SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {valueOr} from '../../../api/value-or.js';
import {explained} from '../../os/explained.js';
import {foldersIn} from '../../os/folders.js';
import {inspect, listOurs, remove, removeAll, start, type Listed} from '../engine/calls.js';
import {podNamesOf, type PodNames} from '../../pod-network/pod-names.js';
import type {PodNetwork} from '../../pod-network/pod-network.js';
import type {EngineEvent} from '../engine/connection.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {infraName, labels} from '../engine/names.js';
import type {InfraImage} from '../programs/infra-image.js';
import {readRecord, writeRecordSynced} from '../files.js';
import {addressOf, createInfra} from './infra.js';
import {fitsWarm, infraOptions, type RoutedNames} from './infra-options.js';
import type {WarmPool} from './warm-pool.js';
import {runs, writeNames, type WarmSandbox} from './warm-sandbox.js';

export type Infra = {
	readonly id: string;
	/** Undefined: it was made, and nobody has heard that it started. */
	readonly podIP: string | undefined;
	/** It was made before its pod was known: its labels are of none, and containers in it are to be given the pod's host name. */
	readonly wasWarm: boolean;
};

export type SandboxRecord = {
	readonly uid: string;
	readonly namespace: string;
	readonly name: string;
	readonly spec: SandboxSpec;
	/** Of the pod network, kept for the pod's life; undefined: the Engine gives it one each time, or it has its host's network. */
	readonly address: string | undefined;
	/** Undefined: none was made yet. */
	readonly infra: Infra | undefined;
	/** Set once it was made anew; see the port's `Sandbox`. */
	readonly firstAttempts: Sandbox['firstAttempts'];
};

/** What a sandbox has to know of the containers in it. */
export type Inmate = {readonly name: string; readonly runs: boolean; readonly highest: number};

export type Sandboxes = {
	/** The sandbox there is, or a new one; see the port for one whose infra container has died. Rejects with EngineErrors. */
	readonly ensure: (spec: SandboxSpec) => Promise<Sandbox>;
	readonly find: (uid: string) => SandboxRecord | undefined;
	/** The infra container of a pod, as long as it runs. */
	readonly infraOf: (uid: string) => Infra | undefined;
	readonly list: () => readonly string[];
	readonly folderOf: (uid: string) => string;
	/** Takes up what runs; tells of those that died. Answers with the infra containers that are of no use. */
	readonly compare: (listed: readonly Listed[]) => readonly string[];
	readonly hear: (event: EngineEvent) => void;
	/** Removes all containers of a pod, whoever made them. Rejects with EngineErrors. */
	readonly removeContainers: (uid: string) => Promise<void>;
	/** The folder is gone by now. */
	readonly forget: (uid: string) => void;
};

/** Runners of functions, each of which waits in a sandbox of its own. */
export type SandboxedRunners = {
	/** The sandbox of one that waits, and is that pod's from now on; undefined: there is none. */
	readonly take: (uid: string, wish: NonNullable<SandboxSpec['runner']>) => WarmSandbox | undefined;
	/** Removes the containers that were given to a pod, whichever agent did that. Rejects with EngineErrors. */
	readonly drop: (uid: string) => Promise<void>;
	/** Whether that container, of a sandbox or of a runner, waits or was given to a pod. */
	readonly has: (id: string, name: string) => boolean;
	/** A container has died. */
	readonly hear: (id: string) => void;
};

export type SandboxesOptions = {
	readonly directory: string;
	readonly engine: Engine;
	readonly owner: string;
	readonly hostIP: string;
	readonly infraImage: InfraImage;
	readonly warm: WarmPool;
	/** Their sandboxes are taken first, by pods that are such instances. */
	readonly runners: SandboxedRunners;
	/** Undefined: pods have the Engine's network. */
	readonly network: PodNetwork | undefined;
	readonly cgroupParentOf: (uid: string) => string | undefined;
	readonly inmatesOf: (uid: string) => readonly Inmate[];
	/** Makes and starts no more than so many at a time. */
	readonly inLane: <Value>(work: () => Promise<Value>) => Promise<Value>;
	readonly tell: (event: RuntimeEvent) => void;
	readonly onWarning: (message: string) => void;
};

const sandboxFile = 'sandbox.json';

type State = SandboxesOptions & {
	readonly known: Map<string, SandboxRecord>;
	/** Pods whose infra container runs. */
	readonly alive: Set<string>;
	/** Pods of which one is made just now. */
	readonly making: Set<string>;
	/** Infra containers whose end was told. */
	readonly told: Set<string>;
};

/** Reads what there is. Throws errno exceptions. */
export function openSandboxes(options: SandboxesOptions): Sandboxes {
	const state: State = {...options, known: new Map(), alive: new Set(), making: new Set(), told: new Set()};
	const folderOf = (uid: string): string => path.join(options.directory, uid);
	for (const uid of foldersIn(options.directory)) {
		const record = readSandbox(folderOf(uid), uid);
		if (record?.address !== undefined) options.network?.adopt(routedPodOf(record.spec, record.address));
		if (record !== undefined) state.known.set(uid, record);
		else options.onWarning(`the sandbox "${folderOf(uid)}" has no readable ${sandboxFile}; it is made anew when it is used`);
	}
	return {
		ensure: spec => ensure(state, spec),
		find: uid => state.known.get(uid),
		infraOf: uid => (state.alive.has(uid) ? state.known.get(uid)?.infra : undefined),
		list: () => foldersIn(options.directory),
		folderOf,
		compare: listed => compare(state, listed),
		hear: event => hear(state, event),
		removeContainers: uid => removeContainers(state, uid),
		forget(uid) {
			const {infra, address} = state.known.get(uid) ?? {};
			state.told.delete(infra?.id ?? '');
			if (address !== undefined) options.network?.free(address);
			state.known.delete(uid);
			state.alive.delete(uid);
		},
	};
}

/** What the file of one sandbox says; undefined when it is missing or damaged. */
export function readSandbox(folder: string, uid: string): SandboxRecord | undefined {
	const {spec, infra, address: said, firstAttempts} = readRecord(path.join(folder, sandboxFile));
	const {namespace, name} = Object(spec) as Record<string, unknown>;
	const {id, podIP, wasWarm} = Object(infra) as Record<string, unknown>;
	if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
	const address = typeof said === 'string' ? said : undefined;
	const known = typeof id === 'string' ? {id, podIP: typeof podIP === 'string' ? podIP : undefined, wasWarm: wasWarm === true} : undefined;
	return {uid, namespace, name, spec: spec as SandboxSpec, address, infra: known, firstAttempts: firstAttempts as Sandbox['firstAttempts']};
}

function write(state: State, record: Pick<SandboxRecord, 'spec' | 'address' | 'infra' | 'firstAttempts'>): void {
	const {spec, address, infra, firstAttempts} = record;
	const {uid, namespace, name} = spec;
	const folder = path.join(state.directory, uid);
	mkdirSync(folder, {recursive: true, mode: 0o700});
	writeRecordSynced(path.join(folder, sandboxFile), {spec, address, infra, firstAttempts});
	state.known.set(uid, {uid, namespace, name, spec, address, infra, firstAttempts});
}

async function ensure(state: State, spec: SandboxSpec): Promise<Sandbox> {
	const {hostIP, known, alive, inmatesOf} = state;
	const {uid} = spec;
	const record = known.get(uid);
	// In its host's network it has whatever address that has now.
	const podIP = record?.infra?.podIP !== undefined && spec.hostNetwork ? hostIP : record?.infra?.podIP;
	if (record === undefined || podIP === undefined) return make(state, spec, record?.firstAttempts);
	const isRouted = record.address !== undefined;
	if (alive.has(uid)) {
		if (isRouted && record.infra !== undefined) await connect(state, spec, record.address, record.infra.id);
		return sandboxOf(podIP, hostIP, isRouted, record.firstAttempts);
	}
	const inmates = inmatesOf(uid);
	if (inmates.some(({runs}) => runs)) return {...sandboxOf(podIP, hostIP, isRouted, record.firstAttempts), isLost: true};
	return make(state, spec, Object.fromEntries(inmates.map(({name, highest}) => [name, highest + 1])));
}

const sandboxOf = (podIP: string, hostIP: string, isRouted: boolean, firstAttempts: Sandbox['firstAttempts']): Sandbox => ({
	podIP,
	hostIP,
	...(isRouted ? {isRouted} : {}),
	...(firstAttempts === undefined ? {} : {firstAttempts}),
});

async function make(state: State, spec: SandboxSpec, firstAttempts: Sandbox['firstAttempts']): Promise<Sandbox> {
	const {owner, cgroupParentOf, inLane, hostIP, making, told, known, alive} = state;
	const {uid} = spec;
	let address: string | undefined;
	making.add(uid);
	try {
		// What was joined to the one before has no network any more; also where nobody knows of one, but a folder is there.
		if (existsSync(path.join(state.directory, uid))) await removeContainers(state, uid);
		told.delete(known.get(uid)?.infra?.id ?? '');
		address = await addressFor(state, spec);
		const names = namesFor(state, spec, address !== undefined);
		const warm = takeWarm(state, spec, {address, names}, firstAttempts);
		if (warm?.podIP !== undefined) return sandboxOf(warm.podIP, hostIP, false, firstAttempts);
		if (warm !== undefined && address !== undefined) return await connectWarm(state, spec, address, warm, firstAttempts);
		write(state, {spec, address, infra: undefined, firstAttempts});
		return await inLane(async () => {
			const id = await createInfra(state, image => infraOptions(spec, {owner, image, address, names, cgroupParent: cgroupParentOf(uid)}));
			write(state, {spec, address, infra: {id, podIP: undefined, wasWarm: false}, firstAttempts});
			const podIP = await startInfra(state, spec, address, id);
			write(state, {spec, address, infra: {id, podIP, wasWarm: false}, firstAttempts});
			alive.add(uid);
			return sandboxOf(podIP, hostIP, address !== undefined, firstAttempts);
		});
	} finally {
		making.delete(uid);
		// It was not written down whose it is.
		if (address !== undefined && known.get(uid)?.address !== address) state.network?.free(address);
	}
}

/** The one it has, or a new one of the pod network. Undefined: it has none of that. Rejects with Errors where none is left. */
async function addressFor({known, network}: State, {uid, hostNetwork}: SandboxSpec): Promise<string | undefined> {
	if (hostNetwork || network === undefined) return undefined;
	return known.get(uid)?.address ?? (network.isRouted ? network.take() : undefined);
}

/** Undefined: whom the Engine says. The Engine's own bridge leads to no resolver of the node. */
function namesFor({network}: State, spec: SandboxSpec, isRouted: boolean): PodNames | undefined {
	const resolver = isRouted ? network?.resolver('routed') : spec.hostNetwork ? network?.resolver('host') : undefined;
	const host = valueOr('', () => readFileSync('/etc/resolv.conf', 'utf8'));
	return podNamesOf({...spec, seesLoopback: spec.hostNetwork, resolver}, host);
}

const routedPodOf = ({uid, hostPorts}: SandboxSpec, address: string) => ({uid, address, hostPorts});

/** Its infra container gets the network of its pod, or has it. Rejects with EngineErrors and Errors. */
async function connect({engine, network}: State, spec: SandboxSpec, address: string, id: string): Promise<void> {
	const {State: process} = await inspect(engine, id);
	if (!process.Running || process.Pid === 0) throw new EngineError('refused', 'the infra container has ended');
	if (network === undefined) throw new Error('its pod has a network of its own, and this agent makes none');
	await network.ensure(routedPodOf(spec, address), {pid: process.Pid});
}

type Place = {readonly address: string | undefined; readonly names: PodNames | undefined};

/**
 * One that was ready and is the pod's now; undefined: a fresh one is to be made. All in one turn, so whatever becomes of it is heard when it is known
 * whose it is; and named before that is written down, so one that is written down can be used. Where it gets a network of the pod's own it is not used
 * before it has that.
 */
function takeWarm(state: State, spec: SandboxSpec, place: Place, firstAttempts: Sandbox['firstAttempts']): WarmSandbox | undefined {
	const {warm: pool, runners, engine, alive, network, onWarning} = state;
	const routed = routedNamesOf(place);
	const isOfKind = network?.isRouted === true ? routed !== undefined : place.address === undefined && place.names === undefined;
	if (!isOfKind || !fitsWarm(spec, routed !== undefined)) return undefined;
	const warm = (spec.runner === undefined ? undefined : runners.take(spec.uid, spec.runner)) ?? pool.take();
	if (warm === undefined) return undefined;
	const {id, podIP} = warm;
	try {
		writeNames(warm, spec, routed);
		write(state, {spec, address: routed?.address, infra: {id, podIP, wasWarm: true}, firstAttempts});
		if (podIP !== undefined) alive.add(spec.uid);
		return warm;
	} catch (error) {
		onWarning(`a sandbox that was made in advance cannot be used: ${explained(error)}`);
		// Where the Engine does not do it now, it is of nobody when the Engine is compared with.
		runners
			.drop(spec.uid)
			.then(() => remove(engine, id))
			.catch(() => undefined);
		return undefined;
	}
}

/** Undefined: it is not of the pod network, or the Engine would take something of the host's names for it. */
const routedNamesOf = ({address, names}: Place): RoutedNames | undefined =>
	address === undefined || names === undefined || names.nameservers.length === 0 ? undefined : {address, names};

/** Gives it the network of its pod. Where that fails it stays the pod's, which has another one when it is asked for again. Rejects with Errors. */
async function connectWarm(
	state: State,
	spec: SandboxSpec,
	address: string,
	warm: WarmSandbox,
	firstAttempts: Sandbox['firstAttempts'],
): Promise<Sandbox> {
	const {network, inLane, alive, hostIP} = state;
	const {id, pid, network: inode} = warm;
	await inLane(async () => network?.ensure(routedPodOf(spec, address), {pid, inode}));
	// Its end is heard of after this turn, if it has not come by now.
	if (!runs(warm)) throw new EngineError('refused', 'the infra container has ended');
	write(state, {spec, address, infra: {id, podIP: address, wasWarm: true}, firstAttempts});
	alive.add(spec.uid);
	return sandboxOf(address, hostIP, true, firstAttempts);
}

/** Its address. One that does not start is removed: nothing is known to hold a port of the host then. */
async function startInfra(state: State, spec: SandboxSpec, address: string | undefined, id: string): Promise<string> {
	const {engine, hostIP} = state;
	const {hostNetwork} = spec;
	try {
		await start(engine, id);
		if (address !== undefined) {
			await connect(state, spec, address, id);
			return address;
		}
		const podIP = hostNetwork ? hostIP : addressOf(await inspect(engine, id));
		if (podIP === undefined) throw new EngineError('refused', 'the infra container has no address, or has ended');
		return podIP;
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'refused') await remove(engine, id);
		throw error;
	}
}

async function removeContainers({engine, owner, alive, known, runners}: State, uid: string): Promise<void> {
	alive.delete(uid);
	const infra = known.get(uid)?.infra;
	await runners.drop(uid);
	await removeAll(engine, await listOurs(engine, owner, uid));
	// Its labels are of no pod.
	if (infra?.wasWarm === true) await remove(engine, infra.id);
}

function compare(state: State, listed: readonly Listed[]): readonly string[] {
	const infras = listed.filter(({Labels}) => Labels[labels.container] === infraName);
	const running = new Set(infras.filter(each => each.State === 'running').map(({Id}) => Id));
	state.warm.compare(running);
	for (const {uid, infra} of state.known.values()) {
		if (state.making.has(uid)) continue;
		if (infra?.podIP !== undefined && running.has(infra.id)) state.alive.add(uid);
		else if (infra?.podIP !== undefined) lose(state, uid);
	}
	const used = new Set([...state.known.values()].map(({infra}) => infra?.id));
	const isOfUse = ({Id, Names, Labels}: Listed): boolean =>
		used.has(Id) ||
		state.making.has(Labels[labels.podUid] ?? '') ||
		state.warm.has(Id, Names[0] ?? '') ||
		state.runners.has(Id, Names[0] ?? '');
	return infras.filter(each => !isOfUse(each)).map(({Id}) => Id);
}

function hear(state: State, {action, id, labels: said}: EngineEvent): void {
	if (action !== 'die' || said[labels.container] !== infraName) return;
	state.warm.hear(id);
	state.runners.hear(id);
	for (const {uid, infra} of state.known.values()) if (infra?.id === id && state.alive.has(uid)) lose(state, uid);
}

/** Told once by each agent that finds it so, until it is made anew. */
function lose(state: State, uid: string): void {
	state.alive.delete(uid);
	const record = state.known.get(uid);
	if (record?.infra === undefined || state.told.has(record.infra.id)) return;
	state.told.add(record.infra.id);
	state.tell({type: 'sandboxLost', uid, namespace: record.namespace, podName: record.name});
}
