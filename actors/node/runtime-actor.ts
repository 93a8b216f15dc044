// What a node does with its runtime beyond single pods: removes what belongs to no assignment, reads logs for
// whoever asks, and shows the node's actors.

import {failed} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {next, reply, type Behavior, type Context, type Effect, type Next, type Reply, type ReplyTo} from '../../system/behavior.js';
import type {TreeNode} from '../../system/tree.js';
import {runtimePath} from '../addresses.js';
import {assignments} from './assignment-object.js';
import {perform, performAtEdge} from './perform.js';
import type {LogChunk, LogRequest} from './runtime-port.js';

export type RuntimeMessage =
	/** The cache agrees with control: sandboxes without an assignment are surplus. */
	| {readonly type: 'synced'}
	| {readonly type: 'readLog'; readonly request: LogRequest; readonly replyTo?: ReplyTo | undefined}
	/** Somebody wants to see the actors of this node. */
	| {readonly type: 'readTree'; readonly replyTo?: ReplyTo | undefined}
	| Reply<readonly string[], 'sandboxes'>
	| Reply<null, 'surplusRemoved'>
	| Reply<LogChunk, 'logRead'>
	| Reply<TreeNode, 'treeRead'>;

export type RuntimeState = {readonly reading: ReadonlyMap<string, ReplyTo>; readonly reads: number};

export const runtimeActor: Behavior<null, RuntimeState, RuntimeMessage> = {
	kind: 'Runtime',
	init: () => next({reading: new Map(), reads: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'synced':
				return next(state, [perform({type: 'sandbox.list'}, 'sandbox/list', 'sandboxes')]);
			case 'sandboxes':
				return next(state, message.outcome.ok ? removals(message.outcome.value, context) : [lookAgain(context)]);
			case 'surplusRemoved':
				return next(state, message.outcome.ok ? [] : [lookAgain(context)]);
			case 'readLog':
				return read(state, message.replyTo, key => perform({type: 'logs.read', request: message.request}, key, 'logRead'));
			case 'readTree':
				return read(state, message.replyTo, key => performAtEdge({type: 'tree.read'}, key, 'treeRead'));
			case 'logRead':
			case 'treeRead':
				return answered(state, message);
		}
	},
	describe: ({reading}) => (reading.size === 0 ? '' : `${reading.size} readers`),
};

/** The next hello may be long in coming, and nobody else looks for what is surplus. */
const lookAgain = ({nowMs}: Context): Effect => ({
	type: 'wakeAt',
	name: 'surplus',
	atMs: nowMs + limits.helloMaxMs,
	message: {type: 'synced'},
});

function removals(present: readonly string[], {known}: Context): Effect[] {
	const assigned = new Set([...known.list(assignments)].map(({metadata}) => metadata.uid));
	return present
		.filter(uid => !assigned.has(uid))
		.map(uid => perform({type: 'sandbox.remove', uid}, `${uid}/sandbox/remove`, 'surplusRemoved'));
}

function read(state: RuntimeState, replyTo: ReplyTo | undefined, effectOf: (key: string) => Effect): Next<RuntimeState> {
	if (replyTo === undefined) return next(state);
	if (state.reading.size >= limits.logReaders) {
		return next(state, reply(replyTo, failed('ERR_BUSY', {address: runtimePath, waiting: state.reading.size})));
	}
	const key = `read/${state.reads}`;
	return next({reads: state.reads + 1, reading: new Map(state.reading).set(key, replyTo)}, [effectOf(key)]);
}

function answered(state: RuntimeState, {id, outcome}: Reply<LogChunk, 'logRead'> | Reply<TreeNode, 'treeRead'>): Next<RuntimeState> {
	const reading = new Map(state.reading);
	const replyTo = reading.get(id);
	reading.delete(id);
	return next({...state, reading}, reply(replyTo, outcome));
}
