// Control's end of node sync for one node: dispatches what the node does not have as it is, as far as the window goes, and takes what the
// node reports.
//
// It holds keys and versions, never bodies: what goes is read from the index when the window opens, so a slow node costs the
// leader nothing but keys, and always gets the newest.

import {address, objectAddress, objectKey, parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isExclusive} from '../../../api/exclusive.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {leasesPath, nodeKey, podKey, syncOfNode} from '../../addresses.js';
import type {LeasesRenewed, RenewLeases} from '../../protocol/lease-message.js';
import {isConfigKey, configKeysOf, volumeKey, volumes} from '../../config-references.js';
import {isCertificateKey, isNetworkKey, isPolicyKey} from '../../network-references.js';
import type {
	CallHello,
	Delta,
	DeltaEntry,
	DeltaTaken,
	Hello,
	Observed,
	ObservedTaken,
	PodGone,
	PodGoneTaken,
	VolumeRemoval,
	VolumeUsage,
} from '../../protocol/sync-message.js';
import {assignmentOf, assignmentVersion} from './assignment.js';
import {isGoneNode} from '../pods/eviction.js';
import {configEntryOf} from './config-entry.js';
import {networkEntryOf, networkKeys} from './network-entry.js';
import {policyEntryOf, policyKeys} from './policy-entry.js';
import type {NodeMessage} from '../nodes/node.js';
import type {PodMessage} from '../pods/pod.js';
import {onNode} from '../pods/pod-terms.js';
import {isToRemove, volumesOnNode, type VolumeMessage} from '../storage/volume.js';

export type NodeDispatcherInput = {
	readonly node: string;
	readonly epoch: number;
	readonly lineage: string;
	/** Of the store: nodes of these lineages follow this one. */
	readonly replaces?: readonly string[];
	readonly version: string;
};

export type NodeDispatcherMessage =
	| Hello
	| DeltaTaken
	| Observed
	| PodGone
	| VolumeRemoval
	| VolumeUsage
	| RenewLeases
	/** A pod that is, or was, this node's changed, or something that such a pod names. */
	| {readonly type: 'dirty'; readonly key: ObjectKey}
	| {readonly type: 'flush'}
	/** Its record was deleted. */
	| {readonly type: 'nodeRemoved'}
	| {readonly type: 'hearAgain'}
	| Reply<unknown, 'statusTaken'>
	| Reply<unknown, 'heardTaken'>
	| Reply<unknown, 'goneTaken'>;

type Outgoing = {readonly number: number; readonly bytes: number};

/** Statuses of one message up that are not committed yet. */
type Incoming = {readonly left: number; readonly failed: readonly ObjectKey[]};

export type NodeDispatcherState = NodeDispatcherInput & {
	/** Of the node's last hello; undefined until it says one. */
	readonly session: string | undefined;
	readonly hello: Hello | undefined;
	/** The hello that the node's record is just told of: a later one is told once that is done. */
	readonly hearing: Hello | undefined;
	/** What the node has, or will have once it took what is under way. */
	readonly sent: ReadonlyMap<ObjectKey, string>;
	readonly dirty: ReadonlySet<ObjectKey>;
	readonly outgoing: readonly Outgoing[];
	readonly deltas: number;
	/** The answer to the hello is not complete yet. */
	readonly greeting: boolean;
	readonly incoming: ReadonlyMap<number, Incoming>;
	/** The node was asked to say hello, since this actor knows nothing of it any more. */
	readonly called: boolean;
};

/** The version of what a node has from another cluster's life: never the one that is wanted. */
const foreign = 'foreign';

