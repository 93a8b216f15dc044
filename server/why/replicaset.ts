// Why a ReplicaSet has not the pods that it wants.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import {censusOf} from '../../actors/control/workloads/census.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, type Evidence, type Finding} from './finding.js';
import {isPassing, podsBecause, podsBelow, podsCounts, podsFinding} from './pods.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';

/** `noun`: which pods it has, where its owner has others. */
export function replicaSetFinding(object: ApiObject, evidence: Evidence, noun = 'pod'): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const set = object as ReplicaSet;
	const wanted = set.spec?.replicas ?? 1;
	const {readyReplicas = 0, replicas = 0} = set.status ?? {};
	const conditions = set.status?.conditions;
	const says = `${readyReplicas} of ${counted(wanted, 'pod')} ready`;
	const failure = conditionOf(conditions, 'ReplicaFailure');
	const pods = podsFinding(set, evidence);
	if (failure !== undefined && isConditionTrue(conditions, 'ReplicaFailure')) {
		const message = failure.message ?? '';
		return finding(set, {
			state: 'wrong',
			is: `has ${replicas} of ${counted(wanted, 'pod')}`,
			because: `its pods are refused: ${refusalText(message)}`,
			below: refusalBelow(message, set.metadata.namespace ?? '', evidence),
			next: afterRefusal(message),
		});
	}
	const because = podsBecause(pods, Math.max(wanted, replicas), noun);
	if (because !== '' && (readyReplicas < wanted || !isPassing(pods)))
		return finding(set, {
			state: isPassing(pods) ? 'waits' : 'wrong',
			is: `has ${says}`,
			because,
			says: `${says}; ${podsCounts(pods, Math.max(wanted, replicas), noun)}`,
			below: podsBelow(pods),
			next: pods.worst?.finding.next,
		});
	if (replicas < wanted)
		return finding(set, {state: 'waits', is: `has ${replicas} of ${counted(wanted, 'pod')}`, because: 'the others are being made'});
	if (replicas > wanted)
		return finding(set, {state: 'waits', is: `has ${replicas} pods and wants ${wanted}`, because: 'those too many go'});
	return unavailable(set, evidence) ?? fine(set, wanted === 0 ? 'it wants no pods' : allReady(wanted));
}

/** Of what is so of a set: what it has stands beside it for its owner, too. */
export const tellsOnlyHowMany = (is: string): boolean => /^has \d+ of \d+ pods? ready$/.test(is);

export const allReady = (wanted: number): string => (wanted === 1 ? 'its pod is ready' : `all ${wanted} of its pods are ready`);

/** All are ready, and some not for long enough. */
function unavailable(set: ReplicaSet, {known, nowMs, isGone}: Evidence): Finding | undefined {
	if (isGone) return undefined;
	const {ready, available, nextAvailableMs} = censusOf(set, known, nowMs);
	if (available >= ready) return undefined;
	return finding(set, {
		state: 'waits',
		is: `has ${available} of ${counted(ready, 'pod')} that can be relied on`,
		because: `${ready - available === 1 ? 'a pod counts' : `${ready - available} pods count`} only when ready for ${set.spec?.minReadySeconds ?? 0} s (minReadySeconds)`,
		next: {says: 'the next one counts', ...(nextAvailableMs === undefined ? {} : {atMs: nextAvailableMs})},
	});
}
