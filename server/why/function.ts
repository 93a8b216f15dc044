// Why a function does not take the calls that it gets: it has no code, or its instances are refused, or do not get ready.

import {conditionOf} from '../../api/conditions.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject, Condition} from '../../api/object.js';
import {revisionOf} from '../../actors/control/workloads/revisions.js';
import {generalFinding} from './common.js';
import {clause, counted, finding, fine, ownedBy, type Evidence, type Finding} from './finding.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';
import {replicaSetFinding, tellsOnlyHowMany} from './replicaset.js';
import {deafFinding} from './triggers.js';

export function functionFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const fn = object as FunctionObject;
	const callable = conditionOf(fn.status?.conditions, 'Callable');
	if (callable?.status === 'False') return notCallable(fn, callable, evidence);
	const found = setsOf(fn, evidence).map(set => replicaSetFinding(set, evidence, 'instance'));
	const held = found.find(({state}) => state === 'wrong') ?? found.find(({state}) => state === 'waits');
	if (held !== undefined) return heldBack(fn, held);
	const traffic = conditionOf(fn.status?.conditions, 'TrafficKnown');
	if (traffic?.status === 'False')
		return finding(fn, {
			state: 'wrong',
			is: 'does not share its calls as it should',
			because: traffic.message ?? '',
			next: {says: 'troupe rollout history tells which versions there are'},
		});
	const {ready = 0, desired = 0, demands = []} = fn.status ?? {};
	if (ready === 0 && desired + demands.length > 0)
		return finding(fn, {state: 'waits', is: 'has no instance yet', because: 'the first one is being made'});
	return (
		deafFinding(fn, fn.spec?.triggers) ??
		fine(
			fn,
			ready === 0
				? 'nobody calls it; the next call begins an instance'
				: `${counted(ready, 'instance')} of it ${ready === 1 ? 'takes' : 'take'} calls`,
		)
	);
}

function notCallable(fn: FunctionObject, {reason, message = ''}: Condition, evidence: Evidence): Finding {
	if (reason === 'NoCode')
		return finding(fn, {
			state: 'wrong',
			is: 'cannot be called',
			because: 'its code is not in the cluster',
			next: {says: 'troupe apply -f with its manifest uploads the folder that it names'},
		});
	return finding(fn, {
		state: 'wrong',
		is: 'gets no instances',
		because: `its ReplicaSet is refused: ${refusalText(message)}`,
		below: refusalBelow(message, fn.metadata.namespace ?? '', evidence),
		next: afterRefusal(message),
	});
}

/** Those that have instances or want some, the newest version first. */
const setsOf = (fn: FunctionObject, evidence: Evidence): readonly ReplicaSet[] =>
	([...ownedBy(fn, evidence)] as ReplicaSet[])
		.filter(({kind, spec, status}) => kind === 'ReplicaSet' && ((spec?.replicas ?? 0) > 0 || (status?.replicas ?? 0) > 0))
		.sort((a, b) => revisionOf(b) - revisionOf(a));

/** Calls wait for what a version of it has not yet. */
function heldBack(fn: FunctionObject, {state, is, because, chain, next}: Finding): Finding {
	const {ready = 0, instances = 0, desired = 0, demands = []} = fn.status ?? {};
	const wanted = Math.max(
		instances,
		demands.reduce((sum, each) => sum + each.desired, desired),
	);
	return finding(fn, {
		state,
		is: `has ${ready} of ${counted(wanted, 'instance')} ready`,
		because: tellsOnlyHowMany(is) ? because : clause(`its ReplicaSet ${is}`, because),
		says: `${ready} of ${counted(wanted, 'instance')} ready`,
		below: chain,
		next,
	});
}
