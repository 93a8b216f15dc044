// Why an autoscaler scales nothing, or what it did last and why.

import {conditionOf} from '../../api/conditions.js';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import {metricTexts} from '../../api/metric-texts.js';
import type {ApiObject, Condition} from '../../api/object.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, type Finding} from './finding.js';

export function autoscalerFinding(object: ApiObject): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const hpa = object as Hpa;
	const {conditions} = hpa.status ?? {};
	const able = conditionOf(conditions, 'AbleToScale');
	if (able?.status === 'False')
		return finding(hpa, {
			state: 'wrong',
			is: 'scales nothing',
			because: able.message ?? '',
			next: {says: 'it tries again every few seconds'},
		});
	const active = conditionOf(conditions, 'ScalingActive');
	if (active?.status === 'False') return idle(hpa, active);
	if (active === undefined) return finding(hpa, {state: 'waits', is: 'has not decided anything yet', because: 'nothing is measured yet'});
	return fine(hpa, wellText(hpa));
}

function idle(hpa: Hpa, {reason = '', message = ''}: Condition): Finding {
	switch (reason) {
		case 'ScalingDisabled':
			return finding(hpa, {
				state: 'waits',
				is: 'is switched off',
				because: 'what it scales has 0 replicas',
				next: {says: 'it goes on once that is scaled to 1 or more'},
			});
		case 'AmbiguousSelector':
			return finding(hpa, {
				state: 'wrong',
				is: 'scales nothing',
				because: message,
				next: {says: 'delete one of the two'},
			});
		case 'FailedGetPodsMetric':
		case 'FailedGetObjectMetric':
		case 'FailedGetExternalMetric': {
			// What only people can set right.
			const isWrong = ['has no source', 'does not let', 'not found'].some(words => message.includes(words));
			return finding(hpa, {
				state: isWrong ? 'wrong' : 'waits',
				is: 'does not know what it scales by',
				because: message,
				next: {says: 'it looks again every few seconds, and takes no pods away until it knows'},
			});
		}
		default: {
			const lacksRequest = message.includes('missing request for');
			return finding(hpa, {
				state: lacksRequest ? 'wrong' : 'waits',
				is: 'does not know what its pods use',
				because: message,
				next: {
					says: lacksRequest
						? 'say in the template what each container requests (resources.requests): a part of that is what is measured'
						: 'it looks again every few seconds: pods count once they have been ready for a while',
				},
			});
		}
	}
}

/** What it keeps, what is measured, and the last thing that it did. */
function wellText(hpa: Hpa): string {
	const {desiredReplicas = 0, decisions = []} = hpa.status ?? {};
	const {kind = '', name = ''} = hpa.spec?.scaleTargetRef ?? {};
	const last = decisions.at(-1);
	const measured = metricTexts(hpa).join(', ');
	const did = last === undefined ? '' : `; its last change was from ${last.from} to ${last.to}: ${last.reason}`;
	return `it keeps ${kind.toLowerCase()}/${name} at ${counted(desiredReplicas, 'replica')} (${measured})${did}`;
}