export const nodeDispatcher: Behavior<NodeDispatcherInput, NodeDispatcherState, NodeDispatcherMessage> = {
	kind: 'NodeDispatcher',
	init: (input, {nowMs}) =>
		next(
			{
				...input,
				session: undefined,
				hello: undefined,
				hearing: undefined,
				sent: new Map(),
				dirty: new Set(),
				outgoing: [],
				deltas: 0,
				greeting: false,
				incoming: new Map(),
				called: false,
			},
			// It begins for a hello, but after a crash there is none, and the node may say nothing before it is answered.
			[{type: 'wakeAt', name: 'begin', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'flush'}}],
		),
	receive(state, message, context) {
		if (state.session === undefined && message.type !== 'hello') return callNode(state);
		switch (message.type) {
			case 'hello':
				return greeted(state, message, context);
			case 'deltaTaken':
				return taken(state, message, context);
			case 'observed':
				return observed(state, message, context);
			case 'podGone':
				return podGone(state, message, context);
			case 'volumeRemoval':
				return next(state, removalTold(state, message));
			case 'volumeUsage':
				return next(state, usageTold(state, message, context));
			case 'renewLeases':
				return next(state, [renewal(state, message, context)]);
			case 'dirty':
				return next({...state, dirty: new Set([...state.dirty, message.key])}, [tell(context.self, {type: 'flush'})]);
			case 'flush':
				return flush(state, context);
			case 'nodeRemoved':
				return next(state, [callTo(state)]);
			case 'hearAgain':
				return hear(state);
			case 'statusTaken':
				return statusTaken(state, message);
			case 'heardTaken':
				return message.outcome.ok ? heard(state, context) : next({...state, hearing: undefined}, [hearLater(context)]);
			case 'goneTaken':
				return goneTaken(state, message, context);
		}
	},
	coalesce: coalesced,
	describe: ({session, sent, dirty, outgoing}) =>
		session === undefined ? 'not heard' : `${sent.size} objects, ${dirty.size} to send, ${outgoing.length} under way`,
};

/** Of what a node says only `deltaTaken` has to be heard each; there are not more of them than deltas under way. */
function coalesced(message: NodeDispatcherMessage): string | undefined {
	switch (message.type) {
		case 'dirty':
			return message.key;
		case 'podGone':
		case 'volumeRemoval':
			return `${message.type} ${message.key} ${message.uid}`;
		case 'volumeUsage':
			return `${message.type} ${message.key}`;
		case 'hello':
		case 'observed':
		case 'renewLeases':
		case 'flush':
			return message.type;
		default:
			return undefined;
	}
}

/** After a crash: what the node says now is about things forgotten, and so is what changes; its hello brings all of it. */
function callNode(state: NodeDispatcherState): Next<NodeDispatcherState> {
	return next({...state, called: true}, state.called ? [] : [callTo(state)]);
}

function callTo({node}: NodeDispatcherState): Effect {
	const call: CallHello = {type: 'callHello'};
	return tell(syncOfNode(node), call);
}

/**
 * Says which leases the node may go on holding: those of pods that are still its own, deleted ones until they are gone. From a node that
 * is lost its pods are being taken: it holds nothing until it is found again.
 */
function renewal({node}: NodeDispatcherState, {number, pods}: RenewLeases, {known}: Context): Effect {
	const uids = (isGoneNode(node, known) ? [] : pods)
		.filter(({key, uid}) => {
			const pod = known.get(key) as Pod | undefined;
			return pod?.metadata.uid === uid && pod.spec?.nodeName === node && isExclusive(pod.metadata) && !isOver(pod);
		})
		.map(({uid}) => uid);
	const message: LeasesRenewed = {type: 'leasesRenewed', number, uids};
	return tell(address(node, leasesPath), message);
}

// ---- down ----------------------------------------------------------------------------------------------------------------

/** Everything the node has otherwise than it should, or has and should not, is dirty. What it has of another lineage is never right. */
function greeted(state: NodeDispatcherState, hello: Hello, context: Context): Next<NodeDispatcherState> {
	const sameLineage = hello.lineage === state.lineage;
	const have = new Map(Object.entries(hello.have).map(([key, version]) => [key, sameLineage ? version : foreign]));
	const wanted = new Set([
		// Before the pods, whose programs may look for Services as soon as they begin.
		...networkOf(hello, context),
		...[...context.known.byTerm('pods', onNode(state.node))].flatMap(pod => keysOf(pod as Pod)),
		...removalsOn(state.node, context),
	]);
	const fresh: NodeDispatcherState = {
		...state,
		session: hello.session,
		hello,
		sent: have,
		dirty: new Set([...wanted, ...Object.keys(hello.have)]),
		outgoing: [],
		deltas: 0,
		greeting: true,
		incoming: new Map(),
	};
	const hearing = hear(fresh);
	const {state: flushed, effects} = flush(hearing.state, context);
	return next(flushed, [...hearing.effects, ...effects]);
}

