// The kind HorizontalPodAutoscaler: as many pods as the load needs.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import {targetTexts} from '../metric-texts.js';
import type {ApiObject, Draft, JsonObject, Labels} from '../object.js';
import {quantityValue} from '../quantity.js';
import {checkMetrics, measuresBeyondPods} from '../rules/metrics.js';
import {checkDnsSubdomain} from '../rules/names.js';
import {forbid, isEmpty, membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/horizontalpodautoscaler.js';
import {shown} from '../shown.js';

export type HpaSpec = ShapeOf<typeof spec>;
export type HpaStatus = ShapeOf<typeof status>;
export type Hpa = ApiObject<HpaSpec, HpaStatus>;

const specOf = (object: ApiObject): HpaSpec | undefined => (object as Hpa).spec;

/** Keeps of manifests of the older dialects that one pod comes or goes at most in so many seconds: policies of v2 alone would let it turn within one. */
export const stepIntervalAnnotation = 'troupe.dev/scale-interval';

/** In milliseconds; undefined: it is not said, or is none. */
export function stepIntervalOf(annotations: Labels | undefined): number | undefined {
	const text = annotations?.[stepIntervalAnnotation] ?? '';
	return /^\d{1,4}$/.test(text) && Number(text) > 0 ? Number(text) * 1_000 : undefined;
}

/** Of a policy's period in v2. */
export const mostIntervalSeconds = 1_800;

/** The behaviour of one pod more or less at most in so many seconds. */
export function inSteps(periodSeconds: number): NonNullable<HpaSpec['behavior']> {
	const policies = [{type: 'Pods', value: 1, periodSeconds}] as const;
	return {scaleUp: {policies}, scaleDown: {stabilizationWindowSeconds: 0, policies}};
}

/** Keeps which pods are measured where v2 has no place for it: there it is the target's own selector. */
export const measuredSelectorAnnotation = 'troupe.dev/selector';

/** In percent, of what Kubernetes measures when the manifest does not say what. */
const defaultUtilization = 80;

export const horizontalPodAutoscaler: KindDefinition = {
	kind: 'HorizontalPodAutoscaler',
	group: 'autoscaling',
	version: 'v2',
	plural: 'horizontalpodautoscalers',
	singular: 'horizontalpodautoscaler',
	shortNames: ['hpa'],
	categories: ['all'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as HpaSpec)}),
	validate,
	initialStatus: (): HpaStatus => ({currentReplicas: 0, desiredReplicas: 0}),
	columns: [
		nameColumn,
		column('Reference', 'What it scales.', object => referenceText(specOf(object))),
		column('Targets', 'What is measured, and what it should be.', object => targetsText(object as Hpa)),
		numberColumn('MinPods', 'The fewest pods.', object => specOf(object)?.minReplicas ?? 1),
		numberColumn('MaxPods', 'The most pods.', object => specOf(object)?.maxReplicas ?? 0),
		numberColumn('Replicas', 'How many pods there are.', object => (object as Hpa).status?.currentReplicas ?? 0),
		ageColumn,
	],
};

const referenceText = (spec: HpaSpec | undefined): string =>
	spec === undefined ? none : `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`;

const targetsText = (hpa: Hpa): string => targetTexts(hpa).join(', ') || none;

const cpuMetric: NonNullable<HpaSpec['metrics']>[number] = {
	type: 'Resource',
	resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: defaultUtilization}},
};

const withDefaults = (spec: HpaSpec): HpaSpec => ({
	...spec,
	minReplicas: spec.minReplicas ?? 1,
	metrics: spec.metrics === undefined || spec.metrics.length === 0 ? [cpuMetric] : spec.metrics,
});

function validate(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	const {minReplicas, maxReplicas} = spec;
	const {kind, name} = membersOf(spec['scaleTargetRef']);
	if (kind === '') refuse(found, 'spec.scaleTargetRef.kind', 'is required', 'FieldValueRequired');
	if (typeof name === 'string') checkDnsSubdomain(found, 'spec.scaleTargetRef.name', name);
	if (typeof minReplicas === 'number' && typeof maxReplicas === 'number' && maxReplicas < minReplicas)
		refuse(found, 'spec.maxReplicas', `must be at least minReplicas (${minReplicas}), got ${maxReplicas}`);
	if (minReplicas === 0) checkNone(found, spec);
	checkMetrics(found, 'spec.metrics', spec['metrics']);
	const behavior = membersOf(spec['behavior']);
	for (const direction of ['scaleUp', 'scaleDown']) checkRules(found, `spec.behavior.${direction}`, membersOf(behavior[direction]));
}

/** As in Kubernetes: where there is no pod, pods are not measured. */
function checkNone(found: Found, spec: JsonObject): void {
	if (membersOf(spec['scaleTargetRef'])['kind'] === 'Pod')
		refuse(found, 'spec.minReplicas', 'must be at least 1 where a Pod is scaled: the pod itself is the first of them');
	else if (!measuresBeyondPods(spec['metrics']))
		forbid(found, 'spec.metrics', 'must have at least one metric of type Object or External where minReplicas is 0');
}

function checkRules(found: Found, path: string, rules: JsonObject): void {
	if (rules['policies'] !== undefined && isEmpty(rules['policies']))
		refuse(found, `${path}.policies`, 'must name at least one policy', 'FieldValueRequired');
	const {tolerance} = rules;
	if (typeof tolerance !== 'string' && typeof tolerance !== 'number') return;
	const part = quantityValue(tolerance);
	if (part === undefined || part < 0)
		refuse(found, `${path}.tolerance`, `must be a quantity from 0 on, such as 0.05, got ${shown(tolerance)}`);
}
