// A pod on its node: sandbox, then containers; and the other way round at the end, whatever state they are in.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {PodStatus} from '../../api/kinds/pod.js';
import {have, type AssignmentObject} from '../../actors/node/cache/assignment-object.js';
import {hand} from '../../actors/node/pods/hand.js';
import type {Assign, Evict} from '../../actors/node/pods/hand-state.js';
import type {Assignment} from '../../actors/protocol/sync-message.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {play, playContext, playFrom} from '../../system/kernel/play.js';
import {aContainer} from './_objects.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1 pods/default/web'};
const key = 'pods/default/web';
const assignOf = (assignment: Assignment | null, version = 'v1'): Assign => ({type: 'assign', key, version, assignment, replyTo});

const main = `${handAddress}/main`;
const ensure = 'uid-of-web/sandbox/ensure';
const remove = 'uid-of-web/sandbox/remove';
const inspect = 'uid-of-web/main/inspect';
const start = 'uid-of-web/main/start/0';
const stopFor = (graceMs: number, attempt = 0): string => `uid-of-web/main/stop/${attempt}/${graceMs}`;
const nothing = succeeded({running: undefined, lastExit: undefined, nextAttempt: 0});
const runtimeError = failed('ERR_RUNTIME', {message: 'no address left'});

const ending = (graceSeconds = 30): Assign => assignOf(anAssignment({deletionGraceSeconds: graceSeconds}), `ending-${graceSeconds}`);

type Report = {readonly type: 'podReport'; readonly status: PodStatus; readonly events: readonly {readonly reason: string}[]};
const reportsOf = ({sent}: Tree): Report[] =>
	sent.flatMap(({to, message}) => (to === 'troupe://node-a/sync' && message.type === 'podReport' ? [message as unknown as Report] : []));
const goneOf = ({sent}: Tree): unknown[] => sent.flatMap(({message}) => (message.type === 'podGone' ? [message['uid']] : []));

function running(assign: Assign = assignOf(anAssignment())): Tree {
	const tree = openTree(assign);
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, nothing);
	tree.answer(start, succeeded(aRunningContainer()));
	return tree;
}

/** What is left when a pod has ended: nothing, and it is said once. */
function assertGone(t: {is: (a: unknown, b: unknown) => void; deepEqual: (a: unknown, b: unknown) => void}, tree: Tree): void {
	t.is(tree.lives(handAddress), false);
	t.deepEqual(goneOf(tree), ['uid-of-web']);
	t.deepEqual([...tree.open.keys()], []);
}

test('an assignment is taken once it is kept; then comes the sandbox, then the containers', t => {
	const tree = openTree(assignOf(anAssignment()));
	t.deepEqual(tree.replies, [{ok: true, value: null}]);
	t.deepEqual([...tree.open.keys()], [ensure]);
	tree.answer(ensure, succeeded(sandbox));
	t.deepEqual([...tree.open.keys()], [inspect]);
	tree.answer(inspect, nothing);
	t.deepEqual([...tree.open.keys()], [start]);
	tree.answer(start, succeeded(aRunningContainer()));
	t.like(reportsOf(tree).at(-1), {status: {phase: 'Running', podIP: '127.1.0.5'}, events: [{reason: 'Started'}]});
});

const exclusive = {annotations: {'troupe.dev/exclusive': 'true'}};
const toLeases = ({sent}: Tree): string[] => sent.flatMap(({to, message}) => (to === 'troupe://node-a/leases' ? [message.type] : []));

test('an exclusive pod starts nothing before its lease is held', t => {
	const tree = openTree(assignOf(anAssignment(exclusive)));
	tree.answer(ensure, succeeded(sandbox));
	t.deepEqual([...tree.open.keys()], []);
	t.deepEqual(toLeases(tree), ['wantLease']);
	tree.tell(handAddress, {type: 'leaseHeld'});
	t.deepEqual([...tree.open.keys()], [inspect]);
});

