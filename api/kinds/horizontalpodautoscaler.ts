// The kind HorizontalPodAutoscaler: as many pods as the load needs.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject, Labels} from '../object.js';
import {memoryBytes, cpuMillis, quantityValue} from '../quantity.js';
import {checkDnsSubdomain} from '../rules/names.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, type Found} from '../rules/report.js';
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

const targetsText = (hpa: Hpa): string => metricTexts(hpa).join(', ') || none;

/** `cpu: <unknown>/80%` of each metric, as kubectl has it: what is measured and what it should be. */
export const metricTexts = ({spec, status}: Hpa): readonly string[] =>
	(spec?.metrics ?? []).map(({resource}) => {
		if (resource === undefined) return '<unknown>';
		const {name, target} = resource;
		// What could not be measured is left out there.
		const current = status?.currentMetrics?.find(each => each.resource?.name === name)?.resource?.current;
		const now = target.type === 'Utilization' ? percentText(current?.averageUtilization) : current?.averageValue;
		const wanted = target.type === 'Utilization' ? percentText(target.averageUtilization) : target.averageValue;
		return `${name}: ${now ?? '<unknown>'}/${wanted ?? '<unknown>'}`;
	});

const percentText = (percent: number | undefined): string | undefined => (percent === undefined ? undefined : `${percent}%`);

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
	itemsOf(spec['metrics']).forEach((metric, i) => checkMetric(found, `spec.metrics[${i}]`, membersOf(metric)));
	const behavior = membersOf(spec['behavior']);
	for (const direction of ['scaleUp', 'scaleDown']) checkRules(found, `spec.behavior.${direction}`, membersOf(behavior[direction]));
}

function checkMetric(found: Found, path: string, {type, resource}: JsonObject): void {
	if (typeof type === 'string' && type !== 'Resource' && ['ContainerResource', 'Pods', 'Object', 'External'].includes(type))
		return forbid(found, `${path}.type`, `${shown(type)} is not supported yet; Resource is`);
	if (resource === undefined) return refuse(found, `${path}.resource`, 'is required', 'FieldValueRequired');
	const {name, target} = membersOf(resource);
	if (typeof name === 'string' && name !== 'cpu' && name !== 'memory')
		refuse(found, `${path}.resource.name`, `must be cpu or memory, got ${shown(name)}`, 'FieldValueNotSupported');
	checkTarget(found, `${path}.resource.target`, membersOf(target), name === 'cpu' ? cpuMillis : memoryBytes);
}

function checkTarget(found: Found, path: string, target: JsonObject, parse: (quantity: string | number) => number | undefined): void {
	const {type, averageUtilization, averageValue} = target;
	if (type === 'Value') return forbid(found, `${path}.type`, 'must be Utilization or AverageValue for a Resource');
	if (type === 'Utilization' && averageUtilization === undefined)
		refuse(found, `${path}.averageUtilization`, 'is required when the type is Utilization', 'FieldValueRequired');
	if (type !== 'AverageValue') return;
	if (averageValue === undefined) refuse(found, `${path}.averageValue`, 'is required when the type is AverageValue', 'FieldValueRequired');
	if (typeof averageValue !== 'string' && typeof averageValue !== 'number') return;
	const amount = parse(averageValue);
	if (amount === undefined || amount <= 0) refuse(found, `${path}.averageValue`, `must be a quantity above 0, got ${shown(averageValue)}`);
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
