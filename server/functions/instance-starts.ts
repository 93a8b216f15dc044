// When each instance of a function got its node, ran and was ready, as the commits of this server tell it.
//
// One is forgotten when it is gone, and `functionHoldMs` after it was ready: no call that it takes began before that. Of more than `functionStarts` the one
// that changed least recently is forgotten; what it was before then counts as before the call.

import {functionLabel} from '../../api/function-instance.js';
import {parseObjectKey} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {isReady} from '../../actors/control/pods/pod-lifecycle.js';
import type {Change, Entry} from '../../system/index/object-index.js';
import type {Clock} from '../../system/time/clock.js';
import type {InstanceTimes} from './cold-phases.js';

export type InstanceStarts = {
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	/** Undefined: it was ready long ago, or is not known. */
	readonly of: (uid: string) => InstanceTimes | undefined;
};

/** How far a commit says that an instance is. */
type Seen = {
	readonly isPlaced: boolean;
	/** What tells one start of its program from another; undefined: it does not run. */
	readonly start: string | undefined;
	readonly isReady: boolean;
};

export function createInstanceStarts(clock: Clock, most: number = limits.functionStarts): InstanceStarts {
	/** By uid, the one that changed last at the end. */
	const kept = new Map<string, InstanceTimes>();
	const forgetOld = (nowMs: number): void => {
		for (const [uid, {readyAtMs}] of kept) {
			if (kept.size <= most && readyAtMs + limits.functionHoldMs >= nowMs) return;
			kept.delete(uid);
		}
	};
	return {
		hear({key, before, after}) {
			if (parseObjectKey(key).plural !== 'pods') return;
			const [old, pod] = [instanceIn(before), instanceIn(after)];
			const isSame = old?.metadata.uid === pod?.metadata.uid;
			if (old !== undefined && !isSame) kept.delete(old.metadata.uid);
			if (pod === undefined) return;
			const [was, is] = [isSame ? seenIn(old) : unseen, seenIn(pod)];
			if (was.isPlaced === is.isPlaced && was.start === is.start && was.isReady === is.isReady) return;
			const {uid} = pod.metadata;
			const nowMs = clock.monotonicMs();
			const times = timesNow(kept.get(uid) ?? timesBefore(was), was, is, nowMs);
			kept.delete(uid);
			kept.set(uid, times);
			forgetOld(nowMs);
		},
		of: uid => kept.get(uid),
	};
}

function instanceIn(entry: Entry | undefined): Pod | undefined {
	const pod = entry?.object as Pod | undefined;
	return pod?.metadata.labels?.[functionLabel] === undefined ? undefined : pod;
}

const unseen: Seen = {isPlaced: false, start: undefined, isReady: false};

function seenIn(pod: Pod | undefined): Seen {
	if (pod === undefined) return unseen;
	const [running] = (pod.status?.containerStatuses ?? []).flatMap(({state}) => state?.running ?? []);
	// By the clock of its node, which is compared with itself alone.
	const start = running === undefined ? undefined : (running.startedAt ?? '');
	return {isPlaced: pod.spec?.nodeName !== undefined, start, isReady: isReady(pod)};
}

const timesBefore = ({isPlaced, start, isReady: wasReady}: Seen): InstanceTimes => ({
	placedAtMs: isPlaced ? -Infinity : Infinity,
	runsAtMs: start === undefined ? Infinity : -Infinity,
	readyAtMs: wasReady ? -Infinity : Infinity,
});

/** A program that has ended runs no more, and another start of it runs anew. */
function timesNow(times: InstanceTimes, was: Seen, is: Seen, nowMs: number): InstanceTimes {
	const isSameStart = was.start === is.start;
	return {
		placedAtMs: is.isPlaced ? Math.min(times.placedAtMs, nowMs) : Infinity,
		runsAtMs: is.start === undefined ? Infinity : isSameStart ? times.runsAtMs : nowMs,
		readyAtMs: !is.isReady ? Infinity : isSameStart && was.isReady ? times.readyAtMs : nowMs,
	};
}