test('an exclusive pod whose lease is lost is not started again before it is back', t => {
	const tree = openTree(assignOf(anAssignment(exclusive)));
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, {type: 'leaseHeld'});
	tree.answer(inspect, nothing);
	tree.answer(start, succeeded(aRunningContainer()));
	tree.tell(handAddress, {type: 'leaseLost'});
	t.is(tree.lives(main), false);
	t.like(reportsOf(tree).at(-1), {
		status: {containerStatuses: [{ready: false, state: {waiting: {reason: 'LeaseLost'}}}]},
		events: [{reason: 'LeaseLost'}],
	});
	tree.tell(handAddress, {type: 'leaseHeld'});
	t.deepEqual([...tree.open.keys()], [inspect]);
});

test('what an exclusive pod had initialised stays that when its lease is lost', t => {
	const init = {...exclusive, spec: {initContainers: [aContainer({name: 'one'})]}};
	const tree = openTree(assignOf(anAssignment(init)));
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, {type: 'leaseHeld'});
	tree.answer('uid-of-web/one/inspect', nothing);
	tree.answer(inspect, nothing);
	tree.answer('uid-of-web/one/start/0', succeeded(aRunningContainer()));
	tree.tell(`${handAddress}/one`, {type: 'exited', exit: anExit({exitCode: 0})} as never);
	tree.answer(start, succeeded(aRunningContainer()));
	tree.tell(handAddress, {type: 'leaseLost'});
	t.like(reportsOf(tree).at(-1)?.status.conditions?.[0], {type: 'Initialized', status: 'True'});
	tree.tell(handAddress, {type: 'leaseHeld'});
	tree.answer('uid-of-web/one/inspect', succeeded({running: undefined, lastExit: anExit({exitCode: 0}), nextAttempt: 1}));
	tree.answer(inspect, succeeded({running: undefined, lastExit: anExit({exitCode: 137}), nextAttempt: 1}));
	t.deepEqual([...tree.open.keys()], ['uid-of-web/main/start/1']);
});

test('an exclusive pod asks for its lease once more when that was forgotten, and runs on', t => {
	const tree = openTree(assignOf(anAssignment(exclusive)));
	tree.tell(handAddress, {type: 'leasesForgotten'});
	t.deepEqual(toLeases(tree), [], 'it has no sandbox yet');
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, {type: 'leaseHeld'});
	tree.tell(handAddress, {type: 'leasesForgotten'});
	t.deepEqual(toLeases(tree), ['wantLease', 'wantLease']);
	t.true(tree.lives(main));
	const another = running();
	another.tell(handAddress, {type: 'leasesForgotten'});
	t.deepEqual(toLeases(another), []);
});

test('an exclusive pod without its lease ends like any other, and gives the lease up', t => {
	const tree = openTree(assignOf(anAssignment(exclusive)));
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, assignOf(anAssignment({...exclusive, deletionGraceSeconds: 5}), 'ending'));
	tree.answer(inspect, nothing);
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
	t.deepEqual(toLeases(tree), ['wantLease', 'unwantLease']);
});

test('a deleted pod stops its containers, then goes its sandbox, then it is gone', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	t.deepEqual([...tree.open.keys()], [stopFor(30_000)]);
	tree.answer(stopFor(30_000), succeeded(anExit({exitCode: 143})));
	t.deepEqual([...tree.open.keys()], [remove]);
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod that is nobody’s any more is stopped with its own grace', t => {
	const tree = running();
	tree.tell(handAddress, assignOf(null));
	tree.answer(stopFor(30_000), succeeded(null));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod deleted while its container is inspected ends', t => {
	const tree = openTree(assignOf(anAssignment()));
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, assignOf(null));
	tree.answer(inspect, nothing);
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod deleted while its container is starting ends, whichever answer comes first', t => {
	for (const order of ['started first', 'stopped first']) {
		const tree = openTree(assignOf(anAssignment()));
		tree.answer(ensure, succeeded(sandbox));
		tree.answer(inspect, nothing);
		tree.tell(handAddress, ending());
		if (order === 'started first') tree.answer(start, succeeded(aRunningContainer()));
		tree.answer(stopFor(30_000), succeeded(anExit()));
		if (order === 'stopped first') tree.answer(start, runtimeError);
		tree.answer(remove, succeeded(null));
		assertGone(t, tree);
	}
});

