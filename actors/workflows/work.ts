// What a state does once it is entered, by its type.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {ruleHolds} from '../../api/states-language/choice-rule.js';
import {withinBounds} from '../../api/states-language/data-bounds.js';
import type {
	ChoiceState,
	FailState,
	MapState,
	ParallelState,
	PassState,
	TaskState,
	WaitState,
} from '../../api/states-language/definition.js';
import {EvaluationError, outcomeOf, type StateError} from '../../api/states-language/errors.js';
import {filled, lookUp} from '../../api/states-language/template.js';
import {timestampMs} from '../../api/states-language/timestamp.js';
import {inputOf, isCheap, itemsOf, runtimeNumber, runtimeValue, scopeOf} from './context.js';
import {stateOf, type Draft} from './draft.js';
import {keyOf, timerOf} from './keys.js';
import {enter, failFrame, failState, finishWork, leave, startChildren} from './moves.js';
import {filteredOutput, outputOf} from './results.js';
import type {Children, Frame} from './run.js';

/** Begins the work of the state that a frame is in. */
export function begin(draft: Draft, frame: Frame): void {
	const done = outcomeOf(() => beginIn(draft, frame));
	if (!done.ok) failState(draft, frame, done.error);
}

function beginIn(draft: Draft, frame: Frame): void {
	const state = stateOf(draft.definition, frame);
	switch (state.Type) {
		case 'Task':
			return beginTask(draft, frame, state);
		case 'Pass':
			return pass(draft, frame, state);
		case 'Choice':
			return choose(draft, frame, state);
		case 'Wait':
			return wait(draft, frame, state);
		case 'Succeed':
			return leave(draft, frame, {}, filteredOutput(draft, frame, state, inputOf(draft, frame, state)));
		case 'Fail':
			return failFrame(draft, frame, errorOf(draft, frame, state));
		case 'Parallel':
			return beginParallel(draft, frame, state);
		case 'Map':
			return beginMap(draft, frame, state);
	}
}

/** The input of a state's work: after InputPath and Parameters. */
function effectiveInput(draft: Draft, frame: Frame, state: TaskState | PassState | ParallelState): Json {
	const input = inputOf(draft, frame, state);
	const {Parameters} = state;
	return Parameters === undefined ? input : withinBounds(filled(Parameters, scopeOf(draft, frame, input)), 'the input');
}

function beginTask(draft: Draft, frame: Frame, state: TaskState): void {
	const {nowMs} = draft.means;
	const input = effectiveInput(draft, frame, state);
	const timeout = secondsOf(draft, frame, state, 'TimeoutSeconds');
	const heartbeatSeconds = secondsOf(draft, frame, state, 'HeartbeatSeconds');
	const timeoutAtMs = timeout === null ? null : nowMs + timeout * 1_000;
	const heartbeatAtMs = heartbeatSeconds === null ? null : nowMs + heartbeatSeconds * 1_000;
	draft.put({...frame, phase: {type: 'task', input, timeoutAtMs, heartbeatSeconds, heartbeatAtMs}});
	const key = keyOf(draft.head, frame);
	draft.tell({type: 'called', frame: frame.id, state: frame.state, attempt: frame.attempt});
	draft.command({type: 'callTask', key, resource: state.Resource, state: frame.state, attempt: frame.attempt, input});
	if (timeoutAtMs !== null) draft.command({type: 'startTimer', timer: timerOf(key, 'timeout'), atMs: timeoutAtMs});
	if (heartbeatAtMs !== null) draft.command({type: 'startTimer', timer: timerOf(key, 'heartbeat'), atMs: heartbeatAtMs});
}

function secondsOf(draft: Draft, frame: Frame, state: TaskState, field: 'TimeoutSeconds' | 'HeartbeatSeconds'): number | null {
	const path = state[`${field}Path`];
	if (path === undefined) return state[field] ?? null;
	return runtimeNumber(path, scopeOf(draft, frame, inputOf(draft, frame, state)), `${field}Path`, {
		least: 1,
		most: limits.statesTaskSeconds,
	});
}

function pass(draft: Draft, frame: Frame, state: PassState): void {
	const input = effectiveInput(draft, frame, state);
	leave(draft, frame, state, outputOf(draft, frame, state, state.Result === undefined ? input : state.Result));
}

function choose(draft: Draft, frame: Frame, state: ChoiceState): void {
	const input = inputOf(draft, frame, state);
	const roots = scopeOf(draft, frame, input);
	const rule = state.Choices.findIndex(each => ruleHolds(each, roots));
	const next = rule < 0 ? state.Default : state.Choices[rule]?.['Next'];
	if (typeof next !== 'string')
		throw new EvaluationError('States.NoChoiceMatched', `no rule of ${frame.state} holds, and it has no Default`);
	const output = filteredOutput(draft, frame, state, input);
	draft.tell({type: 'chosen', frame: frame.id, state: frame.state, rule: rule < 0 ? 'Default' : rule});
	draft.tell({type: 'left', frame: frame.id, state: frame.state});
	enter(draft, frame, next, output);
}

