// Passes on what nodes say to each other of TCP connections that they cannot make themselves, for one of them is behind NAT.
//
// What it keeps true: a node opens connections to endpoints of Services alone; of what is under way to one node only so much is on its lane at a time,
// the rest waits here, in order; nothing waits longer than its sender does. It knows of no connection, so it loses none when it begins anew.

import {failed, type Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {
	next,
	reply,
	type Behavior,
	type Context,
	type Effect,
	type Next,
	type Reply,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {relayPath} from '../../addresses.js';
import type {PassedStep, Relay, Relayed} from '../../protocol/relay-message.js';
import {podAt} from './relay-rights.js';

export type RelayMessage = (Relay & {readonly replyTo?: ReplyTo | undefined}) | Reply<unknown, 'relayAnswered'>;

type Passing = {
	readonly to: string;
	readonly from: string;
	readonly message: Relayed;
	readonly bytes: number;
	readonly replyTo: ReplyTo;
	/** By the clock that never jumps. */
	readonly atMs: number;
};

export type RelayState = {
	/** By the number of the question. */
	readonly asked: ReadonlyMap<string, Passing>;
	/** By node, oldest first. */
	readonly waiting: ReadonlyMap<string, readonly Passing[]>;
	readonly asks: number;
};

export const relay: Behavior<null, RelayState, RelayMessage> = {
	kind: 'Relay',
	init: () => next({asked: new Map(), waiting: new Map(), asks: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'relay':
				return pass(state, message, context);
			case 'relayAnswered':
				return answered(state, message, context);
		}
	},
	describe: ({asked}) => (asked.size === 0 ? '' : `${asked.size} on their way`),
};

function pass(
	state: RelayState,
	{replyTo, ...message}: Relay & {readonly replyTo?: ReplyTo | undefined},
	context: Context,
): Next<RelayState> {
	if (replyTo === undefined) return next(state);
	const refuse = (outcome: Outcome<never>): Next<RelayState> => next(state, reply(replyTo, outcome));
	const {node: from, to, session} = message;
	const step = passed(message, context);
	if (!step.ok) return refuse(step);
	const count = of(state, ({from: each}) => each === from);
	if (count >= limits.relayAsks) return refuse(failed('ERR_BUSY', {address: relayPath, waiting: count}));
	const bytes = step.value.step === 'data' ? step.value.data.length : 0;
	const passing = {
		to,
		from,
		message: {type: 'relayed', from, session, step: step.value},
		bytes,
		replyTo,
		atMs: context.monotonicMs,
	} as const;
	return flush({...state, waiting: new Map(state.waiting).set(to, [...(state.waiting.get(to) ?? []), passing])}, to, context);
}

/** What the other node is told; it was looked through at the door. */
function passed({node, to, step}: Relay, {known}: Context): Outcome<PassedStep> {
	if (step.step !== 'open') return {ok: true, value: step};
	const pod = podAt(known, {from: node, to, address: step.address, port: step.port});
	return pod.ok ? {ok: true, value: {step: 'open', uid: pod.value, port: step.port}} : pod;
}

function of({asked, waiting}: RelayState, isMeant: (passing: Passing) => boolean): number {
	let count = 0;
	for (const each of asked.values()) if (isMeant(each)) count++;
	for (const each of waiting.values()) count += each.filter(isMeant).length;
	return count;
}

/** As much as there is room for on the lane of that node. */
function flush(state: RelayState, to: string, {monotonicMs}: Context): Next<RelayState> {
	const asked = new Map(state.asked);
	const effects: Effect[] = [];
	let [messages, bytes, asks] = [0, 0, state.asks];
	for (const each of asked.values()) {
		if (each.to !== to) continue;
		messages++;
		bytes += each.bytes;
	}
	const waiting = [...(state.waiting.get(to) ?? [])];
	for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
		const isLate = monotonicMs - first.atMs >= limits.relayAnswerMs;
		if (!isLate && messages > 0 && (messages >= limits.relayUnderWay || bytes + first.bytes > limits.relayUnderWayBytes)) break;
		waiting.shift();
		// Who asked has given it up.
		if (isLate) continue;
		messages++;
		bytes += first.bytes;
		const id = String(++asks);
		asked.set(id, first);
		const {message} = first;
		effects.push({type: 'ask', to: address(to, relayPath), message, as: 'relayAnswered', id, deadlineMs: limits.relayAnswerMs});
	}
	const all = new Map(state.waiting);
	if (waiting.length === 0) all.delete(to);
	else all.set(to, waiting);
	return next({asked, waiting: all, asks}, effects);
}

function answered(state: RelayState, {id, outcome}: Reply<unknown, 'relayAnswered'>, context: Context): Next<RelayState> {
	const passing = state.asked.get(id);
	if (passing === undefined) return next(state);
	const asked = new Map(state.asked);
	asked.delete(id);
	const {state: after, effects} = flush({...state, asked}, passing.to, context);
	return next(after, [...reply(passing.replyTo, outcome.ok ? {ok: true, value: null} : outcome), ...effects]);
}
