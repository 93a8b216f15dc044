// Init containers: one after another, each to success, before the others; also when the agent starts again in the middle.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import type {ContainerStatus, PodStatus, RestartPolicy} from '../../api/kinds/pod.js';
import type {Assign} from '../../actors/node/pods/hand-state.js';
import type {ContainerExit} from '../../actors/node/runtime/runtime-port.js';
import {startOrderOf} from '../../actors/node/pods/start-order.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer} from './_objects.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const initContainers = [aContainer({name: 'one'}), aContainer({name: 'two'})];
const assignOf = (restartPolicy: RestartPolicy = 'Always', overrides = {}): Assign => ({
	type: 'assign',
	key: 'pods/default/web',
	version: 'v1',
	assignment: anAssignment({...overrides, spec: {restartPolicy, initContainers}}),
});
const nothing = {running: undefined, lastExit: undefined, nextAttempt: 0};
const key = (container: string, step: string): string => `uid-of-web/${container}/${step}`;
const starts = ({open}: Tree): string[] => [...open.keys()].filter(each => each.includes('/start/'));

function opened(policy: RestartPolicy = 'Always', how: 'fresh' | 'resumed' = 'fresh', seen: Record<string, object> = {}): Tree {
	const tree = openTree(assignOf(policy), how);
	tree.answer('uid-of-web/sandbox/ensure', succeeded(sandbox));
	for (const name of ['one', 'two', 'main']) tree.answer(key(name, 'inspect'), succeeded({...nothing, ...seen[name]}));
	return tree;
}

function runs(tree: Tree, container: string, attempt = 0): void {
	tree.answer(key(container, `start/${attempt}`), succeeded(aRunningContainer(attempt)));
}
const ends = (tree: Tree, container: string, exit: Partial<ContainerExit>): void =>
	tree.tell(`${handAddress}/${container}`, {type: 'exited', exit: anExit(exit)} as never);

const statusOf = ({sent}: Tree): PodStatus | undefined =>
	sent.flatMap(({message}) => (message.type === 'podReport' ? [message['status'] as PodStatus] : [])).at(-1);
const initialized = (tree: Tree): unknown => {
	const found = statusOf(tree)?.conditions?.find(({type}) => type === 'Initialized');
	return [found?.status, found?.reason, found?.message];
};
const waitingOf = (tree: Tree): unknown[] =>
	[...(statusOf(tree)?.initContainerStatuses ?? []), ...(statusOf(tree)?.containerStatuses ?? [])].map(({state}) => state?.waiting?.reason);

test('each starts when the one before has succeeded, the others after all of them', t => {
	const tree = opened();
	t.deepEqual(starts(tree), [key('one', 'start/0')]);
	runs(tree, 'one');
	t.deepEqual(starts(tree), []);
	t.deepEqual(initialized(tree), ['False', 'ContainersNotInitialized', 'containers with incomplete status: [one two]']);
	t.is(statusOf(tree)?.phase, 'Pending');
	t.deepEqual(waitingOf(tree), [undefined, 'PodInitializing', 'PodInitializing']);
	ends(tree, 'one', {exitCode: 0});
	t.deepEqual(starts(tree), [key('two', 'start/0')]);
	runs(tree, 'two');
	t.deepEqual(initialized(tree), ['False', 'ContainersNotInitialized', 'containers with incomplete status: [two]']);
	ends(tree, 'two', {exitCode: 0});
	t.deepEqual(initialized(tree), ['True', undefined, undefined]);
	t.deepEqual(starts(tree), [key('main', 'start/0')]);
	runs(tree, 'main');
	t.like(statusOf(tree), {
		phase: 'Running',
		initContainerStatuses: [
			{name: 'one', ready: true, state: {terminated: {exitCode: 0}}},
			{name: 'two', ready: true, state: {terminated: {exitCode: 0}}},
		],
		containerStatuses: [{name: 'main', ready: true}],
	});
	t.deepEqual([...tree.open.keys()], []);
});

