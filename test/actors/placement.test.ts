// Where a pod may run, where it runs best, and what is said when it fits nowhere.

import test from 'ava';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Container, Pod} from '../../api/kinds/pod.js';
import {candidatesOf, claimedPorts, place, type Placement} from '../../actors/control/placement.js';
import {portOnNode} from '../../actors/control/pod-terms.js';
import {aContainer, aNode, aPod, aReadyPod, indexOf, now} from './_objects.js';

type World = {
	readonly nodes: readonly NodeObject[];
	readonly pods?: readonly Pod[];
	readonly asked?: ReadonlyMap<string, number>;
	readonly strategy?: 'least-pods' | 'round-robin';
	readonly turn?: number;
};

function placed(pod: Pod, {nodes, pods = [], asked = new Map(), strategy = 'least-pods', turn = 0}: World): Placement {
	const known = indexOf(...nodes, ...pods);
	const holdsPort = (node: string, port: string): boolean => known.countByTerm('pods', portOnNode(node, port)) > 0;
	return place(pod, candidatesOf(nodes, known, asked), {strategy, turn}, holdsPort);
}

const whyNot = (pod: Pod, world: World): string => {
	const placement = placed(pod, world);
	return placement.node === undefined ? placement.why : `it fits on ${placement.node}`;
};

const unready = {conditions: [{type: 'Ready', status: 'Unknown'}]} as const;
const withPorts = (...ports: NonNullable<Container['ports']>): Pod => aPod({spec: {containers: [aContainer({ports})]}});

test('a pod that fits nowhere says why, node by node', t => {
	const nodes = [
		aNode({name: 'e-full', status: {allocatable: {pods: '1'}}, metadata: {labels: {disk: 'ssd'}}}),
		aNode({name: 'a-silent', status: unready}),
		aNode({name: 'b-cordoned', spec: {unschedulable: true}}),
		aNode({name: 'c-leaving', metadata: {deletionTimestamp: now}}),
		aNode({name: 'd-plain'}),
		aNode({name: 'f-busy', metadata: {labels: {disk: 'ssd'}}}),
	];
	const pods = [
		aReadyPod({name: 'one', spec: {nodeName: 'e-full'}}),
		aReadyPod({name: 'two', spec: {nodeName: 'f-busy', containers: [aContainer({ports: [{containerPort: 80}]})]}}),
	];
	const pod = aPod({spec: {nodeSelector: {disk: 'ssd'}, containers: [aContainer({ports: [{containerPort: 80}]})]}});
	t.is(
		whyNot(pod, {nodes, pods}),
		'0/6 nodes fit: a-silent: not ready; b-cordoned: cordoned; c-leaving: not ready; d-plain: no label disk=ssd; e-full: full: 1 pods; f-busy: port TCP/80 is taken',
	);
});

test('where there is no node that is said', t => {
	t.is(whyNot(aPod(), {nodes: []}), 'there is no node yet');
});

test('more than ten nodes are counted by reason', t => {
	const nodes = Array.from({length: 12}, (_, i) => aNode({name: `n${i}`, ...(i < 5 ? {status: unready} : {spec: {unschedulable: true}})}));
	t.is(whyNot(aPod(), {nodes}), '0/12 nodes fit: 5 not ready; 7 cordoned');
});

test('every label of the nodeSelector has to be there', t => {
	const nodes = [aNode({name: 'a', metadata: {labels: {disk: 'ssd'}}}), aNode({name: 'b', metadata: {labels: {disk: 'ssd', zone: 'x'}}})];
	t.deepEqual(placed(aPod({spec: {nodeSelector: {disk: 'ssd', zone: 'x'}}}), {nodes}), {node: 'b'});
});

test('pods that are over take no room', t => {
	const nodes = [aNode({status: {allocatable: {pods: '1'}}})];
	const over = aReadyPod({
		name: 'over',
		status: {phase: 'Succeeded', conditions: []},
		spec: {containers: [aContainer({ports: [{containerPort: 80}]})]},
	});
	t.deepEqual(placed(withPorts({containerPort: 80}), {nodes, pods: [over]}), {node: 'node-a'});
});

test('binds that are open take room', t => {
	const nodes = [aNode({status: {allocatable: {pods: '2'}}})];
	t.is(whyNot(aPod(), {nodes, asked: new Map([['node-a', 2]])}), '0/1 nodes fit: node-a: full: 2 pods');
});

test('the node with the fewest pods is chosen, of equals the first by name', t => {
	const nodes = [aNode({name: 'c'}), aNode({name: 'b'}), aNode({name: 'a'})];
	t.deepEqual(placed(aPod(), {nodes}), {node: 'a'});
	const pods = [aReadyPod({name: 'one', spec: {nodeName: 'a'}}), aReadyPod({name: 'two', spec: {nodeName: 'b'}})];
	t.deepEqual(placed(aPod(), {nodes, pods}), {node: 'c'});
	t.deepEqual(placed(aPod(), {nodes, pods, asked: new Map([['c', 2]])}), {node: 'a'});
});

test('the round-robin begins at its turn and passes by what does not fit', t => {
	const nodes = [aNode({name: 'a'}), aNode({name: 'b', spec: {unschedulable: true}}), aNode({name: 'c'})];
	const chosen = [0, 1, 2].map(turn => placed(aPod(), {nodes, strategy: 'round-robin', turn}).node);
	t.deepEqual(chosen, ['a', 'c', 'c']);
});

test('a port of a node is one pod’s, per protocol', t => {
	const nodes = [aNode()];
	const pods = [aReadyPod({name: 'one', spec: {containers: [aContainer({ports: [{containerPort: 53}]})]}})];
	t.is(whyNot(withPorts({containerPort: 53}), {nodes, pods}), '0/1 nodes fit: node-a: port TCP/53 is taken');
	t.deepEqual(placed(withPorts({containerPort: 53, protocol: 'UDP'}), {nodes, pods}), {node: 'node-a'});
	t.is(whyNot(withPorts({containerPort: 80, hostPort: 53}), {nodes, pods}), '0/1 nodes fit: node-a: port TCP/53 is taken');
});

test('a container that names its pod’s address claims only its hostPorts', t => {
	const ports = [{containerPort: 80, hostPort: 8080}];
	const claims = (overrides: Partial<Container>): readonly string[] =>
		claimedPorts(aPod({spec: {containers: [aContainer({ports, ...overrides})]}}));
	t.deepEqual(claims({}), ['TCP/8080', 'TCP/80']);
	t.deepEqual(claims({args: ['--bind', '$(POD_IP)']}), ['TCP/8080']);
	t.deepEqual(claims({command: ['serve', '$(POD_IP):80']}), ['TCP/8080']);
	t.deepEqual(claims({env: [{name: 'HOST', value: '$(POD_IP)'}]}), ['TCP/8080']);
	t.deepEqual(claims({env: [{name: 'HOST', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}}]}), ['TCP/8080']);
	t.deepEqual(claims({env: [{name: 'HOST', valueFrom: {fieldRef: {fieldPath: 'status.hostIP'}}}]}), ['TCP/8080', 'TCP/80']);
});

test('each container counts by itself, and a port named twice once', t => {
	const own = aContainer({name: 'a', ports: [{containerPort: 80}], args: ['$(POD_IP)']});
	const shared = aContainer({name: 'b', ports: [{containerPort: 81}, {containerPort: 81, name: 'again'}]});
	t.deepEqual(claimedPorts(aPod({spec: {containers: [own, shared]}})), ['TCP/81']);
});