/** What a node that serves traffic is to know; nothing for one of before, or one that serves none. */
const networkOf = (hello: Hello | undefined, {known}: Context): Iterable<ObjectKey> =>
	hello?.info.network === undefined
		? []
		: [...networkKeys(known, (plural, {metadata}) => objectKey(plural, metadata.namespace, metadata.name)), ...policyKeys(known)];

/** From here on its record says that it serves traffic, and each change is told; what came, changed or went since its hello may not have been. */
function heard({hearing, ...before}: NodeDispatcherState, context: Context): Next<NodeDispatcherState> {
	const state: NodeDispatcherState = {...before, hearing: undefined};
	if (hearing !== state.hello) return hear(state);
	const told = [...state.sent.keys()].filter(isNetworkKey);
	return flush({...state, dirty: new Set([...state.dirty, ...told, ...networkOf(state.hello, context)])}, context);
}

/** Volumes whose folders the node has to remove. */
const removalsOn = (node: string, {known}: Context): readonly ObjectKey[] =>
	([...known.byTerm(volumes, volumesOnNode(node))] as PersistentVolume[]).filter(isToRemove).map(({metadata}) => volumeKey(metadata.name));

/** A pod and, before it, what it names. */
const keysOf = ({metadata, spec}: Pod): ObjectKey[] => [
	...(spec === undefined ? [] : configKeysOf(spec, metadata.namespace ?? '')),
	podKey(metadata),
];

const heardId = 'heard';

/** One at a time: the outcome brings the newest hello here again, where that is another one. */
function hear(state: NodeDispatcherState): Next<NodeDispatcherState> {
	const {node, version, hello, hearing} = state;
	if (hello === undefined || hearing !== undefined) return next(state);
	const message: NodeMessage = {type: 'heard', info: hello.info, version};
	return next({...state, hearing: hello}, [{type: 'ask', to: objectAddress(nodeKey(node)), message, as: 'heardTaken', id: heardId}]);
}

/** The record may still be on its way, or the store in trouble. */
const hearLater = ({nowMs}: Context): Effect => ({
	type: 'wakeAt',
	name: 'hearAgain',
	atMs: nowMs + limits.actorBackoffFirstMs,
	message: {type: 'hearAgain'},
});

/** Sends what is dirty, as far as the window goes. */
function flush(state: NodeDispatcherState, {known}: Context): Next<NodeDispatcherState> {
	if (state.session === undefined || (state.dirty.size === 0 && !state.greeting)) return next(state);
	const sent = new Map(state.sent);
	const rest = new Set(state.dirty);
	const outgoing = [...state.outgoing];
	const effects: Effect[] = [];
	let {deltas, greeting} = state;
	let room = limits.nodeSyncWindowBytes - outgoing.reduce((sum, {bytes}) => sum + bytes, 0);
	while ((rest.size > 0 || greeting) && outgoing.length < limits.nodeSyncDeltas && (room > 0 || outgoing.length === 0)) {
		const {entries, bytes} = cut(state, rest, sent, known, outgoing.length === 0 ? Number.POSITIVE_INFINITY : room);
		const complete = greeting && rest.size === 0;
		if (entries.length === 0 && !complete) break;
		if (complete) greeting = false;
		deltas++;
		outgoing.push({number: deltas, bytes});
		room -= bytes;
		effects.push(delta(state, deltas, entries, complete));
	}
	return next({...state, sent, dirty: rest, outgoing, deltas, greeting}, effects);
}

/**
 * Takes entries from the dirty keys until a delta is full; those that the node has already as they are fall away. What is larger than a delta
 * goes alone, and not before there is room for it.
 */
