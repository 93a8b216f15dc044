// Writes down which nodes are dead, and has their pods replaced. Who is dead is judged by system/presence/membership.ts.
//
// It holds what was heard and nothing else: at each reading it compares that judgement with the committed nodes and pods and asks
// for what differs. So a new leader, which has heard nothing, begins with one full grace, goes on where the old one stopped, and
// a cluster in which all is heard writes nothing.

import {isConditionTrue} from '../../../api/conditions.js';
import {failed, failure} from '../../../api/errors.js';
import {objectAddress} from '../../../api/keys.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {JsonObject} from '../../../api/object.js';
import {
	next,
	reply,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type Reply,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {
	forgetMember,
	observe,
	silenceMs,
	type Member,
	type Membership,
	type Signs,
	type MemberStanding,
} from '../../../system/presence/membership.js';
import {paceOf, type Pace} from '../../../system/presence/pace.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey, podKey, syncOfNode} from '../../addresses.js';
import type {CallHello} from '../../protocol/sync-message.js';
import {evictionOf, isLost} from '../pods/eviction.js';
import {confirmedLost, saysLost, withFinding, type Finding} from './node-finding.js';
import type {NodeMessage} from './node.js';
import {nodeGraceMs} from '../pods/node-grace.js';
import {onNode} from '../pods/pod-terms.js';
import type {PodMessage} from '../pods/pod.js';

export type DetectorInput = {
	/** Nodes in control's own process: alive by definition. */
	readonly localNodes: readonly string[];
};

/** What was heard of all nodes since the last time. */
export type SignsMessage = Signs & {readonly type: 'signs'};

/** A person says that a silent node is lost: its pods are replaced, however many others are silent. */
export type ConfirmLost = {readonly type: 'confirmLost'; readonly node: string; readonly replyTo?: ReplyTo | undefined};

/** The record of a node was deleted. */
export type NodeDeparted = {readonly type: 'nodeDeparted'; readonly node: string};

export type DetectorMessage = SignsMessage | ConfirmLost | NodeDeparted | {readonly type: 'more'} | Reply<unknown, 'outcome'>;

export type DetectorState = {
	readonly localNodes: ReadonlySet<string>;
	/** Nothing is judged before the first reading. */
	readonly membership: Membership | undefined;
	/** Names that are no nodes any more, as long as pods may be bound there. */
	readonly departed: ReadonlySet<string>;
	/** A write failed: nothing is asked for until then, on the readings' clock. */
	readonly restUntilMs: number;
};

export const detector: Behavior<DetectorInput, DetectorState, DetectorMessage> = {
	kind: 'Detector',
	init: ({localNodes}, {known}) =>
		next({localNodes: new Set(localNodes), membership: undefined, departed: departedOf(known), restUntilMs: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'signs':
				return heard(state, message, context);
			case 'confirmLost':
				return next(state, confirm(state, message, context));
			case 'nodeDeparted':
				return departed(state, message.node);
			case 'more':
				return next(state, effectsOf(state, context));
			case 'outcome':
				return written(state, message, context);
		}
	},
	coalesce: ({type}) => (type === 'more' ? type : undefined),
	describe: ({membership}) => (membership === undefined ? 'no other host yet' : `${membership.heard} of ${membership.counted} nodes heard`),
};

/** Nodes that only pods still name. */
function departedOf(known: Known): ReadonlySet<string> {
	const names = new Set<string>();
	for (const pod of known.list('pods')) {
		const name = (pod as Pod).spec?.nodeName;
		if (name !== undefined && known.get(nodeKey(name)) === undefined) names.add(name);
	}
	return names;
}

function departed(state: DetectorState, node: string): Next<DetectorState> {
	const {membership} = state;
	return next({
		...state,
		departed: new Set([...state.departed, node]),
		membership: membership === undefined ? undefined : forgetMember(membership, node),
	});
}

// ---- judging -------------------------------------------------------------------------------------------------------------

function heard(state: DetectorState, signs: Signs, context: Context): Next<DetectorState> {
	const {known} = context;
	const membership = observe(state.membership, signs, rosterOf(state, known), paceOf(nodeGraceMs(known)));
	const names = [...state.departed].filter(name => isDeparted(name, membership.members.get(name), known));
	const now: DetectorState = {...state, membership, departed: names.length === state.departed.size ? state.departed : new Set(names)};
	return next(now, effectsOf(now, context));
}

/** A node whose agent never came is no member: its silence says nothing. */
function rosterOf({localNodes, departed}: DetectorState, known: Known): ReadonlyMap<string, MemberStanding> {
	const roster = new Map<string, MemberStanding>();
	for (const name of departed) roster.set(name, localNodes.has(name) ? 'local' : 'departed');
	for (const object of known.list('nodes')) {
		const {metadata, status} = object as NodeObject;
		if (localNodes.has(metadata.name)) roster.set(metadata.name, 'local');
		else if (status?.nodeInfo !== undefined)
			roster.set(metadata.name, isConditionTrue(status.conditions, confirmedLost) ? 'lost' : 'remote');
		else roster.delete(metadata.name);
	}
	return roster;
}

/** Whether a departed node is still one, and its pods are still to be looked after. */
function isDeparted(name: string, member: Member | undefined, known: Known): boolean {
	if (known.get(nodeKey(name)) !== undefined) return false;
	return member?.isEvictable !== true || known.countByTerm('pods', onNode(name)) > 0;
}

// ---- asking --------------------------------------------------------------------------------------------------------------

/** What differs from the judgement, as far as there is room for writes. */
function effectsOf(state: DetectorState, context: Context): Effect[] {
	const {membership, restUntilMs} = state;
	if (membership === undefined || membership.atMs < restUntilMs) return [];
	const effects: Effect[] = [];
	let room = limits.pendingWrites - context.pending.size;
	for (const write of writesOf(membership, context)) {
		if (room <= 0) break;
		room--;
		effects.push(...write);
	}
	return effects;
}

/** Nodes first: a pod leaves no node that is not committed as lost. */
function* writesOf(membership: Membership, context: Context): Iterable<readonly Effect[]> {
	for (const [name, member] of membership.members) {
		const node = context.known.get(nodeKey(name)) as NodeObject | undefined;
		if (node !== undefined) yield* found(node, findingOf(member, membership), context);
	}
	for (const [name, member] of membership.members) if (member.isEvictable) yield* evictions(name, silenceMs(membership, member), context);
}

function findingOf({state, frozen}: Member, {heard: heardNow, counted}: Membership): Finding {
	if (!frozen) return {state};
	return {
		state,
		frozen: `only ${heardNow} of ${counted} nodes are heard: no pods are replaced until half of the nodes are heard, or this one is confirmed as lost`,
	};
}

function* found(node: NodeObject, finding: Finding, {nowMs, pending}: Context): Iterable<readonly Effect[]> {
	const {name} = node.metadata;
	const id = `found/${name}`;
	const returns = finding.state === 'alive' && (isLost(node) || saysLost(node));
	// A reader of a node that is not lost may rely on it that no pod is taken from it any more.
	if (pending.has(id) || (returns && isLeft(name, pending)) || withFinding(node, finding, nowMs) === node) return;
	const message: Message & NodeMessage = {type: 'found', finding};
	const update: Effect = {type: 'update', key: nodeKey(name), message, id};
	// What a lost node has missed its hello brings, and then its reports say anew how its pods are.
	const call: CallHello = {type: 'callHello'};
	yield returns && !isConditionTrue(node.status?.conditions, 'Ready') ? [update, tell(syncOfNode(name), call)] : [update];
}

/** Whether pods are just leaving a node. */
const isLeft = (name: string, pending: Context['pending']): boolean =>
	[...pending.values()].some(
		write => write.type === 'update' && write.message.type === 'evict' && (write.message as Message & {node: string}).node === name,
	);

function* evictions(name: string, silentMs: number, {known, pending}: Context): Iterable<readonly Effect[]> {
	const node = known.get(nodeKey(name)) as NodeObject | undefined;
	if (node !== undefined && !isLost(node)) return;
	const graceMs = nodeGraceMs(known);
	for (const object of known.byTerm('pods', onNode(name))) {
		const pod = object as Pod;
		const type = evictionOf(pod, {silentMs, graceMs, isDeparted: node === undefined});
		const {uid} = pod.metadata;
		const id = `${type}/${uid}`;
		if (type === undefined || pending.has(id)) continue;
		const message: Message & PodMessage = {type, uid, node: name};
		yield [{type: 'update', key: podKey(pod.metadata), message, id}];
	}
}

/** However the write ended, the next look finds what is still to be done; after trouble with the store not at once. */
function written(state: DetectorState, {outcome}: Reply<unknown, 'outcome'>, {self}: Context): Next<DetectorState> {
	if (outcome.ok || !troubles.has(outcome.error.code)) return next(state, [tell(self, {type: 'more'})]);
	const atMs = state.membership?.atMs ?? 0;
	return next({...state, restUntilMs: atMs + limits.actorBackoffFirstMs});
}

const troubles: ReadonlySet<string> = new Set(['ERR_STORE', 'ERR_BUSY', 'ERR_ACTOR_CRASHED', 'ERR_TIMEOUT']);

// ---- confirming ----------------------------------------------------------------------------------------------------------

function confirm(state: DetectorState, {node, replyTo}: ConfirmLost, {known}: Context): readonly Effect[] {
	const about: JsonObject = {resource: 'nodes', name: node, kind: 'nodes'};
	if (known.get(nodeKey(node)) === undefined) return reply(replyTo, failed('ERR_NOT_FOUND', about));
	const refusal = whyNotLost(state, node, paceOf(nodeGraceMs(known)));
	if (refusal !== undefined) return reply(replyTo, {ok: false, error: failure('ERR_CONFLICT', {...about, message: refusal})});
	const message: NodeMessage = {type: 'confirmLost', replyTo};
	return [tell(objectAddress(nodeKey(node)), message)];
}

function whyNotLost({localNodes, membership}: DetectorState, node: string, {suspectAfterMs}: Pace): string | undefined {
	if (localNodes.has(node)) return 'it lives in the process of the control plane, and so is not lost';
	const member = membership?.members.get(node);
	if (membership === undefined || member === undefined) return 'nothing has been heard of any node yet; wait a moment';
	const silentMs = Math.round(silenceMs(membership, member));
	if (member.state !== 'alive' && silentMs >= suspectAfterMs) return undefined;
	return member.heardAtMs === undefined
		? `the control plane has listened for ${silentMs} ms only; wait a moment`
		: `it is heard, ${silentMs} ms ago at last; to move its pods stop its agent first`;
}
