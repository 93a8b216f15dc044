// Why a DaemonSet has no pod on some node.

import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {ApiObject} from '../../api/object.js';
import {fitOf, tolerationsOf} from '../../actors/control/workloads/daemon-nodes.js';
import {isTolerated, taintText} from '../../actors/control/pods/toleration.js';
import {missingLabel} from '../../actors/control/pods/node-affinity.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, keyOf, listText, newestEvent, type Evidence, type Finding} from './finding.js';
import {isPassing, podsBecause, podsBelow, podsCounts, podsFinding} from './pods.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';

export function daemonSetFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const set = object as DaemonSet;
	const {desiredNumberScheduled: desired = 0, numberReady = 0, currentNumberScheduled: current = 0} = set.status ?? {};
	const pods = podsFinding(set, evidence);
	const because = podsBecause(pods, Math.max(desired, 1));
	const is = `is ready on ${numberReady} of ${counted(desired, 'node')}`;
	if (because !== '' && (numberReady < desired || !isPassing(pods)))
		return finding(set, {
			state: isPassing(pods) ? 'waits' : 'wrong',
			is,
			because,
			says: `${is}; ${podsCounts(pods, Math.max(desired, 1))}`,
			below: podsBelow(pods),
			next: pods.worst?.finding.next,
		});
	const refusal = newestEvent(evidence.eventsOf(keyOf(set)), ['FailedCreate'])?.message;
	if (current < desired && refusal !== undefined && !evidence.isGone)
		return finding(set, {
			state: 'wrong',
			is: `has pods on ${current} of ${counted(desired, 'node')}`,
			because: `its pods are refused: ${refusalText(refusal)}`,
			below: refusalBelow(refusal, set.metadata.namespace ?? '', evidence),
			next: afterRefusal(refusal),
		});
	if (current < desired)
		return finding(set, {
			state: 'waits',
			is: `has pods on ${current} of ${counted(desired, 'node')}`,
			because: 'the others are being made',
		});
	const others = misfits(set, evidence);
	if (desired === 0)
		return finding(set, {
			state: 'wrong',
			is: 'has no pods',
			because: others.length === 0 ? 'there is no node' : `no node fits: ${listText(others)}`,
			next: {says: 'a node that fits gets a pod as soon as it is there'},
		});
	const left = others.length === 0 ? '' : `; not on ${listText(others)}`;
	return fine(set, `its pod is ready on ${desired === 1 ? 'the node that fits' : `all ${desired} nodes that fit`}${left}`);
}

const shown = 3;

/** Nodes without a pod of it, each with why. */
function misfits(set: DaemonSet, {known}: Evidence): readonly string[] {
	const template = set.spec?.template.spec;
	const texts: string[] = [];
	let more = 0;
	for (const node of known.list('nodes') as Iterable<NodeObject>) {
		if (template === undefined || fitOf(set, node) === 'runs') continue;
		if (texts.length >= shown) {
			more++;
			continue;
		}
		const {name, labels = {}} = node.metadata;
		const missing = missingLabel(template.nodeSelector, {name, labels});
		const taint = node.spec?.taints?.find(each => each.effect !== 'PreferNoSchedule' && !isTolerated(each, tolerationsOf(template)));
		const why =
			missing !== undefined
				? `no label ${missing[0]}=${missing[1]}`
				: taint === undefined
					? 'not among the nodes that it names'
					: `taint ${taintText(taint)} is not tolerated`;
		texts.push(`${name}: ${why}`);
	}
	return more === 0 ? texts : [...texts, `${more} more`];
}
