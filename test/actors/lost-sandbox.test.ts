// A sandbox that dies: what runs in it is stopped, it is made anew, and the pod begins again in it, as Kubernetes has it.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {PodStatus, RestartPolicy} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {Assign} from '../../actors/node/pods/hand-state.js';
import {startOrderOf} from '../../actors/node/pods/start-order.js';
import type {ContainerExit, Sandbox} from '../../actors/node/runtime/runtime-port.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer} from './_objects.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const names = ['first', 'main'];
const assignOf = (restartPolicy: RestartPolicy = 'Always', overrides = {}): Assign => ({
	type: 'assign',
	key: 'pods/default/web',
	version: 'v1',
	assignment: anAssignment({
		...overrides,
		spec: {restartPolicy, initContainers: [aContainer({name: 'first'})], terminationGracePeriodSeconds: 30},
	}),
});

const ensure = 'uid-of-web/sandbox/ensure';
const key = (container: string, step: string): string => `uid-of-web/${container}/${step}`;
const nothing = {running: undefined, lastExit: undefined, nextAttempt: 0};
const clean = anExit({exitCode: 0});
const killed = anExit({exitCode: 143, signal: 15});
const lost: Sandbox = {...sandbox, isLost: true};
const another: Sandbox = {...sandbox, podIP: '127.1.0.6', firstAttempts: {first: 1, main: 1}};

const look = (tree: Tree, seen: Record<string, object> = {}): void =>
	names.forEach(name => tree.answer(key(name, 'inspect'), succeeded({...nothing, ...seen[name]})));
const runs = (tree: Tree, name: string, attempt = 0): void =>
	tree.answer(key(name, `start/${attempt}`), succeeded(aRunningContainer(attempt)));
const ends = (tree: Tree, name: string, exit: ContainerExit): void => tree.tell(`${handAddress}/${name}`, {type: 'exited', exit} as never);
const loses = (tree: Tree): void => tree.tell(`${handAddress}/_infra`, {type: 'sandboxLost'});
const openOf = ({open}: Tree): string[] => [...open.keys()];
const stopsFor = (tree: Tree, graceMs = 30_000): string[] => openOf(tree).filter(each => each.endsWith(`/${graceMs}`));

type Report = {readonly status: PodStatus; readonly events: readonly {readonly reason: string; readonly message: string}[]};
const reportsOf = ({sent}: Tree): Report[] =>
	sent.flatMap(({message}) => (message.type === 'podReport' ? [message as unknown as Report] : []));
const statusOf = (tree: Tree): PodStatus | undefined => reportsOf(tree).at(-1)?.status;
const changes = (tree: Tree): string[] =>
	reportsOf(tree).flatMap(({events}) => events.flatMap(({reason, message}) => (reason === 'SandboxChanged' ? [message] : [])));
const recreated = 'Pod sandbox changed, it will be killed and re-created.';

/** A pod that runs: its init container has succeeded. */
function running(policy: RestartPolicy = 'Always', overrides = {}): Tree {
	const tree = openTree(assignOf(policy, overrides));
	tree.answer(ensure, succeeded(sandbox));
	look(tree);
	runs(tree, 'first');
	ends(tree, 'first', clean);
	runs(tree, 'main');
	return tree;
}

/** Its sandbox has died, and nothing runs any more. */
function emptied(tree: Tree, exit: ContainerExit = killed): void {
	loses(tree);
	tree.answer(ensure, succeeded(lost));
	tree.answer(key('main', 'stop/0/30000'), succeeded(exit));
	tree.answer(key('first', 'stop/0/30000'), succeeded(clean));
}

const afterwards = {first: {lastExit: clean, nextAttempt: 1}, main: {lastExit: killed, nextAttempt: 1}};

