// A DaemonSet keeps a pod of one template on each node that fits: on nodes that come, no more on those that do not fit any more. After
// pkg/controller/daemon of Kubernetes.
//
// What a look costs: of a set that has on each node what it should, a handful of counts, however many nodes and pods there are (`isComplete`); so
// the change of one pod walks none of them. Of one that lacks pods or replaces them, one walk over its pods and the nodes, and while many writes
// are open none. After a change of a node's labels or taints, one walk over the nodes.

import type {DaemonSet, DaemonSetStatus} from '../../../api/kinds/daemonset.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller, type Failures, type Reconciliation, type Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {awaitingQuota, shortOf} from '../objects/quota-wait.js';
import {ownerships, selecting, selectionTerms} from '../objects/selection.js';
import {isActive, isReady} from '../pods/pod-lifecycle.js';
import {placesTerm, revisionLabel, revisionTerm} from '../pods/pod-terms.js';
import {isAvailable} from './availability.js';
import {censusOf, type Census} from './census.js';
import {historyOf, revisionHash} from './controller-revisions.js';
import {fitOf, wantedPlaces, type Fit, type Wanted} from './daemon-nodes.js';
import {placesOf, type Place} from './daemon-places.js';
import {daemonPod, freeName} from './daemon-pods.js';
import {stepOf} from './daemon-update.js';
import {creation, slowStart} from './pod-creation.js';
import {podNews} from './pod-news.js';
import {deletion} from './surplus.js';

export const daemonSetController = controller<DaemonSet>({
	plural: 'daemonsets',
	terms: set => [
		...selectionTerms(set),
		...shortOf(set, (set.status?.currentNumberScheduled ?? 0) < (set.status?.desiredNumberScheduled ?? 0)),
	],
	watches: {
		pods: (change, known) => selecting('daemonsets', change, known),
		nodes: fittingOtherwise,
		resourcequotas: (change, known) => awaitingQuota('daemonsets', change, known),
	},
	written: podNews(),
	reconcile,
	goesOnWithoutCreates: true,
});

/** The sets for which a node is another one than before: each set looks at that node alone. */
function* fittingOtherwise({before, after}: Watched, known: Known): Iterable<DaemonSet> {
	const [was, is] = [before as NodeObject | undefined, after as NodeObject | undefined];
	const isSame = was?.metadata.labels === is?.metadata.labels && was?.spec?.taints === is?.spec?.taints;
	if (was !== undefined && is !== undefined && isSame) return;
	for (const set of known.list('daemonsets') as Iterable<DaemonSet>) if (fitOfAny(set, was) !== fitOfAny(set, is)) yield set;
}

const fitOfAny = (set: DaemonSet, node: NodeObject | undefined): Fit => (node === undefined ? 'leaves' : fitOf(set, node));

