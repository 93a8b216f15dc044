// One state under way of a run: it carries out what the machine wants of it (calls of tasks, timers), and tells the run's record what has come.
//
// It begins with its frame as that is committed, also after a crash: a call has the key that it had. What the record has not taken is told again.
//
// States inside a Parallel or a Map tell the outermost state, which tells the record what has come meanwhile, all at once: while a transaction is on its
// way, many items may end.

import {objectAddress, parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {Run} from '../../../api/kinds/run.js';
import {limits} from '../../../api/limits.js';
import type {Outcome} from '../../../api/errors.js';
import {parseTaskResource} from '../../../api/task-resource.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {frameOfKey, nodeNameOf} from '../../workflows/keys.js';
import type {RunCommand, RunEvent} from '../../workflows/run.js';
import {outstanding} from '../../workflows/step.js';
import {definitionOf} from './run-definition.js';
import {versionCalled} from './run-functions.js';
import type {CallTask, CarryOut, FailRun, GoOn, RunEventsLeft, RunEventsTold, RunEventTold, TaskOutcome, ToldEvent} from './run-message.js';
import {frameIn, headOf} from './run-parts.js';

export type RunNodeInput = {readonly run: ObjectKey; readonly frame: string};

export type RunNodeState = RunNodeInput & {
	/** Told, and not taken yet, by what tells them apart. */
	readonly untaken: ReadonlyMap<string, RunEvent>;
	/** The attempt that is under way at the edge. */
	readonly call: Call | undefined;
	/** What states inside it have told: what the record was told and has not answered yet, and what it is told next. */
	readonly telling: readonly ToldEvent[];
	readonly toTell: readonly ToldEvent[];
};

type Call = Extract<RunCommand, {type: 'callTask'}>;

export type RunNodeMessage =
	| CarryOut
	| GoOn
	| RunEventTold
	| RunEventsLeft
	| {readonly type: 'fired'; readonly timer: string}
	| Reply<TaskOutcome, 'answered'>
	| Reply<unknown, 'taken'>
	| Reply<unknown, 'takenTogether'>
	/** Time to try again what failed. */
	| {readonly type: 'tellAgain'}
	| {readonly type: 'callAgain'};

export const runNode: Behavior<RunNodeInput, RunNodeState, RunNodeMessage> = {
	kind: 'RunNode',
	init: (input, context) => begun({...input, untaken: new Map(), call: undefined, telling: [], toTell: []}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'carryOut':
				return carriedOut(state, message.commands, context);
			case 'goOn':
				return goneOn(state, context);
			case 'fired':
				return told(state, {type: 'timerFired', timer: message.timer}, context);
			case 'runEvent':
				return tellingOn({...state, toTell: [...state.toTell, {event: message.event, replyTo: message.replyTo}]});
			case 'runEventsLeft':
				return tellingOn({...state, toTell: [...message.told, ...state.toTell]});
			case 'takenTogether':
				return takenTogether(state, message.outcome);
			case 'answered':
				return answered(state, message.id, message.outcome, context);
			case 'taken':
				return taken(state, message, context);
			case 'tellAgain':
				return next(
					state,
					[...state.untaken.values()].map(event => ask(state, event, context)),
				);
			case 'callAgain':
				return next(state, state.call === undefined ? [] : perform(state, state.call, context));
		}
	},
	pastIntensity: 'backOff',
	describe: ({call, untaken}) =>
		call === undefined ? (untaken.size > 0 ? 'goes on' : 'waits') : `calls ${call.resource}, attempt ${call.attempt}`,
};

const runAt = (key: ObjectKey, {known}: Context): Run | undefined => known.get(key) as Run | undefined;

const begun = (state: RunNodeState, context: Context): Next<RunNodeState> => carriedOut(state, wanted(state, context), context);

/** Only what the record has held back: calls, times and what was not taken yet have gone on meanwhile. */
const goneOn = (state: RunNodeState, context: Context): Next<RunNodeState> =>
	carriedOut(
		state,
		wanted(state, context).filter(({type}) => type === 'continue'),
		context,
	);

/** All that its frame wants now. A frame that is another state's by now wants nothing of this actor, which is being stopped. */
function wanted(state: RunNodeState, context: Context): readonly RunCommand[] {
	const run = runAt(state.run, context);
	const frame = frameIn(context.known, state.run, state.frame);
	if (run === undefined || frame === undefined || !context.self.endsWith(`/${nodeNameOf(frame)}`)) return [];
	const definition = definitionOf(context.known, run);
	// The record says so, and ends the run.
	return typeof definition === 'string' ? [] : outstanding(definition, headOf(run), frame);
}

function carriedOut(state: RunNodeState, commands: readonly RunCommand[], context: Context): Next<RunNodeState> {
	let after = state;
	const effects: Effect[] = [];
	for (const command of commands) {
		const step = carryOut(after, command, context);
		after = step.state;
		effects.push(...step.effects);
	}
	return next(after, effects);
}

function carryOut(state: RunNodeState, command: RunCommand, context: Context): Next<RunNodeState> {
	switch (command.type) {
		case 'continue':
			return told(state, {type: 'continued', frame: command.frame}, context);
		case 'callTask':
			return next({...state, call: command}, perform(state, command, context));
		case 'stopTask':
			return next({...state, call: undefined});
		case 'startTimer':
			// Of the run as a whole the record has it.
			return frameOfKey(headIdOf(state, context), command.timer) === undefined ? next(state) : next(state, [timer(command)]);
		case 'endRun':
			return next(state);
	}
}

