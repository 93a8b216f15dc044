// Which nodes a pod's selectors, affinity and tolerations leave, and which of them it likes better.

import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {Affinity, NodeSelectorRequirement, Toleration} from '../../api/shapes/pod.js';
import type {Taint} from '../../api/shapes/node.js';
import {tolerates} from '../../actors/control/pods/toleration.js';
import {labelled, where} from './_scheduling.js';
import {aNode, aPod} from './_objects.js';

type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;

const withAffinity = (nodeAffinity: NodeAffinity): Pod => aPod({spec: {affinity: {nodeAffinity}}});
const required = (...terms: readonly (readonly NodeSelectorRequirement[])[]): NodeAffinity => ({
	requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: terms.map(matchExpressions => ({matchExpressions}))},
});

/** Nodes, of some, to which a pod may go. */
const allowed = (pod: Pod, nodes: ReturnType<typeof labelled>): string[] =>
	nodes.filter(node => where(pod, {nodes: [node]}) === node.metadata.name).map(({metadata}) => metadata.name);

const nodes = labelled({a: {disk: 'ssd', cores: '8'}, b: {disk: 'hdd', cores: '16'}, c: {cores: 'many'}, d: {}});

test('each operator of node affinity means what it does in Kubernetes', t => {
	const table: readonly (readonly [NodeSelectorRequirement, readonly string[]])[] = [
		[{key: 'disk', operator: 'In', values: ['ssd', 'nvme']}, ['a']],
		[{key: 'disk', operator: 'NotIn', values: ['ssd']}, ['b', 'c', 'd']],
		[{key: 'disk', operator: 'Exists'}, ['a', 'b']],
		[{key: 'disk', operator: 'DoesNotExist'}, ['c', 'd']],
		[{key: 'cores', operator: 'Gt', values: ['8']}, ['b']],
		[{key: 'cores', operator: 'Lt', values: ['9']}, ['a']],
	];
	for (const [requirement, names] of table) t.deepEqual(allowed(withAffinity(required([requirement])), nodes), names, requirement.operator);
});

test('one of the terms has to match, with all of its requirements; a term without any matches nothing', t => {
	const ssd = {key: 'disk', operator: 'In', values: ['ssd']} as const;
	const few = {key: 'cores', operator: 'Lt', values: ['4']} as const;
	t.deepEqual(allowed(withAffinity(required([ssd, few], [{key: 'disk', operator: 'DoesNotExist'}])), nodes), ['c', 'd']);
	t.deepEqual(allowed(withAffinity(required([])), nodes), []);
	t.is(where(withAffinity(required([few])), {nodes: labelled({d: {}})}), '0/1 nodes fit: d: not among the nodes of its node affinity');
});

test('matchFields names nodes', t => {
	const fields = [{key: 'metadata.name', operator: 'In', values: ['b', 'd']}] as const;
	const affinity: NodeAffinity = {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: fields}]}};
	t.deepEqual(allowed(withAffinity(affinity), nodes), ['b', 'd']);
});

test('nodeSelector and node affinity both have to match', t => {
	const {spec} = withAffinity(required([{key: 'disk', operator: 'Exists'}]));
	t.deepEqual(allowed(aPod({spec: {...spec, nodeSelector: {cores: '16'}}}), nodes), ['b']);
});

const tainted = (name: string, ...taints: readonly Taint[]) => aNode({name, spec: {taints}});
const dedicated: Taint = {key: 'dedicated', value: 'db', effect: 'NoSchedule'};

test('a taint keeps away who does not tolerate it', t => {
	const node = tainted('a', dedicated);
	const tolerating = (toleration: Toleration): Pod => aPod({spec: {tolerations: [toleration]}});
	t.is(where(aPod(), {nodes: [node]}), '0/1 nodes fit: a: taint dedicated=db:NoSchedule is not tolerated');
	t.is(where(tolerating({key: 'dedicated', value: 'db'}), {nodes: [node]}), 'a');
	t.is(where(aPod(), {nodes: [tainted('a', {key: 'x', effect: 'NoExecute'})]}), '0/1 nodes fit: a: taint x:NoExecute is not tolerated');
});

test('a toleration matches as in Kubernetes', t => {
	const table: readonly (readonly [Toleration, boolean])[] = [
		[{key: 'dedicated', operator: 'Equal', value: 'db'}, true],
		[{key: 'dedicated', value: 'web'}, false],
		[{key: 'dedicated'}, false],
		[{key: 'dedicated', operator: 'Exists'}, true],
		[{key: 'dedicated', operator: 'Exists', effect: 'NoExecute'}, false],
		[{operator: 'Exists'}, true],
		[{operator: 'Exists', effect: 'NoSchedule'}, true],
		[{key: 'other', operator: 'Exists'}, false],
	];
	for (const [toleration, holds] of table) t.is(tolerates(toleration, dedicated), holds, JSON.stringify(toleration));
});

test('a cordon can be tolerated, as the taint that it is in Kubernetes', t => {
	const pod = aPod({spec: {tolerations: [{key: 'node.kubernetes.io/unschedulable', operator: 'Exists'}]}});
	t.is(where(pod, {nodes: [aNode({spec: {unschedulable: true}})]}), 'node-a');
});

test('taints that are better avoided come before weights, and weights before the strategy', t => {
	const preferred = (weight: number, key: string) => ({weight, preference: {matchExpressions: [{key, operator: 'Exists'} as const]}});
	const affinity = {
		nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [preferred(60, 'fast'), preferred(50, 'near'), preferred(20, 'quiet')]},
	};
	const pod = aPod({spec: {affinity}});
	const busy = [1, 2].map(n => aPod({name: `p${n}`, spec: {nodeName: 'c'}}));
	const three = labelled({a: {fast: ''}, b: {}, c: {near: '', quiet: ''}});
	t.is(where(pod, {nodes: three, pods: busy}), 'c');
	t.is(where(aPod(), {nodes: three, pods: busy}), 'a');
	const avoided = aNode({
		name: 'c',
		metadata: {labels: {near: '', quiet: ''}},
		spec: {taints: [{key: 'x', effect: 'PreferNoSchedule'}]},
	});
	t.is(where(pod, {nodes: [...three.slice(0, 2), avoided]}), 'a');
	t.is(where(aPod(), {nodes: [avoided]}), 'c');
	for (const strategy of ['round-robin', 'random', 'least-cpu'] as const) t.is(where(pod, {nodes: three, strategy}), 'c', strategy);
});
