// What a request is counted as: its verb and its resource, in the words of its route and never of its client, so that there are only so many.

import type {ServerResponse} from 'node:http';
import type {AnsweredRequest} from '../metrics/instruments.js';
import type {Exchange} from './exchange.js';
import {flagOf} from './query.js';
import type {Route} from './routes.js';

export type RequestWords = Pick<AnsweredRequest, 'verb' | 'resource' | 'isLong'>;

/** Of a request that no route takes. */
export const otherRequest: RequestWords = {verb: 'other', resource: 'other', isLong: false};

const verbs: Readonly<Record<string, string>> = {POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete'};

/** Sessions and logs go on for as long as their client likes. */
const sessions: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

export function requestWords({targetOf, resource = 'other'}: Route, exchange: Exchange): RequestWords {
	const {method, query} = exchange;
	const target = targetOf?.(exchange);
	const verb = verbs[method] ?? 'get';
	if (target === undefined) return {verb, resource, isLong: false};
	const {kind, name, subresource} = target;
	if (subresource !== undefined) return {verb, resource: `${kind.plural}/${subresource}`, isLong: sessions.has(subresource)};
	const isOfMany = verb === 'get' && name === undefined;
	const isWatch = isOfMany && asksToWatch(query);
	return {verb: isWatch ? 'watch' : isOfMany ? 'list' : verb, resource: kind.plural, isLong: isWatch};
}

/** What is no flag is refused later, by its handler. */
function asksToWatch(query: URLSearchParams): boolean {
	try {
		return flagOf(query, 'watch');
	} catch {
		return false;
	}
}

/** Calls back once the answer is out, or its connection is gone, with its status; 0: there was none. */
export function onAnswered(response: ServerResponse, told: (status: number) => void): void {
	response.once('close', () => told(response.headersSent ? response.statusCode : 0));
}
