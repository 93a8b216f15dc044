// A run as a machine: from a definition, a run and an event to what changes and what is to be done. Pure: time and chance are handed in.
//
// What it keeps true: an event that comes twice, or too late, changes nothing; what is under way can be told of a run that was read
// again (outstanding), with the same keys and the same inputs.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {withinBounds} from '../../api/states-language/data-bounds.js';
import type {Definition} from '../../api/states-language/definition.js';
import {failed, outcomeOf} from '../../api/states-language/errors.js';
import {parseTaskResource} from '../../api/task-resource.js';
import {Draft, stateOf} from './draft.js';
import {frameOfKey, keyOf, parseTimer, runTimerOf, timerOf, type TimerKind} from './keys.js';
import {enter, failFrame, failState, finishWork, isWaitedFor, leave, removeBelow, startChildren} from './moves.js';
import type {Frame, Phase, RunCommand, RunEvent, RunHead, RunView, Step, StepMeans} from './run.js';
import {begin, bounded} from './work.js';

type StartTimer = Extract<RunCommand, {type: 'startTimer'}>;

export type NewRun = {readonly id: string; readonly name: string; readonly workflow: string; readonly input: Json};

/** The first step of a run, and its head. */
export function beginRun(definition: Definition, {id, name, workflow, input}: NewRun, means: StepMeans): Step & {readonly head: RunHead} {
	const head: RunHead = {id, name, workflow, startedAtMs: means.nowMs, input, ending: null};
	const draft = new Draft(definition, {head, frame: () => undefined, tally: () => undefined}, means);
	const frame: Frame = {
		id: '',
		parent: null,
		scope: [],
		index: 0,
		state: '',
		visit: 0,
		enteredAtMs: means.nowMs,
		input,
		attempt: 1,
		retries: [],
		phase: {type: 'entered'},
	};
	const fits = outcomeOf(() => withinBounds(input, 'the input'));
	if (fits.ok) enter(draft, frame, definition.StartAt, input);
	else failFrame(draft, frame, fits.error);
	if (fits.ok) for (const command of runTimer(definition, head)) draft.command(command);
	return {...draft.step(), head: draft.head};
}

/** The timer of the run as a whole, where its definition has one. */
export function runTimer({TimeoutSeconds}: Definition, head: RunHead): readonly StartTimer[] {
	if (TimeoutSeconds === undefined) return [];
	return [{type: 'startTimer', timer: runTimerOf(head), atMs: head.startedAtMs + TimeoutSeconds * 1_000}];
}

/** What an event changes. Nothing of a run that has ended. */
export function stepRun(definition: Definition, run: RunView, event: RunEvent, means: StepMeans): Step {
	const draft = new Draft(definition, run, means);
	if (run.head.ending === null) take(draft, event);
	return draft.step();
}

function take(draft: Draft, event: RunEvent): void {
	switch (event.type) {
		case 'continued':
			return goOn(draft, draft.frame(event.frame));
		case 'taskSucceeded':
			return onTask(draft, event.key, frame => finishWork(draft, frame, event.output));
		case 'taskFailed':
			return onTask(draft, event.key, frame => failState(draft, frame, bounded(event.error)));
		case 'taskHeartbeat':
			return onTask(draft, event.key, frame => beat(draft, frame));
		case 'taskCalled':
			return onTask(draft, event.key, frame => called(draft, frame));
		case 'timerFired':
			return event.timer === runTimerOf(draft.head) ? runTimedOut(draft) : fired(draft, event.timer);
		case 'cancelled':
			return cancel(draft, event.cause);
	}
}

function goOn(draft: Draft, frame: Frame | undefined): void {
	if (frame === undefined || !isWaitedFor(draft, frame)) return;
	if (frame.phase.type === 'entered') begin(draft, frame);
	else if (frame.phase.type === 'children') startChildren(draft, frame);
}

/** The frame whose present work has that key. */
function frameAt(draft: Draft, key: string): Frame | undefined {
	const id = frameOfKey(draft.head, key);
	const frame = id === undefined ? undefined : draft.frame(id);
	return frame !== undefined && keyOf(draft.head, frame) === key && isWaitedFor(draft, frame) ? frame : undefined;
}

function onTask(draft: Draft, key: string, act: (frame: Frame) => void): void {
	const frame = frameAt(draft, key);
	if (frame?.phase.type === 'task') act(frame);
}

/** Its timer runs on, and looks again when it fires. */
function beat(draft: Draft, frame: Frame): void {
	const {phase} = frame;
	if (phase.type !== 'task' || phase.heartbeatSeconds === null) return;
	draft.put({...frame, phase: {...phase, heartbeatAtMs: draft.means.nowMs + phase.heartbeatSeconds * 1_000}});
}

function called(draft: Draft, frame: Frame): void {
	const {phase} = frame;
	if (phase.type === 'task' && phase.called !== true) draft.put({...frame, phase: {...phase, called: true}});
}

