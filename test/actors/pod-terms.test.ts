// What the index counts and adds up of pods is what it would be if they had just been loaded, whatever became of them before.

import test from 'ava';
import fc from 'fast-check';
import type {Pod} from '../../api/kinds/pod.js';
import type {Known} from '../../system/index/object-index.js';
import {
	belowDefault,
	cpuOnNode,
	memoryOnNode,
	nominated,
	occupies,
	onNode,
	portOnNode,
	withAntiAffinity,
	unbound,
} from '../../actors/control/pods/pod-terms.js';
import {aContainer, aPod, drop, indexOf, now, put} from './_objects.js';

const nodes = ['a', 'b'];

/** Everything that is counted and added up. */
const figuresOf = (known: Known): readonly number[] => [
	...[unbound, nominated, withAntiAffinity, belowDefault].map(term => known.countByTerm('pods', term)),
	...nodes.flatMap(node => [
		...[onNode(node), occupies(node), portOnNode(node, 'TCP/80')].map(term => known.countByTerm('pods', term)),
		...[cpuOnNode(node), memoryOnNode(node)].map(term => known.sumByTerm('pods', term)),
	]),
];

const away = {
	podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: 'host', labelSelector: {}}]},
};

const shape = fc.record({
	name: fc.constantFrom('p', 'q', 'r'),
	uid: fc.constantFrom('1', '2'),
	label: fc.constantFrom('x', 'y'),
	node: fc.constantFrom(undefined, ...nodes),
	kept: fc.constantFrom(undefined, ...nodes),
	phase: fc.constantFrom('Pending' as const, 'Running' as const, 'Failed' as const),
	cpu: fc.constantFrom('0', '100m', '0.1', '1.5', '1e3'),
	memory: fc.constantFrom('0', '1Mi', '0.3Gi', '1Pi'),
	hasPort: fc.boolean(),
	repels: fc.boolean(),
	priority: fc.constantFrom(-1, 0, 1),
	isGoing: fc.boolean(),
	isGone: fc.boolean(),
});

type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never;

const podOf = ({name, uid, label, node, kept, phase, cpu, memory, hasPort, repels, priority, isGoing}: Shape): Pod =>
	aPod({
		name,
		metadata: {uid: `${name}-${uid}`, labels: {app: label}, ...(isGoing ? {deletionTimestamp: now} : {})},
		spec: {
			containers: [aContainer({resources: {requests: {cpu, memory}}, ...(hasPort ? {ports: [{containerPort: 80}]} : {})})],
			priority,
			...(node === undefined ? {} : {nodeName: node}),
			...(repels ? {affinity: away} : {}),
		},
		status: {phase, ...(kept === undefined ? {} : {nominatedNodeName: kept})},
	});

test('counts and sums follow each change', t => {
	t.notThrows(() => {
		fc.assert(
			fc.property(fc.array(shape, {maxLength: 20}), steps => {
				const index = indexOf();
				const left = new Map<string, Pod>();
				for (const step of steps) {
					const pod = podOf(step);
					if (!step.isGone) put(index, pod);
					else if (left.has(step.name)) drop(index, pod);
					if (step.isGone) left.delete(step.name);
					else left.set(step.name, pod);
				}
				const fresh = figuresOf(indexOf(...left.values()));
				const kept = figuresOf(index);
				return fresh.every((figure, i) => figure === kept[i]);
			}),
			{numRuns: 200, seed: 1},
		);
	});
});