function cut(
	of: Pick<NodeDispatcherState, 'node' | 'hello'>,
	dirty: Set<ObjectKey>,
	sent: Map<ObjectKey, string>,
	known: Context['known'],
	room: number,
): {readonly entries: readonly DeltaEntry[]; readonly bytes: number} {
	const entries: DeltaEntry[] = [];
	let bytes = 0;
	for (const key of dirty) {
		const entry = deltaEntryOf(of, key, known);
		const isGone = entry.assignment === null || entry.named === null;
		if (isGone ? sent.has(key) : sent.get(key) !== entry.version) {
			const size = sizeOf(entry);
			if (bytes + size > (entries.length === 0 ? room : Math.min(room, limits.nodeSyncDeltaBytes))) break;
			entries.push(entry);
			bytes += size;
			if (isGone) sent.delete(key);
			else sent.set(key, entry.version);
		}
		dirty.delete(key);
	}
	return {entries, bytes};
}

function deltaEntryOf({node, hello}: Pick<NodeDispatcherState, 'node' | 'hello'>, key: ObjectKey, known: Context['known']): DeltaEntry {
	if (isNetworkKey(key) && !isTold(key, hello)) return {key, version: '', named: null};
	if (isPolicyKey(key)) return policyEntryOf(node, key, known);
	if (isNetworkKey(key)) return networkEntryOf(key, known);
	if (isConfigKey(key)) return configEntryOf(node, key, known);
	const pod = known.get(key) as Pod | undefined;
	const assignment = pod === undefined || isOver(pod) ? undefined : assignmentOf(pod, known);
	if (pod === undefined || assignment?.nodeName !== node) return {key, version: '', assignment: null};
	return {key, version: assignmentVersion(pod), assignment};
}

/** Of certificates only those nodes hear that serve TLS. */
const isTold = (key: ObjectKey, hello: Hello | undefined): boolean =>
	hello?.info.network !== undefined && (hello.info.network.certificates === true || !isCertificateKey(key));

/** Only finalizers hold it: its node has said that it is gone, or control does not wait for that. */
const isOver = ({metadata}: Pod): boolean => metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/** Near enough for a window; all that makes a pod large has to count, lest a delta be larger than a message may be. */
const sizeOf = ({assignment, named}: DeltaEntry): number => 128 + JSON.stringify(named === undefined ? assignment : named).length;

function delta(
	{node, session, epoch, lineage, replaces}: NodeDispatcherState,
	number: number,
	entries: readonly DeltaEntry[],
	complete: boolean,
): Effect {
	const replaced = replaces === undefined ? {} : {replaces};
	const message: Delta = {type: 'delta', session: session ?? '', number, epoch, lineage, ...replaced, entries, complete};
	return tell(syncOfNode(node), message);
}

function taken(state: NodeDispatcherState, {session, number}: DeltaTaken, context: Context): Next<NodeDispatcherState> {
	if (session !== state.session) return next(state);
	return flush({...state, outgoing: state.outgoing.filter(each => each.number > number)}, context);
}

// ---- up ------------------------------------------------------------------------------------------------------------------

/** A status of a pod that is not there, or is another, is answered with the truth: the key is dirty. */
function observed(state: NodeDispatcherState, message: Observed, context: Context): Next<NodeDispatcherState> {
	if (message.session !== state.session) return next(state);
	const isCurrent = ({key, uid}: {key: ObjectKey; uid: string}): boolean => {
		const pod = context.known.get(key) as Pod | undefined;
		return pod?.metadata.uid === uid && pod.spec?.nodeName === state.node;
	};
	const current = message.pods.filter(isCurrent);
	const stale = message.pods.filter(pod => !isCurrent(pod));
	const asks = current.map(({key, uid, status, events, cause}): Effect => {
		const told: PodMessage = {type: 'observed', uid, node: state.node, status, events};
		return {
			type: 'ask',
			to: objectAddress(key),
			message: told,
			as: 'statusTaken',
			id: `${message.session} ${message.number} ${key}`,
			cause,
		};
	});
	const sent = new Map(state.sent);
	for (const {key} of stale) if (!sent.has(key)) sent.set(key, foreign);
	const marked = {...state, sent, dirty: new Set([...state.dirty, ...stale.map(({key}) => key)])};
	const flushed = stale.length === 0 ? next(state) : flush(marked, context);
	if (current.length === 0) return next(flushed.state, [...flushed.effects, observedTaken(state, message.number, [])]);
	const incoming = new Map(state.incoming).set(message.number, {left: current.length, failed: []});
	return next({...flushed.state, incoming}, [...asks, ...flushed.effects]);
}

