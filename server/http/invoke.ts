// `/functions/NAMESPACE/NAME[/...]`: calls a function, by any method. What follows its name is the path that the function sees.
//
// With `Prefer: respond-async` (RFC 7240) the answer is 202 once the call is committed, with the address at which its answer is fetched later.

import {AppError} from '../../api/errors.js';
import {isDeliveryId} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {invokeResource} from '../../api/roles.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import type {FunctionName} from '../functions/call.js';
import type {DeliveryLook, OpenDeliveries} from '../functions/deliveries.js';
import {asyncCalls} from '../functions/delivery.js';
import {readBytes} from './body.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

export const invoke: Handler = (backend, exchange) => {
	const {identity, params, request} = exchange;
	const {calls} = backend;
	const {namespace = '', name = ''} = params;
	requireOwnRight(identity, 'create', invokeResource);
	if (calls === undefined || !isDnsLabel(namespace) || !isDnsSubdomain(name))
		throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	const path = pathBelow(request.url ?? '/');
	if (wantsLater(exchange) && exchange.method !== 'POST') throw refusal('a call whose answer is fetched later is a POST');
	if (wantsLater(exchange)) return callLater(backend, exchange, {namespace, name}, path);
	return calls.call(exchange, {namespace, name}, path);
};

/** `/functions/ns/name/a/b?c=d` → `/a/b?c=d`, as it was written. */
function pathBelow(url: string): string {
	const [, rest = ''] = /^\/functions\/[^/?]+\/[^/?]+(.*)$/s.exec(url) ?? [];
	return rest.startsWith('/') ? rest : `/${rest}`;
}

const preferences = ({request}: Exchange): readonly string[] =>
	[request.headers['prefer'] ?? ''].flat().flatMap(line => line.split(',').map(word => word.trim().toLowerCase()));

const wantsLater = (exchange: Exchange): boolean => preferences(exchange).includes('respond-async');

async function callLater(backend: Backend, exchange: Exchange, fn: FunctionName, path: string): Promise<void> {
	const {identity, request, response} = exchange;
	const retries = retriesOf(request.headers['x-troupe-retries']);
	const body = await readBytes(request, limits.deliveryBytes);
	const id = await deliveriesOf(backend).accept({
		function: fn,
		trigger: asyncCalls,
		queue: undefined,
		by: identity.name,
		path,
		contentType: request.headers['content-type'] ?? 'application/json',
		headers: {},
		body,
		retries,
		deadLetterTopic: undefined,
		reply: {type: 'kept'},
	});
	const result = `/troupe/v1/calls/${id}`;
	response.setHeader('location', result).setHeader('preference-applied', 'respond-async');
	sendJson(response, 202, {id, result});
}

/** None, unless the caller says that the function may be called again. */
function retriesOf(text: string | readonly string[] | undefined): number {
	if (text === undefined) return 0;
	const retries = Number(text);
	if (!/^\d{1,3}$/.test(String(text)) || retries > limits.deliveryRetriesMost)
		throw refusal(`x-troupe-retries must be a number from 0 to ${limits.deliveryRetriesMost}, got ${shown(String(text))}`);
	return retries;
}

function deliveriesOf({deliveries}: Backend): OpenDeliveries {
	if (deliveries === undefined) throw new AppError('ERR_NOT_REACHABLE', {message: 'this server keeps no calls'});
	return deliveries;
}

/**
 * `GET /troupe/v1/calls/ID[?wait=SECONDS]`: the answer of the function as it gave it, or 202 as long as there is none. `x-troupe-call` says which
 * it is. Only whose call it was, and admins, get it.
 */
export const callResult: Handler = async (backend, exchange) => {
	const {identity, params, query, response} = exchange;
	const {id = ''} = params;
	requireOwnRight(identity, 'create', invokeResource);
	const waitMs = waitOf(query.get('wait'));
	const deliveries = deliveriesOf(backend);
	const look = async (): Promise<DeliveryLook> => {
		const found = isDeliveryId(id) ? await deliveries.look(id) : undefined;
		if (found === undefined || (found.by !== identity.name && identity.role !== 'admin'))
			throw new AppError('ERR_NOT_FOUND', {resource: 'calls', name: id.slice(0, limits.shownCharacters)});
		return found;
	};
	let found = await look();
	if (found.result === undefined && waitMs > 0) {
		await whenOver(backend, exchange, deliveries, id, waitMs);
		if (response.destroyed) return;
		found = await look();
	}
	const {result} = found;
	if (result === undefined) {
		response.setHeader('x-troupe-call', 'waiting').setHeader('retry-after', '1');
		return sendJson(response, 202, {id, state: 'waiting'});
	}
	response.writeHead(result.status, {
		...(result.contentType === undefined ? {} : {'content-type': result.contentType}),
		'content-length': result.body.length,
		'cache-control': 'no-cache, private',
		'x-content-type-options': 'nosniff',
		'x-troupe-call': 'answered',
	});
	response.end(result.body);
};

function whenOver({clock}: Backend, {response}: Exchange, deliveries: OpenDeliveries, id: string, waitMs: number): Promise<void> {
	return new Promise(resolve => {
		const done = (): void => {
			cancel();
			forget();
			response.off('close', done);
			resolve();
		};
		const cancel = clock.after(waitMs, done);
		response.once('close', done);
		const forget = deliveries.whenOver(id, () => setImmediate(done));
	});
}

function waitOf(text: string | null): number {
	if (text === null) return 0;
	const seconds = Number(text);
	if (!/^\d{1,4}$/.test(text) || seconds * 1_000 > limits.resultWaitMs)
		throw refusal(`wait must be a number of seconds from 0 to ${limits.resultWaitMs / 1_000}, got ${shown(text)}`);
	return seconds * 1_000;
}
