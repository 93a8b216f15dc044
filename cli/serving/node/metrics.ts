// What an agent tells a scraper of itself and its node, and the door where it does.

import type {UsageReport} from '../../../actors/node/usage/report.js';
import type {ReadUsage} from '../../../actors/protocol/usage-message.js';
import {usagePath} from '../../../actors/addresses.js';
import {metricsTokenIn, openMetricsDoor} from '../../../agent/metrics-door.js';
import {formatHostPort} from '../../../api/host-port.js';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {gauge, metricsPath, usageMetrics, type NodeFigures} from '../../../api/metrics.js';
import {newToken} from '../../../server/tokens.js';
import {actorMetrics} from '../../../system/inspect/actor-metrics.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import {programVersion} from '../../files/version.js';
import type {ServeContext} from '../process/serve.js';
import type {AgentOptions} from '../serving-options.js';

export type NodeMetricsOptions = {
	readonly options: Pick<AgentOptions, 'metrics' | 'metricsTokenFile'>;
	readonly system: ActorSystem;
	readonly isConnected: () => boolean;
};

/** Where it is; undefined: nobody asked for it. Throws an AppError that says what is wrong. */
export async function openNodeMetrics(
	{options: {metrics, metricsTokenFile}, system, isConnected}: NodeMetricsOptions,
	{home, closers, exposition, processParts: {clock}}: ServeContext,
): Promise<string | undefined> {
	if (metrics === undefined) return undefined;
	const token = await metricsTokenIn(metricsTokenFile ?? home.metricsToken, metricsTokenFile === undefined ? newToken : undefined);
	const pause = (): Promise<void> => new Promise(resolve => void clock.after(0, resolve));
	const door = await openMetricsDoor(metrics, token, async () => {
		const figures = await figuresOf(system);
		return exposition.ofProcess([
			gauge('troupe_build_info', 'The version of the program.', [{labels: {version: programVersion}, value: 1}]),
			gauge('troupe_agent_connected', 'Whether the agent has a connection to the control plane.', [{value: Number(isConnected())}]),
			...(await actorMetrics({node: [system]}, pause)),
			...(figures === undefined ? [] : usageMetrics([figures])),
		]);
	});
	closers.add(door.close);
	return `http://${formatHostPort({host: metrics.host, port: door.port})}${metricsPath}`;
}

/** Undefined: it was not measured in time. */
async function figuresOf(system: ActorSystem): Promise<NodeFigures | undefined> {
	const message: ReadUsage = {type: 'readUsage'};
	const question = {deadlineMs: limits.metricsAnswerMs, cause: 'a scrape of metrics'};
	const report = await new Promise<UsageReport | undefined>(resolve =>
		system.ask(address(system.name, usagePath), message, question, outcome =>
			resolve(outcome.ok ? (outcome.value as UsageReport) : undefined),
		),
	);
	if (report === undefined) return undefined;
	const {node, totals, containers} = report;
	const measured = containers.filter(each => each.cpuNanocores !== undefined && each.memoryBytes !== undefined);
	return {
		node: system.name,
		cpuNanocores: node.cpuNanocores,
		memoryBytes: node.memoryBytes,
		moved: totals,
		containers: {
			count: measured.length,
			cpuNanocores: measured.reduce((sum, {cpuNanocores = 0}) => sum + cpuNanocores, 0),
			memoryBytes: measured.reduce((sum, {memoryBytes = 0}) => sum + memoryBytes, 0),
		},
	};
}
