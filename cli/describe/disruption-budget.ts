// `describe poddisruptionbudget`: what has to stay, and how many may go now. Pure.

import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
import type {LabelSelector} from '../../api/selector.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, metadataFields, selectorLines, whenText} from './lines.js';

/** Everything but the events. */
export function describeDisruptionBudget(object: PodDisruptionBudget, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = object;
	const disrupted = Object.entries(status?.disruptedPods ?? {}).map(([name, time]) => `${name}  ${whenText(time, nowMs)}`);
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Min available', countText(spec?.minAvailable)],
		['Max unavailable', countText(spec?.maxUnavailable)],
		['Selector', selectorText(spec?.selector)],
		['Unhealthy Pods', spec?.unhealthyPodEvictionPolicy ?? 'IfHealthyBudget'],
	]);
	const counts = drawFields(
		[
			['Allowed disruptions', String(status?.disruptionsAllowed ?? 0)],
			['Current', String(status?.currentHealthy ?? 0)],
			['Desired', String(status?.desiredHealthy ?? 0)],
			['Total', String(status?.expectedPods ?? 0)],
			['Disrupted', disrupted.length === 0 ? undefined : disrupted],
		],
		'  ',
	);
	return `${fields}Status:\n${counts}` + drawConditions(status?.conditions, widthOf);
}

function selectorText(selector: LabelSelector | undefined): string | readonly string[] {
	if (selector === undefined) return '<none>';
	const lines = selectorLines(selector);
	return lines.length === 0 ? '<all>' : lines;
}

const countText = (count: number | string | undefined): string | undefined => (count === undefined ? undefined : String(count));