test('a pod deleted while its container waits in back-off ends, and the container is not started again', t => {
	const tree = running();
	tree.tell(main, {type: 'exited', exit: anExit()} as never);
	tree.answer('uid-of-web/main/start/1', succeeded(aRunningContainer(1)));
	tree.tell(main, {type: 'exited', exit: anExit({attempt: 1})} as never);
	tree.tell(handAddress, ending());
	tree.pass(600_000);
	t.deepEqual([...tree.open.keys()], [stopFor(30_000, 2)]);
	tree.answer(stopFor(30_000, 2), succeeded(anExit({attempt: 1})));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod deleted before its sandbox is made looks at what an earlier agent left, and ends', t => {
	const tree = openTree(assignOf(anAssignment()));
	tree.tell(handAddress, ending());
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod deleted while its sandbox cannot be made ends: what there is of it is removed', t => {
	const waiting = openTree(assignOf(anAssignment()));
	waiting.answer(ensure, runtimeError);
	waiting.tell(handAddress, ending());
	waiting.answer(remove, succeeded(null));
	assertGone(t, waiting);
	const trying = openTree(assignOf(anAssignment()));
	trying.tell(handAddress, ending());
	trying.answer(ensure, runtimeError);
	trying.answer(remove, succeeded(null));
	assertGone(t, trying);
});

test('a removal that fails is tried again, and the pod does not come back to life meanwhile', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, runtimeError);
	t.like(reportsOf(tree).at(-1), {status: {reason: 'SandboxFailed'}});
	t.deepEqual([...tree.open.keys()], []);
	tree.pass(100);
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a grace that is shortened stops the containers sooner, a longer one changes nothing for them', t => {
	const tree = running();
	tree.tell(handAddress, ending(30));
	tree.tell(handAddress, ending(1));
	t.deepEqual([...tree.open.keys()], [stopFor(30_000), stopFor(1000)]);
	tree.answer(stopFor(1000), succeeded(anExit({exitCode: 137})));
	t.true(tree.open.has(remove));
	tree.answer(stopFor(30_000), succeeded(anExit({exitCode: 137})));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a container that runs again after its actor crashed is stopped all the same', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	tree.crash(main);
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a sandbox whose actor crashed is removed all the same', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.crash(`${handAddress}/_infra`);
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(stopFor(30_000), succeeded(null));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a removal that the cache does not take is tried again until it does', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.failCommits = true;
	tree.answer(remove, succeeded(null));
	t.true(tree.lives(handAddress));
	t.deepEqual(goneOf(tree), []);
	tree.failCommits = false;
	tree.pass(1000);
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a change that the cache does not take while the sandbox goes is no sign that it is gone', t => {
	const tree = running();
	tree.tell(handAddress, ending());
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.failCommits = true;
	tree.tell(handAddress, ending(1));
	tree.failCommits = false;
	tree.pass(1000);
	t.true(tree.lives(handAddress));
	tree.answer(remove, succeeded(null));
	t.deepEqual(goneOf(tree), ['uid-of-web']);
});

test('a pod of the same name but another uid waits until the old one is gone; its assignment is taken at once', t => {
	const tree = running();
	const next = assignOf(anAssignment({uid: 'next'}), 'v2');
	tree.tell(handAddress, next);
	t.deepEqual(tree.replies, [
		{ok: true, value: null},
		{ok: true, value: null},
	]);
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
	t.deepEqual(tree.sent.at(-1), {to: 'troupe://node-a/pods', message: {...next, replyTo: undefined}} as never);
});

test('of several successors the last counts, and none after a pod that is nobody’s', t => {
	const tree = running();
	tree.tell(handAddress, assignOf(anAssignment({uid: 'second'})));
	tree.tell(handAddress, assignOf(anAssignment({uid: 'third'})));
	tree.answer(stopFor(30_000), succeeded(null));
	const other = running();
	other.tell(handAddress, assignOf(anAssignment({uid: 'second'})));
	other.tell(handAddress, assignOf(null));
	other.answer(stopFor(30_000), succeeded(null));
	for (const each of [tree, other]) each.answer(remove, succeeded(null));
	t.like(tree.sent.at(-1), {to: 'troupe://node-a/pods', message: {assignment: {uid: 'third'}}});
	t.like(other.sent.at(-1), {message: {type: 'podGone'}});
});