function fired(draft: Draft, timer: string): void {
	const parsed = parseTimer(timer);
	const frame = parsed === undefined ? undefined : frameAt(draft, parsed.key);
	const atMs = parsed === undefined || frame === undefined ? undefined : dueOf(frame.phase, parsed.kind);
	if (parsed === undefined || frame === undefined || atMs === undefined) return;
	// A clock that was behind, or a task that has given a sign.
	if (atMs > draft.means.nowMs) return draft.command({type: 'startTimer', timer, atMs});
	onTime(draft, frame, parsed.kind);
}

/** When that timer of a frame is due; undefined where it is none of its own. */
function dueOf(phase: Phase, kind: TimerKind): number | undefined {
	if (phase.type === 'waiting') return kind === 'wait' ? phase.untilMs : undefined;
	if (phase.type === 'retrying') return kind === 'retry' ? phase.untilMs : undefined;
	if (phase.type !== 'task') return undefined;
	const atMs = kind === 'timeout' ? phase.timeoutAtMs : kind === 'heartbeat' ? phase.heartbeatAtMs : null;
	return atMs ?? undefined;
}

function onTime(draft: Draft, frame: Frame, kind: TimerKind): void {
	switch (kind) {
		case 'wait': {
			const state = stateOf(draft.definition, frame);
			if (state.Type === 'Wait' && frame.phase.type === 'waiting') leave(draft, frame, state, frame.phase.output);
			return;
		}
		case 'retry':
			return begin(draft, frame);
		case 'timeout':
			draft.command({type: 'stopTask', key: keyOf(draft.head, frame)});
			return failState(draft, frame, failed('States.Timeout', 'the task did not answer in time').error);
		case 'heartbeat':
			draft.command({type: 'stopTask', key: keyOf(draft.head, frame)});
			return failState(draft, frame, failed('States.HeartbeatTimeout', 'the task has given no sign in time').error);
	}
}

function runTimedOut(draft: Draft): void {
	const {TimeoutSeconds} = draft.definition;
	const root = draft.frame('');
	if (TimeoutSeconds === undefined || root === undefined) return;
	const atMs = draft.head.startedAtMs + TimeoutSeconds * 1_000;
	if (atMs > draft.means.nowMs) return draft.command({type: 'startTimer', timer: runTimerOf(draft.head), atMs});
	failFrame(draft, root, failed('States.Timeout', `the run has taken more than ${TimeoutSeconds} s`).error);
}

function cancel(draft: Draft, cause: string): void {
	const root = draft.frame('');
	if (root !== undefined) {
		removeBelow(draft, root);
		draft.remove('');
	}
	draft.end({status: 'cancelled', atMs: draft.means.nowMs, cause: cause.slice(0, limits.statesCauseCharacters)});
}

/** What has to be done again for a frame that was read from a store, where nobody knows whether it was done: calls have the keys they had. */
export function outstanding(definition: Definition, head: RunHead, frame: Frame): readonly RunCommand[] {
	const key = keyOf(head, frame);
	const {phase} = frame;
	const ofRun = frame.parent === null ? runTimer(definition, head) : [];
	switch (phase.type) {
		case 'entered':
		case 'children':
			return [...ofRun, {type: 'continue', frame: frame.id}];
		case 'waiting':
			return [...ofRun, {type: 'startTimer', timer: timerOf(key, 'wait'), atMs: phase.untilMs}];
		case 'retrying':
			return [...ofRun, {type: 'startTimer', timer: timerOf(key, 'retry'), atMs: phase.untilMs}];
		case 'ended':
			return ofRun;
		case 'task':
			return [...ofRun, ...taskCommands(definition, frame, phase, key)];
	}
}

const objectTasks: ReadonlySet<string> = new Set(['workflow', 'job', 'slurmjob']);

/** It ends as its object does: nobody answers. */
function isObjectTask(resource: string): boolean {
	const parsed = parseTaskResource(resource);
	return parsed.ok && objectTasks.has(parsed.value.type);
}

function taskCommands(definition: Definition, frame: Frame, phase: Extract<Phase, {type: 'task'}>, key: string): readonly RunCommand[] {
	const state = stateOf(definition, frame);
	const resource = state.Type === 'Task' ? state.Resource : '';
	const timers = [
		['timeout', phase.timeoutAtMs],
		['heartbeat', phase.heartbeatAtMs],
	] as const;
	const call: RunCommand = {type: 'callTask', key, resource, state: frame.state, attempt: frame.attempt, input: phase.input};
	return [
		...(phase.called !== true ? [call] : isObjectTask(resource) ? [{...call, isMade: true} as const] : []),
		...timers.flatMap(([kind, atMs]): RunCommand[] => (atMs === null ? [] : [{type: 'startTimer', timer: timerOf(key, kind), atMs}])),
	];
}
