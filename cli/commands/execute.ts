// `troupe execute` and `troupe trigger`: a function of the cluster is called, and what it answers is shown.

import type {IncomingMessage} from 'node:http';
import {limits} from '../../api/limits.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
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
		const {namespace, name} = placeOf(target, namespaceOf(invocation, client));
		const path = `/functions/${namespace}/${name}`;
		if (!flags.on('async')) return shown(invocation, await client.reply({method: 'POST', path, bytes: params}), path);
		const {id: made} = (await client.json({method: 'POST', path, bytes: params, prefer: 'respond-async'})) as {id: string};
		terminal.out(`${made}\n`);
		terminal.note(`Its answer: troupe execute --result ${made}`);
		return 0;
	});
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

/** `name`, `namespace/name`, or as kubectl names objects `function/name`. */
function placeOf(target: string, ofContext: string): {readonly namespace: string; readonly name: string} {
	const [first = '', second, ...more] = target.split('/');
	const isKind = ['function', 'functions', 'fn', 'functions.troupe.dev', 'function.troupe.dev'].includes(first);
	const place = second === undefined || isKind ? {namespace: ofContext, name: second ?? first} : {namespace: first, name: second};
	if (more.length > 0 || !isDnsLabel(place.namespace) || !isDnsSubdomain(place.name))
		throw usageError(`"${target}" names no function; it is NAME or NAMESPACE/NAME`);
	return place;
}
