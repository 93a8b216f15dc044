// How a frame goes on: into a state, out of its machine, or to another try of the work it has.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {jsonBytes} from '../../api/states-language/data-bounds.js';
import type {Retrier, State} from '../../api/states-language/definition.js';
import {failed, isTaken, outcomeOf, type StateError} from '../../api/states-language/errors.js';
import {placed} from '../../api/states-language/reference-path.js';
import {filled} from '../../api/states-language/template.js';
import {withinBounds} from '../../api/states-language/data-bounds.js';
import {itemsOf, inputOf, scopeOf} from './context.js';
import {attemptsOf, delayMsOf} from './delay.js';
import {machineOf, stateOf, type Draft} from './draft.js';
import {childId, childIdsOf, keyOf, timerOf} from './keys.js';
import {outputOf} from './results.js';
import type {Children, Frame, Phase, RunView} from './run.js';

/** A frame in its next state: that waits for `continued`, so that one state is one step. */
export function enter(draft: Draft, frame: Frame, state: string, input: Json): void {
	if (frame.visit >= limits.statesTransitions)
		return failFrame(draft, frame, failed('States.Runtime', `more than ${limits.statesTransitions} states were entered`).error);
	draft.put({
		...frame,
		state,
		input,
		visit: frame.visit + 1,
		enteredAtMs: draft.means.nowMs,
		attempt: 1,
		retries: [],
		phase: {type: 'entered'},
	});
	draft.tell({type: 'entered', frame: frame.id, state, input});
	draft.command({type: 'continue', frame: frame.id});
}

/** A state is over: the next one, or the end of the machine. */
export function leave(draft: Draft, frame: Frame, {Next}: {readonly Next?: string}, output: Json): void {
	draft.tell({type: 'left', frame: frame.id, state: frame.state, ...(Next === undefined ? {output} : {})});
	if (Next === undefined) endFrame(draft, frame, output);
	else enter(draft, frame, Next, output);
}

/** The work of a Task, Parallel or Map has a result. */
export function finishWork(draft: Draft, frame: Frame, result: Json): void {
	const state = stateOf(draft.definition, frame);
	if (state.Type !== 'Task' && state.Type !== 'Parallel' && state.Type !== 'Map') return;
	const output = outcomeOf(() => outputOf(draft, frame, state, result));
	if (output.ok) leave(draft, frame, state, output.value);
	else failState(draft, frame, output.error);
}

/** A state reports an error: it is tried again, caught, or the machine fails. */
export function failState(draft: Draft, frame: Frame, error: StateError): void {
	const state = stateOf(draft.definition, frame);
	if (state.Type !== 'Task' && state.Type !== 'Parallel' && state.Type !== 'Map') return failFrame(draft, frame, error);
	const retrier = state.Retry?.findIndex(each => isTaken(each.ErrorEquals, error, state.Type)) ?? -1;
	const retry = state.Retry?.[retrier];
	if (retry !== undefined && (frame.retries[retrier] ?? 0) < attemptsOf(retry)) return tryAgain(draft, frame, {retrier, retry, error});
	const catcher = state.Catch?.findIndex(each => isTaken(each.ErrorEquals, error, state.Type)) ?? -1;
	const caught = state.Catch?.[catcher];
	if (caught === undefined) return failFrame(draft, frame, error);
	const {ResultPath = '$', Next} = caught;
	const output = outcomeOf(() => (ResultPath === null ? frame.input : withinBounds(placed(frame.input, ResultPath, error), 'the output')));
	if (!output.ok) return failFrame(draft, frame, output.error);
	draft.tell({type: 'caught', frame: frame.id, state: frame.state, catcher, error});
	enter(draft, frame, Next, output.value);
}

type Again = {readonly retrier: number; readonly retry: Retrier; readonly error: StateError};

