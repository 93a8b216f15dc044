// A pipeline over a real store, for programs that only write or only look.

import {randomUUID} from 'node:crypto';
import {systemClock} from '../../system/time/clock.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {startPipeline, type Pipeline} from '../../system/commit/pipeline.js';
import type {StoreDriver} from '../../system/store/store.js';

export function startOn(driver: StoreDriver): Promise<{readonly pipeline: Pipeline; readonly index: ObjectIndex}> {
	const index = new ObjectIndex();
	return new Promise((resolve, reject) => {
		const options = {
			driver,
			index,
			clock: systemClock,
			random: {next: () => 0.5, uuid: () => randomUUID()},
			defer: (callback: () => void) => void setImmediate(callback),
			schemaVersionOf: () => 1,
			upgrade: () => {
				throw new Error('there is only one schema');
			},
			onApplied: () => undefined,
			onFenced: (message: string) => {
				throw new Error(message);
			},
		};
		startPipeline(options, outcome => {
			if (outcome.ok) resolve({pipeline: outcome.value, index});
			else reject(new Error(outcome.error.message));
		});
	});
}
