// A Deployment keeps pods of one template alive, and replaces them step by step when the template is another one.
//
// Each template has a ReplicaSet; a step is a change of the sizes of these. One step is under way at a time: the next is decided when
// its writes are committed and every set has seen its spec, from what the index counts. So the bounds of an update hold at each
// moment (rolling-update.ts), whatever is late or lost. Pods are counted, never walked.

import type {Deployment, DeploymentStatus} from '../../../api/kinds/deployment.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, JsonObject, Labels} from '../../../api/object.js';
import {desiredReplicasAnnotation, hashLabel, maxReplicasAnnotation, revisionAnnotation} from '../../../api/rollouts.js';
import {matches} from '../../../api/selector.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import {controller, type Failures, type Reconciliation, type Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import type {PatchObject} from '../objects/object-message.js';
import {controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {awaitingQuota, shortOf} from '../objects/quota-wait.js';
import {ownerships, selecting, selectionTerms} from '../objects/selection.js';
import {isReady, isTerminal} from '../pods/pod-lifecycle.js';
import {ownedPods, censusOf} from './census.js';
import {deadlineMs, deploymentStatus, isComplete, isOver, isRefused, type RolloutNews} from './deployment-status.js';
import {creation} from './pod-creation.js';
import {isScaled, scaledSizes} from './proportional-scaling.js';
import {firstAnnotations, forgotten, missingAnnotations, revisionOf} from './revisions.js';
import {firstSize, rollingStep} from './rolling-update.js';
import {boundsOf, type RolloutBounds} from './rollout-bounds.js';
import {changed, type Scaling, type SizedSet} from './sized-set.js';
import {isSameTemplate, templateHash, withHash} from './template-hash.js';

export const deploymentController = controller<Deployment>({
	plural: 'deployments',
	terms: deployment => [...selectionTerms(deployment), ...shortOf(deployment, isRefused(deployment))],
	watches: {
		replicasets: (change, known) => selecting('deployments', change, known),
		pods: ofItsPods,
		resourcequotas: (change, known) => awaitingQuota('deployments', change, known),
	},
	reconcile,
	goesOnWithoutCreates: true,
});

/** A pod that serves or does not any more, or that is over: its set tells when its counts change, and these may be what they were. */
function* ofItsPods({before, after}: Watched, known: Known): Iterable<ApiObject> {
	if (before === undefined) return;
	const [was, is] = [before as Pod, after as Pod | undefined];
	if (is !== undefined && isReady(was) === isReady(is) && isTerminal(was) === isTerminal(is)) return;
	const set = known.byUid(controllerOf(was)?.uid ?? '');
	const owner = set === undefined ? undefined : known.byUid(controllerOf(set)?.uid ?? '');
	if (owner?.kind === 'Deployment') yield owner;
}

type Spec = NonNullable<Deployment['spec']>;

/** What is looked at in one go. */
type Look = {
	readonly deployment: Deployment;
	readonly spec: Spec;
	readonly bounds: RolloutBounds;
	readonly newest: SizedSet | undefined;
	/** Oldest first. */
	readonly old: readonly SizedSet[];
	readonly context: Context;
	readonly failures: Failures;
};

type Step = {
	readonly effects: readonly Effect[];
	readonly news?: RolloutNews;
	readonly collisions?: number;
};

function reconcile(deployment: Deployment, context: Context, failures: Failures): Reconciliation<DeploymentStatus> {
	const {spec} = deployment;
	if (spec === undefined || isDeleting(deployment)) return {effects: []};
	const {known, pending, nowMs} = context;
	const owned = setsOf(deployment, known);
	const strangers = owned.filter(({metadata}) => !matches(spec.selector, metadata.labels));
	const candidates = {plural: 'replicasets', selector: spec.selector, owned: owned.length, strangers, isWanted: () => true};
	const ownership = ownerships(deployment, candidates, context);
	const {sets, dueMs} = sized(owned, known, nowMs);
	const newest = sets.find(({set}) => !isDeleting(set) && set.spec !== undefined && isSameTemplate(set.spec.template, spec.template));
	const look: Look = {
		deployment,
		spec,
		bounds: boundsOf(spec),
		newest,
		old: sets.filter(each => each !== newest),
		context,
		failures,
	};
	const isSettled = pending.size === 0 && ownership.length === 0 && owned.every(hasSeenItsSpec);
	const step: Step = isSettled ? stepOf(look) : {effects: []};
	const collisions = step.collisions ?? deployment.status?.collisionCount ?? 0;
	const status = deploymentStatus(deployment, {...look, news: step.news, collisions, isSettled}, nowMs);
	const wakeAtMs = Math.min(dueMs, (deadlineMs({...deployment, status}) ?? Infinity) + 1);
	return {
		status,
		effects: [...ownership, ...step.effects, ...(isSettled ? forgetting(look, status) : [])],
		...(newest === undefined || revisionOf(newest.set) === 0 ? {} : {annotations: {[revisionAnnotation]: String(revisionOf(newest.set))}}),
		...(wakeAtMs === Infinity ? {} : {wakeAtMs}),
	};
}

// ---- its sets --------------------------------------------------------------------------------------------------------------

/** Oldest first. */
const setsOf = ({metadata: {uid}}: Deployment, known: Known): readonly ReplicaSet[] =>
	[...known.byOwner(uid)]
		.filter((object): object is ReplicaSet => object.kind === 'ReplicaSet' && controllerOf(object)?.uid === uid)
		.sort(byAge);

function byAge({metadata: a}: ApiObject, {metadata: b}: ApiObject): number {
	if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
	return a.name < b.name ? -1 : 1;
}

/** `dueMs`: when the next pod that is ready can be relied on. */
function sized(owned: readonly ReplicaSet[], known: Known, nowMs: number): {readonly sets: readonly SizedSet[]; readonly dueMs: number} {
	let dueMs = Infinity;
	const sets = owned.map((set): SizedSet => {
		const census = censusOf(set, known, nowMs);
		dueMs = Math.min(dueMs, census.nextAvailableMs ?? Infinity);
		return {set, wanted: set.spec?.replicas ?? 1, census};
	});
	return {sets, dueMs};
}

/** Then nothing is under way for it that its spec would not ask for. One that is being deleted makes nothing more. */
const hasSeenItsSpec = (set: ReplicaSet): boolean => isDeleting(set) || set.status?.observedGeneration === set.metadata.generation;

// ---- a step ----------------------------------------------------------------------------------------------------------------

function stepOf(look: Look): Step {
	const {spec, bounds, newest, old} = look;
	const all = newest === undefined ? old : [...old, newest];
	const isOneAlone = all.filter(({wanted}) => wanted > 0).length <= 1;
	const isWaiting = spec.paused === true;
	if (isScaled(all, bounds) || (isWaiting && isOneAlone)) return scaled(look);
	if (isWaiting) return written(look, []);
	if (spec.strategy?.type === 'Recreate') return recreated(look);
	return newest === undefined ? created(look, firstSize(old, bounds)) : written(look, rollingStep(newest, old, bounds));
}

function scaled(look: Look): Step {
	const {newest, old, bounds, spec} = look;
	const isRolling = spec.strategy?.type !== 'Recreate';
	const sizes = scaledSizes(newest, old, bounds, isRolling);
	if (sizes === undefined || (!isRolling && sizes.some(scaling => isBesideOthers(look, scaling)))) return {effects: []};
	return written(look, sizes);
}

/** No pod of a new template before all others are gone for good. */
function recreated(look: Look): Step {
	const {newest, old, bounds, deployment, context} = look;
	const ending = changed(old.map(sized => ({sized, replicas: 0})));
	const news: Pick<Step, 'news'> = newest === undefined && isOver(deployment) ? {news: {type: 'begun'}} : {};
	if (ending.length > 0) return {...news, ...written(look, ending)};
	if (old.some(({set}) => hasPodsLeft(set, context.known))) return {...news, ...written(look, [])};
	return newest === undefined ? created(look, bounds.replicas) : written(look, changed([{sized: newest, replicas: bounds.replicas}]));
}

/** Whether a set would get pods while others still have some. */
const isBesideOthers = ({newest, old, context}: Look, {sized, replicas}: Scaling): boolean =>
	replicas > sized.wanted &&
	(newest === undefined ? old : [...old, newest]).some(other => other !== sized && hasPodsLeft(other.set, context.known));

/** Looks no further than the first. */
function hasPodsLeft(set: ReplicaSet, known: Known): boolean {
	for (const pod of ownedPods(set, known)) if (!isTerminal(pod)) return true;
	return false;
}

/** The writes of a step, one for each set: sizes, and what the newest set does not say of itself yet. */
function written(look: Look, sizes: readonly Scaling[]): Step {
	const {newest, old, deployment, spec, bounds} = look;
	const effects: Effect[] = [];
	const said = newest === undefined ? {} : missingAnnotations(deployment, newest.set, old);
	for (const scaling of newest === undefined || sizes.some(({sized}) => sized === newest) ? sizes : [...sizes, {sized: newest}]) {
		const {sized} = scaling;
		const replicas = 'replicas' in scaling ? scaling.replicas : undefined;
		const annotations = {...(sized === newest ? said : {}), ...(replicas === undefined ? {} : sizeAnnotations(sized.set, bounds))};
		const isLate = sized === newest && (sized.set.spec?.minReadySeconds ?? 0) !== (spec.minReadySeconds ?? 0);
		const change = {
			...(replicas === undefined || replicas === sized.wanted ? {} : {replicas}),
			...(isLate ? {minReadySeconds: spec.minReadySeconds ?? 0} : {}),
		};
		effects.push(...setWrite(sized.set, annotations, change));
		if (replicas !== undefined && replicas !== sized.wanted) effects.push(told(sized.set.metadata.name, sized.wanted, replicas));
	}
	const isFound = newest !== undefined && (revisionAnnotation in said || deployment.status?.conditions === undefined);
	return {effects, ...(isFound ? {news: {type: 'found', set: newest.set.metadata.name}} : {})};
}

/** How large the whole was when the set got its size. */
function sizeAnnotations({metadata}: ReplicaSet, {replicas, mostPods}: RolloutBounds): Labels {
	const wanted = {[desiredReplicasAnnotation]: String(replicas), [maxReplicasAnnotation]: String(mostPods)};
	return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => metadata.annotations?.[name] !== value));
}

