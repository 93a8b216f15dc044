// Reads a file of mocks: cases by name, each with an input, what its tasks answer, and what it should come to.

import type {Readable} from 'node:stream';
import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {joinPath} from '../../api/path.js';
import {formatProblem, type Problem} from '../../api/problem.js';
import {membersOf, refuse, type Found} from '../../api/rules/report.js';
import {shown} from '../../api/shown.js';
import {statesIn, type Definition} from '../../api/states-language/definition.js';
import {timestampMs} from '../../api/states-language/timestamp.js';
import {didYouMean} from '../../api/suggest.js';
import type {Answer} from '../../actors/workflows/rehearsal.js';
import type {Fault} from '../manifests/faults.js';
import {readOneDocument} from './one-document.js';

export type MockCase = {
	readonly name: string;
	readonly startMs: number;
	readonly input: Json | undefined;
	/** By the name of the state: the answers of its calls, from the first. One that is not in a list is that of all. */
	readonly answers: ReadonlyMap<string, readonly Answer[] | Answer>;
	readonly expected: Expected | undefined;
};

export type Expected = {readonly output: Json} | {readonly error: string; readonly cause: string | undefined};

export type ReadCases = {readonly ok: true; readonly cases: readonly MockCase[]} | {readonly ok: false; readonly faults: readonly Fault[]};

type Reading = {readonly found: Found; readonly shared: JsonObject; readonly tasks: readonly string[]; readonly states: readonly string[]};

export async function readCases(file: string, stdin: Readable, definition: Definition): Promise<ReadCases> {
	const read = await readOneDocument(file, stdin);
	if (!read.ok) return read;
	const {document} = read;
	const found: Found = [];
	const cases = casesIn(found, document.value, definition);
	if (found.length === 0) return {ok: true, cases};
	const faultOf = (problem: Problem): Fault => ({
		place: document.locate(problem.path),
		message: formatProblem(problem),
		code: 'ERR_INVALID',
	});
	return {ok: false, faults: found.slice(0, limits.problemsShown).map(faultOf)};
}

function casesIn(found: Found, value: JsonObject, definition: Definition): readonly MockCase[] {
	checkKnown(found, '', value, ['Comment', 'StartTime', 'TestCases', 'MockedResponses']);
	const all = statesIn(definition);
	const reading: Reading = {
		found,
		shared: membersOf(value['MockedResponses']),
		tasks: all.filter(({state}) => state.Type === 'Task').map(({name}) => name),
		states: all.map(({name}) => name),
	};
	const cases = Object.entries(membersOf(value['TestCases']));
	if (cases.length === 0 || cases.length > limits.workflowTestCases)
		refuse(
			found,
			'TestCases',
			`must be an object of 1 to ${limits.workflowTestCases} cases by name, got ${isObject(value['TestCases']) ? cases.length : shown(value['TestCases'])}`,
		);
	if (found.length > 0) return [];
	const startMs = startOf(found, 'StartTime', value['StartTime'] ?? firstTime);
	return cases.map(([name, each]) => caseIn(reading, joinPath('TestCases', name), {name, value: each ?? null, startMs}));
}

/** When a case begins that does not say. */
const firstTime = '2030-01-01T00:00:00Z';

function startOf(found: Found, path: string, value: Json): number {
	const ms = timestampMs(value);
	if (ms === undefined) refuse(found, path, `must be a time such as ${shown(firstTime)}, got ${shown(value)}`);
	return ms ?? 0;
}

type WrittenCase = {readonly name: string; readonly value: Json; readonly startMs: number};

function caseIn(reading: Reading, path: string, {name, value, startMs}: WrittenCase): MockCase {
	const {found} = reading;
	if (!isObject(value)) refuse(found, path, `must be an object, got ${shown(value)}`);
	const {Input, States, Expect, StartTime} = membersOf(value);
	checkKnown(found, path, membersOf(value), ['Comment', 'StartTime', 'Input', 'States', 'Expect']);
	if (States !== undefined && !isObject(States))
		refuse(found, `${path}.States`, `must be an object by the names of states, got ${shown(States)}`);
	const answers = Object.entries(membersOf(States)).map(([state, given]) => {
		const at = joinPath(`${path}.States`, state);
		checkTask(reading, at, state);
		return [state, answersIn(reading, at, given ?? null)] as const;
	});
	return {
		name,
		startMs: StartTime === undefined ? startMs : startOf(found, `${path}.StartTime`, StartTime),
		input: Input,
		answers: new Map(answers),
		expected: Expect === undefined ? undefined : expectedIn(found, `${path}.Expect`, Expect),
	};
}

