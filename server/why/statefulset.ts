// Why a StatefulSet has not the pods that it wants: one waits for the one before it.

import type {Pod} from '../../api/kinds/pod.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {isAvailable} from '../../actors/control/workloads/availability.js';
import {nameOf, ordinalsOf} from '../../actors/control/workloads/stateful-pods.js';
import {isReady, readySinceMs} from '../../actors/control/pods/pod-lifecycle.js';
import {revisionLabel} from '../../actors/control/pods/pod-terms.js';
import {isDeleting} from '../../actors/control/objects/garbage.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, keyOf, listText, newestEvent, ownedBy, type Evidence, type Finding} from './finding.js';
import {podFinding} from './pod.js';
import {isPassing, podsBecause, podsBelow, podsFinding} from './pods.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';
import {allReady} from './replicaset.js';

export function statefulSetFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const set = object as StatefulSet;
	const first = firstHeld(set, evidence);
	const wanted = set.spec?.replicas ?? 1;
	if (first === undefined) return updated(set, evidence) ?? fine(set, wanted === 0 ? 'it wants no pods' : allReady(wanted));
	if (set.spec?.podManagementPolicy === 'Parallel' && first.pod !== undefined) return parallel(set, evidence);
	return first.pod === undefined ? missing(set, first.name, evidence) : heldBy(set, first.name, first.pod, evidence);
}

/** The first pod that there should be and that cannot be relied on, of those that are looked at. */
function firstHeld(set: StatefulSet, evidence: Evidence): {readonly name: string; readonly pod: Pod | undefined} | undefined {
	const {first, end} = ordinalsOf(set);
	const gone = evidence.isGone ? new Map([...ownedBy(set, evidence)].map(each => [each.metadata.name, each as Pod])) : undefined;
	for (let ordinal = first; ordinal < Math.min(end, first + limits.whyPods); ordinal++) {
		const name = nameOf(set, ordinal);
		const pod =
			gone === undefined ? (evidence.known.get(objectKey('pods', set.metadata.namespace, name)) as Pod | undefined) : gone.get(name);
		if (pod === undefined || isDeleting(pod) || !isAvailable(pod, set.spec?.minReadySeconds, evidence.nowMs)) return {name, pod};
	}
	return undefined;
}

const readyText = ({status, spec}: StatefulSet): string => `${status?.readyReplicas ?? 0} of ${counted(spec?.replicas ?? 1, 'pod')} ready`;

/** It is not there, and nothing keeps it back but that it cannot be made. */
function missing(set: StatefulSet, name: string, evidence: Evidence): Finding {
	const refusal = newestEvent(evidence.eventsOf(keyOf(set)), ['FailedCreate'])?.message;
	if (refusal === undefined || evidence.isGone)
		return finding(set, {state: 'waits', is: `has ${readyText(set)}`, because: `pod ${name} is being made`});
	return finding(set, {
		state: 'wrong',
		is: `waits for pod ${name}`,
		because: `it is refused: ${refusalText(refusal)}`,
		below: refusalBelow(refusal, set.metadata.namespace ?? '', evidence),
		next: afterRefusal(refusal),
	});
}

function parallel(set: StatefulSet, evidence: Evidence): Finding {
	const pods = podsFinding(set, evidence);
	const because = podsBecause(pods, set.spec?.replicas ?? 1);
	return finding(set, {
		state: isPassing(pods) ? 'waits' : 'wrong',
		is: `has ${readyText(set)}`,
		because,
		below: podsBelow(pods),
		next: pods.worst?.finding.next,
	});
}

/** OrderedReady: those after it wait for it, and an update does. */
function heldBy(set: StatefulSet, name: string, pod: Pod, evidence: Evidence): Finding {
	const found = podFinding(pod, evidence, true);
	const {first, end} = ordinalsOf(set);
	const later = end - 1 - Number(name.slice(set.metadata.name.length + 1));
	const others = later <= 0 || end - first <= 1 ? '' : `; ${later === 1 ? 'the one after it waits' : `the ${later} after it wait`} for it`;
	const since = readySinceMs(pod);
	if (found.state === 'fine' && isReady(pod) && since !== undefined) {
		const seconds = set.spec?.minReadySeconds ?? 0;
		return finding(set, {
			state: 'waits',
			is: `waits for pod ${name}`,
			because: `it counts only when ready for ${seconds} s (minReadySeconds)${others}`,
			next: {says: 'it counts', atMs: since + seconds * 1_000},
		});
	}
	const stuck =
		isOfOld(set, pod) && found.state === 'wrong'
			? {says: `an update does not replace a pod that never became ready: troupe delete pod ${name} lets it go on`}
			: undefined;
	return finding(set, {
		state: found.state === 'wrong' ? 'wrong' : 'waits',
		is: `waits for pod ${name}`,
		because: `it ${found.is}${found.because === '' ? '' : `; ${found.because}`}${others}`,
		says: `${readyText(set)}; waits for pod ${name}${others}`,
		below: found.chain,
		next: stuck ?? found.next,
	});
}

const isOfOld = ({status}: StatefulSet, {metadata}: Pod): boolean =>
	status?.updateRevision !== undefined &&
	status.updateRevision !== status.currentRevision &&
	metadata.labels?.[revisionLabel] !== status.updateRevision;

/** All can be relied on, and some are of an older template. */
function updated(set: StatefulSet, evidence: Evidence): Finding | undefined {
	const {status, spec} = set;
	const {updatedReplicas = 0, updateRevision, currentRevision, replicas = 0} = status ?? {};
	const wanted = spec?.replicas ?? 1;
	if (replicas > wanted) {
		const leaving = [...ownedBy(set, evidence)].filter(each => each.kind === 'Pod' && isDeleting(each)).map(({metadata}) => metadata.name);
		return finding(set, {
			state: 'waits',
			is: `has ${replicas} pods and wants ${wanted}`,
			because: leaving.length === 0 ? 'those too many go, the last first' : `pod ${listText(leaving)} is being deleted`,
		});
	}
	if (updateRevision === undefined || updateRevision === currentRevision || updatedReplicas >= wanted) return undefined;
	const old = counted(wanted - updatedReplicas, 'pod');
	if (spec?.updateStrategy?.type === 'OnDelete')
		return finding(set, {
			state: 'waits',
			is: 'has pods of an older template',
			because: `${old}; its update strategy is OnDelete`,
			next: {says: 'each is replaced once somebody deletes it'},
		});
	const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
	if (partition > 0 && wanted - updatedReplicas <= partition)
		return finding(set, {
			state: 'waits',
			is: 'has pods of an older template',
			because: `${old} below the partition ${partition}`,
			next: {says: 'they are replaced when the partition is lower'},
		});
	return finding(set, {
		state: 'waits',
		is: 'is on its way to its newest template',
		because: `${old} of the one before are left`,
		next: {says: 'the next one is replaced by itself'},
	});
}
