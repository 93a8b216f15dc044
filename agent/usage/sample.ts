// One sample of what a node and the containers on it use, taken in slices so that everything else has its turn.

import {limits} from '../../api/limits.js';
import type {ContainerId, ContainerUsage, UsageSample} from '../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../system/time/clock.js';
import {turn} from '../os/turn.js';
import type {Figures} from './group-files.js';
import {hostBytes, hostNanos} from './proc-figures.js';
import {readSmall} from './small-file.js';

/** One attempt of a container, and how its figures are read. */
export type Measured = {readonly id: ContainerId; readonly attempt: number; readonly read: () => Figures};

/** Rejects with what `read` throws. */
export async function takeSample(measured: Iterable<Measured>, clock: Clock): Promise<UsageSample> {
	const node = {readAtMs: clock.monotonicMs(), cpuNanos: hostNanos(readSmall('/proc/stat') ?? ''), memoryBytes: hostMemory()};
	const containers: ContainerUsage[] = [];
	let begunMs = node.readAtMs;
	for (const {id, attempt, read: figuresOf} of [...measured].slice(0, limits.usageContainers)) {
		if (clock.monotonicMs() - begunMs >= limits.usageTurnMs) {
			await turn();
			begunMs = clock.monotonicMs();
		}
		const readAtMs = clock.monotonicMs();
		containers.push({id, attempt, readAtMs, ...figuresOf()});
	}
	return {atMs: clock.nowMs(), node, containers};
}

const hostMemory = (): number | undefined => hostBytes(readSmall('/proc/meminfo') ?? '');
