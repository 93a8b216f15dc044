// One case: a run in virtual time with the answers of its mocks, held against what it should come to.

import {deepEqual, differences} from '../../api/equal.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Definition} from '../../api/states-language/definition.js';
import {rehearse, type Answer, type Call, type Rehearsed, type TimedNews} from '../../actors/workflows/rehearsal.js';
import type {RunEnding} from '../../actors/workflows/run.js';
import {statesTools} from '../../system/time/states-tools.js';
import {seededRandom} from '../../system/time/random.js';
import {goneThrough} from './coverage.js';
import type {Expected, MockCase} from './mock-file.js';

/** How a run has ended, without its time. */
export type Ending =
	| {readonly status: 'succeeded'; readonly output: Json}
	| {readonly status: 'failed'; readonly error: string; readonly cause: string}
	| {readonly status: 'gave up'};

/** What has happened, at how many seconds. */
export type PathEntry = {readonly seconds: number} & TimedNews;

export type Tried = {
	readonly name: string;
	readonly ok: boolean;
	/** What is not as it should be. */
	readonly problems: readonly string[];
	readonly ending: Ending;
	readonly seconds: number;
	/** The beginning of it. */
	readonly path: readonly PathEntry[];
	/** How much more has happened. */
	readonly more: number;
};

/** A case, and the states, choices and catchers that it has gone through, by their names. */
export type TriedCase = {readonly tried: Tried; readonly gone: ReadonlySet<string>};

export function tryCase(definition: Definition, each: MockCase, input: Json): TriedCase {
	const missing: string[] = [];
	const ran = rehearse({
		definition,
		run: {id: each.name, name: each.name, workflow: 'workflow', input: each.input ?? input},
		startMs: each.startMs,
		// The same in each run of a case.
		tools: statesTools(seededRandom(1)),
		stepsMax: limits.workflowTestSteps,
		answer: answering(each, missing),
	});
	const ending = endingOf(ran.ending);
	const problems = missing.length > 0 ? missing.slice(0, 1) : problemsOf(each.expected, ending, ran);
	const secondsOf = (atMs: number): number => (atMs - each.startMs) / 1_000;
	const path = ran.news.slice(0, limits.workflowTestEntries).map(news => ({seconds: secondsOf(news.atMs), ...news}));
	const tried: Tried = {
		name: each.name,
		ok: problems.length === 0,
		problems,
		ending,
		seconds: secondsOf(ran.ending?.atMs ?? ran.news.at(-1)?.atMs ?? each.startMs),
		path,
		more: ran.news.length - path.length,
	};
	return {tried, gone: new Set(ran.news.flatMap(goneThrough))};
}

/** Answers each call of a state by the next of its mocks; what has none ends the run, and is told. */
function answering({answers}: MockCase, missing: string[]): (call: Call) => Answer {
	const counts = new Map<string, number>();
	return ({state}) => {
		const count = (counts.get(state) ?? 0) + 1;
		counts.set(state, count);
		const given = answers.get(state);
		const answer = given !== undefined && isList(given) ? given[count - 1] : given;
		if (answer !== undefined) return answer;
		missing.push(
			given !== undefined && isList(given)
				? `${JSON.stringify(state)} is called ${count} times, and its mock has ${given.length} answers`
				: `${JSON.stringify(state)} is called, and has no mock: name it under States`,
		);
		return {error: {Error: 'States.Runtime', Cause: missing[0] ?? ''}, seconds: 0};
	};
}

const isList = (given: readonly Answer[] | Answer): given is readonly Answer[] => Array.isArray(given);

function endingOf(ending: RunEnding | undefined): Ending {
	if (ending?.status === 'succeeded') return {status: 'succeeded', output: ending.output};
	if (ending?.status === 'failed') return {status: 'failed', error: ending.error.Error, cause: ending.error.Cause};
	return {status: 'gave up'};
}

/** A case that expects nothing must succeed. */
function problemsOf(expected: Expected | undefined, ending: Ending, {steps}: Rehearsed): readonly string[] {
	if (ending.status === 'gave up') return [`it has no end: it was given up after ${steps} steps`];
	if (expected === undefined)
		return ending.status === 'failed'
			? [`it failed with ${ending.error}${causeText(ending.cause)}, and says nothing of that under Expect`]
			: [];
	if ('output' in expected) return outputProblems(expected.output, ending);
	if (ending.status === 'succeeded') return [`it should fail with ${expected.error}, and it succeeded`];
	const isSame = ending.error === expected.error && (expected.cause === undefined || expected.cause === ending.cause);
	return isSame ? [] : [`it should fail with ${expected.error}${causeText(expected.cause)}, got ${ending.error}${causeText(ending.cause)}`];
}

const causeText = (cause = ''): string => (cause === '' ? '' : ` (${cause})`);

function outputProblems(expected: Json, ending: Exclude<Ending, {status: 'gave up'}>): readonly string[] {
	if (ending.status === 'failed') return [`it should succeed, and it failed with ${ending.error}${causeText(ending.cause)}`];
	if (deepEqual(expected, ending.output)) return [];
	const places = differences(expected, ending.output, '').map(path => (path === '' ? 'the output' : path));
	return [`the output is other than expected at ${places.slice(0, limits.changesShown).join(', ')}`];
}
