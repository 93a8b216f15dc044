// What is under way of a run, as people and tools see it.

import type {Run} from '../../../api/kinds/run.js';
import type {Known} from '../../../system/index/object-index.js';
import {keyOf} from '../../workflows/keys.js';
import {isWaitedFor} from '../../workflows/moves.js';
import type {Frame, Phase, RunView} from '../../workflows/run.js';
import {waitingTasks} from './run.js';
import {framesOf, headOf, runKeyOf, viewOf} from './run-parts.js';

/** One state under way. */
export type RunState = {
	/** Of its attempt: by it somebody answers. */
	readonly key: string;
	/** The machine that it is in; '' for the outermost. */
	readonly frame: string;
	readonly state: string;
	/** How many states its machine has entered. */
	readonly visit: number;
	readonly attempt: number;
	readonly enteredAtMs: number;
	readonly phase: Exclude<Phase['type'], 'ended'>;
	/** When its wait or its pause is over, or its task is out of time. */
	readonly untilMs?: number;
	/** It is over when somebody answers. */
	readonly waits?: true;
	/** Of a Parallel or a Map: how far its branches or items are. */
	readonly children?: {readonly total: number; readonly started: number; readonly ended: number; readonly failed: number};
};

/** States under way, and how many more there are. */
export type RunStates = {readonly states: readonly RunState[]; readonly more: number};

/** Those of the outermost machines first, at most so many. Nothing of a run that has not begun or is over. */
export function statesOf(run: Run, known: Known, most: number): RunStates {
	const view = viewOf(run, known);
	const alive = framesOf(runKeyOf(run), known)
		.filter(frame => frame.phase.type !== 'ended' && isWaitedFor(view, frame))
		.sort(outermostFirst);
	const waiting = new Set(waitingTasks(run, {known}).map(({key}) => key));
	return {states: alive.slice(0, most).flatMap(frame => stateOf(run, view, frame, waiting)), more: Math.max(0, alive.length - most)};
}

const outermostFirst = (a: Frame, b: Frame): number => a.scope.length - b.scope.length || a.index - b.index || (a.id < b.id ? -1 : 1);

function stateOf(run: Run, view: RunView, frame: Frame, waiting: ReadonlySet<string>): readonly RunState[] {
	const {id, state, visit, attempt, enteredAtMs, phase} = frame;
	if (phase.type === 'ended') return [];
	const key = keyOf(headOf(run), frame);
	const untilMs = untilOf(phase);
	return [
		{
			...{key, frame: id, state, visit, attempt, enteredAtMs, phase: phase.type},
			...(untilMs === undefined ? {} : {untilMs}),
			...(waiting.has(key) ? {waits: true} : {}),
			...(phase.type === 'children' ? {children: childrenOf(view, id, phase.total)} : {}),
		},
	];
}

function untilOf(phase: Phase): number | undefined {
	switch (phase.type) {
		case 'waiting':
		case 'retrying':
			return phase.untilMs;
		case 'task': {
			const times = [phase.timeoutAtMs, phase.heartbeatAtMs].filter(atMs => atMs !== null);
			return times.length === 0 ? undefined : Math.min(...times);
		}
		case 'entered':
		case 'children':
		case 'ended':
			return undefined;
	}
}

function childrenOf(view: RunView, id: string, total: number): NonNullable<RunState['children']> {
	const {started = 0, ended = 0, failed = 0} = view.tally(id) ?? {};
	return {total, started, ended, failed};
}
