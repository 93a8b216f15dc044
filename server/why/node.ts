// Why a node is as it is.

import {conditionOf} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {unreachableTaint} from '../../api/rules/taints.js';
import {dockerNotReady} from '../../api/runtime-class.js';
import {nodeGraceMs} from '../../actors/control/pods/node-grace.js';
import {onNode} from '../../actors/control/pods/pod-terms.js';
import {taintText} from '../../actors/control/pods/toleration.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, lengthText, listText, newestEvent, keyOf, timeOf, type Evidence, type Finding} from './finding.js';

/** Whether nothing is heard of it at the moment. */
export const isSilent = ({status}: NodeObject): boolean => conditionOf(status?.conditions, 'Ready')?.status !== 'True';

export function nodeFinding(node: NodeObject, evidence: Evidence): Finding {
	const general = generalFinding(node);
	if (general !== undefined) return general;
	const cut = cutOff(node, evidence);
	if (cut !== undefined) return cut;
	if (isSilent(node)) return silent(node, evidence);
	const docker = conditionOf(node.status?.conditions, dockerNotReady);
	if (docker !== undefined)
		return finding(node, {
			state: 'wrong',
			is: 'runs no pods of Docker now',
			because: docker.message ?? docker.reason ?? '',
			atMs: timeOf(docker.lastTransitionTime),
			next: {says: 'as soon as its Docker Engine answers, they go on; those that run, run on'},
		});
	const {taints: all = [], unschedulable} = node.spec ?? {};
	const taints = all.filter(({effect}) => effect !== 'PreferNoSchedule');
	const pods = counted(evidence.known.countByTerm('pods', onNode(node.metadata.name)), 'pod');
	if (unschedulable === true)
		return finding(node, {
			state: 'waits',
			is: 'takes no new pods',
			because: `it is cordoned; ${pods} of before stay`,
			next: {says: `troupe uncordon ${node.metadata.name} opens it again`},
		});
	if (taints.length > 0)
		return fine(node, `it is heard, and has ${pods}; only pods that tolerate ${listText(taints.map(taintText))} come to it`);
	return fine(node, `it is heard, and has ${pods}`);
}

/** Somebody keeps it away with a fault, whether it is missed already or not; undefined: nobody is known to. */
export function cutOff(node: NodeObject, {partitionOf, nowMs}: Evidence): Finding | undefined {
	const fault = partitionOf(node.metadata.name);
	if (fault === undefined) return undefined;
	const left = `${Math.ceil(fault.leftMs / 1_000)} s left`;
	const whose = fault.by === undefined ? 'a fault' : `a fault of ${fault.by}`;
	return finding(node, {
		state: 'wrong',
		is: `is cut off by ${whose}`,
		because: left,
		says: isSilent(node) ? `is not heard: ${conditionOf(node.status?.conditions, 'Ready')?.message ?? ''}` : 'is cut off',
		below: [{about: `actor ${fault.address}`, says: `has a fault that somebody made: ${fault.text}; nobody can end it before`}],
		next: {says: 'the fault ends by itself', atMs: nowMs + fault.leftMs},
	});
}

function silent(node: NodeObject, evidence: Evidence): Finding {
	const {conditions} = node.status ?? {};
	const ready = conditionOf(conditions, 'Ready');
	const frozen = conditionOf(conditions, 'EvictionsFrozen');
	const sinceMs = timeOf(ready?.lastTransitionTime);
	const lasting = sinceMs === undefined ? undefined : ` for ${lengthText(evidence.nowMs - sinceMs)}`;
	const [lost, unheard] = lasting === undefined ? ['is lost', 'is not heard'] : [`has been lost${lasting}`, `has not been heard${lasting}`];
	const isDead = node.spec?.taints?.some(({key}) => key === unreachableTaint) === true;
	const event = newestEvent(evidence.eventsOf(keyOf(node)), ['NodeSuspect', 'NodeLost']);
	const deadMs = event === undefined ? undefined : event.lastAtMs + nodeGraceMs(evidence.known);
	return finding(node, {
		state: 'wrong',
		is: isDead ? lost : unheard,
		because: frozen?.status === 'True' ? `${ready?.message ?? ''}; its pods stay: ${frozen.message ?? ''}` : (ready?.message ?? ''),
		atMs: sinceMs,
		next: isDead
			? {says: 'it comes back when its agent is heard; troupe agent on that host starts it'}
			: {says: 'if it stays silent, its pods are replaced', ...(deadMs === undefined || deadMs < evidence.nowMs ? {} : {atMs: deadMs})},
	});
}
