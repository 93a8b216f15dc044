// What nodes and pods use, on topics: measured every some seconds while a client has subscribed to any of it, and not at all where nobody has.
//
// Whether somebody listens is known of the broker in this process alone: at one elsewhere nothing is published.

import type {Pod} from '../api/kinds/pod.js';
import type {NodeObject} from '../api/kinds/node.js';
import {limits} from '../api/limits.js';
import {formatTopic, usageFilters} from '../api/topics.js';
import {isNodeReady} from '../actors/control/scheduling/node-info.js';
import {occupies} from '../actors/control/pods/pod-terms.js';
import type {Broker} from '../system/broker/broker.js';
import type {Clock} from '../system/time/clock.js';
import type {ControlPlane} from './control-plane.js';
import type {Used, UsedInAll} from '../actors/protocol/usage-message.js';
import {usageOfNode} from './http/node-usage.js';
import {someAtATime} from './inspect/some-at-a-time.js';

export type UsageTopicsOptions = {
	readonly control: ControlPlane;
	readonly clock: Pick<Clock, 'after'>;
	/** Whether a client has subscribed to what the filter matches, or to some of it. */
	readonly isWanted: (filter: string) => boolean;
	readonly publish: Broker['publish'];
};

/** Begins; what comes back ends it. */
export function startUsageTopics(options: UsageTopicsOptions): () => void {
	const {clock, isWanted} = options;
	let isClosed = false;
	const publish: UsageTopicsOptions['publish'] = (...message) => void (isClosed || options.publish(...message));
	const wait = (): (() => void) =>
		clock.after(limits.usageTopicsMs, () => {
			const wanted = {nodes: isWanted(usageFilters.nodes), pods: isWanted(usageFilters.pods)};
			void (wanted.nodes || wanted.pods ? publishAll({...options, publish}, wanted) : Promise.resolve()).finally(() => {
				if (!isClosed) cancel = wait();
			});
		});
	let cancel = wait();
	return () => {
		isClosed = true;
		cancel();
	};
}

type Wanted = {readonly nodes: boolean; readonly pods: boolean};

/** Of the first `limits.metricsNodes` nodes by name, and of `limits.usageTopicPods` of their pods. */
async function publishAll(options: UsageTopicsOptions, wanted: Wanted): Promise<void> {
	const nodes = ([...options.control.index.list('nodes')] as NodeObject[]).filter(isNodeReady).map(({metadata}) => metadata.name);
	let room = limits.usageTopicPods;
	await someAtATime(nodes.toSorted().slice(0, limits.metricsNodes), async node => {
		const pods = wanted.pods ? runningOn(options, node).slice(0, room) : [];
		room -= pods.length;
		await publishOf(options, node, wanted.nodes, pods);
	});
}

const runningOn = ({control}: UsageTopicsOptions, node: string): readonly Pod[] =>
	([...control.index.byTerm('pods', occupies(node))] as Pod[]).filter(({status}) => status?.phase === 'Running');

async function publishOf({control, publish}: UsageTopicsOptions, node: string, isNodeWanted: boolean, pods: readonly Pod[]): Promise<void> {
	const uids = pods.map(({metadata}) => metadata.uid);
	const usage = await usageOfNode({control}, {node, uids, cause: 'topics of usage'});
	if (usage === undefined) return;
	const told = (topic: string, {cpuNanocores, memoryBytes}: Pick<Used, 'cpuNanocores' | 'memoryBytes'>): void =>
		publish(topic, JSON.stringify({cpuNanocores, memoryBytes, atMs: usage.atMs}), {retain: false});
	if (isNodeWanted && usage.node !== undefined) told(formatTopic({type: 'nodeUsage', node}), usage.node);
	for (const {metadata} of pods) {
		const {namespace = '', name, uid} = metadata;
		const used = [...(usage.pods.get(uid)?.values() ?? [])];
		// A sum of some of its containers would be too low.
		const known = used.filter((each): each is UsedInAll => each !== undefined);
		if (known.length === 0 || known.length < used.length) continue;
		told(formatTopic({type: 'podUsage', namespace, name}), {
			cpuNanocores: known.reduce((sum, each) => sum + each.cpuNanocores, 0),
			memoryBytes: known.reduce((sum, each) => sum + each.memoryBytes, 0),
		});
	}
}
