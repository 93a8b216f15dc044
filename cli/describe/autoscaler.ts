// `describe hpa`: what it scales and by what, what was measured, and why it did what it did. Pure.

import {ageOf} from '../../api/duration.js';
import {stepIntervalOf, type Hpa, type HpaSpec} from '../../api/kinds/horizontalpodautoscaler.js';
import {metricTexts} from '../../api/metric-texts.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, drawSection, metadataFields, whenText} from './lines.js';

type Rules = NonNullable<NonNullable<HpaSpec['behavior']>['scaleUp']>;

/** Everything but the events. */
export function describeAutoscaler(object: Hpa, nowMs: number, widthOf: WidthOf): string {
	const {metadata, spec, status} = object;
	const target = spec?.scaleTargetRef;
	const stepMs = stepIntervalOf(metadata.annotations);
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Reference', target === undefined ? undefined : `${target.kind}/${target.name}`],
		['Metrics', metricTexts(object).map(text => `${text} (measured / wanted)`)],
		['Min replicas', String(spec?.minReplicas ?? 1)],
		['Max replicas', String(spec?.maxReplicas ?? 0)],
		['Scale up', stepMs === undefined ? rulesText(spec?.behavior?.scaleUp) : undefined],
		['Scale down', stepMs === undefined ? rulesText(spec?.behavior?.scaleDown) : undefined],
		['Steps', stepMs === undefined ? undefined : `one pod at most in ${ageOf(stepMs)}`],
		['Replicas', `${status?.currentReplicas ?? 0} current / ${status?.desiredReplicas ?? 0} desired`],
		['Last change', status?.lastScaleTime === undefined ? undefined : whenText(status.lastScaleTime, nowMs)],
	]);
	const rows = (status?.decisions ?? [])
		.toReversed()
		.map(({time, from, to, reason, measured = ''}) => [whenText(time, nowMs), `${from} -> ${to}`, measured, reason]);
	return (
		fields + drawSection('Decisions', ['WHEN', 'REPLICAS', 'MEASURED', 'WHY'], rows, widthOf) + drawConditions(status?.conditions, widthOf)
	);
}

function rulesText(rules: Rules | undefined): string | undefined {
	if (rules === undefined) return undefined;
	const {selectPolicy, policies = [], stabilizationWindowSeconds, tolerance} = rules;
	if (selectPolicy === 'Disabled') return 'never';
	const amounts = policies.map(({type, value, periodSeconds}) => `${value}${type === 'Percent' ? ' %' : ' pods'} in ${periodSeconds} s`);
	return [
		...(amounts.length === 0 ? ['as by default'] : [amounts.join(selectPolicy === 'Min' ? ' and ' : ' or ')]),
		...(stabilizationWindowSeconds === undefined ? [] : [`window ${stabilizationWindowSeconds} s`]),
		...(tolerance === undefined ? [] : [`tolerance ${tolerance}`]),
	].join(', ');
}
