// Where a pod may run, where it runs best, and what is said when it fits nowhere.

import test from 'ava';
import {requiredFeatures} from '../../api/features.js';
import type {Container, Pod, PodSpec} from '../../api/kinds/pod.js';
import {dockerNotReady, type RuntimeClass} from '../../api/runtime-class.js';
import {claimedPorts} from '../../actors/control/pods/pod-requirements.js';
import {where, wheres} from './_scheduling.js';
import {aContainer, aNode, aPod, aReadyPod, now, ready} from './_objects.js';

const unready = {conditions: [{type: 'Ready', status: 'Unknown'}]} as const;
const two = (node: string): (readonly [Pod, string])[] => ['x', 'y'].map(name => [aPod({name}), node] as const);
/** Told where a port is asked for only because pods share their node's network. */
const wayOut = '; pods of one node can have the same containerPort where their containers listen on $(POD_IP)';

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
		where(pod, {nodes, pods}),
		'0/6 nodes fit: a-silent: not ready; b-cordoned: cordoned; c-leaving: not ready; d-plain: no label disk=ssd; e-full: full: 1 pods; f-busy: port TCP/80 is taken' +
			wayOut,
	);
});

test('where there is no node that is said', t => {
	t.is(where(aPod(), {nodes: []}), 'there is no node yet');
});

test('more than ten nodes are counted by reason', t => {
	const nodes = Array.from({length: 12}, (_, i) => aNode({name: `n${i}`, ...(i < 5 ? {status: unready} : {spec: {unschedulable: true}})}));
	t.is(where(aPod(), {nodes}), '0/12 nodes fit: 7 cordoned; 5 not ready');
});

test('every label of the nodeSelector has to be there', t => {
	const nodes = [aNode({name: 'a', metadata: {labels: {disk: 'ssd'}}}), aNode({name: 'b', metadata: {labels: {disk: 'ssd', zone: 'x'}}})];
	t.is(where(aPod({spec: {nodeSelector: {disk: 'ssd', zone: 'x'}}}), {nodes}), 'b');
});

test('pods that are over take no resources', t => {
	const nodes = [aNode({status: {allocatable: {pods: '1'}}})];
	const over = aReadyPod({
		name: 'over',
		status: {phase: 'Succeeded', conditions: []},
		spec: {containers: [aContainer({ports: [{containerPort: 80}]})]},
	});
	t.is(where(withPorts({containerPort: 80}), {nodes, pods: [over]}), 'node-a');
});

test('binds that are open take resources', t => {
	const nodes = [aNode({status: {allocatable: {pods: '2'}}})];
	t.is(where(aPod(), {nodes, asked: two('node-a')}), '0/1 nodes fit: node-a: full: 2 pods');
});

test('the node with the fewest pods is chosen, of equals the first by name', t => {
	const nodes = [aNode({name: 'c'}), aNode({name: 'b'}), aNode({name: 'a'})];
	t.is(where(aPod(), {nodes}), 'a');
	const pods = [aReadyPod({name: 'one', spec: {nodeName: 'a'}}), aReadyPod({name: 'two', spec: {nodeName: 'b'}})];
	t.is(where(aPod(), {nodes, pods}), 'c');
	t.is(where(aPod(), {nodes, pods, asked: two('c')}), 'a');
});

test('the round-robin begins at its turn and passes by what does not fit', t => {
	const nodes = [aNode({name: 'a'}), aNode({name: 'b', spec: {unschedulable: true}}), aNode({name: 'c'})];
	t.deepEqual(
		[0, 1, 2].map(turn => where(aPod(), {nodes, strategy: 'round-robin', turn})),
		['a', 'c', 'c'],
	);
});

