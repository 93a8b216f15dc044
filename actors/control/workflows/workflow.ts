// A Workflow keeps each version of its definition as a ControllerRevision: a run goes by the one that it began with. Params of its own start one run
// for each generation.

import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import type {Workflow, WorkflowSpec, WorkflowStatus} from '../../../api/kinds/workflow.js';
import {deepEqual} from '../../../api/equal.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {hashName} from '../../../api/names.js';
import type {Draft, Json} from '../../../api/object.js';
import {itemsOf, membersOf} from '../../../api/rules/report.js';
import {workflowLabel} from '../../../api/workflow-label.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import {controller, type Failures, type Reconciliation} from '../objects/controller.js';
import {withCondition} from '../objects/conditions.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {isTriggerNews, triggerEvent, type PassedOver, type Undelivered} from '../objects/trigger-news.js';
import {ownedTerm} from '../pods/pod-terms.js';
import {creation, creationId} from '../workloads/pod-creation.js';
import {pinsTerm} from './run.js';

const revisions = 'controllerrevisions';

export const workflowController = controller<Workflow, Undelivered | PassedOver>({
	plural: 'workflows',
	reconcile,
	receive: (workflow, message) => (isTriggerNews(message) ? {ok: true, object: workflow, effects: [triggerEvent(message)]} : undefined),
	goesOnWithoutCreates: true,
});

function reconcile(workflow: Workflow, context: Context, failures: Failures): Reconciliation<WorkflowStatus> {
	const {spec} = workflow;
	if (spec === undefined || isDeleting(workflow)) return {effects: []};
	const all = revisionsOf(workflow, context);
	const present = all.find(revision => deepEqual(definitionIn(revision), spec.definition));
	const effects = [
		...(present === undefined ? unasked([creation(newRevision(workflow, spec, all, context))], context) : []),
		...(present === undefined ? [] : [...started(workflow, spec, context), ...forgotten(all, present, context)]),
		...unblocked(all, context),
	];
	return {status: statusOf(workflow, present, failures, context), effects};
}

/** By number, the oldest first. */
const revisionsOf = ({metadata}: Workflow, {known}: Context): readonly ControllerRevision[] =>
	([...known.byTerm(revisions, ownedTerm(metadata.uid))] as ControllerRevision[])
		.filter(revision => !isDeleting(revision) && controllerOf(revision)?.uid === metadata.uid)
		.sort((a, b) => a.revision - b.revision);

const definitionIn = ({data}: ControllerRevision): Json | undefined => membersOf(data)['definition'];

const unasked = (effects: readonly Effect[], {pending}: Context): readonly Effect[] =>
	effects.filter(effect => !('id' in effect) || !pending.has(effect.id));

function newRevision(
	workflow: Workflow,
	{definition}: WorkflowSpec,
	all: readonly ControllerRevision[],
	{known}: Context,
): Draft & Pick<ControllerRevision, 'data' | 'revision'> {
	const {namespace, name} = workflow.metadata;
	const text = JSON.stringify(definition);
	let hash = hashName(text);
	// Another object has the name: with the same hash by chance, or made by somebody.
	for (let again = 1; known.get(objectKey(revisions, namespace, `${name}-${hash}`)) !== undefined; again++)
		hash = hashName(`${again} ${text}`);
	return {
		apiVersion: 'apps/v1',
		kind: 'ControllerRevision',
		metadata: {
			name: `${name}-${hash}`,
			...(namespace === undefined ? {} : {namespace}),
			labels: {[workflowLabel]: name},
			// Whoever deletes it and waits for what it owns does not wait for runs of other runs.
			ownerReferences: [{...ownerReferenceTo(workflow), blockOwnerDeletion: false}],
		},
		data: {definition},
		revision: (all.at(-1)?.revision ?? 0) + 1,
	};
}

/** Those that an earlier version has made so that whoever deletes their workflow waits for them, and so for runs of other runs. */
function unblocked(all: readonly ControllerRevision[], context: Context): readonly Effect[] {
	const blocking = all.filter(revision => controllerOf(revision)?.blockOwnerDeletion === true);
	return unasked(
		blocking.map(({metadata}): Effect => {
			const {uid, resourceVersion, namespace, name} = metadata;
			const ownerReferences = itemsOf(metadata.ownerReferences).map(owner => ({...membersOf(owner), blockOwnerDeletion: false}));
			const message: PatchObject = {type: 'patch', patch: {metadata: {uid, resourceVersion, ownerReferences}}};
			return {type: 'update', key: objectKey(revisions, namespace, name), message, id: `unblock/${uid}`};
		}),
		context,
	);
}

/** Those that no run names go, but for the last few. */
function forgotten(all: readonly ControllerRevision[], present: ControllerRevision, context: Context): readonly Effect[] {
	const others = all.filter(
		each => each !== present && context.known.countByTerm('runs', pinsTerm(each.metadata.namespace, each.metadata.name)) === 0,
	);
	return unasked(
		others.slice(0, Math.max(0, others.length - limits.workflowRevisions)).map(({metadata}): Effect => ({
			type: 'delete',
			key: objectKey(revisions, metadata.namespace, metadata.name),
			uid: metadata.uid,
			id: `delete/${metadata.uid}`,
		})),
		context,
	);
}

// ---- the run of its own params -----------------------------------------------------------------------------------------------

/** Of each generation one: its name says which, so that it is made once. */
const ownRunName = ({metadata}: Workflow): string => `${metadata.name}-${hashName(metadata.uid)}-${metadata.generation}`;

const ownRunKey = (workflow: Workflow): ObjectKey => objectKey('runs', workflow.metadata.namespace, ownRunName(workflow));

const isStarted = (workflow: Workflow, {known}: Context): boolean =>
	workflow.status?.startedGeneration === workflow.metadata.generation || known.get(ownRunKey(workflow)) !== undefined;

function started(workflow: Workflow, {params}: WorkflowSpec, context: Context): readonly Effect[] {
	if (params === undefined || isStarted(workflow, context) || context.pending.has(creationId(ownRunName(workflow)))) return [];
	const {namespace, name} = workflow.metadata;
	const draft: Draft = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Run',
		metadata: {
			name: ownRunName(workflow),
			...(namespace === undefined ? {} : {namespace}),
			labels: {[workflowLabel]: name},
			ownerReferences: [ownerReferenceTo(workflow)],
		},
		spec: {workflow: name, input: params},
	};
	return [creation(draft)];
}

// ---- its status ----------------------------------------------------------------------------------------------------------------

function statusOf(workflow: Workflow, present: ControllerRevision | undefined, {last}: Failures, context: Context): WorkflowStatus {
	const {metadata, status = {}, spec} = workflow;
	// No run begins by another definition than the present one.
	const {revision: _number, revisionName: _name, ...others} = status;
	const hasStarted = spec?.params !== undefined && isStarted(workflow, context);
	return {
		...others,
		observedGeneration: metadata.generation,
		...(present === undefined ? {} : {revision: present.revision, revisionName: present.metadata.name}),
		...(hasStarted ? {startedGeneration: metadata.generation} : {}),
		conditions: withCondition(
			status.conditions,
			last === undefined
				? {
						type: 'Ready',
						status: present === undefined ? 'False' : 'True',
						reason: present === undefined ? 'NoRevision' : 'HasRevision',
						message: '',
					}
				: {type: 'Ready', status: 'False', reason: 'FailedCreate', message: last},
			context.nowMs,
		),
	};
}
