// POST of pods/retry: a container that waits out a back-off before its next start does not wait any longer. Our own subresource.

import type {RetryContainer} from '../../actors/node/runtime-actor.js';
import type {RetryAnswer} from '../../api/retry.js';
import type {Pod} from '../../api/kinds/pod.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {askNode} from './node-ask.js';
import {valueOf} from './outcome.js';
import {containerOf, nodeOf} from './pod-container.js';
import {sendJson} from './reply.js';
import {causeOf} from './write.js';

/** `?container=NAME` for one container, else all of the pod; the answer names those that start now. */
export async function retry(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	// Clients of Kubernetes send an empty object with a POST.
	await readObject(exchange.request);
	const pod = entryOf(backend, target).object as Pod;
	const asked = exchange.query.get('container') ?? '';
	const container = asked === '' ? undefined : containerOf(pod, asked);
	const {name, namespace = '', uid} = pod.metadata;
	const message: RetryContainer = {type: 'retryContainer', namespace, name, uid, container};
	const cause = causeOf(exchange, target);
	const node = nodeOf(pod);
	const answer: RetryAnswer = valueOf(await askNode<RetryAnswer>(backend, {node, message, cause, what: 'its containers are'}));
	sendJson(exchange.response, 200, answer);
}
