// Systems that a fault has cut off: while nobody can ask them, what was asked for is all that is known of it.

import type {FaultLook, SystemRequest} from '../../api/inspect.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {faultText} from '../../system/kernel/look.js';
import type {Clock} from '../../system/time/clock.js';

export type Partitions = {
	/** The system has answered something. */
	readonly answered: (system: string) => void;
	/** It has done what was asked; whether that was to be cut off. */
	readonly begin: (system: string, request: SystemRequest) => boolean;
	/** The partition that keeps its answers away; undefined: none is known. */
	readonly of: (system: string) => FaultLook | undefined;
};

type Partition = {readonly cutAtMs: number; readonly untilMs: number; readonly by: string | undefined};

export function createPartitions(clock: Pick<Clock, 'monotonicMs'>): Partitions {
	const known = new Map<string, Partition>();
	return {
		answered(system) {
			const partition = known.get(system);
			// Its process began anew.
			if (partition !== undefined && clock.monotonicMs() > partition.cutAtMs + settledMs) known.delete(system);
		},
		begin(system, request) {
			if (request.verb !== 'fault' || request.fault.type !== 'partition') return false;
			const nowMs = clock.monotonicMs();
			const {forMs = limits.faultMs, by} = request;
			known.set(system, {cutAtMs: nowMs + limits.partitionDelayMs, untilMs: nowMs + forMs, by});
			return true;
		},
		of(system) {
			const nowMs = clock.monotonicMs();
			for (const [name, {untilMs}] of known) if (untilMs <= nowMs) known.delete(name);
			const partition = known.get(system);
			if (partition === undefined) return undefined;
			const {untilMs, by} = partition;
			const fault = {type: 'partition'} as const;
			const text = faultText({fault, untilMs, by}, nowMs);
			return {address: address(system, ''), fault, leftMs: Math.round(untilMs - nowMs), text, ...(by === undefined ? {} : {by})};
		},
	};
}

/** An answer that was on its way when it was cut off. */
const settledMs = 1_000;
