// Work that is waited for only so long.

import type {Clock} from './clock.js';

/** What becomes of the work; undefined when it takes longer. No timer is left behind. */
export async function within<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Value | undefined> {
	let cancel = (): void => undefined;
	const late = new Promise<undefined>(resolve => {
		cancel = clock.after(ms, () => resolve(undefined));
	});
	return Promise.race([work, late]).finally(cancel);
}
