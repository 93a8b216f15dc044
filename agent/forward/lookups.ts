// What many connections that begin together all ask for is looked up once: to read who listens takes the kernel some milliseconds.

import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';

type Looked = {readonly atMs: number; readonly addresses: Promise<readonly string[]>};

export type Lookups = (key: string, look: () => Promise<readonly string[]>) => Promise<readonly string[]>;

/** What was found is good for `forwardLookMs`; that nothing was found, or that it failed, is not kept. */
export function createLookups(clock: Pick<Clock, 'monotonicMs'>): Lookups {
	const known = new Map<string, Looked>();
	return async (key, look) => {
		const atMs = clock.monotonicMs();
		for (const [each, looked] of known) if (atMs - looked.atMs > limits.forwardLookMs) known.delete(each);
		const looked = known.get(key) ?? {atMs, addresses: look()};
		known.set(key, looked);
		let found: readonly string[] = [];
		try {
			found = await looked.addresses;
		} finally {
			if (found.length === 0 && known.get(key) === looked) known.delete(key);
		}
		return found;
	};
}