test('a port of a node is one pod’s, per protocol', t => {
	const nodes = [aNode()];
	const pods = [aReadyPod({name: 'one', spec: {containers: [aContainer({ports: [{containerPort: 53}]})]}})];
	t.is(where(withPorts({containerPort: 53}), {nodes, pods}), `0/1 nodes fit: node-a: port TCP/53 is taken${wayOut}`);
	t.is(where(withPorts({containerPort: 53, protocol: 'UDP'}), {nodes, pods}), 'node-a');
	t.is(where(withPorts({containerPort: 53, hostPort: 53}), {nodes, pods}), '0/1 nodes fit: node-a: port TCP/53 is taken');
});

test('where pods have a network of their own, only what asks for a port of the node takes one', t => {
	const nodes = [aNode({status: {network: {pods: 'routed', services: 'proxy'}, runtimeFeatures: ['hostNetwork']}})];
	const containers = [aContainer({ports: [{containerPort: 53}, {containerPort: 80, hostPort: 80}]})];
	const pods = [aReadyPod({name: 'one', spec: {containers}})];
	t.is(where(withPorts({containerPort: 53}), {nodes, pods}), 'node-a');
	t.is(where(withPorts({containerPort: 80}), {nodes, pods}), 'node-a');
	t.is(where(withPorts({containerPort: 80, hostPort: 80}), {nodes, pods}), '0/1 nodes fit: node-a: port TCP/80 is taken');
	const onHost = aPod({spec: {hostNetwork: true, containers: [aContainer({ports: [{containerPort: 80}]})]}});
	t.regex(where(onHost, {nodes, pods}), /port TCP\/80 is taken/);
	t.deepEqual(wheres([onHost, withPorts({containerPort: 80, hostPort: 80})], {nodes}).slice(0, 1), ['node-a']);
});

test('a port of the node that leads to another one of the container is something that a node has to be able to', t => {
	const pod = withPorts({containerPort: 80, hostPort: 8080});
	const lacks = 'lacks hostPort mapping (a hostPort other than its containerPort)';
	t.is(where(pod, {nodes: [aNode()]}), `0/1 nodes fit: node-a: ${lacks}`);
	t.is(where(withPorts({containerPort: 80, hostPort: 80}), {nodes: [aNode()]}), 'node-a');
	t.deepEqual(requiredFeatures({containers: [aContainer()], initContainers: [aContainer({ports: [{containerPort: 1, hostPort: 2}]})]}), [
		'hostPorts',
	]);
});

test('a volume of NFS is something that a node has to be able to', t => {
	const volumes = [{name: 'data', nfs: {server: 'files', path: '/srv'}}];
	t.deepEqual(requiredFeatures({containers: [aContainer()], volumes}), ['nfs', 'volumes']);
});

test('a container that names its pod’s address claims only its hostPorts', t => {
	const ports = [{containerPort: 80, hostPort: 8080}];
	const claims = (overrides: Partial<Container>): readonly string[] => claimedPorts({containers: [aContainer({ports, ...overrides})]});
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
	t.deepEqual(claimedPorts({containers: [own, shared]}), ['TCP/81']);
});

// ---- strategies ------------------------------------------------------------------------------------------------------------

const asking = (cpu: string, memory: string, name = 'web', spec: Partial<Pod['spec'] & object> = {}): Pod =>
	aPod({name, spec: {containers: [aContainer({resources: {requests: {cpu, memory}}})], ...spec}});
const sized = (name: string, cpu: string, memory: string) => aNode({name, status: {allocatable: {cpu, memory, pods: '110'}}});

test('most-pods fills one node before the next', t => {
	const nodes = [aNode({name: 'a', status: {allocatable: {pods: '3'}}}), aNode({name: 'b'})];
	const pods = [aReadyPod({name: 'one', spec: {nodeName: 'a'}})];
	t.deepEqual(
		wheres(
			[1, 2, 3].map(n => aPod({name: `p${n}`})),
			{nodes, pods, strategy: 'most-pods'},
		),
		['a', 'a', 'b'],
	);
});

