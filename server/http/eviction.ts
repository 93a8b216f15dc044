// POST of pods/eviction: the pod shall go from its node, with its grace, because the node is needed for something else. What made the
// pod makes another one.

import type {JsonObject} from '../../api/object.js';
import {readObject} from './body.js';
import {deletionOf, objectOf} from './delete.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {createdStatus} from './status.js';
import {askObject} from './write.js';

/** As discovery names it: `policy/v1` is the only version of an Eviction. */
export const evictionPart = {name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create']} as const;

const apiVersion = `${evictionPart.group}/${evictionPart.version}`;

/** Deletes the pod as its `deleteOptions` say. The answer tells that it was taken, not that the pod is gone. */
export async function evict(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const eviction = (await readObject(exchange.request, {yaml: true})) ?? {};
	checkEviction(eviction, target);
	await askObject(backend, exchange, target, deletionOf(objectOf(eviction['deleteOptions'], 'deleteOptions'), exchange.query));
	sendJson(exchange.response, 201, createdStatus);
}

function checkEviction(eviction: JsonObject, {name = ''}: Target): void {
	const {apiVersion: version, kind} = eviction;
	if (kind !== evictionPart.kind || version !== apiVersion)
		throw refusal(`the body must be an Eviction of ${apiVersion}, as in: {"apiVersion": "${apiVersion}", "kind": "Eviction"}`);
	const given = objectOf(eviction['metadata'], 'metadata')['name'] ?? name;
	if (given !== name) throw refusal(`metadata.name: must be the name in the URL, "${name}"`);
}
