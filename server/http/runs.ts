// `/troupe/v1/runs/NS/NAME`: what is under way of a run, what has happened in it, and answers to tasks of it that wait for one.

import type {TaskAnswered} from '../../actors/control/workflows/run-message.js';
import {statesOf, type RunState} from '../../actors/control/workflows/run-states.js';
import {run as runKind, type Run, type RunStatus} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import {readTaskAnswer} from '../workflows/task-answer.js';
import type {HistoryPage} from '../workflows/run-history.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Exchange, Handler, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {countOf} from './query.js';
import {sendJson} from './reply.js';
import {requireRight, type Verb} from './rights.js';
import {askObject} from './write.js';

/** A run without what it was given and what it has come to: both may be large, and are a GET of the object away. */
export type RunSummary = Omit<RunStatus, 'output' | 'conditions'> & {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly workflow: string;
	readonly suspend: boolean;
	readonly cancel: boolean;
};

/** `more`: how many further states are under way. */
export type RunLook = {readonly run: RunSummary; readonly states: readonly RunState[]; readonly more: number};

/** `GET /troupe/v1/runs/NS/NAME`: who may get runs. */
export const readRun: Handler = (backend, exchange) => {
	const target = targetFor(exchange, 'get');
	const {index} = backend.control;
	const run = entryOf(backend, target).object as Run;
	sendJson(exchange.response, 200, {run: summaryOf(run), ...statesOf(run, index, limits.runStates)} satisfies RunLook);
};

/** `GET /troupe/v1/runs/NS/NAME/history?from=NUMBER&limit=COUNT`: the same. */
export const readRunHistory: Handler = async (backend, exchange) => {
	const target = targetFor(exchange, 'get');
	const {query, response} = exchange;
	const from = countOf(query, 'from') ?? 0;
	const limit = countOf(query, 'limit') ?? 0;
	const {key} = entryOf(backend, target);
	const most = limit === 0 ? limits.runHistoryPage : Math.min(limit, limits.runHistoryPage);
	sendJson(response, 200, (await backend.control.history.read(key, from, most)) satisfies HistoryPage);
};

/** `POST /troupe/v1/runs/NS/NAME/answer`: who may update runs. Answered once it is committed. */
export const answerRun: Handler = async (backend, exchange) => {
	const target = targetFor(exchange, 'update');
	const read = readTaskAnswer((await readObject(exchange.request)) ?? {});
	if (!read.ok) throw refusal(read.message);
	const message: TaskAnswered = {type: 'taskAnswered', ...read.value};
	const run = (await askObject(backend, exchange, target, message)) as Run;
	sendJson(exchange.response, 200, {run: summaryOf(run)});
};

function targetFor({identity, params}: Exchange, verb: Verb): Target {
	const target: Target = {kind: runKind, namespace: params['namespace'], name: params['name'], subresource: undefined};
	requireRight(identity, verb, target);
	return target;
}

function summaryOf({metadata, spec, status}: Run): RunSummary {
	const {output: _output, conditions: _conditions, ...rest} = status ?? {};
	const {namespace = '', name, uid} = metadata;
	return {
		...{namespace, name, uid, workflow: spec?.workflow ?? ''},
		...{suspend: spec?.suspend ?? false, cancel: spec?.cancel ?? false},
		...rest,
	};
}
