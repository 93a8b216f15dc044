// The scale subresource: how many replicas, in one shape for every kind that has them (autoscaling/v1 Scale).

import type {PatchObject} from '../../actors/control/objects/object-message.js';
import type {Patch} from '../../api/patch.js';
import {scaleOf} from '../../api/scale.js';
import {readObject} from './body.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal} from './outcome.js';
import {readPatch} from './patch.js';
import {isDryRun} from './query.js';
import {sendJson} from './reply.js';
import {askObject} from './write.js';

/** GET of /scale. */
export function readScale(backend: Backend, exchange: Exchange, target: Target): void {
	sendJson(exchange.response, 200, scaleOf(entryOf(backend, target).object));
}

/** PUT of /scale: kubectl sends it without a Content-Type. What it says of replicas, resourceVersion and uid counts. */
export async function replaceScale(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const patch = await readObject(exchange.request);
	if (patch === undefined) throw refusal('the body is empty; it must be a Scale');
	await setScale(backend, exchange, target, {patch});
}

/** PATCH of /scale. */
export const patchScale = async (backend: Backend, exchange: Exchange, target: Target): Promise<void> =>
	setScale(backend, exchange, target, await readPatch(exchange, target));

async function setScale(backend: Backend, exchange: Exchange, target: Target, patch: Patch): Promise<void> {
	const dryRun = isDryRun(exchange.query.getAll('dryRun'));
	const message: PatchObject = {type: 'patch', ...patch, subresource: 'scale', dryRun};
	sendJson(exchange.response, 200, scaleOf(await askObject(backend, exchange, target, message)));
}