test('least-cpu and least-memory go by the share of what is allocatable that is asked for, the pod itself included', t => {
	const nodes = [sized('big', '8', '1Gi'), sized('small', '2', '8Gi')];
	const pods = [asking('1', '512Mi', 'one', {nodeName: 'big'}), asking('100m', '1Gi', 'two', {nodeName: 'small'})];
	t.is(where(asking('1', '128Mi'), {nodes, pods, strategy: 'least-cpu'}), 'big');
	t.is(where(asking('1', '128Mi'), {nodes, pods, strategy: 'least-memory'}), 'small');
});

test('of pods that ask for nothing least-cpu makes as many everywhere', t => {
	const nodes = ['a', 'b', 'c'].map(name => aNode({name}));
	t.deepEqual(
		wheres(
			[1, 2, 3, 4].map(n => aPod({name: `p${n}`})),
			{nodes, strategy: 'least-cpu'},
		),
		['a', 'b', 'c', 'a'],
	);
});

test('random takes any node that fits, as the seed has it', t => {
	const nodes = ['a', 'b', 'c'].map(name => aNode({name, spec: {unschedulable: name === 'b'}}));
	const chosen = Array.from({length: 40}, (_, seed) => where(aPod(), {nodes, strategy: 'random', seed}));
	t.deepEqual([...new Set(chosen)].sort(), ['a', 'c']);
	t.is(where(aPod(), {nodes: [aNode({spec: {unschedulable: true}})], strategy: 'random'}), '0/1 nodes fit: node-a: cordoned');
});

// ---- resources -------------------------------------------------------------------------------------------------------------

test('requests of bound pods, of open binds and of this cycle take what a node has', t => {
	const nodes = [sized('a', '2', '1Gi')];
	const half = (name: string, spec = {}): Pod => asking('500m', '100Mi', name, spec);
	const pods = [half('one', {nodeName: 'a'})];
	const asked = [[half('two'), 'a'] as const];
	t.deepEqual(
		wheres(
			['x', 'y', 'z'].map(name => half(name)),
			{nodes, pods, asked},
		),
		['a', 'a', '0/1 nodes fit: a: too little cpu is free for 500m'],
	);
	t.is(where(asking('1', '950Mi'), {nodes, pods}), '0/1 nodes fit: a: too little memory is free for 950Mi');
	t.is(where(asking('1', '2Gi'), {nodes}), '0/1 nodes fit: a: has 1Gi memory, 2Gi is asked for');
	t.is(where(asking('2500m', '1Mi'), {nodes}), '0/1 nodes fit: a: has 2 cpu, 2500m is asked for');
});

test('what asks for nothing fits where everything is taken', t => {
	const nodes = [sized('a', '1', '1Gi')];
	t.is(where(aPod(), {nodes, pods: [asking('1', '1Gi', 'all', {nodeName: 'a'})]}), 'a');
});

test('init containers count where the largest of them is more than all others together, limits where there are no requests', t => {
	const nodes = [sized('a', '1', '1Gi')];
	const of = (cpu: string) => aContainer({resources: {limits: {cpu}}});
	t.is(where(aPod({spec: {containers: [of('400m'), of('600m')], initContainers: [of('1'), of('900m')]}}), {nodes}), 'a');
	t.is(
		where(aPod({spec: {containers: [of('100m')], initContainers: [of('1100m')]}}), {nodes}),
		'0/1 nodes fit: a: has 1 cpu, 1100m is asked for',
	);
});

const ofClass = (runtimeClassName: RuntimeClass | undefined, spec: Partial<PodSpec> = {}): Pod =>
	aPod({spec: {...spec, ...(runtimeClassName === undefined ? {} : {runtimeClassName})}});

