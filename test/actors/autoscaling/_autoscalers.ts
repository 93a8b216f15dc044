// An autoscaler, what it scales, and what its pods use.

import type {Hpa, HpaSpec, HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {Pod, PodStatus} from '../../../api/kinds/pod.js';
import type {Labels, ObjectMeta} from '../../../api/object.js';
import type {Measured, Readings} from '../../../actors/control/autoscaling/autoscaling-message.js';
import {decide, type Decision, type Memory} from '../../../actors/control/autoscaling/decision.js';
import {rivalOf, targetOf} from '../../../actors/control/autoscaling/scale-target.js';
import type {ObjectIndex} from '../../../system/index/object-index.js';
import {aContainer, aPod, nowMs} from '../_objects.js';

export const cpu = (averageUtilization: number): NonNullable<HpaSpec['metrics']>[number] => ({
	type: 'Resource',
	resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization}},
});

export const memory = (averageValue: string): NonNullable<HpaSpec['metrics']>[number] => ({
	type: 'Resource',
	resource: {name: 'memory', target: {type: 'AverageValue', averageValue}},
});

type Parts = {
	readonly name?: string;
	readonly spec?: Partial<HpaSpec>;
	readonly status?: HpaStatus;
	readonly metadata?: Partial<ObjectMeta>;
};

export const anHpa = ({name = 'web', spec = {}, status, metadata = {}}: Parts = {}): Hpa => ({
	apiVersion: 'autoscaling/v2',
	kind: 'HorizontalPodAutoscaler',
	metadata: {
		name,
		namespace: 'default',
		uid: `uid-of-hpa-${name}`,
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: '2023-11-14T22:00:00Z',
		...metadata,
	},
	spec: {
		scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'},
		minReplicas: 1,
		maxReplicas: 10,
		metrics: [cpu(50)],
		...spec,
	},
	status: status ?? {currentReplicas: 0, desiredReplicas: 0},
});

const long = '2023-11-14T21:00:00Z';

/** It has been ready for long, and requests a tenth of a CPU and 100Mi. */
export const aWorker = (name: string, status: Partial<PodStatus> = {}, labels: Labels = {app: 'web'}, node = 'node-a'): Pod =>
	aPod({
		name,
		metadata: {labels},
		spec: {nodeName: node, containers: [aContainer({resources: {requests: {cpu: '100m', memory: '100Mi'}}})]},
		status: {phase: 'Running', startTime: long, conditions: [{type: 'Ready', status: 'True', lastTransitionTime: long}], ...status},
	});

/** By the pod: thousandths of a CPU, and mebibytes. */
export type Load = {readonly [pod: string]: number | readonly [millis: number, mebibytes: number]};

export const measuredOf = (load: Load, cause = '', readings: Readings = new Map()): Measured => ({
	type: 'measured',
	askedAtMs: nowMs,
	rival: undefined,
	cause,
	readings,
	usage: new Map(
		Object.entries(load).map(([pod, used]) => {
			const [millis, mebibytes] = typeof used === 'number' ? [used, 10] : used;
			return [`uid-of-${pod}`, new Map([['main', {cpuNanocores: millis * 1e6, windowMs: 5_000, memoryBytes: mebibytes * 1_048_576}]])];
		}),
	),
});

export const noMemory: Memory = {history: undefined, own: undefined};

/** What it decides in the situation that the index has. */
export function decided(
	index: ObjectIndex,
	hpa: Hpa,
	load: Load,
	{memory: kept = noMemory, atMs = 1_000_000, cause = '', readings = new Map() as Readings} = {},
): Decision {
	const target = targetOf(hpa, index);
	return decide({
		hpa,
		target,
		rival: typeof target === 'string' ? undefined : rivalOf(hpa, target.key, index),
		known: index,
		measured: measuredOf(load, cause, readings),
		memory: kept,
		nowMs,
		monotonicMs: atMs,
	});
}
