// The static shape of an autoscaling/v2 HorizontalPodAutoscaler.

import type {ApiObject, Condition} from '../object.js';
import type {Quantity} from './pod.js';

export type ScaleTarget = {readonly apiVersion?: string; readonly kind: string; readonly name: string};

export type MetricTarget = {
	readonly type: 'Utilization' | 'Value' | 'AverageValue';
	/** In percent of what the pods request. */
	readonly averageUtilization?: number;
	readonly averageValue?: Quantity;
	readonly value?: Quantity;
};

export type MetricSpec = {
	readonly type: 'Resource' | 'ContainerResource' | 'Pods' | 'Object' | 'External';
	readonly resource?: {readonly name: string; readonly target: MetricTarget};
};

export type ScalingPolicy = {readonly type: 'Pods' | 'Percent'; readonly value: number; readonly periodSeconds: number};

export type ScalingRules = {
	readonly stabilizationWindowSeconds?: number;
	readonly selectPolicy?: 'Max' | 'Min' | 'Disabled';
	readonly policies?: readonly ScalingPolicy[];
};

export type HpaSpec = {
	readonly scaleTargetRef: ScaleTarget;
	readonly minReplicas?: number;
	readonly maxReplicas: number;
	readonly metrics?: readonly MetricSpec[];
	readonly behavior?: {readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules};
};

/** What was measured, and when; `current` as in a target, without its type. */
export type MetricStatus = {
	readonly type: string;
	readonly resource?: {
		readonly name: string;
		readonly current: {readonly averageUtilization?: number; readonly averageValue?: Quantity; readonly value?: Quantity};
	};
};

export type HpaStatus = {
	readonly observedGeneration?: number;
	readonly lastScaleTime?: string;
	readonly currentReplicas?: number;
	readonly desiredReplicas?: number;
	readonly currentMetrics?: readonly MetricStatus[];
	readonly conditions?: readonly Condition[];
};

export type Hpa = ApiObject<HpaSpec, HpaStatus>;
