// A task that calls a function. A call that nobody could begin waits and is made again; one that has begun is made once.

import {createHash} from 'node:crypto';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {AppError, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {membersOf} from '../../api/rules/report.js';
import type {TaskResource} from '../../api/task-resource.js';
import {parsedJson} from '../../api/value-or.js';
import type {FunctionAnswer} from '../functions/delivery.js';
import {headerOf} from '../functions/function-messages.js';
import {isNotBegun} from '../functions/not-begun.js';
import {taskAnswered, taskFailed, taskFailedElsewhere, textOfAnswer} from './task-end.js';
import type {TaskParts} from './task-parts.js';
import {untilBegun} from './try-again.js';

type Called = Extract<TaskResource, {type: 'function'}>;

/** The header that has the key: whoever gets it twice has been called twice for one attempt. */
export const taskKeyHeader = 'x-troupe-task-key';

export async function functionTask(parts: TaskParts, task: CallTask, resource: Called, signal: AbortSignal): Promise<TaskOutcome> {
	const {clock, turns} = parts;
	const outcome = await untilBegun(clock, signal, () => turns.take(signal, () => tried(parts, task, resource, signal)));
	return resource.waitsForToken && outcome.type === 'succeeded' ? {type: 'waiting'} : outcome;
}

/** Undefined: nothing was begun. */
async function tried({callWhole}: TaskParts, task: CallTask, resource: Called, signal: AbortSignal): Promise<TaskOutcome | undefined> {
	const {key, run, input, version} = task;
	const fn = {namespace: resource.namespace ?? run.namespace, name: resource.name};
	try {
		const answer = await callWhole(fn, {
			id: callIdOf(key),
			version,
			by: undefined,
			path: undefined,
			contentType: 'application/json',
			headers: {[taskKeyHeader]: headerOf(key)},
			body: Buffer.from(JSON.stringify(input)),
			answerBytes: limits.statesDataBytes,
			signal,
		});
		return answer.status < 400 ? taskAnswered(answer.body) : complaintOf(answer);
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return isNotBegun(error.code) ? undefined : withoutAnswer(error.failure, `${fn.namespace}/${fn.name}`);
	}
}

/** An id of a call that says which state it is of, as runners take them: at most 64 letters, digits, `.`, `_` and `-`. */
export function callIdOf(key: string): string {
	const state = key.slice(key.lastIndexOf('/') + 1).replaceAll(/[^\w.-]/g, '_');
	return `${state.slice(-stateCharacters)}.${createHash('sha256').update(key).digest('hex').slice(0, hashCharacters)}`;
}

const hashCharacters = 20;
const stateCharacters = 64 - 1 - hashCharacters;

/** What the function says went wrong: a runner tells the class of what was thrown. */
function complaintOf({status, body}: FunctionAnswer): TaskOutcome {
	const text = textOfAnswer(body);
	const {code, name, message} = membersOf(membersOf(parsedJson(text))['error']);
	if (typeof message !== 'string')
		return taskFailed(`Function.Status${status}`, `the function answered with status ${status}${text === '' ? '' : `: ${text}`}`);
	if (code === 'ERR_TIMEOUT') return taskFailed('Function.Timeout', message);
	if (typeof name !== 'string' || name === '') return taskFailed(`Function.Status${status}`, message);
	return taskFailedElsewhere(name, message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message);
}

function withoutAnswer({code, message}: Failure, name: string): TaskOutcome {
	switch (code) {
		case 'ERR_NOT_FOUND':
			return taskFailed('Function.NotFound', `there is no function "${name}"`);
		case 'ERR_VERSION_GONE':
			return taskFailed('Function.VersionGone', message);
		case 'ERR_TIMEOUT':
			return taskFailed('Function.Timeout', `the function "${name}" did not answer in its time`);
		case 'ERR_TOO_LARGE':
			return taskFailed('States.DataLimitExceeded', `the function "${name}": ${message}`);
		default:
			// Among them that its instance has ended in the middle of it: what it did until then nobody knows.
			return taskFailed('States.TaskFailed', message);
	}
}
