// Why a pod waits for other workloads before it has a node: what they lack is the cause.

import type {Pod} from '../../api/kinds/pod.js';
import {conditionOf} from '../../api/conditions.js';
import {missingOf, type Missing} from '../../actors/control/pods/awaited.js';
import {clause, finding, listText, timeOf, type Evidence, type Finding} from './finding.js';

/** Undefined: all that the pod depends on is there. */
export function awaitingFinding(pod: Pod, evidence: Evidence): Finding | undefined {
	const missing = missingOf(pod, evidence.known);
	if (missing.length === 0) return undefined;
	const found = missing.map(one => ({one, below: one.object === undefined ? undefined : evidence.causeOf?.(one.object)}));
	// What has no help in sight tells more than what is on its way.
	const told = found.find(({one, below}) => one.object === undefined || below?.state === 'wrong') ?? found[0];
	if (told === undefined) return undefined;
	const {one, below} = told;
	const names = listText(missing.map(({about}) => about));
	const isWrong = one.object === undefined || below === undefined || below.state === 'wrong';
	return finding(pod, {
		state: isWrong ? 'wrong' : 'waits',
		is: `waits for ${names}`,
		because: reasonOf(one, below),
		says: `waits for ${names}`,
		atMs: timeOf(conditionOf(pod.status?.conditions, 'PodScheduled')?.lastTransitionTime),
		below: below?.chain ?? [{about: one.about, says: one.is}],
		next: below?.next ?? {says: `it has a node once ${one.about} is ${one.key.startsWith('jobs/') ? 'complete' : 'available'}`},
	});
}

/** Of a circle there is no more to say than that. */
function reasonOf({about, object, is}: Missing, below: Finding | undefined): string {
	if (object === undefined || below === undefined || below.state === 'fine') return `${about} ${is}`;
	return `${about} ${clause(below.is, below.because)}`;
}