test('what runs is stopped with the pod’s grace, then the sandbox is made anew, then all begins again', t => {
	const tree = running();
	loses(tree);
	t.deepEqual(openOf(tree), [ensure]);
	tree.answer(ensure, succeeded(lost));
	t.deepEqual(changes(tree), [recreated]);
	t.deepEqual(stopsFor(tree), [key('first', 'stop/0/30000'), key('main', 'stop/0/30000')]);
	tree.answer(key('first', 'stop/0/30000'), succeeded(clean));
	t.false(openOf(tree).includes(ensure), 'something still runs');
	tree.answer(key('main', 'stop/0/30000'), succeeded(killed));
	t.deepEqual(openOf(tree), [ensure]);
	const before = reportsOf(tree).length;
	tree.answer(ensure, succeeded(another));
	t.is(reportsOf(tree).length, before, 'nothing is told before all was looked at');
	look(tree, afterwards);
	t.deepEqual(openOf(tree), [key('first', 'start/1')]);
	t.like(statusOf(tree), {phase: 'Pending', podIP: '127.1.0.6', initContainerStatuses: [{state: {terminated: {exitCode: 0}}}]});
	runs(tree, 'first', 1);
	t.deepEqual(openOf(tree), []);
	ends(tree, 'first', {...clean, attempt: 1});
	t.deepEqual(openOf(tree), [key('main', 'start/1')]);
	runs(tree, 'main', 1);
	t.like(statusOf(tree), {
		phase: 'Running',
		podIP: '127.1.0.6',
		containerStatuses: [{ready: true, restartCount: 1, lastState: {terminated: {exitCode: 143}}}],
	});
	t.deepEqual(changes(tree), [recreated], 'it is told once');
	t.deepEqual(openOf(tree), []);
});

test('where nothing runs it is made anew at once', t => {
	const tree = running();
	ends(tree, 'main', anExit());
	tree.answer(key('main', 'start/1'), failed('ERR_RUNTIME', {message: 'cannot join the network of a container that is gone'}));
	loses(tree);
	tree.answer(ensure, succeeded(another));
	look(tree, {first: {lastExit: clean, nextAttempt: 1}, main: {lastExit: anExit(), nextAttempt: 1}});
	t.deepEqual(openOf(tree), [key('first', 'start/1')]);
	t.deepEqual(changes(tree), [recreated]);
	tree.pass(60_000);
	t.deepEqual(openOf(tree), [key('first', 'start/1')], 'the start that waited is forgotten');
});

test('a program that has succeeded is not run again with restartPolicy OnFailure, and the pod has not ended meanwhile', t => {
	const tree = running('OnFailure');
	emptied(tree);
	t.deepEqual([...new Set(reportsOf(tree).map(({status}) => status.phase))], ['Pending', 'Running']);
	tree.answer(ensure, succeeded(another));
	look(tree, afterwards);
	t.deepEqual(openOf(tree), [key('first', 'start/1')]);

	const done = running('OnFailure');
	emptied(done, clean);
	done.answer(ensure, succeeded(another));
	look(done, {...afterwards, main: {lastExit: clean, nextAttempt: 1}});
	t.deepEqual(openOf(done), []);
	t.like(statusOf(done), {phase: 'Succeeded', conditions: [{type: 'Initialized', status: 'True'}]});
});

test('with restartPolicy Never nothing is made anew: the pod ends as its containers do', t => {
	const tree = running('Never');
	emptied(tree);
	t.deepEqual(openOf(tree), []);
	t.deepEqual(changes(tree), ['Pod sandbox changed, it will be killed.']);
	t.is(statusOf(tree)?.phase, 'Failed');
	const succeeds = running('Never');
	emptied(succeeds, clean);
	t.is(statusOf(succeeds)?.phase, 'Succeeded');
});

