// Whole devices: counted by the scheduler like cpu and memory, shared out among the containers of a pod, and given back when it is over.

import test from 'ava';
import {withPodDefaults} from '../../api/defaults/pod.js';
import {succeeded} from '../../api/errors.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Container, Pod, PodSpec} from '../../api/kinds/pod.js';
import {schedulerStrategies} from '../../api/scheduler-strategies.js';
import {podRequests} from '../../api/pod-resources.js';
import {nodeController} from '../../actors/control/nodes/node.js';
import {usageTerms} from '../../actors/control/objects/quota-usage.js';
import {scheduler} from '../../actors/control/scheduling/scheduler.js';
import {gpuShareOf} from '../../actors/node/containers/gpu-share.js';
import {asEvicted, assignmentObject} from '../../actors/node/cache/assignment-object.js';
import {sandboxOf} from '../../actors/node/pods/hand-devices.js';
import {handState, type Assign} from '../../actors/node/pods/hand-state.js';
import {sandboxSpecOf} from '../../actors/node/pods/sandbox-spec.js';
import {functionAnnotation, functionContainer} from '../../api/function-instance.js';
import {isWellFormed} from '../../actors/protocol/sync-shape.js';
import {play} from '../../system/kernel/play.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer, aNode, aPod, contextWith, indexOf} from './_objects.js';
import {where, wheres} from './_scheduling.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const gpu = 'nvidia.com/gpu';
const having = (count: number, name = 'main', rest: Partial<Container> = {}): Container =>
	aContainer({name, resources: {requests: {[gpu]: String(count)}, limits: {[gpu]: String(count)}}, ...rest});
const asking = (count: number, name = 'web', spec: Partial<PodSpec> = {}, rest: object = {}): Pod =>
	aPod({name, spec: {containers: [having(count)], ...spec}, ...rest});
const gpus = (name: string, count?: number): NodeObject =>
	aNode({name, status: {allocatable: {cpu: '4', pods: '110', ...(count === undefined ? {} : {[gpu]: String(count)})}}});

// ---- the scheduler -------------------------------------------------------------------------------------------------------

test('a pod with GPUs goes where so many are free, and says of each node why it does not', t => {
	const held = asking(1, 'held', {nodeName: 'b'});
	const over = asking(2, 'over', {nodeName: 'b'}, {status: {phase: 'Succeeded'}});
	const world = {nodes: [gpus('a'), gpus('b', 2)], pods: [held, over]};
	t.is(where(asking(1), world), 'b');
	t.is(
		where(asking(2), world),
		'0/2 nodes fit: a: Insufficient nvidia.com/gpu: has 0, 2 asked for; b: Insufficient nvidia.com/gpu: too few are free for 2',
	);
	t.is(
		where(asking(3), world),
		'0/2 nodes fit: a: Insufficient nvidia.com/gpu: has 0, 3 asked for; b: Insufficient nvidia.com/gpu: has 2, 3 asked for',
	);
	t.is(where(asking(0), {nodes: [gpus('a')]}), 'a', 'none is asked for');
});

for (const strategy of schedulerStrategies)
	test(`${strategy}: no device is given out twice in one cycle, nor one whose bind is on its way`, t => {
		const pods = ['p', 'q', 'r', 's'].map(name => asking(1, name));
		const placed = wheres(pods, {nodes: [gpus('a', 1), gpus('b', 2), gpus('c')], strategy, asked: [[asking(1, 'asked'), 'b']]});
		const reasons = placed.slice(2);
		t.deepEqual(placed.slice(0, 2).sort(), ['a', 'b']);
		t.true(
			reasons.every(why => why.startsWith('0/3 nodes fit: a: Insufficient nvidia.com/gpu: too few are free for 1;')),
			reasons[0],
		);
	});

test('pods of a higher priority preempt pods that have the devices, and no others', t => {
	const low = asking(1, 'low', {nodeName: 'a', priority: 1});
	const bystander = aPod({name: 'bystander', spec: {nodeName: 'a', priority: 0}});
	const {effects} = play(scheduler, null, [], contextWith(indexOf(gpus('a', 1), low, bystander, asking(1, 'high', {priority: 100}))));
	const asked = effects.flatMap(effect =>
		effect.type === 'update' ? [`${(effect as {message: {type: string}}).message.type} ${effect.key}`] : [],
	);
	t.deepEqual(asked, ['preempt pods/default/low', 'nominate pods/default/high']);
	const {effects: none} = play(scheduler, null, [], contextWith(indexOf(gpus('b'), low, asking(1, 'high', {priority: 100}))));
	t.false(none.some(effect => effect.type === 'update' && (effect as {message: {type: string}}).message.type === 'preempt'));
});

