// One sample of what a node and the containers on it use, taken in slices so that everything else has its turn.

import {limits} from '../../api/limits.js';
import type {ContainerId, ContainerUsage, HostRoom, PodTraffic, UsageSample} from '../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../system/time/clock.js';
import {turn} from '../os/turn.js';
import type {Figures} from './group-files.js';
import {hostBytes, hostNanos} from './proc-figures.js';
import {hostDisks, hostTraffic, trafficOf} from './traffic-figures.js';
import {readSmall} from './small-file.js';

/** One attempt of a container, and how its figures are read. */
export type Measured = {readonly id: ContainerId; readonly attempt: number; readonly read: () => Figures};

/** By the pod's uid: the host's end of its cable. */
export type Links = ReadonlyMap<string, string>;

/** What else is told of the host. */
export type Host = {readonly links?: Links; readonly room?: (() => HostRoom) | undefined};

/** Rejects with what `read` throws. */
export async function takeSample(measured: Iterable<Measured>, clock: Clock, host: Host = {}): Promise<UsageSample> {
	const {links = new Map<string, string>(), room} = host;
	const interfaces = trafficOf(readSmall('/proc/net/dev') ?? '');
	const node = {
		readAtMs: clock.monotonicMs(),
		cpuNanos: hostNanos(readSmall('/proc/stat') ?? ''),
		memoryBytes: hostMemory(),
		...hostTraffic(interfaces),
		...hostDisks(readSmall('/proc/diskstats') ?? ''),
	};
	const traffic = [...links].flatMap(([uid, link]): PodTraffic[] => {
		const atHost = interfaces.get(link);
		// What the host receives over the cable the pod has sent.
		return atHost === undefined ? [] : [{uid, receivedBytes: atHost.sentBytes, sentBytes: atHost.receivedBytes}];
	});
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
	return {atMs: clock.nowMs(), node, ...(room === undefined ? {} : {room: room()}), ...(traffic.length === 0 ? {} : {traffic}), containers};
}

const hostMemory = (): number | undefined => hostBytes(readSmall('/proc/meminfo') ?? '');