test('labels that change are kept without disturbing anybody', t => {
	const tree = running();
	tree.tell(handAddress, assignOf(anAssignment({labels: {a: 'b'}}), 'v2'));
	t.deepEqual(tree.replies.length, 2);
	t.deepEqual([...tree.open.keys()], []);
});

test('an assignment that the cache does not take is answered by nobody, and changes nothing', t => {
	const tree = running();
	tree.failCommits = true;
	tree.tell(handAddress, ending());
	t.deepEqual([...tree.open.keys()], []);
	t.deepEqual(tree.replies.length, 1);
});

test('a sandbox that cannot be made is tried again, ever more slowly, and reported', t => {
	const tree = openTree(assignOf(anAssignment()));
	for (const delayMs of [100, 200, 400]) {
		tree.answer(ensure, runtimeError);
		t.like(reportsOf(tree).at(-1), {status: {phase: 'Pending', reason: 'SandboxFailed'}, events: [{reason: 'SandboxFailed'}]});
		tree.pass(delayMs - 1);
		t.false(tree.open.has(ensure));
		tree.pass(1);
	}
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, nothing);
	tree.answer(start, succeeded(aRunningContainer()));
	t.false(Object.hasOwn(reportsOf(tree).at(-1)?.status ?? {}, 'reason'));
});

const two = anAssignment({spec: {containers: [aContainer(), aContainer({name: 'side'})]}});

