// Gives nodes the subnets of their pods: each is one node's alone, for the node's life, and none that a host says it uses for something else.
//
// What was given is read from the index, what is on its way to a node's record is remembered until it is there. This actor may have crashed and
// forgotten that: so it gives nothing in its first moment, in which what was on its way gets there.

import {parseSubnet, overlap, subnetText, type Subnet} from '../../../api/ipv4.js';
import {fnv1a} from '../../../api/fnv.js';
import {objectAddress} from '../../../api/keys.js';
import {nodeSubnetSize, podSubnetOf, type ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Next} from '../../../system/kernel/behavior.js';
import {clusterConfigKey, nodeKey} from '../../addresses.js';
import type {NodeMessage, WantSubnet} from './node.js';

export type SubnetsMessage = WantSubnet | {readonly type: 'begin'};

export type SubnetsState = {
	/** Two clusters of one network begin at different places. */
	readonly seed: string;
	/** By the uid of the node. */
	readonly coming: ReadonlyMap<string, string>;
	/** Nodes that asked in the first moment; undefined: that is over. */
	readonly waiting: readonly string[] | undefined;
	/** The number of the one that was given last. */
	readonly last: number | undefined;
};

export const subnets: Behavior<string, SubnetsState, SubnetsMessage> = {
	kind: 'Subnets',
	init: (seed, {nowMs}) =>
		next({seed, coming: new Map(), waiting: [], last: undefined}, [
			{type: 'wakeAt', name: 'begin', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'begin'}},
		]),
	receive(state, message, context) {
		switch (message.type) {
			case 'wantSubnet':
				return state.waiting === undefined
					? give(state, message.node, context)
					: next({...state, waiting: [...new Set([...state.waiting, message.node])]});
			case 'begin':
				return next(
					{...state, waiting: undefined},
					(state.waiting ?? []).map(node => tell(context.self, {type: 'wantSubnet', node})),
				);
		}
	},
	coalesce: message => (message.type === 'wantSubnet' ? message.node : undefined),
};

function give(state: SubnetsState, name: string, {known}: Context): Next<SubnetsState> {
	const node = known.get(nodeKey(name)) as NodeObject | undefined;
	// Its record asks again when it is in the index.
	if (node === undefined || node.spec?.podCIDR !== undefined) return next(state);
	const {uid} = node.metadata;
	const coming = new Map([...state.coming].filter(([each]) => lacks(known.byUid(each) as NodeObject | undefined)));
	const given = (podCIDR: string | undefined) => {
		const message: NodeMessage = {type: 'subnetGiven', podCIDR};
		return [tell(objectAddress(nodeKey(name)), message)];
	};
	const before = coming.get(uid);
	if (before !== undefined) return next({...state, coming}, given(before));
	const all = podSubnetOf(known.get(clusterConfigKey) as ClusterConfig | undefined);
	const nodes = [...known.list('nodes')] as NodeObject[];
	const used = [...nodes.flatMap(({spec}) => spec?.podCIDR ?? []), ...coming.values()].flatMap(asSubnet);
	const occupied = nodes.flatMap(({status}) => status?.network?.occupied ?? []).flatMap(asSubnet);
	const found = firstFree(all, state.last ?? lastOf(all, state.seed, used), [...used, ...occupied]);
	if (found === undefined) return next({...state, coming}, given(undefined));
	const podCIDR = subnetText(found.subnet);
	return next({...state, coming: coming.set(uid, podCIDR), last: found.number}, given(podCIDR));
}

const lacks = (node: NodeObject | undefined): boolean => node !== undefined && node.spec?.podCIDR === undefined;

const asSubnet = (text: string): readonly Subnet[] => {
	const subnet = parseSubnet(text);
	return subnet === undefined ? [] : [subnet];
};

/** The next after the last one: what became free comes again when all others had their turn. */
function firstFree(
	{first, size}: Subnet,
	last: number,
	taken: readonly Subnet[],
): {readonly number: number; readonly subnet: Subnet} | undefined {
	const count = Math.floor(size / nodeSubnetSize);
	for (let step = 1; step <= count; step++) {
		const number = (last + step) % count;
		const subnet = {first: first + number * nodeSubnetSize, size: nodeSubnetSize};
		if (!taken.some(each => overlap(each, subnet))) return {number, subnet};
	}
	return undefined;
}

/** The farthest from the cluster's beginning that is in use. */
function lastOf({first, size}: Subnet, seed: string, used: readonly Subnet[]): number {
	const count = Math.max(1, Math.floor(size / nodeSubnetSize));
	const beginning = fnv1a(seed) % count;
	const steps = used
		.map(subnet => Math.floor((subnet.first - first) / nodeSubnetSize))
		.filter(number => number >= 0 && number < count)
		.map(number => (number - beginning + count) % count);
	return (beginning + Math.max(-1, ...steps) + count) % count;
}
