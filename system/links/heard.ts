// Whom something was heard of, and when last. A name costs one entry, and there are not more of them than connections.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';

export type Heard = {
	readonly note: (name: string | undefined) => void;
	/** Who was heard of at that time (monotonic) or later. */
	readonly since: (atMs: number) => readonly string[];
};

export function createHeard({monotonicMs}: Pick<Clock, 'monotonicMs'>): Heard {
	const lastMs = new Map<string, number>();
	return {
		note(name) {
			if (name !== undefined && (lastMs.has(name) || lastMs.size < limits.brokerConnections)) lastMs.set(name, monotonicMs());
		},
		since(atMs) {
			const names: string[] = [];
			for (const [name, ms] of lastMs) {
				if (ms >= atMs) names.push(name);
				else lastMs.delete(name);
			}
			return names;
		},
	};
}
