// The actor that answers a tool's requests to look into its system: the same in control and in each node. It only passes them on, to its
// system's edge, where all actors can be seen; here it is bounded how much is asked at a time.

import {failed} from '../api/errors.js';
import type {Inspect, SystemRequest} from '../api/inspect.js';
import {limits} from '../api/limits.js';
import type {Json} from '../api/object.js';
import {
	next,
	reply,
	type Behavior,
	type Command,
	type Effect,
	type Message,
	type Next,
	type Reply,
	type ReplyTo,
} from '../system/kernel/behavior.js';
import type {FaultOptions} from '../system/inspect/faults.js';
import type {Perform} from '../system/kernel/performs.js';
import type {Links} from '../system/links/link.js';
import {createPartition} from '../system/links/partition.js';
import type {Inspector} from '../system/inspect/inspector.js';
import type {DurableSystem} from '../system/commit/durable-system.js';
import {inspectorPath} from './addresses.js';

export type InspectorMessage =
	/** Answered with what the system answers to the request. */
	{readonly type: 'inspect'; readonly request: SystemRequest; readonly replyTo?: ReplyTo | undefined} | Reply<Json, 'inspected'>;

export type InspectorState = {
	readonly open: ReadonlyMap<string, ReplyTo>;
	/** Questions so far. */
	readonly asked: number;
};

export const inspector: Behavior<null, InspectorState, InspectorMessage> = {
	kind: 'Inspector',
	// An admin who kills the inspector takes nothing else along.
	pastIntensity: 'backOff',
	init: () => next({open: new Map(), asked: 0}),
	receive(state, message, {cause}) {
		switch (message.type) {
			case 'inspect':
				return asked(state, {type: 'inspect', request: message.request, cause}, message.replyTo);
			case 'inspected':
				return answered(state, message);
		}
	},
	describe: ({open}) => (open.size === 0 ? '' : `${open.size} questions`),
};

/** Started by the root of each tree. */
export const spawnInspector: Effect = {type: 'spawn', name: inspectorPath, behavior: inspector.kind, input: null, restart: 'permanent'};

function asked(state: InspectorState, command: InspectCommand, replyTo: ReplyTo | undefined): Next<InspectorState> {
	if (replyTo === undefined) return next(state);
	if (state.open.size >= roomFor(command.request)) return next(state, reply(replyTo, busy(state)));
	const key = `inspect/${state.asked}`;
	const open = new Map(state.open).set(key, replyTo);
	return next({open, asked: state.asked + 1}, [{type: 'perform', command, key, as: 'inspected'}]);
}

/** What ends a stream makes room. */
const roomFor = ({verb}: SystemRequest): number => (verb === 'close' ? Number.POSITIVE_INFINITY : limits.inspectAsks);

const busy = ({open}: InspectorState) => failed('ERR_BUSY', {address: inspectorPath, waiting: open.size});

function answered(state: InspectorState, {id, outcome}: Reply<Json>): Next<InspectorState> {
	const open = new Map(state.open);
	const replyTo = open.get(id);
	open.delete(id);
	return next({...state, open}, reply(replyTo, outcome));
}

/** `cause`: the login that asks, as the server worded it. */
export type InspectCommand = {readonly type: 'inspect'; readonly request: SystemRequest; readonly cause: string};

const isInspect = (command: Command): command is InspectCommand => command.type === 'inspect';

/** The edge of a system with an inspector in its tree: what that asks is answered by `inspect`, everything else by `other`. */
export const withInspect =
	(inspect: Inspect, other: Perform): Perform =>
	(command, done) =>
		isInspect(command) ? inspect(command.request, done, command.cause) : other(command, done);

/** What the inspector of a system is sent. */
export const inspectMessage = (request: SystemRequest): Message & Omit<InspectCommand, 'cause'> => ({type: 'inspect', request});

/** Looks into a system that is opened later; until then there is nothing to see. */
export const inspectLater =
	(late: {readonly inspector?: Inspector}): Inspect =>
	(request, done, cause) =>
		late.inspector === undefined
			? done(failed('ERR_ACTOR_STOPPED', {address: inspectorPath}))
			: late.inspector.inspect(request, done, cause);

/** The system, so that what its inspector has on ends before it does. */
export const closingFirst = (durable: DurableSystem, inspector: Inspector): DurableSystem => ({
	...durable,
	stop(done) {
		inspector.close();
		durable.stop(done);
	},
	kill() {
		inspector.close();
		durable.kill();
	},
});

/** The links of a system, which a fault can cut where faults are allowed; and what its inspector is to know of that. */
export function linksWithFaults(
	links: Links,
	areAllowed: boolean,
	onPartition?: (isCut: boolean) => void,
): {readonly links: Links; readonly options: FaultOptions | undefined} {
	if (!areAllowed) return {links, options: undefined};
	const {links: cuttable, cut, mend} = createPartition(links);
	const partition = {
		cut() {
			cut();
			onPartition?.(true);
		},
		mend() {
			mend();
			onPartition?.(false);
		},
	};
	return {links: cuttable, options: {partition}};
}