function setWrite({metadata}: ReplicaSet, annotations: Labels, spec: JsonObject): readonly Effect[] {
	const [hasWords, hasSpec] = [Object.keys(annotations).length > 0, Object.keys(spec).length > 0];
	if (!hasWords && !hasSpec) return [];
	const patch: JsonObject = {
		metadata: {uid: metadata.uid, ...(hasWords ? {annotations} : {})},
		...(hasSpec ? {spec} : {}),
	};
	const message: PatchObject = {type: 'patch', patch};
	return [{type: 'update', key: objectKey('replicasets', metadata.namespace, metadata.name), message, id: `scale/${metadata.name}`}];
}

/** One for each step: they are no repeats of one. */
const told = (set: string, from: number, to: number): Effect => ({
	type: 'event',
	event: 'Normal',
	reason: 'ScalingReplicaSet',
	message: `Scaled ${to > from ? 'up' : 'down'} replica set ${set} from ${from} to ${to}`,
	aspect: `${set} ${from} ${to}`,
});

// ---- a new version ---------------------------------------------------------------------------------------------------------

/** A set for the template. Where another object has its name, that is a collision, and the name is another one. */
function created(look: Look, replicas: number): Step {
	const {deployment, spec, bounds, old, context, failures} = look;
	const {name, namespace} = deployment.metadata;
	let collisions = deployment.status?.collisionCount ?? 0;
	for (let tries = 0; tries < limits.nameTries; tries++) {
		const hash = templateHash(spec.template, collisions);
		const setName = `${name}-${hash}`;
		const present = context.known.get(objectKey('replicasets', namespace, setName));
		// One of its own that is being deleted leaves its name free.
		if (present !== undefined && isDeleting(present) && old.some(({set}) => set === present)) return {effects: []};
		if (present !== undefined) {
			collisions++;
			continue;
		}
		const template = withHash(spec.template, hash);
		const {matchLabels, ...expressions} = spec.selector;
		const set = {
			apiVersion: 'apps/v1',
			kind: 'ReplicaSet',
			metadata: {
				name: setName,
				...(namespace === undefined ? {} : {namespace}),
				labels: template.metadata?.labels ?? {},
				annotations: {
					...firstAnnotations(deployment, old),
					[desiredReplicasAnnotation]: String(bounds.replicas),
					[maxReplicasAnnotation]: String(bounds.mostPods),
				},
				ownerReferences: [ownerReferenceTo(deployment)],
			},
			spec: {
				replicas,
				...(spec.minReadySeconds === undefined ? {} : {minReadySeconds: spec.minReadySeconds}),
				selector: {...expressions, matchLabels: {...matchLabels, [hashLabel]: hash}},
				template,
			},
		};
		const refused = failures.rounds > 0 && failures.last !== undefined;
		return {
			effects: [creation(set), ...(replicas > 0 && !refused ? [told(setName, 0, replicas)] : [])],
			collisions,
			news: refused ? {type: 'refused', message: failures.last} : {type: 'created', set: setName},
		};
	}
	return {effects: [], collisions};
}

/** Versions beyond `revisionHistoryLimit` go when nothing is under way. */
function forgetting({deployment, spec, old, context}: Look, status: DeploymentStatus): readonly Effect[] {
	if (spec.paused !== true && !isComplete(deployment, status)) return [];
	const sets = forgotten(old, spec.revisionHistoryLimit ?? 10).slice(0, limits.pendingWrites - context.pending.size);
	return sets.map(({metadata}) => ({
		type: 'delete',
		key: objectKey('replicasets', metadata.namespace, metadata.name),
		uid: metadata.uid,
		id: `delete/${metadata.uid}`,
	}));
}
