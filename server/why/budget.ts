// Why a PodDisruptionBudget lets no pod be evicted.

import {conditionOf} from '../../api/conditions.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, type Evidence, type Finding} from './finding.js';
import {podFinding} from './pod.js';
import {troubleOf} from './trouble.js';

export function budgetFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const budget = object as PodDisruptionBudget;
	const {disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0} = budget.status ?? {};
	const condition = conditionOf(budget.status?.conditions, 'DisruptionAllowed');
	if (condition?.reason === 'SyncFailed')
		return finding(budget, {
			state: 'wrong',
			is: 'allows no evictions',
			because: `it cannot tell how many pods there should be: ${condition.message ?? ''}`,
			next: {says: 'it counts again when its pods or what made them change'},
		});
	if (disruptionsAllowed > 0)
		return fine(
			budget,
			`${counted(disruptionsAllowed, 'pod')} may be evicted now: ${currentHealthy} of ${expectedPods} are healthy, and ${desiredHealthy} must be`,
		);
	if (expectedPods === 0)
		return finding(budget, {
			state: 'waits',
			is: 'allows no evictions',
			because: 'no pod matches its selector',
			next: {says: 'it counts pods as they come'},
		});
	const found = unhealthy(budget, evidence);
	const why = found === undefined ? '' : `; ${found.chain[0]?.about ?? ''} ${found.is}${found.because === '' ? '' : `: ${found.because}`}`;
	return finding(budget, {
		state: found?.state === 'wrong' ? 'wrong' : 'waits',
		is: 'allows no evictions',
		because: `${currentHealthy} of its ${counted(expectedPods, 'pod')} ${currentHealthy === 1 ? 'is' : 'are'} healthy, and ${desiredHealthy} must be${why}`,
		below: found?.chain ?? [],
		next: {
			says:
				currentHealthy < expectedPods
					? 'it allows one when enough of them are ready'
					: 'it allows one when it asks for less, or there are more pods',
		},
	});
}

/** The first of its pods that is not healthy, among those that are looked at. */
function unhealthy({metadata, spec}: PodDisruptionBudget, evidence: Evidence): Finding | undefined {
	if (spec?.selector === undefined) return undefined;
	let left: number = limits.whyPods;
	for (const object of evidence.known.select('pods', metadata.namespace ?? '', spec.selector)) {
		if (left-- <= 0) return undefined;
		const pod = object as Pod;
		if (troubleOf(pod, evidence.nowMs) !== undefined) return podFinding(pod, evidence);
	}
	return undefined;
}
