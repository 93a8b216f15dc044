// How busy actors are: what two looks at the same counters tell. Pure.

import type {ActorLook} from '../../api/inspect.js';

export type Rate = {
	/** How many it took meanwhile. */
	readonly messages: number;
	/** Messages that it took. */
	readonly perSecond: number;
	/** The share of the time that its steps took: 1 is all of it. */
	readonly share: number;
};

/** Of an actor as it is now; undefined where the look before knows nothing of it. */
export type RateOf = (look: ActorLook) => Rate | undefined;

export const noRates: RateOf = () => undefined;

type Counted = Pick<ActorLook, 'address' | 'handled' | 'stepMs'>;

/** A look at counters, and when it was (monotonic, in milliseconds). */
export type Counts = {readonly atMs: number; readonly byAddress: ReadonlyMap<string, Counted>};

export const countsOf = (looks: readonly Counted[], atMs: number): Counts => ({
	atMs,
	byAddress: new Map(looks.map(({address, handled, stepMs}) => [address, {address, handled, stepMs}])),
});

/** What happened from one look to the other; a system that began anew counts from 0 on. */
export function ratesSince(before: Counts | undefined, nowMs: number): RateOf {
	const ms = before === undefined ? 0 : nowMs - before.atMs;
	if (before === undefined || ms <= 0) return noRates;
	return ({address, handled, stepMs}) => {
		const known = before.byAddress.get(address);
		if (known === undefined) return undefined;
		const isAnew = handled < known.handled;
		const [messages, steps] = isAnew ? [handled, stepMs] : [handled - known.handled, stepMs - known.stepMs];
		return {messages, perSecond: (messages * 1_000) / ms, share: Math.min(1, Math.max(0, steps / ms))};
	};
}
