// One question to every system: each answers for itself, and those that do not are told as such.

import {failed, type Outcome} from '../../api/errors.js';
import type {OfSystem, OfSystems, SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Clock} from '../../system/time/clock.js';
import type {Behalf, Systems} from './systems.js';

export type FanOut = {
	readonly systems: Systems;
	readonly clock: Pick<Clock, 'monotonicMs'>;
	readonly names: readonly string[];
	readonly requestOf: (system: string) => SystemRequest;
	readonly behalf: Behalf;
};

/** `characters`: of its JSON, without what stands around the answers of the systems. */
export type OnPart = (part: OfSystems, isLast: boolean, characters: number) => void;

/** Asks some at a time. Each part but the last is told as soon as it is large; the last one may be empty. Never rejects. */
export async function askAll(options: FanOut, onPart: OnPart): Promise<void> {
	const {clock, names} = options;
	const untilMs = clock.monotonicMs() + limits.inspectAllMs;
	const waiting = [...names];
	let part: OfSystem<Json>[] = [];
	let characters = 0;
	const askNext = async (): Promise<void> => {
		for (let system = waiting.shift(); system !== undefined; system = waiting.shift()) {
			const told = await askOne(options, system, untilMs - clock.monotonicMs());
			const size = JSON.stringify(told).length;
			if (characters > 0 && characters + size > limits.inspectAnswerBytes) {
				onPart({systems: part}, false, characters);
				[part, characters] = [[], 0];
			}
			part.push(told);
			characters += size;
		}
	};
	await Promise.all(Array.from({length: limits.inspectSystems}, askNext));
	onPart({systems: part}, true, characters);
}

async function askOne({systems, requestOf, behalf}: FanOut, system: string, leftMs: number): Promise<OfSystem<Json>> {
	const outcome: Outcome<Json> =
		leftMs <= 0
			? failed('ERR_NOT_REACHABLE', {message: `"${system}" was not asked: ${limits.inspectAllMs / 1_000} s were over`})
			: await systems.ask(system, requestOf(system), behalf, Math.min(limits.inspectSystemMs, leftMs));
	if (outcome.ok) return {system, value: outcome.value};
	const fault = systems.partitionOf(system);
	return {system, problem: outcome.error.message, ...(fault === undefined ? {} : {faults: [fault]})};
}