test('a node advertises what its agent says, and nothing where that says none', t => {
	const heard = (count?: number): unknown => {
		const info = {...anInfo, ...(count === undefined ? {} : {gpus: count})};
		const handled = nodeController.receive?.(aNode(), {type: 'heard', info, version: '1'} as never, contextWith(indexOf()));
		const {capacity, allocatable} = (handled as {object: NodeObject}).object.status ?? {};
		return [capacity?.[gpu], allocatable?.[gpu]];
	};
	t.deepEqual(heard(2), ['2', '2']);
	t.deepEqual(heard(0), [undefined, undefined]);
	t.deepEqual(heard(), [undefined, undefined]);
});

const anInfo = {
	...{name: 'process', version: '1', cpuMillis: 1, memoryBytes: 1, maxPods: 1, features: [], conditions: []},
	...{hostIP: '10.0.0.1', hostBootId: 'b', os: 'Linux', kernel: '6', architecture: 'amd64'},
};

test('what an agent says of its devices is a count, or it is not heard', t => {
	const hello = (count: unknown) =>
		({
			...{type: 'hello', protocol: 2, node: 'a', session: 's', lineage: '', epoch: 0, labels: {}, have: {}},
			info: {...anInfo, gpus: count},
		}) as never;
	for (const count of [0, 8, undefined]) t.true(isWellFormed(hello(count)), String(count));
	for (const count of [-1, '8', null, Number.NaN, 2 ** 60]) t.false(isWellFormed(hello(count)), String(count));
});

test('a quota adds up requests for devices, and what asks for nothing else is BestEffort', t => {
	t.deepEqual(usageTerms('ns', {containers: [having(2)]}), [
		{term: 'used=pods/ns/-B/', amount: 1},
		{term: 'used=requests.nvidia.com/gpu/ns/-B/', amount: 2},
	]);
});

test('what a template says of devices can be changed alone: its limit is not written down as a request', t => {
	const made = (count: number, more: object = {}) =>
		withPodDefaults({containers: [aContainer({resources: {limits: {[gpu]: count, ...more}}})]});
	t.deepEqual(made(1).containers[0]?.resources, {limits: {[gpu]: '1'}});
	t.deepEqual(made(1, {cpu: 1}).containers[0]?.resources, {requests: {cpu: '1'}, limits: {[gpu]: '1', cpu: '1'}});
	t.is(podRequests(made(2)).gpus, 2);
	t.deepEqual(withPodDefaults({containers: [having(1)]}).containers[0]?.resources, having(1).resources, 'what was said stays');
});

// ---- containers ------------------------------------------------------------------------------------------------------------

test('containers of a pod have devices of their own; init containers leave theirs to the next, sidecars keep theirs', t => {
	const sidecar = {restartPolicy: 'Always'} as const;
	const spec = {
		initContainers: [having(3, 'first'), having(1, 'side', sidecar), having(1, 'second'), aContainer({name: 'none'})],
		containers: [having(1, 'web'), aContainer({name: 'plain'}), having(1, 'model')],
	};
	const shares = [...spec.initContainers, ...spec.containers].map(each => [each.name, gpuShareOf(spec, each).gpus]);
	t.deepEqual(Object.fromEntries(shares as [string, unknown][]), {
		first: {first: 0, count: 3},
		side: {first: 0, count: 1},
		second: {first: 1, count: 1},
		none: undefined,
		web: {first: 1, count: 1},
		plain: undefined,
		model: {first: 2, count: 1},
	});
	t.is(podRequests(spec).gpus, 3);
});

test('a sandbox is told how many its pod has; an instance of a function with some begins in nothing that waited', t => {
	t.is(sandboxSpecOf(anAssignment({spec: {containers: [having(2)]}})).gpus, 2);
	t.is(sandboxSpecOf(anAssignment()).gpus, undefined);
	const annotations = {
		[functionAnnotation]: JSON.stringify({artifact: `sha256:${'0'.repeat(64)}`, runtime: 'python', concurrency: 1, timeoutMs: 1}),
	};
	const specOf = (container: Container) => sandboxSpecOf(anAssignment({annotations, spec: {containers: [container]}}));
	t.is(specOf(aContainer({name: functionContainer})).runner?.language, 'python');
	const {gpus: count, runner} = specOf(having(1, functionContainer));
	t.deepEqual([count, runner], [1, undefined]);
});

// ---- giving back -----------------------------------------------------------------------------------------------------------

const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1'};
const assignOf = (spec: Partial<PodSpec>): Assign => ({
	...{type: 'assign', key: 'pods/default/web', version: 'v1', replyTo},
	assignment: anAssignment({spec: {restartPolicy: 'Never', containers: [having(1)], ...spec}}),
});
const main = `${handAddress}/main`;
const nothing = succeeded({running: undefined, lastExit: undefined, nextAttempt: 0});
const release = 'uid-of-web/devices/release';
const over = {type: 'exited', exit: anExit({exitCode: 0})} as never;

