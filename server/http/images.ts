// `/troupe/v1/nodes/N/images`: the images of a node, and `…/images/pull`, `…/load` and `…/build`: sessions that bring one to it.

import {nodeKey} from '../../actors/addresses.js';
import type {ImageRequest, ListedImage} from '../../actors/node/runtime/runtime-port.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {imagesResource} from '../../api/roles.js';
import {shown} from '../../api/shown.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {askNode} from './node-ask.js';
import {refusal, valueOf} from './outcome.js';
import {flagOf} from './query.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';
import {remoteOf, type Asker} from './node-session.js';
import {requireSession, takeOver} from './session-door.js';

/** `GET /troupe/v1/nodes/<node>/images`. */
export const listImages: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'get', imagesResource);
	const ask = asker(backend, exchange);
	const {images} = valueOf(await ask<{readonly images: readonly ListedImage[]}>({type: 'imageList'}, limits.imageAskMs));
	sendJson(exchange.response, 200, {images});
};

/** To bring an image is a right to write, as to run something in a pod is. */
export const bringImage =
	(action: ImageRequest['action']): Handler =>
	async (backend, exchange) => {
		requireOwnRight(exchange.identity, 'create', imagesResource);
		const request = requestOf(action, exchange.query);
		const ask = asker(backend, exchange);
		requireSession(backend, exchange);
		const {session} = valueOf(await ask<{readonly session: string}>({type: 'imageOpen', request}, limits.imageAskMs));
		takeOver(backend, exchange, remoteOf(ask, session), {stdin: action !== 'pull', stdout: true, stderr: true, tty: false});
	};

function asker(backend: Backend, {identity, method, params}: Exchange): Asker {
	const {name: node = ''} = params;
	if (backend.control.index.entry(nodeKey(node)) === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'nodes', name: node});
	const cause = `http ${identity.name} ${method} ${nodeKey(node)}/images`;
	return (message, waitMs = 0) => askNode(backend, {node, message, waitMs, cause, what: 'its images are'});
}

function requestOf(action: ImageRequest['action'], query: URLSearchParams): ImageRequest {
	switch (action) {
		case 'load':
			return {action};
		case 'pull':
			return {action, image: textOf(query, 'image')};
		case 'build':
			return {
				action,
				tag: textOf(query, 'tag'),
				dockerfile: query.get('dockerfile') ?? 'Dockerfile',
				target: query.get('target') ?? undefined,
				args: pairsOf(query, 'arg'),
				labels: pairsOf(query, 'label'),
				isOffline: flagOf(query, 'offline'),
				noCache: flagOf(query, 'noCache'),
				pulls: flagOf(query, 'pull'),
			};
	}
}

function textOf(query: URLSearchParams, name: string): string {
	const text = query.get(name) ?? '';
	if (text === '') throw refusal(`${name} must be given`);
	return text;
}

/** `name=KEY=VALUE`, as often as wanted. */
function pairsOf(query: URLSearchParams, name: string): Readonly<Record<string, string>> {
	return Object.fromEntries(
		query.getAll(name).map(text => {
			const equals = text.indexOf('=');
			if (equals < 1) throw refusal(`${name} must be KEY=VALUE, got ${shown(text)}`);
			return [text.slice(0, equals), text.slice(equals + 1)] as const;
		}),
	);
}
