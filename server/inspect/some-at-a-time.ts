// What is asked of many systems is asked of some at a time.

import {limits} from '../../api/limits.js';

/** Acts for each system, for `limits.inspectSystems` at a time; resolves when all are done. `act` does not reject. */
export async function someAtATime(systems: readonly string[], act: (system: string) => Promise<void>): Promise<void> {
	const waiting = [...systems];
	const actNext = async (): Promise<void> => {
		for (let system = waiting.shift(); system !== undefined; system = waiting.shift()) await act(system);
	};
	await Promise.all(Array.from({length: limits.inspectSystems}, actNext));
}