function tryAgain(draft: Draft, frame: Frame, {retrier, retry, error}: Again): void {
	const before = frame.retries[retrier] ?? 0;
	const delayMs = delayMsOf(retry, before, draft.means.tools.random);
	const untilMs = draft.means.nowMs + delayMs;
	const retries = Array.from(
		{length: Math.max(frame.retries.length, retrier + 1)},
		(_, at) => (frame.retries[at] ?? 0) + (at === retrier ? 1 : 0),
	);
	const next = draft.put({...frame, retries, attempt: frame.attempt + 1, phase: {type: 'retrying', untilMs}});
	draft.tell({type: 'retried', frame: frame.id, state: frame.state, retrier, error, delayMs});
	draft.command({type: 'startTimer', timer: timerOf(keyOf(draft.head, next), 'retry'), atMs: untilMs});
}

/** A machine has come to its end. */
export function endFrame(draft: Draft, frame: Frame, output: Json): void {
	if (frame.parent === null) {
		draft.remove(frame.id);
		draft.end({status: 'succeeded', atMs: draft.means.nowMs, output});
		return;
	}
	const parent = parentOf(draft, frame);
	if (parent === undefined) return draft.remove(frame.id);
	draft.put({...frame, input: null, phase: {type: 'ended', output}});
	childEnded(draft, parent, jsonBytes(output), 0);
}

/** A machine has failed: so has the run, or the state that it is a part of. */
export function failFrame(draft: Draft, frame: Frame, error: StateError): void {
	draft.tell({type: 'failed', frame: frame.id, state: frame.state, error});
	if (frame.parent === null) {
		removeBelow(draft, frame);
		draft.remove(frame.id);
		draft.end({status: 'failed', atMs: draft.means.nowMs, error});
		return;
	}
	const parent = parentOf(draft, frame);
	if (parent === undefined) return draft.remove(frame.id);
	const {tolerated} = parent.phase;
	const {failed: before} = draft.tally(parent.id);
	if (tolerated !== null && error.Error !== 'States.Runtime' && before < tolerated) {
		draft.put({...frame, input: null, phase: {type: 'ended', output: error}});
		childEnded(draft, parent, jsonBytes(error), 1);
		return;
	}
	removeBelow(draft, parent);
	const exceeded = tolerated !== null && error.Error !== 'States.Runtime';
	failState(draft, parent, exceeded ? failed('States.ExceedToleratedFailureThreshold', tooMany(tolerated, error)).error : error);
}

const tooMany = (tolerated: number, {Error: name, Cause}: StateError): string =>
	`more than ${tolerated} items have failed, the last with ${name}: ${Cause}`.slice(0, limits.statesCauseCharacters);

type Parent = Frame & {readonly phase: Children};

const isParent = (frame: Frame | undefined): frame is Parent => frame?.phase.type === 'children';

/** Whether what is above a frame still waits for it: a store may not have removed it yet. */
export function isWaitedFor(run: Pick<RunView, 'frame'>, frame: Frame): boolean {
	if (frame.parent === null) return true;
	const parent = parentOf(run, frame);
	return parent !== undefined && isWaitedFor(run, parent);
}

/** Undefined where the frame above has gone on without it, and a store has not removed it yet. */
function parentOf(draft: Pick<RunView, 'frame'>, {id, parent, index}: Frame): Parent | undefined {
	const frame = parent === null ? undefined : draft.frame(parent);
	return isParent(frame) && childId(frame, index) === id ? frame : undefined;
}

function childEnded(draft: Draft, parent: Parent, bytes: number, failures: number): void {
	const before = draft.tally(parent.id);
	const tally = {...before, ended: before.ended + 1, failed: before.failed + failures, bytes: before.bytes + bytes};
	draft.putTally(tally);
	if (tally.bytes > limits.statesDataBytes) {
		removeBelow(draft, parent);
		const error = failed('States.DataLimitExceeded', `the outputs together have more than ${limits.statesDataBytes} bytes`);
		return failState(draft, parent, error.error);
	}
	if (tally.ended < parent.phase.total) return startChildren(draft, parent);
	const idOf = childIdsOf(parent);
	const outputs = Array.from({length: parent.phase.total}, (_, index) => outputOfEnded(draft.frame(idOf(index))?.phase));
	removeBelow(draft, parent);
	finishWork(draft, parent, outputs);
}

