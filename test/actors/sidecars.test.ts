// Sidecars: init containers that run on beside the others, restarted whatever the pod's policy is, and stopped after them.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import type {Container, PodStatus, RestartPolicy} from '../../api/kinds/pod.js';
import type {Assign} from '../../actors/node/pods/hand-state.js';
import {startOrderOf} from '../../actors/node/pods/start-order.js';
import type {ContainerExit, Sandbox} from '../../actors/node/runtime/runtime-port.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer} from './_objects.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const sidecar = (name: string, overrides: Partial<Container> = {}): Container => aContainer({name, restartPolicy: 'Always', ...overrides});
const initContainers = [sidecar('proxy'), aContainer({name: 'setup'}), sidecar('logs')];
const names = ['proxy', 'setup', 'logs', 'main'];
const assignOf = (restartPolicy: RestartPolicy = 'Always', overrides = {}, init: readonly Container[] = initContainers): Assign => ({
	type: 'assign',
	key: 'pods/default/web',
	version: 'v1',
	assignment: anAssignment({...overrides, spec: {restartPolicy, initContainers: init, terminationGracePeriodSeconds: 30}}),
});
const ensure = 'uid-of-web/sandbox/ensure';
const nothing = {running: undefined, lastExit: undefined, nextAttempt: 0};
const clean = anExit({exitCode: 0});
const killed = anExit({exitCode: 143, signal: 15});
const key = (container: string, step: string): string => `uid-of-web/${container}/${step}`;
const openOf = ({open}: Tree): string[] => [...open.keys()];
const runs = (tree: Tree, name: string, attempt = 0): void =>
	tree.answer(key(name, `start/${attempt}`), succeeded(aRunningContainer(attempt)));
const ends = (tree: Tree, name: string, exit: ContainerExit): void => tree.tell(`${handAddress}/${name}`, {type: 'exited', exit} as never);
const statusOf = ({sent}: Tree): PodStatus | undefined =>
	sent.flatMap(({message}) => (message.type === 'podReport' ? [message['status'] as PodStatus] : [])).at(-1);
const phasesOf = ({sent}: Tree): unknown[] => [
	...new Set(sent.flatMap(({message}) => (message.type === 'podReport' ? [(message['status'] as PodStatus).phase] : []))),
];
const conditionOf = (tree: Tree, wanted: string): unknown => {
	const found = statusOf(tree)?.conditions?.find(({type}) => type === wanted);
	return [found?.status, found?.message];
};

function opened(
	policy: RestartPolicy = 'Always',
	how: 'fresh' | 'resumed' = 'fresh',
	seen: Record<string, object> = {},
	where: Sandbox = sandbox,
): Tree {
	const tree = openTree(assignOf(policy), how);
	tree.answer(ensure, succeeded(where));
	for (const name of names) tree.answer(key(name, 'inspect'), succeeded({...nothing, ...seen[name]}));
	return tree;
}

function running(policy: RestartPolicy = 'Always'): Tree {
	const tree = opened(policy);
	runs(tree, 'proxy');
	runs(tree, 'setup');
	ends(tree, 'setup', clean);
	runs(tree, 'logs');
	runs(tree, 'main');
	return tree;
}

test('the next one starts when a sidecar has started, and all of them count as ready or not', t => {
	const tree = opened();
	t.deepEqual(openOf(tree), [key('proxy', 'start/0')]);
	runs(tree, 'proxy');
	t.deepEqual(openOf(tree), [key('setup', 'start/0')]);
	runs(tree, 'setup');
	t.deepEqual(conditionOf(tree, 'Initialized'), ['False', 'containers with incomplete status: [setup logs]']);
	ends(tree, 'setup', clean);
	t.deepEqual(openOf(tree), [key('logs', 'start/0')]);
	runs(tree, 'logs');
	t.deepEqual(openOf(tree), [key('main', 'start/0')]);
	runs(tree, 'main');
	t.like(statusOf(tree), {
		phase: 'Running',
		initContainerStatuses: [
			{name: 'proxy', ready: true, started: true},
			{name: 'setup', ready: true, state: {terminated: {exitCode: 0}}},
			{name: 'logs', ready: true, started: true},
		],
	});
	t.deepEqual(conditionOf(tree, 'Ready'), ['True', undefined]);
	t.deepEqual(openOf(tree), []);
});

