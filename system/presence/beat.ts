// That an agent lives, said again and again: only as long as its main loop moves, by a thread that sees that from outside of it, and by the main loop itself while that thread has no connection.

import {formatBeat} from '../../api/presence.js';
import {limits} from '../../api/limits.js';
import {formatTopic} from '../../api/topics.js';
import type {Cancel, Clock} from '../time/clock.js';
import type {PubSub} from '../links/pubsub.js';
import {usualPace, type Pace} from './pace.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';

export type BeatOptions = {
	readonly node: string;
	readonly boot: string;
	/** Of the thread that beats. */
	readonly clock: Clock;
	/** How long the main loop has not moved. */
	readonly stillMs: () => number;
	readonly publish: PubSub['publish'];
	readonly pace?: () => Pace;
};

export type Beat = {
	/** Beats out of turn; the next one is a whole interval away. */
	readonly now: () => void;
	readonly end: Cancel;
};

/** Beats at once and then at its pace until its end, except while the main loop stands still. */
export function startBeat({node, boot, clock, stillMs, publish, pace = () => usualPace}: BeatOptions): Beat {
	const topic = formatTopic({type: 'beat', node});
	let sequence = 0;
	let cancel: Cancel = () => undefined;
	const beat = (): void => {
		cancel();
		cancel = clock.after(pace().beatMs, beat);
		if (isStill(stillMs())) return;
		sequence += 1;
		publish(topic, formatBeat({boot, sequence}), {retain: false});
	};
	beat();
	return {now: beat, end: () => cancel()};
}

/** Beats only while that is needed: when the beat's own connection is away another takes its place. */
export function standInBeat(options: Omit<BeatOptions, 'stillMs'>): (isNeeded: boolean) => void {
	let beat: Beat | undefined;
	return isNeeded => {
		// A loop that runs this moves.
		if (isNeeded) beat ??= startBeat({...options, stillMs: () => 0});
		else {
			beat?.end();
			beat = undefined;
		}
	};
}

/** Whether a loop that has not moved for so long is as good as dead. */
export const isStill = (stillMs: number): boolean => stillMs >= limits.stillAgentMs;

/**
 * How long a beat's connection may take until a host is reached, and the wait after so many rounds through all servers in vain: in
 * haste while the node may not be taken for dead yet, then no more than a server that is back can bear.
 */
export function redialOf(isUrgent: boolean, rounds = 1): {readonly connectMs: number; readonly waitMs: number} {
	const maxMs = isUrgent ? limits.beatReconnectMaxMs : limits.linkReconnectMaxMs;
	return {
		connectMs: isUrgent ? limits.beatConnectMs : limits.linkConnectMs,
		waitMs: exponentialBackoffMs(rounds, limits.linkReconnectFirstMs, maxMs),
	};
}

/** Tells how long a counter, which moves with the loop, has not moved. It has to be asked more often than that matters. */
export function stillnessOf(movement: () => number, {monotonicMs}: Pick<Clock, 'monotonicMs'>): () => number {
	let last = movement();
	let movedAtMs = monotonicMs();
	return () => {
		const now = movement();
		if (now !== last) {
			last = now;
			movedAtMs = monotonicMs();
		}
		return monotonicMs() - movedAtMs;
	};
}