test('with restartPolicy Never what has not begun never begins, also not for the next agent', t => {
	const tree = openTree(assignOf('Never'));
	tree.answer(ensure, succeeded(sandbox));
	look(tree);
	runs(tree, 'first');
	loses(tree);
	tree.answer(ensure, succeeded(lost));
	tree.answer(key('first', 'stop/0/30000'), succeeded(clean));
	t.deepEqual(openOf(tree), []);
	t.is(statusOf(tree)?.phase, 'Failed');

	const next = openTree(assignOf('Never'), 'resumed');
	next.answer(ensure, succeeded({...another, firstAttempts: {first: 1}}));
	look(next, {first: {lastExit: clean, nextAttempt: 1}});
	t.deepEqual(openOf(next), []);
	t.is(statusOf(next)?.phase, 'Failed');
});

test('with restartPolicy Never a pod of which nothing has run yet begins in the next sandbox', t => {
	const tree = openTree(assignOf('Never'));
	tree.answer(ensure, succeeded({...sandbox, firstAttempts: {}}));
	look(tree);
	t.deepEqual(openOf(tree), [key('first', 'start/0')]);
});

test('the next agent finds out by itself, whether something runs or not', t => {
	const tree = openTree(assignOf(), 'resumed');
	tree.answer(ensure, succeeded(lost));
	look(tree, {first: {lastExit: clean, nextAttempt: 1}, main: {running: aRunningContainer(), nextAttempt: 1}});
	t.deepEqual(openOf(tree), [key('main', 'stop/0/30000')]);
	tree.answer(key('main', 'stop/0/30000'), succeeded(killed));
	tree.answer(ensure, succeeded(another));
	look(tree, afterwards);
	t.deepEqual(openOf(tree), [key('first', 'start/1')]);
	t.deepEqual(changes(tree), [recreated]);

	const rebooted = openTree(assignOf(), 'resumed');
	rebooted.answer(ensure, succeeded(another));
	look(rebooted, afterwards);
	t.deepEqual(openOf(rebooted), [key('first', 'start/1')]);
});

test('what ran in the sandbox of now counts for the next agent', t => {
	const tree = openTree(assignOf(), 'resumed');
	tree.answer(ensure, succeeded(another));
	look(tree, {first: {lastExit: {...clean, attempt: 1}, nextAttempt: 2}, main: {lastExit: killed, nextAttempt: 1}});
	t.deepEqual(openOf(tree), [key('main', 'start/1')]);
});

test('a pod that ends goes on ending', t => {
	const tree = running();
	tree.tell(handAddress, assignOf('Always', {deletionGraceSeconds: 5}));
	loses(tree);
	tree.answer(ensure, succeeded(lost));
	t.deepEqual(changes(tree), []);
	tree.answer(key('main', 'stop/0/5000'), succeeded(killed));
	tree.answer(key('first', 'stop/0/5000'), succeeded(clean));
	tree.answer('uid-of-web/sandbox/remove', succeeded(null));
	t.false(tree.lives(handAddress));
});

test('a pod that is deleted while its sandbox is made anew is gone once that is there', t => {
	const tree = running();
	emptied(tree);
	tree.tell(handAddress, assignOf('Always', {deletionGraceSeconds: 5}));
	for (const name of names) tree.answer(key(name, 'stop/0/5000'), succeeded(name === 'main' ? killed : clean));
	t.true(openOf(tree).includes('uid-of-web/sandbox/remove'));
	tree.answer(ensure, succeeded(another));
	tree.answer('uid-of-web/sandbox/remove', succeeded(null));
	t.false(tree.lives(handAddress));
});

