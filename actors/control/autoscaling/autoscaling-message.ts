// What is said between the record of an autoscaler, that which measures for all of them, and that which decides for it.

import type {HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {MetricSource} from '../../../api/metric-source.js';
import type {Command, EventNews, Message} from '../../../system/kernel/behavior.js';
import type {Used} from '../../protocol/usage-message.js';

/** To the autoscalers: this one is looked after from now on. */
export type Attend = Message & {
	readonly type: 'attend';
	readonly hpa: ObjectKey;
	/** It is another one, or its target has other replicas than it wanted: it is looked at now. */
	readonly isNews: boolean;
	/** What set that going: who has changed the replicas of its target is in it. */
	readonly cause: string;
};

/** To the autoscalers: values that these scale by have come, and are worth a look. */
export type ValuesCame = Message & {readonly type: 'valuesCame'; readonly hpas: readonly ObjectKey[]};

/** To the edge: what the sources of the metrics of one autoscaler say. The answer is `Readings`. */
export type ReadMetrics = Command & {
	readonly type: 'readMetrics';
	readonly hpa: ObjectKey;
	readonly wishes: readonly MetricWish[];
};

export type MetricWish = {
	readonly isOfPods: boolean;
	readonly source: MetricSource;
};

/** What a source says now; of pods by their names. */
export type Reading =
	| {readonly type: 'total'; readonly value: number}
	| {readonly type: 'pods'; readonly values: ReadonlyMap<string, number>}
	/** Why nothing is known. */
	| {readonly type: 'unknown'; readonly why: string};

/** By `wishKey`. */
export type Readings = ReadonlyMap<string, Reading>;

/** What tells a wish from others. */
export const wishKey = ({isOfPods, source}: MetricWish): string => JSON.stringify([isOfPods, source]);

/** By the pod's uid, then by container; undefined: that it runs is all that is known. */
export type PodUsage = ReadonlyMap<string, ReadonlyMap<string, Used | undefined>>;

/** To what decides for one: what its target's pods use, and what the sources of its metrics say. */
export type Measured = Message & {
	readonly type: 'measured';
	readonly usage: PodUsage;
	readonly readings: Readings;
	/** When it was asked for, by the leader's clock. */
	readonly askedAtMs: number;
	/** One that acts in its place: then nothing is measured for it. */
	readonly rival: ObjectKey | undefined;
	readonly cause: string;
};

/** To its record: what came of it. */
export type Judged = Message & {
	readonly type: 'judged';
	readonly uid: string;
	readonly status: HpaStatus;
	readonly events: readonly EventNews[];
};
