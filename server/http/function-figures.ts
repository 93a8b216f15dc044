// `GET /troupe/v1/functions[?namespace=NAME]`: how much each function is called, and how it ended. Who may read functions may read that.

import {AppError} from '../../api/errors.js';
import type {DeliveryCounts, FunctionFigures, FunctionsAnswer} from '../../api/function-figures.js';
import {functionKind, type FunctionObject} from '../../api/kinds/function.js';
import {isDnsLabel} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import type {FunctionCalls} from '../functions/calls.js';
import type {OpenDeliveries} from '../functions/deliveries.js';
import type {Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {requireRight} from './rights.js';

export const functionFigures: Handler = ({calls, deliveries, control}, {identity, query, response}) => {
	const namespace = namespaceOf(query);
	requireRight(identity, 'get', {kind: functionKind, namespace, name: undefined, subresource: undefined});
	if (calls === undefined) throw new AppError('ERR_NOT_REACHABLE', {message: 'this server calls no functions'});
	const {counters} = calls;
	const triggersOf = deliveries?.countsOf ?? ((): readonly DeliveryCounts[] => []);
	const functions = [...control.index.list('functions', namespace)]
		.map(object => figuresOf(object as FunctionObject, counters, triggersOf))
		.sort((a, b) => (isBefore(a, b) ? -1 : 1));
	sendJson(response, 200, {sinceMs: counters.sinceMs, functions} satisfies FunctionsAnswer);
};

/** Undefined: all of them. */
function namespaceOf(query: URLSearchParams): string | undefined {
	const text = query.get('namespace');
	if (text === null || text === '') return undefined;
	if (!isDnsLabel(text)) throw refusal(`namespace must be the name of one, got ${shown(text)}`);
	return text;
}

const figuresOf = (fn: FunctionObject, counters: FunctionCalls['counters'], triggersOf: OpenDeliveries['countsOf']): FunctionFigures => {
	const {desired = 0, ready = 0} = fn.status ?? {};
	const {namespace = '', name} = fn.metadata;
	return {namespace, name, desired, ready, ...counters.of(fn), triggers: triggersOf({namespace, name})};
};

const isBefore = (a: FunctionFigures, b: FunctionFigures): boolean =>
	a.namespace === b.namespace ? a.name < b.name : a.namespace < b.namespace;