function statusTaken(state: NodeDispatcherState, {id, outcome}: Reply<unknown, 'statusTaken'>): Next<NodeDispatcherState> {
	const [session, digits, key = ''] = id.split(' ');
	const number = Number(digits);
	const waiting = session === state.session ? state.incoming.get(number) : undefined;
	if (waiting === undefined) return next(state);
	const lost = !outcome.ok && outcome.error.code !== 'ERR_CONFLICT' && outcome.error.code !== 'ERR_NO_SUCH_ACTOR';
	const now: Incoming = {left: waiting.left - 1, failed: lost ? [...waiting.failed, key] : waiting.failed};
	const incoming = new Map(state.incoming);
	if (now.left > 0) {
		incoming.set(number, now);
		return next({...state, incoming});
	}
	incoming.delete(number);
	return next({...state, incoming}, [observedTaken(state, number, now.failed)]);
}

function observedTaken({node, session}: NodeDispatcherState, number: number, failed: readonly ObjectKey[]): Effect {
	const message: ObservedTaken = {type: 'observedTaken', session: session ?? '', number, failed};
	return tell(syncOfNode(node), message);
}

/** The node has dropped it. That is told to the record it was of; of any other it is no news. */
function podGone(state: NodeDispatcherState, {key, uid}: PodGone, context: Context): Next<NodeDispatcherState> {
	const message: PodMessage = {type: 'gone', uid, node: state.node};
	const pod = context.known.get(key) as Pod | undefined;
	if (pod?.metadata.uid !== uid || pod.spec?.nodeName !== state.node) return forgotten(state, key, uid, context);
	return next(state, [{type: 'ask', to: objectAddress(key), message, as: 'goneTaken', id: `${key} ${uid}`}]);
}

/** A removal that could not be committed is not confirmed: the node says it again. */
function goneTaken(state: NodeDispatcherState, {id, outcome}: Reply<unknown, 'goneTaken'>, context: Context): Next<NodeDispatcherState> {
	const [key = '', uid = ''] = id.split(' ');
	const isSettled = outcome.ok || outcome.error.code === 'ERR_CONFLICT' || outcome.error.code === 'ERR_NO_SUCH_ACTOR';
	return isSettled ? forgotten(state, key, uid, context) : next(state);
}

/** The node does not have the pod any more: should it be this node's after all, it is sent again. */
function forgotten(state: NodeDispatcherState, key: ObjectKey, uid: string, context: Context): Next<NodeDispatcherState> {
	const sent = new Map(state.sent);
	sent.delete(key);
	const message: PodGoneTaken = {type: 'podGoneTaken', key, uid};
	const flushed = flush({...state, sent, dirty: new Set([...state.dirty, key])}, context);
	return next(flushed.state, [tell(syncOfNode(state.node), message), ...flushed.effects]);
}

/** The node says it until there is nothing to remove any more. */
function removalTold({node}: NodeDispatcherState, {key, uid, problem}: VolumeRemoval): readonly Effect[] {
	if (parseObjectKey(key).plural !== volumes) return [];
	const message: VolumeMessage = {type: 'removal', uid, node, problem};
	return [tell(objectAddress(key), message)];
}

function usageTold({node}: NodeDispatcherState, {key, usedBytes}: VolumeUsage, {known}: Context): readonly Effect[] {
	const volume = parseObjectKey(key).plural === volumes ? known.get(key) : undefined;
	if (volume === undefined) return [];
	const message: VolumeMessage = {type: 'used', uid: volume.metadata.uid, node, usedBytes};
	return [tell(objectAddress(key), message)];
}
