// `troupe execute` and `troupe trigger`: a function of the cluster is called, and what it answers is shown.

import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {errorOfAnswer} from '../cluster/status-error.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';
import {errorIn, pour} from '../function/answer.js';
import {paramsOf} from '../function/params.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [target, ...words] = inputs;
	const given = [...words, ...(flags.text('data') === undefined ? [] : [flags.text('data') ?? ''])];
	if (target === undefined || given.length > 1)
		throw usageError(`name a function, and its params once, as in: troupe execute default/hello '{"name": "Ada"}'`);
	const params = await paramsOf(given[0] ?? '{}', terminal.input);
	return withClient(invocation, async client => {
		const {namespace, name} = placeOf(target, namespaceOf(invocation, client));
		const path = `/functions/${namespace}/${name}`;
		const answer = await client.reply({method: 'POST', path, bytes: params});
		const http = answer.statusCode ?? 0;
		if (http < 400) {
			await pour(terminal, answer);
			return 0;
		}
		const {message, traceback, status} = await errorIn(answer);
		if (status !== undefined) throw errorOfAnswer(http, status, path);
		terminal.error(traceback ?? message);
		return 1;
	});
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
