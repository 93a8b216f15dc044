// Binds pods that have no node. A wake carries nothing: each round looks at the committed index, and binds that were asked for
// and not yet committed count as done.

import {conditionOf} from '../../api/conditions.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import {defaultStrategy, type ClusterConfig, type SchedulerStrategy} from '../../api/kinds/cluster-config.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {next, type Behavior, type Context, type Effect, type Message, type Next, type Pending, type Reply} from '../../system/behavior.js';
import type {Known} from '../../system/object-index.js';
import {clusterConfigKey} from '../addresses.js';
import {candidatesOf, claimedPorts, place, type Candidate, type PortCheck} from './placement.js';
import type {PodMessage} from './pod.js';
import {portOnNode, unbound} from './pod-terms.js';

export type SchedulerMessage = {readonly type: 'wake'} | {readonly type: 'more'} | Reply<unknown, 'outcome'>;

export type SchedulerState = {
	/** The round-robin's place in the list of nodes. */
	readonly turn: number;
	/** Uids of pods that the present pass has looked at and that fit nowhere: telling them so moves them in the queue. */
	readonly passed: ReadonlySet<string>;
};

const none: ReadonlySet<string> = new Set();

export const schedulerPath = 'scheduler';

export const scheduler: Behavior<null, SchedulerState, SchedulerMessage> = {
	kind: 'Scheduler',
	init: (_input, context) => schedule({turn: 0, passed: none}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'wake':
				return schedule({...state, passed: none}, context);
			case 'more':
				return schedule(state, context);
			case 'outcome':
				return message.outcome.ok ? next(state, [{type: 'tell', to: context.self, message: {type: 'more'}}]) : failed(state, context);
		}
	},
	coalesce: ({type}) => (type === 'outcome' ? undefined : type),
	describe: ({passed}) => (passed.size === 0 ? '' : `${passed.size} pods fit nowhere`),
};

function strategyOf(known: Known): SchedulerStrategy {
	const config = known.get(clusterConfigKey) as ClusterConfig | undefined;
	return config?.spec?.scheduler?.strategy ?? defaultStrategy;
}

/** A bind that failed is looked at again, but not at once: the store may be in trouble. */
const failed = (state: SchedulerState, {nowMs}: Context): Next<SchedulerState> =>
	next({...state, passed: none}, [{type: 'wakeAt', name: 'retry', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'wake'}}]);

type Round = {
	readonly strategy: SchedulerStrategy;
	readonly candidates: readonly Candidate[];
	readonly holdsPort: PortCheck;
	readonly ports: Set<string>;
	turn: number;
	readonly effects: Effect[];
};

function schedule(state: SchedulerState, context: Context): Next<SchedulerState> {
	let open = limits.pendingWrites - context.pending.size;
	if (open < limits.schedulerRoundWrites) return next(state); // Outcomes come back here and make room.
	const round = roundOf(state, context);
	const passed = new Set(state.passed);
	let looked = 0;
	for (const pod of waitingPods(context.known, context.pending)) {
		if (passed.has(pod.metadata.uid)) continue;
		if (open === 0) return next({turn: round.turn, passed}, round.effects);
		if (looked === limits.schedulerStepPods) {
			round.effects.push({type: 'tell', to: context.self, message: {type: 'more'}});
			return next({turn: round.turn, passed}, round.effects);
		}
		looked++;
		const {isBind, needed, effect} = decide(pod, round);
		if (isBind) open--;
		else passed.add(pod.metadata.uid);
		if (needed) round.effects.push(effect);
	}
	return next({turn: round.turn, passed}, round.effects);
}

function* waitingPods(known: Known, pending: Context['pending']): Iterable<Pod> {
	for (const pod of known.byTerm('pods', unbound)) if (!pending.has(bindId(pod as Pod))) yield pod as Pod;
}

const bindId = ({metadata}: Pod): string => `bind/${metadata.uid}`;

function roundOf(state: SchedulerState, {known, pending}: Context): Round {
	const asked = new Map<string, number>();
	const ports = new Set<string>();
	for (const write of pending.values()) {
		const bind = bindOf(write);
		const pod = bind === undefined ? undefined : (known.get(bind.key) as Pod | undefined);
		// One whose bind is committed and not yet answered is in the index already.
		if (bind === undefined || pod === undefined || pod.spec?.nodeName !== undefined) continue;
		asked.set(bind.nodeName, (asked.get(bind.nodeName) ?? 0) + 1);
		for (const port of claimedPorts(pod)) ports.add(portOnNode(bind.nodeName, port));
	}
	return {
		strategy: strategyOf(known),
		candidates: candidatesOf(known.list('nodes') as Iterable<NodeObject>, known, asked),
		holdsPort: (node, port) => ports.has(portOnNode(node, port)) || known.countByTerm('pods', portOnNode(node, port)) > 0,
		ports,
		turn: state.turn,
		effects: [],
	};
}

function bindOf(write: Pending): {readonly key: string; readonly nodeName: string} | undefined {
	if (write.type !== 'update' || write.message.type !== 'bind') return undefined;
	return {key: write.key, nodeName: (write.message as Extract<PodMessage, {type: 'bind'}>).nodeName};
}

type Decision = {readonly isBind: boolean; readonly needed: boolean; readonly effect: Effect};

function decide(pod: Pod, round: Round): Decision {
	const {uid, namespace, name} = pod.metadata;
	const key = objectKey('pods', namespace, name);
	const placement = place(pod, round.candidates, round, round.holdsPort);
	if (placement.node === undefined) {
		const message: PodMessage = {type: 'unschedulable', uid, message: placement.why};
		const said = conditionOf(pod.status?.conditions, 'PodScheduled')?.message === placement.why;
		return {isBind: false, needed: !said, effect: {type: 'tell', to: objectAddress(key), message}};
	}
	take(round, placement.node, pod);
	const message: Message & PodMessage = {type: 'bind', uid, nodeName: placement.node};
	return {isBind: true, needed: true, effect: {type: 'update', key, message, id: bindId(pod)}};
}

/** What one decision takes, the next of the same round finds taken. */
function take(round: Round, node: string, pod: Pod): void {
	const index = round.candidates.findIndex(({name}) => name === node);
	const candidate = round.candidates[index];
	if (candidate !== undefined) candidate.pods++;
	for (const port of claimedPorts(pod)) round.ports.add(portOnNode(node, port));
	if (round.strategy === 'round-robin') round.turn = (index + 1) % round.candidates.length;
}