test('a pod goes only where its class is run, and of the others it is told why', t => {
	const before = aNode({name: 'before'});
	const docker = aNode({name: 'docker', status: {runtimeClasses: ['docker']}});
	const both = aNode({name: 'both', status: {runtimeClasses: ['process', 'docker']}});
	t.is(where(ofClass('docker'), {nodes: [before, docker]}), 'docker');
	t.is(where(ofClass('process'), {nodes: [docker, both]}), 'both');
	t.is(where(ofClass(undefined), {nodes: [before, docker]}), 'before');
	t.is(where(ofClass('process'), {nodes: [docker]}), '0/1 nodes fit: docker: runs no pods of class process');
	const message = 'the Engine does not answer';
	const condition = {type: dockerNotReady, status: 'True', reason: 'EngineHangs', message} as const;
	const hung = aNode({name: 'hung', status: {runtimeClasses: ['process'], conditions: [ready, condition]}});
	t.is(
		where(ofClass('docker'), {nodes: [before, hung]}),
		`0/2 nodes fit: before: runs no pods of class docker; hung: runs no pods of class docker: ${message}`,
	);
});

test('pods of one cycle that differ in their class alone are told apart', t => {
	const nodes = [aNode({name: 'a', status: {runtimeClasses: ['docker']}}), aNode({name: 'b', status: {runtimeClasses: ['process']}})];
	t.deepEqual(wheres([ofClass('docker'), ofClass('process'), ofClass('docker')], {nodes}), ['a', 'b', 'a']);
});

test('what is of the node is for pods of class docker only where its operator allows it', t => {
	const strict = aNode({name: 'strict', status: {runtimeClasses: ['docker'], runtimeFeatures: ['claims']}});
	const open = aNode({name: 'open', status: {runtimeClasses: ['docker'], runtimeFeatures: ['privileged']}});
	t.is(where(ofClass('docker', {hostNetwork: true}), {nodes: [strict, open]}), 'open');
	t.is(
		where(ofClass('docker', {hostPID: true}), {nodes: [strict]}),
		"0/1 nodes fit: strict: lacks privileged (privileged containers, namespaces of the host, capabilities beyond Docker's own and seccompProfile Unconfined need an agent with --allow-privileged)",
	);
});

test('a port of a container takes one of the node only where pods share its network', t => {
	const nodes = [aNode({status: {runtimeClasses: ['process', 'docker']}})];
	const listening = (name: string, runtimeClassName: RuntimeClass, hostPort?: number): Pod =>
		aPod({
			name,
			spec: {runtimeClassName, containers: [aContainer({ports: [{containerPort: 80, ...(hostPort === undefined ? {} : {hostPort})}]})]},
		});
	const taken = '0/1 nodes fit: node-a: port TCP/80 is taken';
	const placed = (...pods: readonly Pod[]): readonly string[] => wheres(pods, {nodes});
	t.deepEqual(placed(listening('a', 'docker'), listening('b', 'docker'), listening('c', 'process')), ['node-a', 'node-a', 'node-a']);
	t.deepEqual(placed(listening('a', 'process'), listening('b', 'docker'), listening('c', 'docker', 80)), ['node-a', 'node-a', taken]);
	t.deepEqual(placed(listening('a', 'docker', 80), listening('b', 'docker', 81), listening('c', 'docker', 80)), [
		'node-a',
		'node-a',
		taken,
	]);
	t.deepEqual(placed(listening('a', 'docker', 80), listening('b', 'process')), ['node-a', `${taken}${wayOut}`]);
});

test('a pod goes only where all is that it needs', t => {
	const plain = aNode({name: 'plain'});
	const able = aNode({name: 'able', status: {runtimeFeatures: ['users', 'volumes']}});
	const pod = aPod({spec: {containers: [aContainer({tty: true})], volumes: [{name: 'v', emptyDir: {}}]}});
	t.is(where(pod, {nodes: [plain, able]}), '0/2 nodes fit: able: lacks terminal; plain: lacks terminal and volumes');
	t.is(where(aPod({spec: {securityContext: {runAsUser: 5}}}), {nodes: [plain, able]}), 'able');
	t.is(where(asking('1', '1Mi', 'limited', {containers: [aContainer({resources: {limits: {cpu: '1'}}})]}), {nodes: [plain]}), 'plain');
});
