// POST of pods/eviction: the pod shall go from its node, with its grace, because the node is needed for something else. What made the
// pod makes another one. The PodDisruptionBudget that selects it is asked first: it gives out no more evictions than it allows.

import type {DeleteObject} from '../../actors/control/objects/object-message.js';
import {budgetsOf, isEvictedFreely, type DisruptPod} from '../../actors/control/pods/disruption-budget.js';
import {AppError} from '../../api/errors.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
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
	await disrupted(backend, exchange, target, deletion);
	sendJson(exchange.response, 201, createdStatus);
}

/**
 * A pod that its budget let go is deleted as the pod that it was then: one that has become ready since, or another one of its name, is asked
 * for again. Whatever the deletion meets with: what the budget gave out and no deletion follows is given back in a while.
 */
async function disrupted(backend: Backend, exchange: Exchange, target: Target, deletion: DeleteObject): Promise<void> {
	for (let tries = 1; ; tries++) {
		const allowed = await askBudget(backend, exchange, target, deletion);
		try {
			await askObject(backend, exchange, target, {...deletion, ...allowed});
			return;
		} catch (error) {
			const isOvertaken = error instanceof AppError && error.code === 'ERR_CONFLICT' && allowed.uid !== undefined;
			if (!isOvertaken || tries >= limits.changeTries) throw error;
		}
	}
}

type Preconditions = Pick<DeleteObject, 'uid' | 'resourceVersion'>;

/** What must hold of the pod for it to go as it may now; nothing where no budget has a say, or the client has preconditions of its own. */
async function askBudget(
	backend: Backend,
	exchange: Exchange,
	target: Target,
	{uid, resourceVersion, dryRun = false}: DeleteObject,
): Promise<Preconditions> {
	const {control} = backend;
	const pod = entryOf(backend, target).object as Pod;
	const {metadata} = pod;
	const [budget, another] = budgetsOf(pod, control.index);
	// Another pod than the one that is meant is not deleted, and so not given out.
	if (budget === undefined || (uid !== undefined && uid !== metadata.uid)) return {};
	const asItIs = resourceVersion === undefined ? {uid: metadata.uid, resourceVersion: metadata.resourceVersion} : {};
	if (isEvictedFreely(pod)) return asItIs;
	if (another !== undefined) throw new AppError('ERR_INTERNAL', {message: severalBudgets});
	const key = objectKey('poddisruptionbudgets', budget.metadata.namespace, budget.metadata.name);
	const message: DisruptPod = {type: 'disrupt', pod: metadata.name, uid: metadata.uid, dryRun};
	const outcome = await control.ask(objectAddress(key), message, {deadlineMs: limits.askDeadlineMs, cause: causeOf(exchange, target)});
	// One that was deleted while the message waited asks for nothing.
	if (!outcome.ok && control.index.entry(key) === undefined) return {};
	const {status} = valueOf(outcome) as PodDisruptionBudget;
	const isGivenOut = Object.hasOwn(status?.disruptedPods ?? {}, metadata.name);
	return isGivenOut && resourceVersion === undefined ? {uid: metadata.uid} : asItIs;
}

const severalBudgets = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';

function checkEviction(eviction: JsonObject, {name = ''}: Target): void {
	const {apiVersion: version, kind} = eviction;
	if (kind !== evictionPart.kind || version !== apiVersion)
		throw refusal(`the body must be an Eviction of ${apiVersion}, as in: {"apiVersion": "${apiVersion}", "kind": "Eviction"}`);
	const given = objectOf(eviction['metadata'], 'metadata')['name'] ?? name;
	if (given !== name) throw refusal(`metadata.name: must be the name in the URL, "${name}"`);
}
