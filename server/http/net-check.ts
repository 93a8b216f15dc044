// `POST /troupe/v1/net/pods/NS/P` and `.../net/nodes/N`: what a node says of the way from there to somewhere, and what it saw when it tried.
// Whoever may forward ports of a pod may ask from it; from a node, admins.

import {nodeKey} from '../../actors/addresses.js';
import type {SessionAsk} from '../../actors/node/runtime-actor.js';
import {AppError} from '../../api/errors.js';
import {pod as podKind, type Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {nodeWaysResource} from '../../api/roles.js';
import {wayQuestionOf, type WayAnswer} from '../../api/way-check.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Handler, Target} from './exchange.js';
import {askNode} from './node-ask.js';
import {refusal, valueOf} from './outcome.js';
import {nodeOf} from './pod-container.js';
import {sendJson} from './reply.js';
import {requireOwnRight, requireRight} from './rights.js';

export const checkFromPod: Handler = async (backend, exchange) => {
	const {identity, params} = exchange;
	const target: Target = {kind: podKind, namespace: params['namespace'], name: params['name'], subresource: 'portforward'};
	requireRight(identity, 'create', target);
	const object = entryOf(backend, target).object as Pod;
	const {name, uid} = object.metadata;
	const phase = object.status?.phase ?? 'Pending';
	if (phase !== 'Running') throw refusal(`nothing can be tried from pod "${name}", which does not run; current phase is ${phase}`);
	await answer(backend, exchange, nodeOf(object), uid);
};

export const checkFromNode: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'create', nodeWaysResource);
	const {name = ''} = exchange.params;
	if (backend.control.index.entry(nodeKey(name)) === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'nodes', name});
	await answer(backend, exchange, name, undefined);
};

async function answer(
	backend: Backend,
	{request, response, identity, path}: Exchange,
	node: string,
	uid: string | undefined,
): Promise<void> {
	const question = valueOf(wayQuestionOf((await readObject(request)) ?? {}));
	const message: SessionAsk = {type: 'wayCheck', request: {...question, uid}};
	const cause = `http ${identity.name} POST ${path}`;
	const outcome = await askNode<WayAnswer>(backend, {node, message, waitMs: limits.wayCheckMs, cause, what: 'the ways from it are'});
	sendJson(response, 200, valueOf(outcome));
}
