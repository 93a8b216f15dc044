// How many bytes the host has moved since the node began to measure: what its counters grew by, added up here, so that an interface or a disk that goes
// away with its count makes no total fall. Pure.

import {flows, type Totals} from '../../protocol/usage-message.js';
import type {Counters} from '../runtime/runtime-port.js';

export const counterOf = {received: 'receivedBytes', sent: 'sentBytes', read: 'readBytes', written: 'writtenBytes'} as const;

/** With what was moved between two samples; what is counted for the first time begins at 0, and a counter that fell began anew and says nothing. */
export const withGrowth = (totals: Totals, before: Counters, now: Counters): Totals =>
	Object.fromEntries(
		flows.flatMap(flow => {
			const [from, to, total] = [before[counterOf[flow]], now[counterOf[flow]], totals[flow]];
			if (to === undefined) return total === undefined ? [] : [[flow, total]];
			return [[flow, (total ?? 0) + Math.max(0, to - (from ?? to))]];
		}),
	);
