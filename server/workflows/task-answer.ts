// An answer to a task of a run, as somebody outside gives it: which task, and what came of it.

import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {dataProblem} from '../../api/states-language/data-bounds.js';
import type {TaskAnswered} from '../../actors/control/workflows/run-message.js';

export type TaskAnswer = Pick<TaskAnswered, 'task' | 'outcome'>;

type Read<Value> = {readonly ok: true; readonly value: Value} | {readonly ok: false; readonly message: string};

/** By what an answer may name its task. */
export type Naming = 'state' | 'key' | 'token';

const outcomes = ['output', 'error', 'heartbeat'] as const;

/** `{state | key | token, output | error: {error, cause} | heartbeat: true}`, or what is wrong with it. */
export function readTaskAnswer(body: JsonObject, namings: readonly Naming[] = ['state', 'key', 'token']): Read<TaskAnswer> {
	const known: readonly string[] = [...namings, ...outcomes];
	const other = Object.keys(body).find(name => !known.includes(name));
	if (other !== undefined) return wrong(`an answer has no member ${shown(other)}; it has ${known.join(', ')}`);
	const task = taskOf(body, namings);
	if (!task.ok) return task;
	const outcome = outcomeOf(body);
	return outcome.ok ? {ok: true, value: {task: task.value, outcome: outcome.value}} : outcome;
}

const wrong = (message: string): {readonly ok: false; readonly message: string} => ({ok: false, message});

const given = <Name extends string>(body: JsonObject, names: readonly Name[]): readonly Name[] =>
	names.filter(name => body[name] !== undefined);

function taskOf(body: JsonObject, namings: readonly Naming[]): Read<TaskAnswered['task']> {
	const [naming, ...more] = given(body, namings);
	if (naming === undefined || more.length > 0) return wrong(`an answer names its task by ${oneOf(namings)}`);
	const name = body[naming];
	if (typeof name !== 'string' || name === '' || name.length > limits.taskNameCharacters)
		return wrong(`${naming} must be a text of 1 to ${limits.taskNameCharacters} characters, got ${shown(name)}`);
	switch (naming) {
		case 'state':
			return {ok: true, value: {state: name}};
		case 'key':
			return {ok: true, value: {key: name}};
		case 'token':
			return {ok: true, value: {token: name}};
	}
}

const oneOf = (names: readonly string[]): string =>
	names.length === 1 ? (names[0] ?? '') : `one of ${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;

function outcomeOf(body: JsonObject): Read<TaskAnswered['outcome']> {
	const [outcome, ...more] = given(body, outcomes);
	if (outcome === undefined || more.length > 0) return wrong(`an answer has ${oneOf(outcomes)}`);
	switch (outcome) {
		case 'output':
			return outputOf(body['output'] ?? null);
		case 'error':
			return errorOf(body['error'] ?? null);
		case 'heartbeat':
			return body['heartbeat'] === true
				? {ok: true, value: {type: 'heartbeat'}}
				: wrong(`heartbeat must be true, got ${shown(body['heartbeat'])}`);
	}
}

/** What no state could have is not taken: the task would fail for it, and it can be answered once. */
function outputOf(output: Json): Read<TaskAnswered['outcome']> {
	const problem = dataProblem(output);
	return problem === undefined ? {ok: true, value: {type: 'succeeded', output}} : wrong(`output ${problem}`);
}

function errorOf(value: Json): Read<TaskAnswered['outcome']> {
	const {error, cause = '', ...others} = isObject(value) ? value : {};
	if (typeof error !== 'string' || error === '' || typeof cause !== 'string' || Object.keys(others).length > 0)
		return wrong(`error must be {"error": NAME, "cause": TEXT}, such as {"error": "Rejected", "cause": "too much"}`);
	if (error.length > limits.statesErrorCharacters || cause.length > limits.statesCauseCharacters)
		return wrong(
			`error has a name of at most ${limits.statesErrorCharacters} characters and a cause of at most ${limits.statesCauseCharacters}`,
		);
	if (error.startsWith('States.')) return wrong(`the error ${shown(error)} is one of the language; give it a name of your own`);
	return {ok: true, value: {type: 'failed', error: {Error: error, Cause: cause}}};
}
