// What the broker counts. Nothing that goes wrong at its doors is silent.

import {brokerCounters, type BrokerCounter} from './ports.js';

export type Counters = {
	readonly count: (counter: BrokerCounter, about: string, login?: string) => void;
	readonly read: () => Readonly<Record<BrokerCounter, number>>;
};

export function createCounters(onCounter?: (counter: BrokerCounter, about: string, login?: string) => void): Counters {
	const counts = Object.fromEntries(brokerCounters.map(counter => [counter, 0])) as Record<BrokerCounter, number>;
	return {
		count(counter, about, login) {
			counts[counter] += 1;
			onCounter?.(counter, about, login);
		},
		read: () => ({...counts}),
	};
}
