// `troupe execute` and `troupe trigger`: a function of the cluster is called, and what it answers is shown; where there is none of that name but a
// workflow, a run of it is started.

import type {IncomingMessage} from 'node:http';
import {findKind} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {functionKind} from '../../api/kinds/function.js';
import {workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {getOne} from '../cluster/lists.js';
import {errorOfAnswer} from '../cluster/status-error.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {errorIn, pour} from '../function/answer.js';
import {paramsOf} from '../function/params.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [target, ...words] = inputs;
	const id = flags.text('result');
	if (id !== undefined) {
		if (inputs.length > 0 || flags.text('data') !== undefined || flags.on('async'))
			throw usageError('--result takes the id of a call, and nothing beside it');
		return withClient(invocation, async client => shown(invocation, await resultOf(client, id), callPath(id)));
	}
	const given = [...words, ...(flags.text('data') === undefined ? [] : [flags.text('data') ?? ''])];
	if (target === undefined || given.length > 1)
		throw usageError(`name a function, and its params once, as in: troupe execute default/hello '{"name": "Ada"}'`);
	const params = await paramsOf(given[0] ?? '{}', terminal.input);
	return withClient(invocation, async client => {
		const {kind, ...place} = placeOf(target, namespaceOf(invocation, client));
		const begin = (): Promise<number> => beginRun(invocation, client, place, params);
		if (kind === 'workflow') return begin();
		try {
			return await call(invocation, client, place, params);
		} catch (error) {
			// There is no function of that name: a workflow may be meant.
			if (!isMissing(error) || !(await isThere(client, place))) throw error;
			return begin();
		}
	});
}

type CalledPlace = {readonly namespace: string; readonly name: string};

async function call(invocation: Invocation, client: Client, {namespace, name}: CalledPlace, params: Uint8Array): Promise<number> {
	const {flags, terminal} = invocation;
	const path = `/functions/${namespace}/${name}`;
	if (!flags.on('async')) return shown(invocation, await client.reply({method: 'POST', path, bytes: params}), path);
	const {id: made} = (await client.json({method: 'POST', path, bytes: params, prefer: 'respond-async'})) as {id: string};
	terminal.out(`${made}\n`);
	terminal.note(`Its answer: troupe execute --result ${made}`);
	return 0;
}

const isMissing = (error: unknown): boolean => error instanceof AppError && error.code === 'ERR_NOT_FOUND';

const isThere = (client: Client, {namespace, name}: CalledPlace): Promise<boolean> =>
	getOne(client, workflow, namespace, name).then(
		() => true,
		() => false,
	);

async function beginRun(invocation: Invocation, client: Client, {namespace, name}: CalledPlace, params: Uint8Array): Promise<number> {
	const {startRun, told} = await import('../workflow/start.js');
	const input = JSON.parse(new TextDecoder().decode(params)) as Json;
	return told(invocation, client, await startRun(client, namespace, {workflow: name, input}), undefined);
}

async function shown({terminal}: Invocation, answer: IncomingMessage, path: string): Promise<number> {
	const http = answer.statusCode ?? 0;
	if (http < 400) {
		await pour(terminal, answer);
		return 0;
	}
	const {message, traceback, status} = await errorIn(answer);
	if (status !== undefined) throw errorOfAnswer(http, status, path);
	terminal.error(traceback ?? message);
	return 1;
}

const callPath = (id: string): string => `/troupe/v1/calls/${encodeURIComponent(id)}`;

/** Once there is an answer; each question waits at the server. */
async function resultOf(client: Client, id: string): Promise<IncomingMessage> {
	for (;;) {
		const answer = await client.reply({path: callPath(id), query: {wait: String(limits.resultWaitMs / 1_000)}});
		if (answer.headers['x-troupe-call'] !== 'waiting') return answer;
		answer.resume();
	}
}

/** `name`, `namespace/name`, or as kubectl names objects `function/name`, `workflow/name`. */
function placeOf(target: string, ofContext: string): CalledPlace & {readonly kind: 'function' | 'workflow'} {
	const [first = '', second, ...more] = target.split('/');
	const kind = second === undefined ? undefined : findKind(first)?.kind;
	const isKind = kind === functionKind.kind || kind === workflow.kind;
	const place = second === undefined || isKind ? {namespace: ofContext, name: second ?? first} : {namespace: first, name: second};
	if (more.length > 0 || !isDnsLabel(place.namespace) || !isDnsSubdomain(place.name))
		throw usageError(`"${target}" names no function; it is NAME or NAMESPACE/NAME`);
	return {...place, kind: kind === workflow.kind ? 'workflow' : 'function'};
}
