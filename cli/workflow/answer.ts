// `troupe workflow approve` and `reject`: somebody answers a task that waits for that.

import {counted} from '../../api/counted.js';
import type {JsonObject} from '../../api/object.js';
import {runAnswerPath} from '../../api/run-paths.js';
import type {RunState} from '../../actors/control/workflows/run-states.js';
import type {Client} from '../client.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {runNamed} from '../runs/named.js';
import {lookAtRun, type RunPlace} from '../runs/read.js';
import {inputOf} from './input.js';

export async function approve(invocation: Invocation, words: readonly string[]): Promise<number> {
	const output = await inputOf(invocation.flags.text('output'), invocation.terminal.input);
	return answer(invocation, words, 'approve', {output});
}

export function reject(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags} = invocation;
	const error = {error: flags.text('error') ?? 'Rejected', cause: flags.text('cause') ?? ''};
	return answer(invocation, words, 'reject', {error});
}

async function answer(invocation: Invocation, words: readonly string[], verb: 'approve' | 'reject', outcome: JsonObject): Promise<number> {
	const {flags, terminal} = invocation;
	const [word, ...more] = words;
	if (word === undefined || more.length > 0) throw usageError(`${verb} takes one run, as in: troupe workflow ${verb} run/purchase-7`);
	const [state, key] = [flags.text('state'), flags.text('key')];
	if (state !== undefined && key !== undefined) throw usageError('--state and --key each name the task; give one of them');
	const name = runNamed(word);
	return withClient(invocation, async client => {
		const place = {namespace: namespaceOf(invocation, client), name};
		const task = state !== undefined ? {state} : key !== undefined ? {key} : await onlyTask(client, place, verb);
		const path = runAnswerPath(encodeURIComponent(place.namespace), encodeURIComponent(name));
		await client.json({method: 'POST', path, body: {...task, ...outcome}});
		terminal.out(`run/${name} ${verb === 'approve' ? 'approved' : 'rejected'}\n`);
		return 0;
	});
}

/** By its key: what waits now is what is answered. */
async function onlyTask(client: Client, place: RunPlace, verb: string): Promise<{readonly key: string}> {
	const {states, run, more: unseen} = await lookAtRun(client, place);
	const waiting = states.filter(({waits}) => waits === true);
	const [first, ...more] = waiting;
	if (first === undefined && unseen === 0)
		throw failedError(`nothing of run/${place.name} waits for an answer; it is ${run.phase ?? 'Pending'}${atText(states)}`);
	if (first !== undefined && more.length === 0 && unseen === 0) return {key: first.key};
	// Of what is not seen some may wait as well, of the same states.
	const flag = (each: RunState): string => (unseen > 0 ? keyFlag(each) : flagFor(each, waiting));
	const lines = waiting.slice(0, shownTasks).map(each => `  troupe workflow ${verb} run/${place.name} ${flag(each)}`);
	const left = waiting.length - lines.length;
	throw failedError(
		[
			unseen === 0
				? `${waiting.length} tasks of run/${place.name} wait; say which:`
				: `run/${place.name} has ${counted(unseen, 'more state')} under way than can be looked at, and some of them may wait; say which by --key`,
			...lines,
			...(left > 0 ? [`  … ${counted(left, 'more task')}`] : []),
		].join('\n'),
	);
}

const shownTasks = 10;

const flagFor = ({state, key}: RunState, all: readonly RunState[]): string =>
	all.filter(each => each.state === state).length === 1 ? `--state ${JSON.stringify(state)}` : keyFlag({key});

const keyFlag = ({key}: Pick<RunState, 'key'>): string => `--key ${JSON.stringify(key)}`;

const atText = (states: readonly RunState[]): string =>
	states.length === 0 ? '' : `, at ${[...new Set(states.map(({state}) => state))].slice(0, shownTasks).join(', ')}`;
