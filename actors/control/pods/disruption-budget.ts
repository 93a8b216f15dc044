// A PodDisruptionBudget says how many of its pods may be evicted, and gives evictions out. After Kubernetes' disruption controller and its
// eviction subresource.
//
// Its record alone gives them out, one message at a time: what was given is committed before the pod's deletion is asked for, and that pod
// counts as healthy no more. So of two evictions at once only one gets the last. What is given is counted from the index at that moment: the
// status is for people and for who waits, nothing is decided by it.
//
// What it costs: a change of a pod wakes the budgets that select it, found by its labels, and only where it counts otherwise than before. A
// budget that is woken walks the pods that have the rarest label of its selector. Wakes coalesce while a commit is under way, so that the
// pods of a large set that become ready together are walked once for each batch, not once for each pod.

import {conditionOf} from '../../../api/conditions.js';
import {kindOf, kinds, qualifiedPlural} from '../../../api/catalogue.js';
import {countOf} from '../../../api/count-or-percent.js';
import {failure, type Failure} from '../../../api/errors.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus} from '../../../api/kinds/poddisruptionbudget.js';
import {limits} from '../../../api/limits.js';
import {timestampOf, type ApiObject, type Condition, type Labels} from '../../../api/object.js';
import type {Context, Effect, ReplyTo} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {podKey} from '../../addresses.js';
import {withCondition} from '../objects/conditions.js';
import {controller, type Handled, type Reconciliation, type Watched} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {selectingLabels, selectionTerms} from '../objects/selection.js';
import {isActive, isReady, isTerminal} from './pod-lifecycle.js';

/** A pod shall be evicted: the answer is the budget, or why not now. */
export type DisruptPod = {
	readonly type: 'disrupt';
	readonly pod: string;
	readonly uid: string;
	readonly dryRun: boolean;
	readonly replyTo?: ReplyTo | undefined;
};

const plural = 'poddisruptionbudgets';

export const disruptionBudgetController = controller<PodDisruptionBudget, DisruptPod>({
	plural,
	terms: selectionTerms,
	watches: {
		...Object.fromEntries(kinds.filter(({scalable}) => scalable === true).map(kind => [kind.plural, scaled])),
		pods: ({before, after}, known) => recounted(before as Pod | undefined, after as Pod | undefined, known),
	},
	reconcile,
	receive(budget, message, context) {
		switch (message.type) {
			case 'disrupt':
				return disrupt(budget, message, context);
		}
	},
});

/** The budgets that select a pod. */
export const budgetsOf = ({metadata}: Pod, known: Known): readonly PodDisruptionBudget[] => [
	...(selectingLabels(plural, metadata.namespace ?? '', [metadata.labels], known) as Iterable<PodDisruptionBudget>),
];

/** A pod that serves nobody, or not any more, is evicted whatever its budget says. */
export const isEvictedFreely = (pod: Pod): boolean => isDeleting(pod) || isTerminal(pod) || pod.status?.phase === 'Pending';

// ---- what concerns it ----------------------------------------------------------------------------------------------------

const isHealthy = (pod: Pod): boolean => isActive(pod) && isReady(pod);

