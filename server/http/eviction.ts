// POST of pods/eviction: the pod shall go from its node, with its grace, because the node is needed for something else. What made the
// pod makes another one. The PodDisruptionBudget that selects it is asked first: it gives out no more evictions than it allows.

import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import {budgetsOf, isEvictedFreely, type DisruptPod} from '../../actors/control/pods/disruption-budget.js';
import {AppError} from '../../api/errors.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {readObject} from './body.js';
import {deletionOf, objectOf} from './delete.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {refusal, valueOf} from './outcome.js';
import {sendJson} from './reply.js';
import {createdStatus} from './status.js';
import {askObject, causeOf} from './write.js';

/** As discovery names it: `policy/v1` is the only version of an Eviction. */
export const evictionPart = {name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create']} as const;

const apiVersion = `${evictionPart.group}/${evictionPart.version}`;

/** Deletes the pod as its `deleteOptions` say. The answer tells that it was taken, not that the pod is gone. */
export async function evict(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const eviction = (await readObject(exchange.request, {yaml: true})) ?? {};
	checkEviction(eviction, target);
	const deletion = deletionOf(objectOf(eviction['deleteOptions'], 'deleteOptions'), exchange.query);
	await askBudget(backend, exchange, target, deletion);
	await askObject(backend, exchange, target, deletion);
	sendJson(exchange.response, 201, createdStatus);
}

/** Whatever the deletion meets with then: what its budget gave out and no deletion follows is given back in a while. */
async function askBudget(backend: Backend, exchange: Exchange, target: Target, {uid, dryRun = false}: DeleteObject): Promise<void> {
	const {control} = backend;
	const pod = entryOf(backend, target).object as Pod;
	// Another pod than the one that is meant is not deleted, and so not given out.
	if (isEvictedFreely(pod) || (uid !== undefined && uid !== pod.metadata.uid)) return;
	const [budget, another] = budgetsOf(pod, control.index);
	if (budget === undefined) return;
	if (another !== undefined) throw new AppError('ERR_INTERNAL', {message: severalBudgets});
	const key = objectKey('poddisruptionbudgets', budget.metadata.namespace, budget.metadata.name);
	const message: DisruptPod = {type: 'disrupt', pod: pod.metadata.name, uid: pod.metadata.uid, dryRun};
	const outcome = await control.ask(objectAddress(key), message, {deadlineMs: limits.askDeadlineMs, cause: causeOf(exchange, target)});
	// One that was deleted while the message waited asks for nothing.
	if (outcome.ok || control.index.entry(key) !== undefined) valueOf(outcome);
}

const severalBudgets = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

function checkEviction(eviction: JsonObject, {name = ''}: Target): void {
	const {apiVersion: version, kind} = eviction;
	if (kind !== evictionPart.kind || version !== apiVersion)
		throw refusal(`the body must be an Eviction of ${apiVersion}, as in: {"apiVersion": "${apiVersion}", "kind": "Eviction"}`);
	const given = objectOf(eviction['metadata'], 'metadata')['name'] ?? name;
	if (given !== name) throw refusal(`metadata.name: must be the name in the URL, "${name}"`);
}
