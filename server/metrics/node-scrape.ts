// Figures of one node as it tells them through its actors, so that its agent need not listen anywhere: what its system has counted, what its process
// takes, and what its containers use.

import {AppError} from '../../api/errors.js';
import type {SystemStats} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {counter, gauge, usageMetrics, type Metric, type NodeFigures} from '../../api/metrics.js';
import {occupies} from '../../actors/control/pods/pod-terms.js';
import {actorCounters} from '../../system/inspect/actor-metrics.js';
import type {ControlPlane} from '../control-plane.js';
import type {NodeUsage, UsedInAll} from '../../actors/protocol/usage-message.js';
import {usageOfNode} from '../http/node-usage.js';
import type {Systems} from '../inspect/systems.js';

const cause = 'a scrape of metrics';

/** Throws an AppError where the node does not answer. */
export async function nodeScrape(control: ControlPlane, systems: Pick<Systems, 'ask'>, node: string): Promise<readonly Metric[]> {
	const asked = systems.ask(node, {verb: 'stats', place: node}, {cause, isAdmins: false}, limits.metricsAnswerMs);
	const [stats, figures] = await Promise.all([asked, figuresOfNode(control, node, 'all')]);
	if (!stats.ok) throw new AppError(stats.error.code, stats.error.details);
	// Its shape was looked at when it came.
	return [...statsMetrics(stats.value as unknown as SystemStats), ...(figures === undefined ? [] : usageMetrics([figures]))];
}

function statsMetrics({actors, counters, memoryBytes, cpuMs, loopBusy}: SystemStats): readonly Metric[] {
	const tree = 'node';
	return [
		gauge('troupe_actors', 'Living actors.', [{labels: {tree, behavior: ''}, value: actors}]),
		...actorCounters.map(({member, name, help}) => counter(name, help, [{labels: {tree}, value: Math.max(0, counters[member] ?? 0)}])),
		gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [{value: memoryBytes}]),
		counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', [{value: Math.max(0, cpuMs) / 1_000}]),
		gauge('troupe_event_loop_busy_ratio', 'Share of the time that the event loop of the process was busy since the last look.', [
			{value: loopBusy},
		]),
	];
}

/** What a node uses, and with `all` its containers together; undefined: it did not tell. */
export async function figuresOfNode(control: ControlPlane, node: string, containers: 'all' | 'none'): Promise<NodeFigures | undefined> {
	const uids = containers === 'none' ? [] : [...control.index.byTerm('pods', occupies(node))].map(({metadata}) => metadata.uid);
	const usage = await usageOfNode({control}, {node, uids, cause, deadlineMs: limits.metricsAnswerMs});
	if (usage === undefined) return undefined;
	const {cpuNanocores, memoryBytes} = usage.node ?? {};
	return {node, cpuNanocores, memoryBytes, moved: usage.totals, ...(containers === 'none' ? {} : {containers: sumOf(usage)})};
}

function sumOf({pods}: NodeUsage): NonNullable<NodeFigures['containers']> {
	const used = [...pods.values()].flatMap(each => [...each.values()]).filter((each): each is UsedInAll => each !== undefined);
	return {
		count: used.length,
		cpuNanocores: used.reduce((sum, each) => sum + each.cpuNanocores, 0),
		memoryBytes: used.reduce((sum, each) => sum + each.memoryBytes, 0),
	};
}