function recounted(before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<ApiObject> {
	if (before !== undefined && after !== undefined && !countsOtherwise(before, after)) return [];
	const namespace = (after ?? before)?.metadata.namespace ?? '';
	return selectingLabels(plural, namespace, [before?.metadata.labels, after?.metadata.labels], known);
}

const countsOtherwise = (before: Pod, after: Pod): boolean =>
	isHealthy(before) !== isHealthy(after) ||
	isDeleting(before) !== isDeleting(after) ||
	before.metadata.labels !== after.metadata.labels ||
	before.metadata.ownerReferences !== after.metadata.ownerReferences;

/** What is scaled: its pods are those of its template. */
type Scaled = ApiObject<{readonly replicas?: number; readonly template?: {readonly metadata?: {readonly labels?: Labels}}}>;

/** A part of what is expected is another part when that is scaled, also where no pod comes or goes at once. */
function scaled({before, after}: Watched, known: Known): Iterable<ApiObject> {
	const [was, is] = [before as Scaled | undefined, after as Scaled | undefined];
	if (is === undefined || was?.spec?.replicas === is.spec?.replicas) return [];
	return selectingLabels(plural, is.metadata.namespace ?? '', [is.spec?.template?.metadata?.labels], known);
}

// ---- counting ------------------------------------------------------------------------------------------------------------

type Disrupted = NonNullable<PodDisruptionBudgetStatus['disruptedPods']>;

type Count = {
	readonly pods: readonly Pod[];
	/** Given out, and not deleted yet. */
	readonly disrupted: Disrupted;
	/** Given out for too long. */
	readonly expired: readonly Pod[];
	readonly healthy: number;
	readonly demand: Demand;
};

type Demand =
	| {readonly ok: true; readonly expected: number; readonly desired: number}
	/** Why it cannot be told how many there should be. */
	| {readonly ok: false; readonly message: string};

function censusOf({metadata, spec}: PodDisruptionBudget, given: Disrupted, known: Known, nowMs: number): Count {
	const selector = spec?.selector;
	const pods = selector === undefined ? [] : ([...known.select('pods', metadata.namespace ?? '', selector)] as Pod[]);
	const waiting = pods.filter(pod => isGivenOut(pod, given));
	const expired = waiting.filter(pod => isExpired(expiryMs(pod, given), nowMs));
	const disrupted = Object.fromEntries(
		waiting.filter(pod => !expired.includes(pod)).map(pod => [pod.metadata.name, given[pod.metadata.name] ?? '']),
	);
	const healthy = pods.filter(pod => isHealthy(pod) && !Object.hasOwn(disrupted, pod.metadata.name)).length;
	return {pods, disrupted, expired, healthy, demand: demandOf(spec ?? {}, pods, known)};
}

/** One that was made later is another pod of that name. */
const isGivenOut = (pod: Pod, given: Disrupted): boolean =>
	Object.hasOwn(given, pod.metadata.name) && !isDeleting(pod) && pod.metadata.creationTimestamp <= (given[pod.metadata.name] ?? '');

/** A status may say anything, and a clock may have been set: what was given out long after now is over, too. */
const isExpired = (expiryMs: number, nowMs: number): boolean => expiryMs <= nowMs || expiryMs > nowMs + 2 * limits.disruptionMs;

/** What is no time is over. */
function expiryMs({metadata}: Pod, given: Disrupted): number {
	const givenMs = Date.parse(given[metadata.name] ?? '');
	return Number.isNaN(givenMs) ? 0 : givenMs + limits.disruptionMs;
}

/** For a number that must stay, what is there is what is expected; any other demand is told from the scale of what made the pods. */
function demandOf({minAvailable, maxUnavailable = 0}: PodDisruptionBudgetSpec, pods: readonly Pod[], known: Known): Demand {
	if (typeof minAvailable === 'number') return {ok: true, expected: pods.length, desired: minAvailable};
	const expected = scaleOf(pods, known);
	if (typeof expected === 'string') return {ok: false, message: expected};
	// A part is rounded up, of what must stay as of what may be missing: as in Kubernetes.
	const part = countOf(minAvailable ?? maxUnavailable, expected, 'up');
	const desired = minAvailable === undefined ? Math.max(0, expected - part) : part;
	return {ok: true, expected, desired};
}

/** The replicas of all that made these pods; a text is why that is not known. Pods that nothing made do not count. */
function scaleOf(pods: readonly Pod[], known: Known): number | string {
	const replicas = new Map<string, number>();
	const seen = new Set<string>();
	for (const pod of pods) {
		const reference = controllerOf(pod);
		if (reference === undefined || seen.has(reference.uid)) continue;
		seen.add(reference.uid);
		const maker = known.byUid(reference.uid);
		if (maker === undefined) return `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`;
		const owner = scaledOwnerOf(maker, known) ?? (isScalable(maker) ? maker : undefined);
		if (owner === undefined) return `${pluralOf(maker)} does not implement the scale subresource`;
		replicas.set(owner.metadata.uid, (owner as Scaled).spec?.replicas ?? 1);
	}
	return [...replicas.values()].reduce((sum, each) => sum + each, 0);
}

/** Of a ReplicaSet its Deployment. */
function scaledOwnerOf(maker: ApiObject, known: Known): ApiObject | undefined {
	const owner = known.byUid(controllerOf(maker)?.uid ?? '');
	return owner !== undefined && isScalable(owner) ? owner : undefined;
}

const isScalable = ({apiVersion, kind}: ApiObject): boolean => kindOf(apiVersion, kind)?.scalable === true;

function pluralOf({apiVersion, kind}: ApiObject): string {
	const definition = kindOf(apiVersion, kind);
	return definition === undefined ? kind : qualifiedPlural(definition);
}

// ---- telling -------------------------------------------------------------------------------------------------------------

function reconcile(budget: PodDisruptionBudget, {known, nowMs}: Context): Reconciliation<PodDisruptionBudgetStatus> {
	if (isDeleting(budget)) return {effects: []};
	const count = censusOf(budget, budget.status?.disruptedPods ?? {}, known, nowMs);
	const expiries = count.pods.filter(pod => Object.hasOwn(count.disrupted, pod.metadata.name)).map(pod => expiryMs(pod, count.disrupted));
	return {
		status: statusOf(budget, count, nowMs),
		effects: newsOf(budget, count),
		...(expiries.length === 0 ? {} : {wakeAtMs: expiries.reduce((first, each) => Math.min(first, each))}),
	};
}

const disruptionAllowed = 'DisruptionAllowed';
const syncFailed = 'SyncFailed';

function statusOf({metadata, status}: PodDisruptionBudget, count: Count, nowMs: number): PodDisruptionBudgetStatus {
	const {demand, healthy, disrupted} = count;
	const allowed = allowedOf(count);
	const condition: Condition = !demand.ok
		? {type: disruptionAllowed, status: 'False', reason: syncFailed, message: demand.message}
		: allowed > 0
			? {type: disruptionAllowed, status: 'True', reason: 'SufficientPods'}
			: {type: disruptionAllowed, status: 'False', reason: 'InsufficientPods'};
	return {
		disruptionsAllowed: allowed,
		currentHealthy: healthy,
		desiredHealthy: demand.ok ? demand.desired : (status?.desiredHealthy ?? 0),
		expectedPods: demand.ok ? demand.expected : (status?.expectedPods ?? 0),
		...(Object.keys(disrupted).length === 0 ? {} : {disruptedPods: disrupted}),
		observedGeneration: metadata.generation,
		conditions: withCondition(status?.conditions, condition, nowMs),
	};
}

/** A budget that expects no pods allows nothing: the first that come may be of it before it has counted them. */
const allowedOf = ({demand, healthy}: Count): number => (demand.ok && demand.expected > 0 ? Math.max(0, healthy - demand.desired) : 0);

/** What is told once: a round that finds the same again tells nothing. */
function newsOf({metadata, status}: PodDisruptionBudget, {pods, expired, demand}: Count): readonly Effect[] {
	const told = conditionOf(status?.conditions, disruptionAllowed)?.message;
	return [
		...expired.map(pod =>
			warning(
				'NotDeleted',
				`Pod was expected by PDB ${metadata.namespace}/${metadata.name} to be deleted but it wasn't: ${pod.metadata.name}`,
			),
		),
		...(demand.ok || demand.message === told
			? []
			: [warning('CalculateExpectedPodCountFailed', `Failed to calculate the number of expected pods: ${demand.message}`)]),
		...(pods.length > 0 || status?.observedGeneration === metadata.generation ? [] : [normal('NoPods', 'No matching pods found')]),
	];
}

// ---- giving out ----------------------------------------------------------------------------------------------------------

/** Pods that need no leave, and one that has it already, get it without a trace. */
function disrupt(budget: PodDisruptionBudget, {pod: name, uid, dryRun}: DisruptPod, {known, nowMs}: Context): Handled<PodDisruptionBudget> {
	const {namespace = ''} = budget.metadata;
	const pod = known.get(podKey({namespace, name})) as Pod | undefined;
	const unchanged: Handled<PodDisruptionBudget> = {ok: true, object: budget};
	// The pod's own record says that it is gone, or another.
	if (pod?.metadata.uid !== uid || isEvictedFreely(pod)) return unchanged;
	const count = censusOf(budget, budget.status?.disruptedPods ?? {}, known, nowMs);
	if (Object.hasOwn(count.disrupted, name) || mayGoUnready(budget, pod, count)) return unchanged;
	if (allowedOf(count) === 0) return {ok: false, error: refusal(budget, count)};
	if (Object.keys(count.disrupted).length >= limits.disruptedPods) return {ok: false, error: tooMany};
	if (dryRun) return unchanged;
	const given = censusOf(budget, {...count.disrupted, [name]: timestampOf(nowMs)}, known, nowMs);
	return {ok: true, object: {...budget, status: statusOf(budget, given, nowMs)}};
}

/**
 * A pod that is not ready is missed by nobody while enough others are. Should it become ready before its deletion, there are still as many
 * as were counted without it.
 */
function mayGoUnready({spec}: PodDisruptionBudget, pod: Pod, {demand, healthy}: Count): boolean {
	if (isReady(pod)) return false;
	return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (demand.ok && healthy >= demand.desired);
}

function refusal({metadata: {name}}: PodDisruptionBudget, {demand, healthy}: Count): Failure {
	const cause = demand.ok
		? `The disruption budget ${name} needs ${demand.desired} healthy pods and has ${healthy} currently`
		: `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${demand.message}`;
	return failure('ERR_DISRUPTION_BUDGET', {name, cause});
}

const tooMany = failure('ERR_FORBIDDEN', {message: 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'});