test('one with a startup probe has started when that has passed', t => {
	const probed = sidecar('proxy', {startupProbe: {tcpSocket: {port: 80}}});
	const tree = openTree(assignOf('Always', {}, [probed]));
	tree.answer(ensure, succeeded(sandbox));
	for (const name of ['proxy', 'main']) tree.answer(key(name, 'inspect'), succeeded(nothing));
	runs(tree, 'proxy');
	t.true(tree.lives(`${handAddress}/proxy/startup-0`));
	t.false(openOf(tree).includes(key('main', 'start/0')));
	tree.tell(`${handAddress}/proxy`, {type: 'probeNews', probe: 'startup', attempt: 0, passed: true, failure: undefined} as never);
	t.true(openOf(tree).includes(key('main', 'start/0')));
});

for (const policy of ['Always', 'OnFailure', 'Never'] as const) {
	test(`one that ends is started again with restartPolicy ${policy}, whatever its code`, t => {
		const tree = running(policy);
		ends(tree, 'proxy', clean);
		t.deepEqual(openOf(tree), [key('proxy', 'start/1')]);
		t.deepEqual(conditionOf(tree, 'Ready'), ['False', 'containers with unready status: [proxy]']);
		t.is(statusOf(tree)?.phase, 'Running');
		runs(tree, 'proxy', 1);
		ends(tree, 'proxy', anExit({attempt: 1}));
		tree.pass(100);
		t.deepEqual(openOf(tree), [key('proxy', 'start/2')]);
	});
}

test('one that ends before the main containers begin holds back nothing that had its turn', t => {
	const tree = opened();
	runs(tree, 'proxy');
	runs(tree, 'setup');
	ends(tree, 'proxy', anExit());
	ends(tree, 'setup', clean);
	t.deepEqual(openOf(tree), [key('proxy', 'start/1'), key('logs', 'start/0')]);
});

test('a pod that is deleted stops them after its main containers, the last one first, within its grace', t => {
	const tree = running();
	tree.tell(handAddress, assignOf('Always', {deletionGraceSeconds: 10}));
	t.deepEqual(openOf(tree), [key('setup', 'stop/0/10000'), key('main', 'stop/0/10000')]);
	tree.answer(key('setup', 'stop/0/10000'), succeeded(clean));
	tree.pass(4_000);
	tree.answer(key('main', 'stop/0/10000'), succeeded(killed));
	t.deepEqual(openOf(tree), [key('logs', 'stop/0/6000')]);
	tree.pass(6_000);
	tree.answer(key('logs', 'stop/0/6000'), succeeded(killed));
	t.deepEqual(openOf(tree), [key('proxy', 'stop/0/2000')], 'each has a moment');
	tree.answer(key('proxy', 'stop/0/2000'), succeeded(killed));
	tree.answer('uid-of-web/sandbox/remove', succeeded(null));
	t.false(tree.lives(handAddress));
});

test('without a grace all are stopped at once', t => {
	const tree = running();
	tree.tell(handAddress, assignOf('Always', {deletionGraceSeconds: 0}));
	t.deepEqual(
		openOf(tree),
		names.map(name => key(name, 'stop/0/0')),
	);
});

for (const [code, phase] of [
	[0, 'Succeeded'],
	[3, 'Failed'],
] as const) {
	test(`a pod whose main containers have ended with ${code} is ${phase} once its sidecars were stopped`, t => {
		const tree = running('Never');
		ends(tree, 'main', anExit({exitCode: code}));
		t.is(statusOf(tree)?.phase, 'Running');
		t.deepEqual(openOf(tree), [key('logs', 'stop/0/30000')]);
		tree.answer(key('logs', 'stop/0/30000'), succeeded(killed));
		t.is(statusOf(tree)?.phase, 'Running');
		tree.answer(key('proxy', 'stop/0/30000'), succeeded(killed));
		t.is(statusOf(tree)?.phase, phase);
		t.deepEqual(openOf(tree), []);
	});
}

