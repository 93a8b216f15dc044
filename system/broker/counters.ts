// What the broker counts. Nothing that goes wrong at its doors is silent.

import type {BrokerCounter} from './ports.js';

export type Counters = {
	readonly count: (counter: BrokerCounter, about: string, login?: string) => void;
	readonly read: () => Readonly<Record<BrokerCounter, number>>;
};

export function createCounters(onCounter?: (counter: BrokerCounter, about: string, login?: string) => void): Counters {
	const counts: Record<BrokerCounter, number> = {
		connections: 0,
		loginsRefused: 0,
		publishesRefused: 0,
		subscriptionsRefused: 0,
		cutOversized: 0,
		cutMalformed: 0,
		cutOverflow: 0,
		cutStalled: 0,
		cutCrowded: 0,
		cutGreedy: 0,
		loginsCrowded: 0,
		outboxReplaced: 0,
		outboxDropped: 0,
		retainedRefused: 0,
		sessionMessagesDropped: 0,
		errors: 0,
	};
	return {
		count(counter, about, login) {
			counts[counter] += 1;
			onCounter?.(counter, about, login);
		},
		read: () => ({...counts}),
	};
}