test('an actor of a container that crashes hears again that it is to stop, and later in which sandbox it is', t => {
	const tree = running();
	loses(tree);
	tree.answer(ensure, succeeded(lost));
	tree.answer(key('first', 'stop/0/30000'), succeeded(clean));
	tree.crash(`${handAddress}/main`);
	tree.answer(key('main', 'inspect'), succeeded({...nothing, running: aRunningContainer(), nextAttempt: 1}));
	t.true(openOf(tree).includes(key('main', 'stop/0/30000')));
	tree.answer(key('main', 'stop/0/30000'), succeeded(killed));
	tree.answer(ensure, succeeded(another));
	look(tree, afterwards);
	runs(tree, 'first', 1);
	ends(tree, 'first', {...clean, attempt: 1});
	runs(tree, 'main', 1);
	tree.crash(`${handAddress}/main`);
	const adopted = {...nothing, running: aRunningContainer(1), nextAttempt: 2};
	tree.answer(key('main', 'inspect'), succeeded(adopted));
	tree.answer(key('main', 'inspect'), succeeded(adopted));
	t.like(statusOf(tree), {phase: 'Running', containerStatuses: [{ready: true}]});
	t.deepEqual(openOf(tree), []);
});

test('a sandbox that keeps dying is looked after ever more rarely', t => {
	const tree = running();
	const die = (): boolean => {
		loses(tree);
		return openOf(tree).includes(ensure);
	};
	t.true(die());
	tree.answer(ensure, succeeded(sandbox));
	t.false(die());
	tree.pass(limits.containerBackoffFirstMs);
	tree.answer(ensure, succeeded(sandbox));
	t.false(die());
	tree.pass(limits.containerBackoffFirstMs);
	t.false(openOf(tree).includes(ensure));
	tree.pass(limits.containerBackoffFirstMs);
	t.true(openOf(tree).includes(ensure));
});

test('one that dies while it is asked for is asked for once more, and the first answer is none', t => {
	const tree = openTree(assignOf());
	loses(tree);
	tree.answer(ensure, succeeded(sandbox));
	t.deepEqual(openOf(tree), [ensure]);
	tree.answer(ensure, succeeded(another));
	t.deepEqual(openOf(tree), [key('first', 'inspect'), key('main', 'inspect')]);
});

test('a runtime that goes on saying that something runs is asked ever more rarely', t => {
	const tree = running();
	emptied(tree);
	tree.answer(ensure, succeeded(lost));
	for (const name of names) tree.answer(key(name, 'stop/0/30000'), succeeded(name === 'main' ? killed : clean));
	t.deepEqual(openOf(tree), []);
	tree.pass(limits.containerBackoffFirstMs);
	t.deepEqual(openOf(tree), [ensure]);
});

test('an exclusive pod waits for its lease in the next sandbox when it has lost it', t => {
	const annotations = {'troupe.dev/exclusive': 'true'};
	const tree = openTree(assignOf('Always', {annotations}));
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, {type: 'leaseHeld'});
	look(tree);
	runs(tree, 'first');
	ends(tree, 'first', clean);
	runs(tree, 'main');
	loses(tree);
	tree.answer(ensure, succeeded(lost));
	tree.tell(handAddress, {type: 'leaseLost'});
	tree.answer(key('first', 'stop/0/30000'), succeeded(clean));
	tree.answer(key('main', 'stop/0/30000'), succeeded(killed));
	tree.answer(ensure, succeeded(another));
	t.deepEqual(openOf(tree), []);
	tree.tell(handAddress, {type: 'leaseHeld'});
	look(tree, afterwards);
	t.deepEqual(openOf(tree), [key('first', 'start/1')]);
});

test('what was over before the sandbox died stays over, whatever its init containers did', t => {
	const spec = anAssignment({spec: {initContainers: [aContainer({name: 'first'})]}}).spec;
	const terminated = {exitCode: 0, reason: 'Completed'};
	const status = (name: string) => ({name, ready: false, restartCount: 0, image: 'x', imageID: '', state: {terminated}});
	const statuses = {first: status('first'), main: status('main')};
	t.like(startOrderOf(spec, statuses, {first: 1, main: 1}), {initialized: true, incomplete: []});
	t.like(startOrderOf(spec, {first: status('first')}, {first: 1}), {initialized: false, mayStart: ['first']});
	t.like(startOrderOf(spec, {first: status('first')}), {initialized: true, mayStart: ['main']});
});
