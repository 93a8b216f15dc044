// All that a server which leads tells a scraper of its cluster, collected when it is asked for.

import {counter, gauge, type Metric} from '../../api/metrics.js';
import {nodeKey} from '../../actors/addresses.js';
import {actorMetrics} from '../../system/inspect/actor-metrics.js';
import type {ActorSystem} from '../../system/kernel/actor-system.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {systemsOf} from '../inspect/systems.js';
import {createFunctionMetrics, type FunctionCounts} from './function-metrics.js';
import {nodeMetrics} from './node-metrics.js';
import {figuresOfNode, nodeScrape} from './node-scrape.js';
import {objectMetrics} from './object-metrics.js';

export type ControlMetricsOptions = {
	readonly control: ControlPlane;
	/** That of control, and those of the nodes in this process. */
	readonly systems: {readonly control: ActorSystem; readonly nodes: () => readonly ActorSystem[]};
	readonly store: () => {readonly waiting: number; readonly epoch: number; readonly isInTrouble: boolean};
	readonly bus: () => {readonly refused: number; readonly full: number};
	readonly functions: FunctionCounts;
	readonly clock: Clock;
};

export type ControlMetrics = {
	readonly ofCluster: () => Promise<readonly Metric[]>;
	/** Undefined: there is no such node. Rejects with an AppError where it does not answer. */
	readonly ofNode: (node: string) => Promise<readonly Metric[]> | undefined;
};

export function createControlMetrics({control, systems, store, bus, functions, clock}: ControlMetricsOptions): ControlMetrics {
	const inspected = systemsOf(control, clock);
	const functionMetrics = createFunctionMetrics();
	const pause = (): Promise<void> => new Promise(resolve => void clock.after(0, resolve));
	return {
		async ofCluster() {
			const {waiting, epoch, isInTrouble} = store();
			const {refused, full} = bus();
			return [
				gauge('troupe_leader_epoch', 'The number of the term of the leader.', [{value: epoch}]),
				gauge('troupe_store_waiting_writes', 'Writes that wait for the store.', [{value: waiting}]),
				gauge('troupe_store_trouble', 'Whether the store did not take the last batch.', [{value: Number(isInTrouble)}]),
				counter('troupe_bus_messages_refused_total', 'Messages of other systems that were refused.', [{value: refused}]),
				counter('troupe_bus_messages_dropped_total', 'Messages for other systems for which there was no room.', [{value: full}]),
				...(await actorMetrics({control: [systems.control], node: systems.nodes()}, pause)),
				...(await objectMetrics(control.index, pause)),
				...(await nodeMetrics(control.index, node => figuresOfNode(control, node, 'none'))),
				...functionMetrics(control.index, functions),
			];
		},
		ofNode: node => (control.index.entry(nodeKey(node)) === undefined ? undefined : nodeScrape(control, inspected, node)),
	};
}