function wait(draft: Draft, frame: Frame, state: WaitState): void {
	const input = inputOf(draft, frame, state);
	const output = filteredOutput(draft, frame, state, input);
	const untilMs = untilOf(draft, frame, state, input);
	const next = draft.put({...frame, phase: {type: 'waiting', untilMs, output}});
	draft.command({type: 'startTimer', timer: timerOf(keyOf(draft.head, next), 'wait'), atMs: untilMs});
}

/** A time that is over is now. */
function untilOf(draft: Draft, frame: Frame, state: WaitState, input: Json): number {
	const {nowMs} = draft.means;
	const {Seconds = 0, SecondsPath, Timestamp, TimestampPath} = state;
	const scope = scopeOf(draft, frame, input);
	if (SecondsPath !== undefined) return nowMs + runtimeNumber(SecondsPath, scope, 'SecondsPath', {most: limits.statesWaitSeconds}) * 1_000;
	if (Timestamp === undefined && TimestampPath === undefined) return nowMs + Seconds * 1_000;
	const text = TimestampPath === undefined ? Timestamp : runtimeValue(TimestampPath, scope, 'TimestampPath');
	const atMs = timestampMs(text);
	if (atMs === undefined)
		throw new EvaluationError('States.Runtime', `there must be a time such as "2030-01-31T12:00:00Z" at ${TimestampPath ?? ''}`);
	if (atMs > nowMs + limits.statesWaitSeconds * 1_000)
		throw new EvaluationError('States.Runtime', `waits longer than ${limits.statesWaitSeconds} s`);
	return Math.max(nowMs, atMs);
}

function errorOf(draft: Draft, frame: Frame, {Error: name = '', ErrorPath, Cause = '', CausePath}: FailState): StateError {
	const scope = scopeOf(draft, frame, frame.input);
	const textOf = (text: string, path: string | undefined, field: string): string => {
		const value = path === undefined ? text : lookUp(path, scope);
		if (typeof value !== 'string') throw new EvaluationError('States.Runtime', `${field}: there must be a text at ${path ?? ''}`);
		return value;
	};
	return bounded({Error: textOf(name, ErrorPath, 'ErrorPath'), Cause: textOf(Cause, CausePath, 'CausePath')});
}

/** An error as it is kept: what reports it may be long-winded. */
export const bounded = ({Error: name, Cause}: StateError): StateError => ({
	Error: name.slice(0, limits.statesErrorCharacters),
	Cause: Cause.slice(0, limits.statesCauseCharacters),
});

function beginParallel(draft: Draft, frame: Frame, state: ParallelState): void {
	const input = effectiveInput(draft, frame, state);
	const total = state.Branches.length;
	beginChildren(draft, frame, {type: 'children', total, concurrency: total, tolerated: null, input});
}

/** The tally of an earlier state of the machine may have been found again after a crash: it is not counted on. */
function beginChildren(draft: Draft, frame: Frame, phase: Children): void {
	draft.removeTally(frame.id);
	startChildren(draft, draft.put({...frame, phase}));
}

function beginMap(draft: Draft, frame: Frame, state: MapState): void {
	const items = itemsOf(draft, frame, state);
	const total = items.length;
	if (total > limits.statesMapItems)
		throw new EvaluationError('States.Runtime', `a Map has at most ${limits.statesMapItems} items, got ${total}`);
	const numbers = mapNumbers(draft, frame, state, total);
	if (total === 0) return finishWork(draft, frame, []);
	const input = isCheap(state) ? null : withinBounds(items, 'the list of items');
	beginChildren(draft, frame, {type: 'children', total, ...numbers, input});
}

type MapNumbers = {readonly concurrency: number; readonly tolerated: number | null};

function mapNumbers(draft: Draft, frame: Frame, state: MapState, total: number): MapNumbers {
	const scope = scopeOf(draft, frame, inputOf(draft, frame, state));
	const numberOf = (field: 'MaxConcurrency' | 'ToleratedFailureCount' | 'ToleratedFailurePercentage', most: number): number | undefined => {
		const path = state[`${field}Path`];
		return path === undefined ? state[field] : runtimeNumber(path, scope, `${field}Path`, {most});
	};
	const concurrency = Math.trunc(numberOf('MaxConcurrency', limits.statesMapItems) ?? 0) || limits.statesMapConcurrency;
	const count = numberOf('ToleratedFailureCount', limits.statesMapItems);
	const percentage = numberOf('ToleratedFailurePercentage', 100);
	const tolerated = Math.min(count ?? total, percentage === undefined ? total : Math.floor((total * percentage) / 100));
	return {
		concurrency: Math.min(concurrency, limits.statesMapConcurrency),
		tolerated: count === undefined && percentage === undefined ? null : tolerated,
	};
}
