// Runs as tests drive them: in virtual time, with answers by the names of states.

import type {Json} from '../../../api/object.js';
import type {StateError} from '../../../api/states-language/errors.js';
import {rehearse, type Answer, type Call, type Rehearsed} from '../../../actors/workflows/rehearsal.js';
import {definitionOf, testTools} from '../../api/states-language/_states.js';

export const startMs = Date.parse('2026-01-01T00:00:00Z');

/** By state: an answer for each call, the last for all that follow; or a function of the call. */
export type Answers = {readonly [state: string]: readonly Answer[] | ((call: Call) => Answer)};

export const gives = (output: Json, seconds = 0): Answer => ({output, seconds});
export const throws = (name: string, seconds = 0, cause = 'because'): Answer => ({error: {Error: name, Cause: cause}, seconds});

export type Ran = Rehearsed & {readonly calls: readonly Call[]};

export function runOf(definition: unknown, input: Json = {}, answers: Answers = {}, seed = 1): Ran {
	const calls: Call[] = [];
	const counts = new Map<string, number>();
	const ran = rehearse({
		definition: definitionOf(definition),
		run: {id: 'ns/run-1', name: 'run-1', workflow: 'w', input},
		startMs,
		tools: testTools(seed),
		stepsMax: 200_000,
		answer: call => {
			calls.push(call);
			const given = answers[call.state];
			if (typeof given === 'function') return given(call);
			const count = counts.get(call.state) ?? 0;
			counts.set(call.state, count + 1);
			return given?.[Math.min(count, given.length - 1)] ?? gives(call.input);
		},
	});
	return {...ran, calls};
}

export const outputOf = ({ending}: Rehearsed): Json | undefined => (ending?.status === 'succeeded' ? ending.output : undefined);
export const errorOf = ({ending}: Rehearsed): StateError | undefined => (ending?.status === 'failed' ? ending.error : undefined);

/** Seconds from the start to the end. */
export const tookOf = ({ending}: Rehearsed): number => ((ending?.atMs ?? 0) - startMs) / 1_000;

/** The states that were entered, with the seconds at which they were. */
export const wayOf = ({news}: Rehearsed): readonly string[] =>
	news.flatMap(each => (each.type === 'entered' ? [`${each.state} ${(each.atMs - startMs) / 1_000}`] : []));