for (const policy of ['Always', 'OnFailure'] as const) {
	test(`one that fails is tried again, with restartPolicy ${policy}, and holds back the rest`, t => {
		const tree = opened(policy);
		runs(tree, 'one');
		ends(tree, 'one', {exitCode: 7});
		t.deepEqual(starts(tree), [key('one', 'start/1')]);
		runs(tree, 'one', 1);
		ends(tree, 'one', {attempt: 1, exitCode: 7});
		t.like(statusOf(tree), {phase: 'Pending', initContainerStatuses: [{state: {waiting: {reason: 'CrashLoopBackOff'}}, restartCount: 1}]});
		tree.pass(100);
		runs(tree, 'one', 2);
		ends(tree, 'one', {attempt: 2, exitCode: 0});
		t.deepEqual(starts(tree), [key('two', 'start/0')]);
	});
}

test('with restartPolicy Never the pod has failed, and nothing else starts', t => {
	const tree = opened('Never');
	runs(tree, 'one');
	ends(tree, 'one', {exitCode: 7});
	t.deepEqual([...tree.open.keys()], []);
	t.like(statusOf(tree), {phase: 'Failed', initContainerStatuses: [{ready: false, state: {terminated: {exitCode: 7}}}]});
	t.deepEqual(waitingOf(tree), [undefined, 'PodInitializing', 'PodInitializing']);
});

const clean = anExit({exitCode: 0});

test('after a restart of the agent those that are done are not run again', t => {
	const tree = opened('Always', 'resumed', {one: {lastExit: clean, nextAttempt: 1}, two: {running: aRunningContainer(), nextAttempt: 1}});
	t.deepEqual(starts(tree), []);
	t.like(statusOf(tree), {initContainerStatuses: [{ready: true}, {state: {running: {startedAt: '2023-11-14T22:13:20.000Z'}}}]});
	ends(tree, 'two', {exitCode: 0});
	t.deepEqual(starts(tree), [key('main', 'start/0')]);
});

test('nor is any of them once a main container has begun', t => {
	const tree = opened('Always', 'resumed', {one: {lastExit: clean, nextAttempt: 1}, main: {running: aRunningContainer(), nextAttempt: 1}});
	t.deepEqual(starts(tree), []);
	t.like(statusOf(tree), {phase: 'Running'});
	t.deepEqual(initialized(tree), ['True', undefined, undefined]);
	ends(tree, 'main', {});
	t.deepEqual(starts(tree), [key('main', 'start/1')]);
});

test('a pod that is deleted meanwhile stops the one that runs, and starts none', t => {
	const tree = opened();
	runs(tree, 'one');
	tree.tell(handAddress, assignOf('Always', {deletionGraceSeconds: 30}));
	t.deepEqual([...tree.open.keys()], [key('one', 'stop/0/30000')]);
	tree.answer(key('one', 'stop/0/30000'), succeeded(clean));
	t.deepEqual([...tree.open.keys()], ['uid-of-web/sandbox/remove']);
	tree.answer('uid-of-web/sandbox/remove', succeeded(null));
	t.false(tree.lives(handAddress));
});

test('one whose actor crashed is found as it is', t => {
	const tree = opened();
	runs(tree, 'one');
	ends(tree, 'one', {exitCode: 0});
	runs(tree, 'two');
	tree.crash(`${handAddress}/two`);
	tree.answer(key('two', 'inspect'), succeeded({...nothing, lastExit: clean, nextAttempt: 1}));
	t.deepEqual(starts(tree), [key('main', 'start/0')]);
});

test('whoever never started has neither succeeded nor failed, whatever its code', t => {
	const spec = anAssignment({spec: {initContainers}}).spec;
	const never = {name: 'one', restartCount: 0, state: {terminated: {exitCode: 0, reason: 'NeverStarted'}}} as unknown as ContainerStatus;
	t.deepEqual(startOrderOf(spec, {one: never}).mayStart, ['one']);
	const done = {...never, state: {terminated: {exitCode: 0, reason: 'Completed'}}} as unknown as ContainerStatus;
	t.deepEqual(startOrderOf(spec, {one: done}).mayStart, ['two']);
});