function reconcile(set: DaemonSet, context: Context, failures: Failures): Reconciliation<DaemonSetStatus> {
	const {spec} = set;
	if (spec === undefined || isDeleting(set)) return {effects: []};
	const {known, pending, nowMs} = context;
	const isLive = (hash: string): boolean => known.countByTerm('pods', revisionTerm(set.metadata.uid, hash)) > 0;
	const history = historyOf(set, {limit: spec.revisionHistoryLimit ?? 0, isLive: revision => isLive(revisionHash(revision))}, context);
	if (history.update === undefined) return {effects: history.effects};
	const hash = revisionHash(history.update);
	const census = censusOf(ofRevision(set, hash), known, nowMs);
	const {owned, strangers} = census;
	const effects = [
		...history.effects,
		...ownerships(set, {plural: 'pods', selector: spec.selector, owned, strangers, isWanted: pod => isActive(pod as Pod)}, context),
	];
	const wanted = wantedPlaces(set, known);
	const wake = census.nextAvailableMs === undefined ? {} : {wakeAtMs: census.nextAvailableMs};
	if (isComplete(set, hash, census, wanted, known)) return {status: completeStatus(set, census), effects, ...wake};
	// What comes of the writes that are open, many looks would find out one by one: the walk waits for half of them.
	if (pending.size > limits.pendingWrites / 2) return {effects, ...wake};
	const places = placesOf(set, hash, context);
	const step = stepOf(spec, places, nowMs);
	const open = pending.size + effects.length;
	effects.push(...step.deleted.slice(0, Math.max(0, limits.pendingWrites - open)).map(deletion));
	effects.push(...creations(set, hash, step.created, census.active, context, failures, limits.pendingWrites - open - step.deleted.length));
	const wakeAtMs = earliest(census.nextAvailableMs, step.wakeAtMs);
	return {status: statusOf(set, places, nowMs), effects, ...(wakeAtMs === undefined ? {} : {wakeAtMs})};
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
	a === undefined ? b : b === undefined ? a : Math.min(a, b);

/** The set with the labels that its pods of this revision have: those are counted without a walk. */
function ofRevision(set: DaemonSet, revision: string): DaemonSet {
	const {spec} = set;
	if (spec === undefined) return set;
	const {template} = spec;
	const labels = {...template.metadata?.labels, [revisionLabel]: revision};
	return {...set, spec: {...spec, template: {...template, metadata: {...template.metadata, labels}}}};
}

/** On each node that fits a pod of the newest revision, and no other one anywhere. */
function isComplete({metadata: {uid}}: DaemonSet, hash: string, {owned, active}: Census, {count, sum}: Wanted, known: Known): boolean {
	return (
		owned === count &&
		active === count &&
		known.countByTerm('pods', revisionTerm(uid, hash)) === count &&
		known.sumByTerm('pods', placesTerm(uid)) === sum
	);
}

function completeStatus({metadata, status}: DaemonSet, {active, ready, available}: Census): DaemonSetStatus {
	return {
		...status,
		desiredNumberScheduled: active,
		currentNumberScheduled: active,
		numberMisscheduled: 0,
		numberReady: ready,
		updatedNumberScheduled: active,
		numberAvailable: available,
		numberUnavailable: active - available,
		observedGeneration: metadata.generation,
	};
}

/** As Kubernetes counts: of the pods of a node the oldest. */
function statusOf({metadata, spec, status}: DaemonSet, places: readonly Place[], nowMs: number): DaemonSetStatus {
	const wanted = places.filter(({fit}) => fit === 'runs');
	const oldest = wanted.flatMap(({pods}) => pods[0] ?? []);
	const isCounted = (pod: Pod): boolean => isActive(pod);
	const available = oldest.filter(pod => isAvailable(pod, spec?.minReadySeconds, nowMs)).length;
	return {
		...status,
		desiredNumberScheduled: wanted.length,
		currentNumberScheduled: oldest.length,
		numberMisscheduled: places.filter(({fit, pods}) => fit !== 'runs' && pods.length > 0).length,
		numberReady: oldest.filter(pod => isCounted(pod) && isReady(pod)).length,
		updatedNumberScheduled: wanted.filter(({pods, isNew}) => pods[0] !== undefined && isNew(pods[0])).length,
		numberAvailable: available,
		numberUnavailable: wanted.length - available,
		observedGeneration: metadata.generation,
	};
}

function creations(
	set: DaemonSet,
	revision: string,
	nodes: readonly string[],
	present: number,
	{known, pending}: Context,
	failures: Failures,
	room: number,
): Effect[] {
	const coming = [...pending.values()].filter(({type}) => type === 'create').length;
	const named = nodes.flatMap(node => {
		const name = freeName(set, node, known);
		return name === undefined ? [] : [{node, name}];
	});
	const most = Math.max(0, Math.min(room, slowStart(named.length, present, coming, failures)));
	return named.slice(0, most).map(({node, name}) => creation(daemonPod(set, node, name, revision)));
}
