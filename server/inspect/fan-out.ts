// One question to every system: each answers for itself, and those that do not are told as such.

import {failed, type Outcome} from '../../api/errors.js';
import type {OfSystem, OfSystems, SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Clock} from '../../system/time/clock.js';
import {jsonBytes} from './json-bytes.js';
import {someAtATime} from './some-at-a-time.js';
import type {Behalf, Systems} from './systems.js';

export type FanOut = {
	readonly systems: Systems;
	readonly clock: Pick<Clock, 'monotonicMs'>;
	readonly names: readonly string[];
	readonly requestOf: (system: string) => SystemRequest;
	readonly behalf: Behalf;
};

/** `bytes`: of its JSON, without what stands around the answers of the systems. */
export type OnPart = (part: OfSystems, isLast: boolean, bytes: number) => void;

/** Asks some at a time. Each part but the last is told as soon as it is large; the last one may be empty. Never rejects. */
export async function askAll(options: FanOut, onPart: OnPart): Promise<void> {
	const {clock, names} = options;
	const untilMs = clock.monotonicMs() + limits.inspectAllMs;
	let part: OfSystem<Json>[] = [];
	let bytes = 0;
	await someAtATime(names, async system => {
		const {told, size} = fitting(await askOne(options, system, untilMs - clock.monotonicMs()));
		if (bytes > 0 && bytes + size > limits.inspectAnswerBytes) {
			onPart({systems: part}, false, bytes);
			[part, bytes] = [[], 0];
		}
		part.push(told);
		bytes += size;
	});
	onPart({systems: part}, true, bytes);
}

/** What one system says keeps the others from nobody: an answer too large for a message is told as such. */
function fitting(told: OfSystem<Json>): {readonly told: OfSystem<Json>; readonly size: number} {
	const size = jsonBytes(told);
	if (size <= limits.inspectAnswerBytes) return {told, size};
	const problem = `the answer of "${told.system}" is larger than ${limits.inspectAnswerBytes} bytes; ask for less of it, by its place`;
	return {told: {system: told.system, problem}, size: problem.length};
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