function checkTask({found, tasks, states}: Reading, path: string, state: string): void {
	if (tasks.includes(state)) return;
	if (states.includes(state)) refuse(found, path, `${shown(state)} is no Task, and answers nothing; take it out`);
	else refuse(found, path, `there is no state ${shown(state)} in the definition${didYouMean(state, tasks)}`);
}

/** One answer, a list of them, or the name of one or several that are shared. */
function answersIn(reading: Reading, path: string, value: Json): readonly Answer[] | Answer {
	const {found, shared} = reading;
	if (typeof value === 'string') {
		const at = joinPath('MockedResponses', value);
		const given = Object.hasOwn(shared, value) ? shared[value] : undefined;
		if (given === undefined) refuse(found, path, `there is no ${shown(value)} in MockedResponses${didYouMean(value, Object.keys(shared))}`);
		else if (typeof given === 'string') refuse(found, at, `must be an answer with Return or Throw, or several, got ${shown(given)}`);
		return given === undefined || typeof given === 'string' ? [] : answersIn(reading, at, given);
	}
	if (Array.isArray(value)) return (value as readonly Json[]).map((item, index) => answerIn(found, joinPath(path, index), item));
	return isObject(value) && isNumbered(value) ? numberedIn(found, path, value) : answerIn(found, path, value);
}

const numbers = /^(\d{1,6})(?:-(\d{1,6}))?$/;

const isNumbered = (value: JsonObject): boolean => Object.keys(value).some(key => numbers.test(key));

/** Calls as `"0"` or `"1-3"`, from 0, one after the other. */
function numberedIn(found: Found, path: string, value: JsonObject): readonly Answer[] {
	const answers: Answer[] = [];
	for (const [key, each] of Object.entries(value)) {
		const at = joinPath(path, key);
		const [, from = '', to = from] = numbers.exec(key) ?? [];
		if (Number(from) !== answers.length || Number(to) < Number(from) || Number(to) >= limits.workflowTestSteps) {
			refuse(
				found,
				at,
				`must be the numbers of calls, from 0 and without a gap, such as "0" and "1-3"; here one begins with ${answers.length}`,
			);
			return answers;
		}
		const answer = answerIn(found, at, each ?? null);
		for (let count = Number(from); count <= Number(to); count++) answers.push(answer);
	}
	return answers;
}

const noAnswer: Answer = {output: null, seconds: 0};

function answerIn(found: Found, path: string, value: Json): Answer {
	if (!isObject(value) || (value['Return'] === undefined) === (value['Throw'] === undefined)) {
		refuse(found, path, `must be an answer with either Return or Throw, got ${shown(value)}`);
		return noAnswer;
	}
	checkKnown(found, path, value, ['Return', 'Throw', 'Seconds']);
	const {Return, Throw, Seconds = 0} = value;
	if (typeof Seconds !== 'number' || Seconds < 0 || Seconds > limits.statesTaskSeconds)
		refuse(found, `${path}.Seconds`, `must be a number from 0 to ${limits.statesTaskSeconds}, got ${shown(Seconds)}`);
	const seconds = typeof Seconds === 'number' ? Seconds : 0;
	if (Return !== undefined) return {output: Return, seconds};
	const {Error: name, Cause = ''} = membersOf(Throw);
	checkKnown(found, `${path}.Throw`, membersOf(Throw), ['Error', 'Cause']);
	if (typeof name !== 'string' || typeof Cause !== 'string')
		refuse(found, `${path}.Throw`, 'must have an Error, and may have a Cause, both texts');
	return {error: {Error: typeof name === 'string' ? name : '', Cause: typeof Cause === 'string' ? Cause : ''}, seconds};
}

function expectedIn(found: Found, path: string, value: Json): Expected | undefined {
	const {Output, Error: name, Cause} = membersOf(value);
	checkKnown(found, path, membersOf(value), ['Output', 'Error', 'Cause']);
	if (!isObject(value) || (Output === undefined) === (name === undefined))
		refuse(found, path, `must have either Output or Error, got ${shown(value)}`);
	if (Output !== undefined) return {output: Output};
	if (name !== undefined && typeof name !== 'string') refuse(found, `${path}.Error`, `must be the name of an error, got ${shown(name)}`);
	if (Cause !== undefined && typeof Cause !== 'string') refuse(found, `${path}.Cause`, `must be a text, got ${shown(Cause)}`);
	return {error: typeof name === 'string' ? name : '', cause: typeof Cause === 'string' ? Cause : undefined};
}

function checkKnown(found: Found, path: string, object: JsonObject, known: readonly string[]): void {
	for (const name of Object.keys(object))
		if (!known.includes(name))
			refuse(found, joinPath(path, name), `unknown member ${shown(name)}; there are ${known.join(', ')}${didYouMean(name, known)}`);
}
