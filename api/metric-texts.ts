// What people read of metrics of an autoscaler: what is measured, and what it should be. Pure.

import type {metric, metricStatus} from './schemas/horizontalpodautoscaler.js';
import type {ShapeOf} from './schemas/parts.js';

export type Metric = ShapeOf<typeof metric>;
export type MetricStatus = ShapeOf<typeof metricStatus>;

type Target = NonNullable<Metric['resource']>['target'];
type Current = NonNullable<MetricStatus['resource']>['current'];
type Measured = {
	readonly spec?: {readonly metrics?: readonly Metric[]};
	readonly status?: {readonly currentMetrics?: readonly MetricStatus[]};
};

const unknown = '<unknown>';

/** As the table of kubectl has each: `cpu: <unknown>/80%`, `12/10 (avg)`. */
export const targetTexts = (hpa: Measured): readonly string[] => textsOf(hpa, false);

/** The same with the name of each: `jobs: 12/10 (avg)`. */
export const metricTexts = (hpa: Measured): readonly string[] => textsOf(hpa, true);

const textsOf = ({spec, status}: Measured, isNamed: boolean): readonly string[] =>
	(spec?.metrics ?? []).map((metric, at) => metricText(metric, status?.currentMetrics?.[at], isNamed));

/** One of them; what is not known is said so. */
export function metricText(metric: Metric, status: MetricStatus | undefined, isNamed = true): string {
	const {resource, containerResource, pods, object, external} = metric;
	if (resource !== undefined)
		return `${resource.name}: ${shareText(resource.target, status?.resource?.name === resource.name ? status.resource.current : undefined)}`;
	if (containerResource !== undefined) {
		const {name, target} = containerResource;
		return `${name}: ${shareText(target, status?.containerResource?.name === name ? status.containerResource.current : undefined)}`;
	}
	const named = pods ?? object ?? external;
	if (named === undefined) return unknown;
	const current = (status?.pods ?? status?.object ?? status?.external)?.current;
	const text = shareText(named.target, current);
	// One of pods is never of anything else.
	const average = pods === undefined && named.target.type === 'AverageValue' ? ' (avg)' : '';
	return `${isNamed ? `${named.metric.name}: ` : ''}${text}${average}`;
}

function shareText(target: Target, current: Current | undefined): string {
	switch (target.type) {
		case 'Utilization':
			return `${percentText(current?.averageUtilization)}/${percentText(target.averageUtilization)}`;
		case 'AverageValue':
			return `${current?.averageValue ?? unknown}/${target.averageValue ?? unknown}`;
		case 'Value':
			return `${current?.value ?? unknown}/${target.value ?? unknown}`;
	}
}

const percentText = (percent: number | undefined): string => (percent === undefined ? unknown : `${percent}%`);