const outputOfEnded = (phase: Phase | undefined): Json => (phase?.type === 'ended' ? phase.output : null);

/** Begins as many further branches or items as may be under way, a portion a step. */
export function startChildren(draft: Draft, frame: Frame): void {
	if (!isParent(frame)) return;
	const tally = draft.tally(frame.id);
	const {started} = tally;
	const may = Math.min(frame.phase.total - started, frame.phase.concurrency - (started - tally.ended));
	const state = stateOf(draft.definition, frame);
	const portion = Math.min(may, selectorOf(state) === undefined ? limits.statesMapPortion : limits.statesMapMadePortion);
	if (portion <= 0) return;
	const inputs = outcomeOf(() => withinStep(inputsOf(draft, frame, started, portion)));
	if (!inputs.ok) {
		removeBelow(draft, frame);
		return failState(draft, frame, inputs.error);
	}
	const begun = inputs.value.length;
	draft.putTally({...tally, started: started + begun});
	inputs.value.forEach((input, at) =>
		startChild(draft, frame, {index: started + at, branch: state.Type === 'Map' ? 0 : started + at, input}),
	);
	if (begun < may) draft.command({type: 'continue', frame: frame.id});
}

/** As many of them as may be stored with one step; the first in any case. */
function withinStep(inputs: readonly Json[]): readonly Json[] {
	let bytes = 0;
	const beyond = inputs.findIndex((input, at) => (bytes += jsonBytes(input)) > limits.statesDataBytes && at > 0);
	return beyond < 0 ? inputs : inputs.slice(0, beyond);
}

/** The template of the inputs of a Map's items. */
const selectorOf = (state: State): Json | undefined => (state.Type === 'Map' ? (state.ItemSelector ?? state.Parameters) : undefined);

/** What the next branches or items begin with. */
function inputsOf(draft: Draft, frame: Parent, from: number, count: number): readonly Json[] {
	const state = stateOf(draft.definition, frame);
	if (state.Type !== 'Map') return Array.from({length: count}, () => frame.phase.input);
	const template = selectorOf(state);
	const items = itemsOf(draft, frame, state).slice(from, from + count);
	if (template === undefined) return items;
	const input = inputOf(draft, frame, state);
	return items.map((value, at) =>
		withinBounds(filled(template, scopeOf(draft, frame, input, {index: from + at, value})), 'the input of an item'),
	);
}

type Child = {readonly index: number; readonly branch: number; readonly input: Json};

function startChild(draft: Draft, frame: Frame, {index, branch, input}: Child): void {
	const child: Frame = {
		id: childId(frame, index),
		parent: frame.id,
		scope: [...frame.scope, {state: frame.state, branch}],
		index,
		state: '',
		visit: 0,
		enteredAtMs: draft.means.nowMs,
		input,
		attempt: 1,
		retries: [],
		phase: {type: 'entered'},
	};
	enter(draft, child, machineOf(draft.definition, child).StartAt, input);
}

/** Ends all that is under way below a frame, and the task of the frame itself. */
export function removeBelow(draft: Draft, frame: Frame): void {
	const {phase} = frame;
	if (phase.type === 'task') draft.command({type: 'stopTask', key: keyOf(draft.head, frame)});
	if (phase.type !== 'children') return;
	const {started} = draft.tally(frame.id);
	draft.removeTally(frame.id);
	const idOf = childIdsOf(frame);
	for (let index = 0; index < started; index++) {
		const child = draft.frame(idOf(index));
		if (child === undefined) continue;
		removeBelow(draft, child);
		draft.remove(child.id);
	}
}