const headIdOf = ({run}: RunNodeState, context: Context): {readonly id: string} => ({id: runAt(run, context)?.metadata.uid ?? ''});

const timer = ({timer: name, atMs}: Extract<RunCommand, {type: 'startTimer'}>): Effect => ({
	type: 'wakeAt',
	name,
	atMs,
	message: {type: 'fired', timer: name} as RunNodeMessage,
});

// ---- what it tells -----------------------------------------------------------------------------------------------------------

/** What tells events apart: one of each waits to be taken. */
function idOf(event: RunEvent): string {
	switch (event.type) {
		case 'continued':
			return event.type;
		case 'taskSucceeded':
		case 'taskFailed':
		case 'taskHeartbeat':
		case 'taskCalled':
			return `${event.type} ${event.key}`;
		case 'timerFired':
			return `${event.type} ${event.timer}`;
		case 'cancelled':
			return event.type;
	}
}

const told = (state: RunNodeState, event: RunEvent, context: Context): Next<RunNodeState> =>
	next({...state, untaken: new Map(state.untaken).set(idOf(event), event)}, [ask(state, event, context)]);

function ask({run, frame}: RunNodeState, event: RunEvent, {known}: Context): Effect {
	const message: RunEventTold = {type: 'runEvent', event};
	const outermost = frame === '' ? undefined : frameIn(known, run, '');
	const to = outermost === undefined ? objectAddress(run) : `${objectAddress(run)}/${nodeNameOf(outermost)}`;
	return {type: 'ask', to, message, as: 'taken', id: idOf(event)};
}

/** The record is told once it has answered what it was told before. */
function tellingOn(state: RunNodeState): Next<RunNodeState> {
	if (state.telling.length > 0 || state.toTell.length === 0) return next(state);
	const telling = state.toTell.slice(0, limits.runEventsTogether);
	const message: RunEventsTold = {type: 'runEvents', told: telling};
	const asked: Effect = {type: 'ask', to: objectAddress(state.run), message, as: 'takenTogether', id: 'together'};
	return next({...state, telling, toTell: state.toTell.slice(telling.length)}, [asked]);
}

/** The record answers each that it has taken; where it has taken none, they are told by this one. */
function takenTogether(state: RunNodeState, outcome: Outcome<unknown>): Next<RunNodeState> {
	const failures = outcome.ok ? [] : state.telling.flatMap(({replyTo}) => reply(replyTo, outcome));
	const {state: after, effects} = tellingOn({...state, telling: []});
	return next(after, [...failures, ...effects]);
}

function taken(state: RunNodeState, {id, outcome}: Reply<unknown, 'taken'>, context: Context): Next<RunNodeState> {
	if (!outcome.ok && outcome.error.code === 'ERR_TOO_LARGE') {
		const message: FailRun = {type: 'failRun', error: {Error: 'States.DataLimitExceeded', Cause: outcome.error.message}};
		return next(state, [tell(objectAddress(state.run), message)]);
	}
	if (!outcome.ok) return next(state, [again('tellAgain', context.nowMs)]);
	const untaken = new Map(state.untaken);
	untaken.delete(id);
	const {call} = state;
	if (call === undefined || id !== idOf({type: 'taskCalled', key: call.key})) return next({...state, untaken});
	// That its object is there is committed: now its end is asked for.
	const made: Call = {...call, isMade: true};
	return next({...state, untaken, call: made}, perform(state, made, context));
}

const again = (type: 'tellAgain' | 'callAgain', nowMs: number): Effect => ({
	type: 'wakeAt',
	name: type,
	atMs: nowMs + limits.runAgainMs,
	message: {type},
});

// ---- its call ----------------------------------------------------------------------------------------------------------------

/** Nothing for a run that is gone, whatever is called like it by now. */
function perform({run: runKey}: RunNodeState, {key, resource, input, isMade}: Call, context: Context): readonly Effect[] {
	const {namespace, name} = parseObjectKey(runKey);
	const run = runAt(runKey, context);
	if (run === undefined || frameOfKey(headOf(run), key) === undefined) return [];
	const version = versionCalled(run, resource);
	const command: CallTask = {
		type: 'callTask',
		key,
		run: {namespace, name, uid: run.metadata.uid},
		resource,
		input,
		...(version === undefined ? {} : {version}),
		...(isMade === true ? {isMade} : {}),
	};
	return [{type: 'perform', command, key, as: 'answered', deadlineMs: limits.runCallMs}];
}

function answered(state: RunNodeState, key: string, outcome: Outcome<TaskOutcome>, context: Context): Next<RunNodeState> {
	if (state.call?.key !== key) return next(state);
	// The edge could not say what came of it, or nothing has come for weeks: the same attempt once more.
	if (!outcome.ok) return next(state, [again('callAgain', context.nowMs)]);
	const {value} = outcome;
	switch (value.type) {
		case 'succeeded':
			return told({...state, call: undefined}, {type: 'taskSucceeded', key, output: value.output}, context);
		case 'failed':
			return told({...state, call: undefined}, {type: 'taskFailed', key, error: value.error}, context);
		case 'waiting':
			return isActivity(state.call.resource)
				? next({...state, call: undefined})
				: told({...state, call: undefined}, {type: 'taskCalled', key}, context);
		case 'made':
			return told(state, {type: 'taskCalled', key}, context);
	}
}

/** Nothing is called. */
function isActivity(resource: string): boolean {
	const parsed = parseTaskResource(resource);
	return parsed.ok && parsed.value.type === 'activity';
}

/** To one that lives. */
export const goOn = (to: string): Effect => tell(to, {type: 'goOn'} satisfies GoOn);
