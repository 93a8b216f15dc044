// Why a Deployment does not progress.

import {conditionOf} from '../../api/conditions.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import {deadlineMs} from '../../actors/control/workloads/deployment-status.js';
import {revisionOf} from '../../actors/control/workloads/revisions.js';
import {isSameTemplate} from '../../actors/control/workloads/template-hash.js';
import {generalFinding} from './common.js';
import {clause, counted, finding, fine, ownedBy, timeOf, type Evidence, type Finding, type NextAction} from './finding.js';
import {isPassing, podsBecause, podsBelow, podsFinding} from './pods.js';
import {afterRefusal, refusalText} from './quota.js';
import {allReady, replicaSetFinding, tellsOnlyHowMany} from './replicaset.js';

export function deploymentFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const deployment = object as Deployment;
	const sets = ([...ownedBy(deployment, evidence)] as ReplicaSet[]).filter(({kind}) => kind === 'ReplicaSet');
	const newest = newestOf(deployment, sets);
	const progress = conditionOf(deployment.status?.conditions, 'Progressing');
	if (progress?.reason === 'ReplicaSetCreateError')
		return finding(deployment, {
			state: 'wrong',
			is: 'does not progress',
			because: `its ReplicaSet is refused: ${refusalText(progress.message ?? '')}`,
			next: afterRefusal(progress.message ?? ''),
		});
	if (newest === undefined) return withoutSet(deployment, sets, evidence);
	const isAlone = sets.every(set => set === newest || (set.status?.replicas ?? 0) === 0);
	const found = replicaSetFinding(newest, evidence, isAlone ? 'pod' : 'newest pod');
	return found.state === 'fine' ? settled(deployment, sets, newest, evidence) : held(deployment, newest, found, evidence);
}

/** The set of its template. */
function newestOf({spec}: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
	return sets.find(set => spec !== undefined && set.spec !== undefined && isSameTemplate(set.spec.template, spec.template));
}

const isPaused = ({spec}: Deployment): boolean => spec?.paused === true;

const pausedNext: NextAction = {says: 'troupe rollout resume lets it go on'};

/** Its template has no set: that comes, or somebody paused it. */
function withoutSet(deployment: Deployment, sets: readonly ReplicaSet[], evidence: Evidence): Finding {
	const latest = [...sets].sort((a, b) => revisionOf(b) - revisionOf(a))[0];
	const old = latest === undefined ? undefined : replicaSetFinding(latest, evidence);
	const meanwhile =
		old === undefined || old.state === 'fine'
			? ''
			: `; meanwhile its ReplicaSet ${latest?.metadata.name ?? ''} ${clause(old.is, old.because)}`;
	if (isPaused(deployment))
		return finding(deployment, {
			state: old?.state === 'wrong' ? 'wrong' : 'waits',
			is: 'is paused',
			because: `${sets.length === 0 ? 'it has no pods yet' : 'its newest template waits'}${meanwhile}`,
			below: old === undefined || old.state === 'fine' ? [] : old.chain,
			next: pausedNext,
		});
	return finding(deployment, {
		state: 'waits',
		is: 'is at its beginning',
		because: sets.length === 0 ? 'its ReplicaSet is being made' : `pods of the template before go first${meanwhile}`,
	});
}

/** Its newest set has not what it should have. */
function held(deployment: Deployment, newest: ReplicaSet, found: Finding, evidence: Evidence): Finding {
	const trouble = podsFinding(newest, evidence).worst?.trouble;
	const progress = conditionOf(deployment.status?.conditions, 'Progressing');
	const isOver = progress?.reason === 'ProgressDeadlineExceeded';
	const wanted = deployment.spec?.replicas ?? 1;
	const isWrong = found.state === 'wrong' || isOver;
	// Pods that run may pass their probes until the deadline.
	const isYoung = progress?.status === 'True' && progress.reason !== 'NewReplicaSetAvailable' && trouble === 'unready';
	const {readyReplicas = 0, updatedReplicas = 0} = deployment.status ?? {};
	const is = !isWrong ? 'is on its way' : isYoung ? 'is not ready yet' : 'does not progress';
	// How many are ready is told by the set, in its link.
	const because = tellsOnlyHowMany(found.is) ? found.because : clause(`its ReplicaSet ${found.is}`, found.because);
	const deadline = deadlineMs(deployment);
	return finding(deployment, {
		state: isWrong ? 'wrong' : 'waits',
		is: isPaused(deployment) ? `is paused, and ${is}` : is,
		because,
		says: `${isOver ? `did not progress for ${deployment.spec?.progressDeadlineSeconds ?? 600} s` : is}; ${readyReplicas} of ${counted(wanted, 'pod')} ready, ${updatedReplicas} of the newest template`,
		atMs: isOver ? timeOf(progress.lastTransitionTime) : undefined,
		below: found.chain,
		next:
			found.next ??
			(deadline === undefined || deadline < evidence.nowMs ? undefined : {says: 'the update counts as failed', atMs: deadline}),
	});
}

/** The newest set has all that it should have: others may still be there, or the update wait for more. */
function settled(deployment: Deployment, sets: readonly ReplicaSet[], newest: ReplicaSet, evidence: Evidence): Finding {
	const wanted = deployment.spec?.replicas ?? 1;
	const others = sets.filter(set => set !== newest && ((set.spec?.replicas ?? 0) > 0 || (set.status?.replicas ?? 0) > 0));
	const size = newest.spec?.replicas ?? 0;
	for (const set of others) {
		const pods = podsFinding(set, evidence);
		const because = podsBecause(pods, set.status?.replicas ?? 0);
		if (because === '' || isPassing(pods)) continue;
		return finding(deployment, {
			state: 'wrong',
			is: 'is on its way to its newest template',
			because: `of ReplicaSet ${set.metadata.name}, which goes, ${because}`,
			below: podsBelow(pods),
			next: pods.worst?.finding.next,
		});
	}
	if (isPaused(deployment) && (others.length > 0 || size !== wanted))
		return finding(deployment, {
			state: 'waits',
			is: 'is paused',
			because: `${size} of ${counted(wanted, 'pod')} are of its newest template`,
			next: pausedNext,
		});
	if (others.length > 0 || size !== wanted) {
		const old = others.reduce((sum, set) => sum + (set.status?.replicas ?? 0), 0);
		return finding(deployment, {
			state: 'waits',
			is: 'is on its way',
			because: `${size} of ${counted(wanted, 'pod')} are of its newest template and ready, ${old} of older ones are left`,
			next: {says: 'the next step follows by itself'},
		});
	}
	return fine(deployment, `${wanted === 0 ? 'it wants no pods' : allReady(wanted)}${isPaused(deployment) ? '; it is paused' : ''}`);
}
