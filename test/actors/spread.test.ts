// Pods spread over zones and hosts, as Kubernetes' topologySpreadConstraints say.

import test from 'ava';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import type {TopologySpreadConstraint} from '../../api/shapes/pod.js';
import {labelled, where, wheres} from './_scheduling.js';
import {aNode, aPod, now} from './_objects.js';

const constraint = (more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
	maxSkew: 1,
	topologyKey: 'zone',
	whenUnsatisfiable: 'DoNotSchedule',
	labelSelector: {matchLabels: {app: 'web'}},
	...more,
});
const web = (name: string, spec: Partial<PodSpec> = {}, metadata = {}): Pod =>
	aPod({name, metadata: {labels: {app: 'web'}, ...metadata}, spec});
const spread = (name: string, ...constraints: readonly TopologySpreadConstraint[]): Pod =>
	web(name, {topologySpreadConstraints: constraints.length === 0 ? [constraint()] : constraints});

const nodes = labelled({a1: {zone: 'a'}, a2: {zone: 'a'}, b1: {zone: 'b'}, bare: {}});

test('no part gets more than maxSkew more than the emptiest', t => {
	const many = ['1', '2', '3', '4', '5'].map(name => spread(name));
	const zones = wheres(many, {nodes}).map(node => node[0]);
	t.deepEqual(zones, ['a', 'b', 'a', 'b', 'a']);
	const pods = [web('x', {nodeName: 'b1'}), web('y', {nodeName: 'b1'})];
	t.is(where(spread('w', constraint({maxSkew: 3})), {nodes: nodes.slice(0, 3), pods: [...pods, web('z', {nodeName: 'a2'})]}), 'a1');
});

test('who fits nowhere is told where there are too many, and who lacks the label', t => {
	const full = [aNode({name: 'a1', metadata: {labels: {zone: 'a'}}, spec: {unschedulable: true}}), ...nodes.slice(2)];
	t.is(
		where(spread('w'), {nodes: full, pods: [web('x', {nodeName: 'b1'})]}),
		'0/3 nodes fit: a1: cordoned; b1: too many such pods in its zone; bare: no label zone, over which it is spread',
	);
});

test('what every JavaScript object has is no topology key of a node', t => {
	t.is(
		where(spread('w', constraint({topologyKey: 'constructor'})), {nodes: nodes.slice(0, 1)}),
		'0/1 nodes fit: a1: no label constructor, over which it is spread',
	);
});

test('parts to which the pod may not go by its node selector do not hold it back', t => {
	const pods = [web('x', {nodeName: 'b1'})];
	const pod = web('w', {topologySpreadConstraints: [constraint()], nodeSelector: {zone: 'b'}});
	t.is(where(pod, {nodes, pods}), 'b1');
});

test('pods that end or are over, of other namespaces and with other labels do not count', t => {
	const others = [
		web('ending', {nodeName: 'a1'}, {deletionTimestamp: now}),
		aPod({name: 'over', metadata: {labels: {app: 'web'}}, spec: {nodeName: 'a1'}, status: {phase: 'Failed'}}),
		web('far', {nodeName: 'a1'}, {namespace: 'shop'}),
		aPod({name: 'db', metadata: {labels: {app: 'db'}}, spec: {nodeName: 'a1'}}),
	];
	t.is(where(spread('w'), {nodes: nodes.slice(0, 3), pods: others, strategy: 'round-robin'}), 'a1');
});

test('a pod that is none of those that are spread, or a constraint that names no pod, holds nothing back', t => {
	const pods = [web('x', {nodeName: 'b1'})];
	const alien = aPod({
		name: 'w',
		metadata: {labels: {app: 'db'}},
		spec: {topologySpreadConstraints: [constraint()], nodeSelector: {zone: 'b'}},
	});
	t.is(where(alien, {nodes, pods}), 'b1');
	const {labelSelector: _none, ...namesNone} = constraint();
	t.is(where(spread('w', namesNone), {nodes: nodes.slice(2, 3), pods}), 'b1');
});

test('several constraints all hold', t => {
	const both = [constraint(), constraint({topologyKey: 'host'})];
	const hosts = labelled({a1: {zone: 'a', host: 'a1'}, a2: {zone: 'a', host: 'a2'}, b1: {zone: 'b', host: 'b1'}});
	t.deepEqual(
		wheres(
			['1', '2', '3'].map(name => spread(name, ...both)),
			{nodes: hosts},
		),
		['a1', 'b1', 'a2'],
	);
});

test('ScheduleAnyway only prefers, before the strategy', t => {
	const soft = constraint({whenUnsatisfiable: 'ScheduleAnyway'});
	const pods = [web('x', {nodeName: 'a1'}), web('y', {nodeName: 'b1'}), web('z', {nodeName: 'b1'})];
	t.is(where(spread('w', soft), {nodes: nodes.slice(0, 3), pods, strategy: 'most-pods'}), 'a1');
	t.is(where(spread('w', soft), {nodes: nodes.slice(2, 3), pods}), 'b1');
});
