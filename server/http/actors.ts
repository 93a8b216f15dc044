// `/apis/troupe.dev/v1/actors`: the live actors of the cluster, to be looked at. What changes them is asked over MQTT (docs/topics.md).

import {AppError, failure, succeeded} from '../../api/errors.js';
import {isChange, isStream, lookVerbs, type InspectAnswer, type OfSystems} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json, JsonObject} from '../../api/object.js';
import {actorsResource} from '../../api/roles.js';
import {shown} from '../../api/shown.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {countOf} from './query.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

/** `GET /apis/troupe.dev/v1/actors[?place=…&depth=…&children=…]`: the tree of each system; for one that cannot be reached, what is wrong. */
export const listActors: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'list', actorsResource);
	const request = {place: '', ...requestOf(exchange), verb: 'tree'};
	const parts = await answersTo(backend, exchange, request);
	const items =
		request.place === '' ? (parts as OfSystems[]).flatMap(({systems}) => systems) : [{system: systemOf(request.place), value: parts[0]}];
	sendJson(exchange.response, 200, {
		kind: 'ActorTreeList',
		apiVersion: 'troupe.dev/v1',
		metadata: {},
		items: items.map(({system, ...told}) => ({metadata: {name: system}, ...('value' in told ? {tree: told.value} : told)})),
	});
};

/** `GET /apis/troupe.dev/v1/actors/<system>[/<path>]?verb=…`: one look at one actor, as the inspector's protocol has it; without a verb its state. */
export const readActor: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'get', actorsResource);
	const {system = '', '*': path} = exchange.params;
	const place = path === undefined || path === '' ? system : `${system}/${path}`;
	const request = {verb: 'state', ...requestOf(exchange), place};
	if (isChange(request.verb) || isStream(request.verb))
		throw refusal(`verb must be ${lookVerbs.join(', ')} here; "${request.verb}" is asked over MQTT, as troupe actor does`);
	const [answer = null] = await answersTo(backend, exchange, request);
	sendJson(exchange.response, 200, answer);
};

const systemOf = (place: string): string => place.split('/', 1)[0] ?? '';

type Members = JsonObject & {readonly verb?: string; readonly place?: string};

const numbers = ['depth', 'children', 'limit'];

/** The members of the request that stand in the query; the inspector says which of them there are. */
function requestOf({query}: Exchange): Members {
	const members = [...new Set(query.keys())].map((name): [string, Json | undefined] => {
		if (name === 'at') return [name, query.getAll('at')];
		return [name, numbers.includes(name) ? countOf(query, name) : query.get(name)];
	});
	if (query.has('__proto__')) throw refusal(`there is no parameter ${shown('__proto__')}`);
	return Object.fromEntries(members);
}

/** What the inspector answers, part by part; a failure is thrown. What one system says is bounded by itself, that of all of them here. */
function answersTo({inspection}: Backend, {identity}: Exchange, request: Members): Promise<readonly Json[]> {
	const parts: Json[] = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		inspection.ask({identity, door: 'http'}, succeeded(request), (answer: InspectAnswer, size = 0) => {
			if (!answer.ok) return reject(AppError.of(answer.error));
			bytes += size;
			if (bytes <= limits.inspectListBytes) parts.push(answer.value);
			if (!answer.end) return;
			if (bytes <= limits.inspectListBytes) return resolve(parts);
			const message = `the answer is larger than ${limits.inspectListBytes} bytes; ask for less with ?depth, ?children or ?place`;
			reject(AppError.of(failure('ERR_TOO_LARGE', {message})));
		});
	});
}