test('after a restart of the agent nothing is reported before every container was looked at', t => {
	const tree = openTree(assignOf(two), 'resumed');
	tree.tell(handAddress, {type: 'reportAgain'});
	tree.answer(ensure, succeeded(sandbox));
	tree.tell(handAddress, {type: 'reportAgain'});
	tree.answer(inspect, succeeded({running: aRunningContainer(2), lastExit: anExit(), nextAttempt: 3}));
	t.deepEqual(reportsOf(tree), []);
	tree.answer('uid-of-web/side/inspect', succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.is(reportsOf(tree).length, 1);
	t.like(reportsOf(tree)[0], {status: {phase: 'Running', containerStatuses: [{restartCount: 2}, {restartCount: 0}]}});
});

test('what happened meanwhile is told with that first report', t => {
	const tree = openTree(assignOf(two), 'resumed');
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, succeeded({running: undefined, lastExit: anExit(), nextAttempt: 1}));
	tree.answer('uid-of-web/main/start/1', succeeded(aRunningContainer(1)));
	tree.answer('uid-of-web/side/inspect', succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.deepEqual(
		reportsOf(tree).map(({events}) => events.map(({reason}) => reason)),
		[['Crashed', 'Started']],
	);
	tree.tell(handAddress, {type: 'reportAgain'});
	t.deepEqual(reportsOf(tree).at(-1)?.events, []);
});

test('a report that is asked for again is the same report', t => {
	const tree = running();
	tree.pass(60_000);
	tree.tell(handAddress, {type: 'reportAgain'});
	const [first, again] = reportsOf(tree).slice(-2);
	t.deepEqual(again?.status, first?.status);
});

test('a pod that was ending when the agent stopped is ended by the next', t => {
	const tree = openTree(ending(), 'resumed');
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('a pod whose containers are over stays until it is deleted', t => {
	const tree = running(assignOf(anAssignment({spec: {restartPolicy: 'Never'}})));
	tree.tell(main, {type: 'exited', exit: anExit({exitCode: 0})} as never);
	t.like(reportsOf(tree).at(-1), {status: {phase: 'Succeeded'}});
	t.true(tree.lives(handAddress));
	tree.tell(handAddress, ending());
	tree.answer(stopFor(30_000), succeeded(anExit({exitCode: 0})));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('all containers end before the sandbox goes', t => {
	const tree = openTree(assignOf(two));
	tree.answer(ensure, succeeded(sandbox));
	for (const name of ['main', 'side']) {
		tree.answer(`uid-of-web/${name}/inspect`, nothing);
		tree.answer(`uid-of-web/${name}/start/0`, succeeded(aRunningContainer()));
	}
	tree.tell(handAddress, assignOf({...two, deletionGraceSeconds: 30}));
	tree.answer(stopFor(30_000), succeeded(anExit()));
	t.false(tree.open.has(remove));
	tree.answer('uid-of-web/side/stop/0/30000', succeeded(anExit()));
	t.true(tree.open.has(remove));
});

// ---- a hand that crashes while its pod is to go ---------------------------------------------------------------------------------

type Kept = AssignmentObject;

/** What the hand has committed once it took this, and the instance that goes on from it. */
function crashedAfter(last: Assign) {
	const context = playContext({self: handAddress});
	const played = play(hand, assignOf(anAssignment()), [last], context);
	const object = played.object as Kept;
	const state = hand.persistence?.restore(object, undefined);
	if (state === undefined) throw new Error('a hand keeps its assignment');
	return {object, effects: played.effects, again: playFrom(hand, state, [{type: 'sandboxReady', sandbox}], context)};
}

const stopsOf = (effects: readonly Effect[]): unknown[] =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'stopContainer' ? [effect.to] : []));

test('that a pod is nobody’s any more is kept before it is taken note of: a crash does not bring it back', t => {
	const {object, effects, again} = crashedAfter(assignOf(null));
	t.like(object, {spec: {surplus: true}});
	t.like(effects[0], {type: 'reply', outcome: {ok: true}});
	t.deepEqual(stopsOf(again.effects), [main]);
	t.is(again.state.ending, 'containers');
});

test('so is that another pod of its name waits for its end', t => {
	const {again} = crashedAfter(assignOf(anAssignment({uid: 'another'})));
	t.deepEqual(stopsOf(again.effects), [main]);
});

test('a pod that is wanted again after all is kept as that', t => {
	const wanted = play(hand, assignOf(anAssignment()), [assignOf(null), assignOf(anAssignment(), 'v2')], playContext({self: handAddress}));
	t.is((wanted.object as Kept).spec?.surplus, undefined);
	t.is((wanted.object as Kept).spec?.version, 'v2');
});

test('what is to go is told to control as no version that it could want', t => {
	const {object} = crashedAfter(assignOf(null));
	t.deepEqual(have(indexOfAssignments(object)), {[key]: ''});
});

function indexOfAssignments(object: Kept): ObjectIndex {
	const index = new ObjectIndex();
	index.apply('assignments/default/web', 1, object, () => '');
	return index;
}

// ---- waiting no longer ------------------------------------------------------------------------------------------------------------

const retryNow = (container?: string): {type: string} => ({type: 'retryNow', container, replyTo}) as {type: string};

/** Its container waits for its second restart. */
function crashing(): Tree {
	const tree = running();
	tree.tell(main, {type: 'exited', exit: anExit()} as never);
	tree.answer('uid-of-web/main/start/1', succeeded(aRunningContainer(1)));
	tree.tell(main, {type: 'exited', exit: anExit({attempt: 1})} as never);
	return tree;
}

test('a container in back-off is started at once when somebody asks, and the next wait is as long as it would have been', t => {
	const tree = crashing();
	tree.tell(handAddress, retryNow('main'));
	t.deepEqual(tree.replies.at(-1), {ok: true, value: {containers: ['main']}});
	t.deepEqual([...tree.open.keys()], ['uid-of-web/main/start/2']);
	t.like(reportsOf(tree).at(-1), {events: [{reason: 'RetryNow'}]});
	tree.pass(600_000);
	tree.answer('uid-of-web/main/start/2', succeeded(aRunningContainer(2)));
	tree.tell(main, {type: 'exited', exit: anExit({attempt: 2, finishedAtMs: 1_700_000_600_000, startedAtMs: 1_700_000_599_000})} as never);
	t.like(reportsOf(tree).at(-1), {status: {containerStatuses: [{state: {waiting: {retryAt: '2023-11-14T22:23:20.200Z'}}}]}});
});

test('of a pod whose containers run nothing is tried, and a name that it does not have is refused', t => {
	const tree = running();
	tree.tell(handAddress, retryNow());
	t.deepEqual(tree.replies.at(-1), {ok: true, value: {containers: []}});
	tree.tell(handAddress, retryNow('other'));
	t.like(tree.replies.at(-1), {ok: false, error: {code: 'ERR_BAD_REQUEST', message: 'pod "web" has no container "other"'}});
	t.deepEqual([...tree.open.keys()], []);
});

test('a sandbox that could not be made is tried at once as well', t => {
	const tree = openTree(assignOf(anAssignment()));
	tree.answer(ensure, runtimeError);
	tree.tell(handAddress, retryNow());
	t.deepEqual(tree.replies.at(-1), {ok: true, value: {containers: ['main']}});
	t.deepEqual([...tree.open.keys()], [ensure]);
});

// ---- back-off of its own ------------------------------------------------------------------------------------------------------------

const patient = {'troupe.dev/backoff-first': '2s', 'troupe.dev/backoff-max': '3s', 'troupe.dev/backoff-reset': '5s'};
const retryAt = (tree: Tree): string | undefined => reportsOf(tree).at(-1)?.status.containerStatuses?.[0]?.state?.waiting?.retryAt;

test('annotations say how long containers wait, also those that come later', t => {
	const tree = running(assignOf(anAssignment({annotations: patient})));
	tree.tell(main, {type: 'exited', exit: anExit()} as never);
	tree.answer('uid-of-web/main/start/1', succeeded(aRunningContainer(1)));
	tree.tell(main, {type: 'exited', exit: anExit({attempt: 1})} as never);
	t.is(retryAt(tree), '2023-11-14T22:13:22.000Z');
	tree.tell(handAddress, assignOf(anAssignment({annotations: {'troupe.dev/backoff-max': '1s'}}), 'v2'));
	tree.pass(2_000);
	tree.answer('uid-of-web/main/start/2', succeeded(aRunningContainer(2)));
	tree.tell(main, {type: 'exited', exit: anExit({attempt: 2, finishedAtMs: 1_700_000_002_000, startedAtMs: 1_700_000_001_000})} as never);
	t.is(retryAt(tree), '2023-11-14T22:13:22.200Z');
});

// ---- its time ------------------------------------------------------------------------------------------------------------------------

const shortLived = anAssignment({spec: {activeDeadlineSeconds: 60}});

test('a pod that takes longer than it may is ended, has failed, and stays until it is deleted', t => {
	const tree = running(assignOf(shortLived));
	tree.pass(59_999);
	t.deepEqual([...tree.open.keys()], []);
	tree.pass(1);
	t.deepEqual([...tree.open.keys()], [stopFor(30_000)]);
	const status = {phase: 'Failed', reason: 'DeadlineExceeded', containerStatuses: [{ready: false}]};
	t.like(reportsOf(tree).at(-1), {status, events: [{reason: 'DeadlineExceeded'}]}, 'not ready while it is ended');
	tree.answer(stopFor(30_000), succeeded(anExit({exitCode: 143})));
	t.like(reportsOf(tree).at(-1), {status: {phase: 'Failed', containerStatuses: [{state: {terminated: {exitCode: 143}}}]}});
	t.deepEqual([...tree.open.keys()], []);
	tree.tell(handAddress, assignOf({...shortLived, deletionGraceSeconds: 30}));
	tree.answer(stopFor(30_000), succeeded(null));
	tree.answer(remove, succeeded(null));
	assertGone(t, tree);
});

test('one that was over in time has not failed, nor one whose agent started again after its deadline', t => {
	const job = anAssignment({spec: {activeDeadlineSeconds: 60, restartPolicy: 'Never'}});
	const tree = running(assignOf(job));
	tree.tell(main, {type: 'exited', exit: anExit({exitCode: 0})} as never);
	tree.pass(60_000);
	t.like(reportsOf(tree).at(-1), {status: {phase: 'Succeeded'}});
	const resumed = openTree(assignOf(job), 'resumed');
	resumed.pass(60_000);
	resumed.answer(ensure, succeeded(sandbox));
	t.deepEqual(reportsOf(resumed), []);
	resumed.answer(inspect, succeeded({running: undefined, lastExit: anExit({exitCode: 0}), nextAttempt: 1}));
	t.like(reportsOf(resumed).at(-1), {status: {phase: 'Succeeded'}});
	t.deepEqual([...resumed.open.keys()], []);
});

test('that its time is over is kept: after a crash of the hand nothing of it starts again', t => {
	const context = playContext({self: handAddress, nowMs: 1_700_000_000_000});
	const fresh = play(hand, assignOf(shortLived), [{type: 'sandboxReady', sandbox}], context).state;
	const late = playContext({self: handAddress, nowMs: 1_700_000_060_000});
	const kept = playFrom(hand, fresh, [{type: 'deadline'}], late).object as Kept;
	t.true(kept.spec?.overdue);
	const again = playFrom(hand, hand.persistence?.restore(kept, undefined) ?? fresh, [{type: 'sandboxReady', sandbox}], late);
	t.deepEqual(stopsOf(again.effects), [main]);
	const relabelled = playFrom(hand, again.state, [assignOf({...shortLived, labels: {a: 'b'}}, 'v2')], late);
	t.true((relabelled.object as Kept).spec?.overdue);
});

test('a deadline that comes early, since the clock was set back, is waited for again', t => {
	const context = playContext({self: handAddress, nowMs: 1_700_000_000_000});
	const fresh = play(hand, assignOf(shortLived), [{type: 'sandboxReady', sandbox}], context).state;
	const early = playContext({self: handAddress, nowMs: 1_700_000_060_000 - 3_600_000});
	const {effects} = playFrom(hand, fresh, [{type: 'deadline'}], early);
	t.like(effects, [{type: 'wakeAt', name: 'deadline', atMs: 1_700_000_060_000, atMostMs: 60_000}]);
});

test('a deadline that the cache does not take is tried again, and no change of a container is lost with it', t => {
	const tree = running(assignOf(shortLived));
	tree.failCommits = true;
	tree.pass(60_000);
	t.deepEqual([...tree.open.keys()], []);
	tree.tell(main, {type: 'exited', exit: anExit({finishedAtMs: 1_700_000_060_000, startedAtMs: 1_700_000_059_000})} as never);
	t.like(reportsOf(tree).at(-1), {status: {containerStatuses: [{lastState: {terminated: {exitCode: 1}}}]}});
	tree.failCommits = false;
	tree.pass(1_000);
	t.like(reportsOf(tree).at(-1), {status: {reason: 'DeadlineExceeded'}});
});

test('since when a pod is here survives new labels and restarts', t => {
	const tree = running(assignOf(shortLived));
	tree.pass(30_000);
	tree.tell(handAddress, assignOf({...shortLived, labels: {a: 'b'}}, 'v2'));
	tree.pass(30_000);
	t.true(tree.open.has(stopFor(30_000)));
	t.is(reportsOf(tree).at(-1)?.status.startTime, '2023-11-14T22:13:20Z');
});

// ---- probes --------------------------------------------------------------------------------------------------------------------------

const probed = anAssignment({spec: {containers: [aContainer({readinessProbe: {tcpSocket: {port: 80}}})]}});
const readyOf = (tree: Tree): unknown => reportsOf(tree).at(-1)?.status.containerStatuses?.[0]?.ready;
const probe = (attempt = 0): string => `uid-of-web/main/probe/readiness/${attempt}`;
const passed = succeeded({ok: true, message: ''});

test('a container with a readiness probe is ready when it passes; while nothing changes nobody is told anything', t => {
	const tree = running(assignOf(probed));
	t.is(readyOf(tree), false);
	tree.pass(0);
	tree.answer(probe(), passed);
	t.is(readyOf(tree), true);
	const before = tree.sent.length;
	for (let round = 0; round < 5; round++) {
		tree.pass(10_000);
		tree.answer(probe(), passed);
	}
	t.is(tree.sent.length, before);
});

test('after a restart of the agent what control knows stands until the first result', t => {
	const tree = openTree(assignOf(probed), 'resumed');
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.deepEqual(reportsOf(tree), []);
	tree.pass(1_000);
	tree.answer(probe(), passed);
	t.is(reportsOf(tree).length, 1);
	t.is(readyOf(tree), true);
});

test('after a crash of the container’s actor, too', t => {
	const tree = running(assignOf(probed));
	tree.pass(0);
	tree.answer(probe(), passed);
	tree.crash(main);
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.is(readyOf(tree), true);
	tree.pass(1_000);
	tree.answer(probe(), succeeded({ok: false, message: 'no'}));
	t.is(readyOf(tree), false);
});

test('a probe whose actor crashed begins anew, and never runs beside itself', t => {
	const tree = running(assignOf(probed));
	tree.pass(0);
	t.deepEqual([...tree.open.keys()], [probe()]);
	tree.crash(`${main}/readiness-0`);
	tree.pass(0);
	tree.answer(probe(), passed);
	t.is(readyOf(tree), true);
});

const instanceOf = {
	labels: {'troupe.dev/function': 'hello'},
	annotations: {
		'troupe.dev/function': JSON.stringify({artifact: `sha256:${'0'.repeat(64)}`, runtime: 'python', concurrency: 3, timeoutMs: 1_000}),
	},
};
const toNetwork = ({sent}: Tree): unknown[] => sent.flatMap(({to, message}) => (to === 'troupe://node-a/network' ? [message] : []));

test('what serves traffic is told when an instance of a function is ready, and when it is gone; of other pods nothing', t => {
	const tree = running(assignOf(anAssignment(instanceOf)));
	const instance = {uid: 'uid-of-web', namespace: 'default', function: 'hello', concurrency: 3, timeoutMs: 1_000};
	t.deepEqual(toNetwork(tree), [{type: 'instanceChanged', uid: 'uid-of-web', instance}]);
	tree.tell(handAddress, {type: 'reportAgain'});
	t.is(toNetwork(tree).length, 1, 'it is said once');
	tree.tell(handAddress, assignOf(anAssignment({...instanceOf, deletionGraceSeconds: 30}), 'ending'));
	tree.answer(stopFor(30_000), succeeded(anExit()));
	tree.answer(remove, succeeded(null));
	t.deepEqual(toNetwork(tree).slice(1), [{type: 'instanceChanged', uid: 'uid-of-web', instance: null}]);
	const resumed = openTree(assignOf(anAssignment(instanceOf)), 'resumed');
	resumed.answer(ensure, succeeded(sandbox));
	resumed.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.deepEqual(toNetwork(resumed), [{type: 'instanceChanged', uid: 'uid-of-web', instance}], 'after a restart of the agent');
	t.deepEqual(toNetwork(running()), []);
});

test('a pod that is evicted has failed, says why, ends its containers and starts none; the next agent knows it', t => {
	const tree = running();
	const evict = (uid: string, message: string): void => {
		const asked: Evict = {type: 'evict', uid, message};
		tree.tell(handAddress, asked);
	};
	evict('another', 'not this one');
	t.deepEqual([...tree.open.keys()], []);
	evict('uid-of-web', 'the node was low on resource: memory');
	t.deepEqual([...tree.open.keys()], [stopFor(30_000)]);
	const last = reportsOf(tree).at(-1);
	t.like(last?.status, {phase: 'Failed', reason: 'Evicted', message: 'the node was low on resource: memory'});
	t.true(last?.events.some(({reason}) => reason === 'Evicted'));
	tree.answer(stopFor(30_000), succeeded(anExit({exitCode: 143})));
	t.deepEqual([...tree.open.keys()], [remove], 'it is not started again, and its folders go');
	tree.answer(remove, succeeded(null));
	t.true(tree.lives(handAddress));
	t.like(reportsOf(tree).at(-1)?.status, {phase: 'Failed', reason: 'Evicted'});
	const told = reportsOf(tree).length;
	evict('uid-of-web', 'again');
	t.is(reportsOf(tree).length, told);
});