test('a pod of which an init container failed for good stops those that run', t => {
	const tree = opened('Never');
	runs(tree, 'proxy');
	runs(tree, 'setup');
	ends(tree, 'setup', anExit({exitCode: 7}));
	t.deepEqual(openOf(tree), [key('proxy', 'stop/0/30000')]);
	tree.answer(key('proxy', 'stop/0/30000'), succeeded(killed));
	t.is(statusOf(tree)?.phase, 'Failed');
	t.deepEqual(openOf(tree), []);
});

test('after a restart of the agent they are adopted or started again, and of a pod that is over they are not', t => {
	const adopted = {running: aRunningContainer(), nextAttempt: 1};
	const done = {lastExit: clean, nextAttempt: 1};
	const tree = opened('OnFailure', 'resumed', {proxy: adopted, setup: done, logs: {lastExit: killed, nextAttempt: 1}, main: adopted});
	t.deepEqual(openOf(tree), [key('logs', 'start/1')]);
	const over = opened('OnFailure', 'resumed', {proxy: {lastExit: killed, nextAttempt: 1}, setup: done, logs: adopted, main: done});
	t.deepEqual(openOf(over), [key('logs', 'stop/0/30000')]);
	over.answer(key('logs', 'stop/0/30000'), succeeded(killed));
	t.false(openOf(over).some(each => each.includes('/start/')));
	for (const each of openOf(over)) over.answer(each, succeeded(killed));
	t.is(statusOf(over)?.phase, 'Succeeded');
	const long = opened('OnFailure', 'resumed', {
		proxy: {lastExit: killed, nextAttempt: 1},
		setup: done,
		logs: {lastExit: killed, nextAttempt: 1},
		main: done,
	});
	t.false(openOf(long).some(each => each.includes('/start/')));
	t.deepEqual(phasesOf(long), ['Succeeded']);
});

test('in a sandbox that was made anew they begin again in their order', t => {
	const tree = running();
	tree.tell(`${handAddress}/_infra`, {type: 'sandboxLost'});
	tree.answer(ensure, succeeded({...sandbox, isLost: true}));
	tree.answer(key('setup', 'stop/0/30000'), succeeded(clean));
	tree.answer(key('main', 'stop/0/30000'), succeeded(killed));
	tree.answer(key('logs', 'stop/0/30000'), succeeded(killed));
	tree.answer(key('proxy', 'stop/0/30000'), succeeded(killed));
	tree.answer(ensure, succeeded({...sandbox, firstAttempts: {proxy: 1, setup: 1, logs: 1, main: 1}}));
	for (const name of names)
		tree.answer(key(name, 'inspect'), succeeded({...nothing, lastExit: name === 'setup' ? clean : killed, nextAttempt: 1}));
	t.deepEqual(openOf(tree), [key('proxy', 'start/1')]);
	runs(tree, 'proxy', 1);
	t.deepEqual(openOf(tree), [key('setup', 'start/1')]);
});

test('those before the one whose turn it is may start again', t => {
	const spec = anAssignment({spec: {initContainers}}).spec;
	const status = (name: string, rest: object) => ({name, ready: false, restartCount: 0, image: 'x', imageID: '', ...rest});
	const crashed = status('proxy', {state: {waiting: {reason: 'CrashLoopBackOff'}}, lastState: {terminated: {exitCode: 1}}});
	const begun = status('setup', {state: {running: {startedAt: ''}}});
	t.deepEqual(startOrderOf(spec, {proxy: crashed, setup: begun}).mayStart, ['proxy', 'setup']);
	t.deepEqual(startOrderOf(spec, {proxy: crashed}).mayStart, ['proxy']);
});
