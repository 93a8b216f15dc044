// How a pod's containers wait between two tries, when its annotations say otherwise than the cluster. What is made of it is in
// actors/node/containers/container-end.ts: the wait itself is `restartDelayMs`, as for actors (system/kernel/restart-policy.ts).

import {parseDuration} from './duration.js';
import {limits} from './limits.js';

/** The second try in a row waits so long; then the wait doubles. */
export const backoffFirstAnnotation = 'troupe.dev/backoff-first';
/** The longest wait. */
export const backoffMaxAnnotation = 'troupe.dev/backoff-max';
/** A container that ran for so long begins anew. */
export const backoffResetAnnotation = 'troupe.dev/backoff-reset';

export type Backoff = {readonly firstMs: number; readonly maxMs: number; readonly resetMs: number};

const usual: Backoff = {
	firstMs: limits.containerBackoffFirstMs,
	maxMs: limits.containerBackoffMaxMs,
	resetMs: limits.containerBackoffResetMs,
};

/** What a pod's annotations say, as far as they can be understood; the rules let nothing else in. */
export function backoffOf(annotations: {readonly [name: string]: string}): Backoff {
	const said = (name: string): number | undefined => backoffMs(annotations[name]);
	const first = said(backoffFirstAnnotation);
	const max = said(backoffMaxAnnotation);
	const reset = said(backoffResetAnnotation);
	if (first === undefined && max === undefined && reset === undefined) return usual;
	// Who names one of the two means it: the other gives way.
	const maxMs = Math.max(max ?? usual.maxMs, first ?? 0);
	return {firstMs: Math.min(first ?? usual.firstMs, maxMs), maxMs, resetMs: reset ?? usual.resetMs};
}

/** A wait that is neither none nor for ever; undefined for anything else. */
export function backoffMs(text: string | undefined): number | undefined {
	const ms = text === undefined ? undefined : parseDuration(text);
	return ms !== undefined && ms >= limits.backoffLeastMs && ms <= limits.backoffMostMs ? ms : undefined;
}