function running(spec: Partial<PodSpec> = {}): Tree {
	const tree = openTree(assignOf(spec));
	tree.answer('uid-of-web/sandbox/ensure', succeeded(sandbox));
	tree.answer('uid-of-web/main/inspect', nothing);
	tree.answer('uid-of-web/main/start/0', succeeded(aRunningContainer()));
	return tree;
}

test('a pod that is over gives its devices back, and what fails is tried again', t => {
	const tree = running();
	t.false(tree.open.has(release));
	tree.tell(main, over);
	t.deepEqual([...tree.open.keys()], [release]);
	tree.answer(release, {ok: false, error: {code: 'ERR_RUNTIME', message: 'disk full'}} as never);
	t.deepEqual([...tree.open.keys()], []);
	tree.pass(300_000);
	tree.answer(release, succeeded(null));
	tree.pass(600_000);
	t.deepEqual([...tree.open.keys()], []);
	t.true(tree.lives(handAddress));
});

test('the next agent gives back what the one before was to, once it knows that the pod is over', t => {
	const tree = openTree(assignOf({}), 'resumed');
	tree.answer('uid-of-web/sandbox/ensure', succeeded(sandbox));
	t.false(tree.open.has(release));
	tree.answer('uid-of-web/main/inspect', succeeded({running: undefined, lastExit: anExit({exitCode: 0}), nextAttempt: 1}));
	t.deepEqual([...tree.open.keys()], [release]);
});

test('a pod keeps its devices while its container begins again, and while it is ended', t => {
	const again = running({restartPolicy: 'Always'});
	again.tell(main, over);
	again.pass(1_000);
	t.false(again.open.has(release));
	const late = running({activeDeadlineSeconds: 60});
	late.pass(60_000);
	t.deepEqual([...late.open.keys()], ['uid-of-web/main/stop/0/30000'], 'it has failed, and still runs');
	late.answer('uid-of-web/main/stop/0/30000', succeeded(anExit({exitCode: 143})));
	t.deepEqual([...late.open.keys()], [release]);
});

test('a pod whose init container has failed for good gives its devices back, though the others never began', t => {
	const tree = openTree(assignOf({initContainers: [having(1, 'init')]}));
	tree.answer('uid-of-web/sandbox/ensure', succeeded(sandbox));
	tree.answer('uid-of-web/main/inspect', nothing);
	tree.answer('uid-of-web/init/inspect', nothing);
	tree.answer('uid-of-web/init/start/0', succeeded(aRunningContainer()));
	tree.tell(`${handAddress}/init`, {type: 'exited', exit: anExit({exitCode: 1})} as never);
	t.deepEqual([...tree.open.keys()], [release]);
});

test('a pod without devices gives none back', t => {
	const tree = running({containers: [aContainer()]});
	tree.tell(main, over);
	t.deepEqual([...tree.open.keys()], []);
});

test('what the node has ended takes no devices again, whichever agent looks after it', t => {
	const {assignment} = assignOf({});
	if (assignment === null) return t.fail();
	const object = assignmentObject(assignment, 'v1', 0);
	t.is(sandboxOf(handState(object, 0)).gpus, 1);
	const {gpus: count, ...rest} = sandboxOf(handState(asEvicted(object, 'the node was low on resource: memory'), 0));
	t.is(count, undefined);
	t.deepEqual(rest, sandboxSpecOf(anAssignment({spec: {restartPolicy: 'Never'}})));
});

// ---- waiting for them ------------------------------------------------------------------------------------------------------

const ensured = 'uid-of-web/sandbox/ensure';
const tooFew = {ok: false, error: {code: 'ERR_RUNTIME', message: 'too few are free'}} as never;
const devicesFree = {type: 'devicesFree'} as const;

test('a pod that waits for devices asks again as soon as some are free, however long it would have waited', t => {
	const tree = openTree(assignOf({}));
	for (let tries = 0; tries < 8; tries++) {
		tree.answer(ensured, tooFew);
		tree.pass(300_000);
	}
	tree.answer(ensured, tooFew);
	t.false(tree.open.has(ensured));
	tree.tell(`${handAddress}/_infra`, devicesFree);
	t.true(tree.open.has(ensured));
	// They came free between this answer and its being told.
	tree.tell(`${handAddress}/_infra`, devicesFree);
	tree.answer(ensured, tooFew);
	t.true(tree.open.has(ensured));
	tree.answer(ensured, succeeded(sandbox));
	tree.answer('uid-of-web/main/inspect', nothing);
	tree.answer('uid-of-web/main/start/0', succeeded(aRunningContainer()));
	tree.tell(`${handAddress}/_infra`, devicesFree);
	t.deepEqual([...tree.open.keys()], [], 'what has its own asks for none');
});
