// What committed changes tell of pods as they go: how long one waited for its node and its start, restarts of its containers, and why it had to go.

import type {Pod} from '../../api/kinds/pod.js';
import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {ObjectEvent} from '../../system/commit/event-log.js';
import type {Change} from '../../system/index/object-index.js';
import type {Clock} from '../../system/time/clock.js';
import {evictionReasons, type ServerInstruments} from './instruments.js';

export type PodNews = {
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	readonly hearEvent: (key: ObjectKey, event: ObjectEvent) => void;
};

type Told = Pick<ServerInstruments, 'scheduled' | 'started' | 'evicted' | 'containersRestarted'>;

/** Of a pod that was made since, by the monotonic clock. */
type Times = {
	readonly madeAtMs: number;
	/** Undefined: it has a node. */
	unboundAtMs: number | undefined;
	isStarted: boolean;
};

export function followPods(clock: Clock, told: Told): PodNews {
	/** By uid; of pods that there are, so there are never more than those. */
	const times = new Map<string, Times>();
	return {
		hear({key, before, after}) {
			if (!isOfPod(key)) return;
			if (after === undefined) return void times.delete(before?.object.metadata.uid ?? '');
			note(times, clock.monotonicMs(), before?.object as Pod | undefined, after.object as Pod, told);
		},
		hearEvent(key, {reason}) {
			const known = evictionReasons.find(each => each === reason);
			if (known !== undefined && isOfPod(key)) told.evicted(known);
		},
	};
}

const isOfPod = (key: ObjectKey): boolean => parseObjectKey(key).plural === 'pods';

function note(times: Map<string, Times>, nowMs: number, before: Pod | undefined, pod: Pod, told: Told): void {
	const {uid} = pod.metadata;
	const hasNode = pod.spec?.nodeName !== undefined;
	if (before === undefined) return void times.set(uid, {madeAtMs: nowMs, unboundAtMs: hasNode ? undefined : nowMs, isStarted: false});
	if (before.status !== pod.status) {
		const restarts = restartsOf(pod) - restartsOf(before);
		if (restarts > 0) told.containersRestarted(restarts);
	}
	const known = times.get(uid);
	if (known === undefined) return;
	if (hasNode && known.unboundAtMs !== undefined) told.scheduled((nowMs - known.unboundAtMs) / 1_000);
	known.unboundAtMs = hasNode ? undefined : (known.unboundAtMs ?? nowMs);
	if (known.isStarted || pod.status?.phase !== 'Running') return;
	known.isStarted = true;
	told.started((nowMs - known.madeAtMs) / 1_000);
}

const restartsOf = ({status}: Pod): number => (status?.containerStatuses ?? []).reduce((sum, {restartCount}) => sum + restartCount, 0);
