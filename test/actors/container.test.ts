// A container is started, adopted, restarted as its pod wants it, and stopped whatever it is doing.

import test from 'ava';
import type {RestartPolicy} from '../../api/kinds/pod.js';
import {failed, type Outcome} from '../../api/errors.js';
import {container} from '../../actors/node/containers/container.js';
import type {ContainerActorState, ContainerChanged, ContainerMessage} from '../../actors/node/containers/container-state.js';
import type {ContainerExit, ContainerObservation, RunningContainer} from '../../actors/node/runtime/runtime-port.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playContext, receivedBy, type Played} from '../../system/kernel/play.js';
import {aContainer, nowMs} from './_objects.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';

type Result = Played<ContainerActorState>;

const owner = 'troupe://node-a/pods/default.web';
const inputWith = (restartPolicy: RestartPolicy, overrides = {}) => ({
	assignment: anAssignment({spec: {restartPolicy}}),
	container: aContainer(overrides),
	role: 'main' as const,
	held: false,
	stopGraceMs: undefined,
	sandboxes: 0,
	sandbox,
	owner,
});
const at = (ms: number) => playContext({nowMs: ms});

const inspected = (observation: Partial<ContainerObservation> = {}): ContainerMessage => ({
	type: 'inspected',
	id: 'uid-of-web/main/inspect',
	outcome: {ok: true, value: {running: undefined, lastExit: undefined, nextAttempt: 0, ...observation}},
});
const started = (attempt = 0, outcome: Outcome<RunningContainer> = {ok: true, value: aRunningContainer(attempt)}): ContainerMessage => ({
	type: 'started',
	id: `uid-of-web/main/start/${attempt}`,
	outcome,
});
const exited = (exit: Partial<ContainerExit> = {}): ContainerMessage => ({type: 'exited', exit: anExit(exit)});
const stop = (graceMs = 30_000): ContainerMessage => ({type: 'stopContainer', graceMs});
const stopped = (outcome: Outcome<ContainerExit | null> = {ok: true, value: anExit({exitCode: 143, signal: 15})}): ContainerMessage => ({
	type: 'stopped',
	id: 'uid-of-web/main/stop/0/30000',
	outcome,
});

const run = (messages: readonly ContainerMessage[], policy: RestartPolicy = 'Always', overrides = {}): Result =>
	play(container, inputWith(policy, overrides), messages);

const step = ({state}: Result, message: ContainerMessage, ms = nowMs): Result => {
	const {state: after, effects} = receivedBy(container, state, message, at(ms));
	return {state: after, effects, stopped: false, object: undefined};
};

const commandsOf = (effects: readonly Effect[]): object[] => effects.flatMap(effect => (effect.type === 'perform' ? [effect.command] : []));
const told = (effects: readonly Effect[]): ContainerChanged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === owner ? [effect.message as ContainerChanged] : [])).at(-1);
const retryNumber = (effects: readonly Effect[]): number | undefined => told(effects)?.status.state?.waiting?.retry;
const retryDelay = (effects: readonly Effect[], ms = nowMs): number | undefined =>
	effects.flatMap(effect => (effect.type === 'wakeAt' ? [effect.atMs - ms] : []))[0];

const running = [inspected(), started()];

test('a new container asks first what is there, then starts attempt 0', t => {
	t.like(run([]).effects, [{type: 'perform', key: 'uid-of-web/main/inspect', as: 'inspected'}]);
	const {effects} = run([inspected()]);
	t.like(effects, [
		{
			type: 'perform',
			key: 'uid-of-web/main/start/0',
			as: 'started',
			command: {type: 'container.start', spec: {attempt: 0, argv: ['sleep', '1d']}},
		},
	]);
	t.is(effects.length, 1);
});

test('a container that started is running and ready', t => {
	t.like(told(run(running).effects), {
		name: 'main',
		ended: false,
		status: {ready: true, started: true, restartCount: 0, state: {running: {startedAt: '2023-11-14T22:13:20.000Z'}}},
		events: [{event: 'Normal', reason: 'Started'}],
	});
});

test('one that runs already is adopted with its count, and started by nobody', t => {
	const {effects} = run([inspected({running: aRunningContainer(3), lastExit: anExit({attempt: 2}), nextAttempt: 4})]);
	t.deepEqual(commandsOf(effects), []);
	t.like(told(effects), {ended: false, events: [], status: {ready: true, restartCount: 3, lastState: {terminated: {exitCode: 1}}}});
});

const policies: readonly (readonly [RestartPolicy, number | undefined, boolean])[] = [
	['Always', 0, true],
	['Always', 1, true],
	['Always', undefined, true],
	['OnFailure', 0, false],
	['OnFailure', 1, true],
	['OnFailure', undefined, true],
	['Never', 0, false],
	['Never', 1, false],
	['Never', undefined, false],
];
for (const [policy, exitCode, restarts] of policies) {
	test(`restartPolicy ${policy}: exit ${exitCode ?? 'unknown'} is ${restarts ? 'followed by another attempt' : 'the end'}`, t => {
		const {effects} = run([...running, exited({exitCode})], policy);
		t.is(commandsOf(effects).length, restarts ? 1 : 0);
		t.is(told(effects)?.ended, !restarts);
		t.is(told(effects)?.events[0]?.reason, exitCode === 0 ? 'Completed' : 'Crashed');
		const found = run([inspected({lastExit: anExit({exitCode}), nextAttempt: 1})], policy);
		t.is(commandsOf(found.effects).length, restarts ? 1 : 0, 'after a restart of the agent');
	});
}

test('a container that ended for good shows how', t => {
	t.like(told(run([...running, exited({exitCode: 3})], 'Never').effects)?.status, {
		ready: false,
		restartCount: 0,
		state: {terminated: {exitCode: 3, reason: 'Error', finishedAt: '2023-11-14T22:13:20.000Z'}},
	});
	t.is(told(run([...running, exited({exitCode: undefined, reason: 'Unknown'})], 'Never').effects)?.status.state?.terminated?.exitCode, -1);
});

test('an ended container shows which one it was and of which image, until the next one is there', t => {
	const crash = exited({exitCode: 3, handle: 'docker://a', imageId: 'sha256:b'});
	const shown = {imageID: 'sha256:b', containerID: 'docker://a'};
	const over = told(run([...running, crash], 'Never').effects)?.status;
	t.like(over, {...shown, state: {terminated: {containerID: 'docker://a'}}});
	const last = told(run([...running, crash, started(1), exited({attempt: 1, handle: 'docker://c', imageId: 'sha256:b'})]).effects)?.status;
	t.like(last, {containerID: 'docker://c', lastState: {terminated: {containerID: 'docker://c'}}});
});

test('who a program was and where it began is told of its last run until the next one is there', t => {
	const beginning = (uid: number) => ({uid, gid: 7, groups: [], workingDir: '/srv', home: '/home/x', path: '/bin'});
	const crash = exited({exitCode: 3, beginning: beginning(1)});
	const shown = {user: {linux: {uid: 1, gid: 7, supplementalGroups: []}}, process: {workingDir: '/srv', home: '/home/x', path: '/bin'}};
	t.like(told(run([...running, crash], 'Never').effects)?.status, shown, 'ended for good');
	const crashedTwice = run([...running, crash, started(1), exited({attempt: 1, beginning: beginning(1)})]);
	t.like(told(crashedTwice.effects)?.status, {...shown, state: {waiting: {reason: 'CrashLoopBackOff'}}});
	const again = run([...running, crash, started(1, {ok: true, value: {...aRunningContainer(1), beginning: beginning(2)}})]);
	t.is(told(again.effects)?.status.user?.linux.uid, 2);
	t.is(told(run([...running, crash, started(1)]).effects)?.status.user, undefined, 'one that began nobody knows how');
});

test('the event of an end says which container it was, of what kind, and when memory was the cause', t => {
	const oom = [...running, exited({exitCode: 137, reason: 'OOMKilled'})];
	const message = 'container main, attempt 0, ended: exit 137 (OOMKilled)';
	const event = {
		event: 'Warning',
		reason: 'Crashed',
		message,
		aspect: 'exit 137 (OOMKilled)',
		finishedAtMs: anExit().finishedAtMs,
	} as const;
	t.deepEqual(told(run(oom, 'Never').effects)?.events, [{...event, fieldPath: 'spec.containers{main}'}]);
	const asInit = play(container, {...inputWith('Never'), role: 'init'}, oom);
	t.deepEqual(told(asInit.effects)?.events, [{...event, fieldPath: 'spec.initContainers{main}'}]);
});

test('the first restart is at once, the next after 100 ms, doubling up to five minutes', t => {
	let now = run(running);
	const delays: number[] = [];
	for (let attempt = 0; attempt < 15; attempt++) {
		now = step(now, exited({attempt}));
		const delay = retryDelay(now.effects) ?? 0;
		delays.push(delay);
		if (delay > 0) now = step(now, {type: 'retry'});
		t.like(commandsOf(now.effects), [{type: 'container.start', spec: {attempt: attempt + 1}}]);
		now = step(now, started(attempt + 1));
		t.is(told(now.effects)?.status.restartCount, attempt + 1);
	}
	t.deepEqual(delays, [0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400, 204_800, 300_000, 300_000]);
});

test('ten minutes of health forget the crashes before', t => {
	let now = run(running);
	for (let attempt = 0; attempt < 3; attempt++) {
		now = step(now, exited({attempt}));
		if (retryDelay(now.effects) !== undefined) now = step(now, {type: 'retry'});
		now = step(now, started(attempt + 1));
	}
	const healthy = step(now, exited({attempt: 3, startedAtMs: nowMs - 600_000}));
	t.like(commandsOf(healthy.effects), [{type: 'container.start', spec: {attempt: 4}}]);
	const almost = step(now, exited({attempt: 3, startedAtMs: nowMs - 599_999}));
	t.is(retryDelay(almost.effects), 400);
});

test('a back-off says which attempt comes when, and why; the count is of restarts that were', t => {
	const now = step(step(step(run(running), exited()), started(1)), exited({attempt: 1, exitCode: 137}));
	t.deepEqual(told(now.effects)?.status.state, {
		waiting: {
			reason: 'CrashLoopBackOff',
			message: 'back-off before attempt 2: container main, attempt 1, ended: exit 137',
			retryAt: '2023-11-14T22:13:20.100Z',
			retry: 2,
		},
	});
	t.like(told(now.effects)?.status, {restartCount: 1, ready: false, lastState: {terminated: {exitCode: 137}}});
});

test('time since the end counts as waited', t => {
	const now = step(step(run(running), exited()), started(1));
	const late = step(now, exited({attempt: 1, startedAtMs: nowMs - 500, finishedAtMs: nowMs}), nowMs + 100);
	t.like(commandsOf(late.effects), [{type: 'container.start', spec: {attempt: 2}}]);
});

test('a start that fails is tried again with its number, after 100 ms at first', t => {
	const error = failed('ERR_RUNTIME', {message: 'no such program'});
	let now = run([inspected(), started(0, error)]);
	t.like(told(now.effects), {
		ended: false,
		status: {restartCount: 0, state: {waiting: {reason: 'RunContainerError', message: 'no such program'}}},
		events: [{event: 'Warning', reason: 'Failed', message: 'no such program'}],
	});
	const delays: (number | undefined)[] = [];
	const numbers: (number | undefined)[] = [];
	for (let round = 0; round < 3; round++) {
		delays.push(retryDelay(now.effects));
		numbers.push(retryNumber(now.effects));
		now = step(now, {type: 'retry'});
		t.like(commandsOf(now.effects), [{type: 'container.start', spec: {attempt: 0}}]);
		now = step(now, started(0, error));
	}
	t.deepEqual(delays, [100, 200, 400]);
	t.deepEqual(numbers, [1, 2, 3]);
});

test('tries are counted on, whether they fail to start or start and end', t => {
	const error = failed('ERR_RUNTIME', {message: 'no such program'});
	const crashed = step(step(run(running), exited()), started(1));
	const waits = step(crashed, exited({attempt: 1}));
	t.is(retryNumber(waits.effects), 2);
	const failedStart = step(step(waits, {type: 'retry'}), started(2, error));
	t.is(retryNumber(failedStart.effects), 3);
	const again = step(step(step(failedStart, {type: 'retry'}), started(2)), exited({attempt: 2}));
	t.is(retryNumber(again.effects), 4);
});

test('a start without an answer is looked up again: the process may be there', t => {
	const timedOut = failed('ERR_TIMEOUT', {address: 'edge', deadlineMs: 60_000});
	const waiting = run([inspected(), started(0, timedOut)]);
	const looking = step(waiting, {type: 'retry'});
	t.like(commandsOf(looking.effects), [{type: 'container.inspect'}]);
	t.is(told(step(looking, inspected({running: aRunningContainer(), nextAttempt: 1})).effects)?.status.ready, true);
	const over = step(looking, inspected({lastExit: anExit(), nextAttempt: 1}));
	t.like(over.state, {attempt: 1});
});

test('a runtime that cannot say what is there is asked again, ever more slowly', t => {
	const broken: ContainerMessage = {type: 'inspected', id: 'x', outcome: failed('ERR_RUNTIME', {message: 'disk error'})};
	let now = run([broken]);
	const delays: (number | undefined)[] = [];
	for (let round = 0; round < 4; round++) {
		delays.push(retryDelay(now.effects));
		now = step(now, {type: 'retry'});
		t.like(commandsOf(now.effects), [{type: 'container.inspect'}]);
		now = step(now, broken);
	}
	t.deepEqual(delays, [100, 100, 100, 200]);
	t.like(told(now.effects), {status: {state: {waiting: {reason: 'RuntimeError', message: 'disk error'}}}});
});

test('a container without a command says NoCommand and waits where images are only names', t => {
	const refused = failed('ERR_NO_COMMAND', {container: 'main', image: 'program'});
	const {effects} = run([inspected(), started(0, refused)], 'Always', {command: undefined, args: undefined});
	t.deepEqual(commandsOf(effects), []);
	t.is(retryDelay(effects), undefined);
	t.like(told(effects), {
		ended: false,
		status: {
			state: {
				waiting: {
					reason: 'NoCommand',
					message: 'container "main" names no command, and image "program" is only a name to this node\'s runtime: set command',
				},
			},
		},
		events: [{event: 'Warning', reason: 'NoCommand'}],
	});
});

const untilStopped: readonly (readonly [string, readonly ContainerMessage[], RestartPolicy])[] = [
	['starting', [inspected()], 'Always'],
	['running', running, 'Always'],
	['in back-off', [...running, exited(), started(1), exited({attempt: 1})], 'Always'],
	['waiting after a failed start', [inspected(), started(0, failed('ERR_RUNTIME', {message: 'no'}))], 'Always'],
	['over already', [...running, exited({exitCode: 0})], 'Never'],
];
for (const [phase, messages, policy] of untilStopped) {
	test(`a container that is ${phase} stops when it is asked to`, t => {
		const asked = step(run(messages, policy), stop());
		t.deepEqual(commandsOf(asked.effects), [{type: 'container.stop', id: {uid: 'uid-of-web', container: 'main'}, graceMs: 30_000}]);
		t.true(asked.effects.some(effect => effect.type === 'cancelWake' && effect.name === 'retry'));
		const after = step(asked, stopped());
		t.like(told(after.effects), {ended: true, status: {ready: false, state: {terminated: {exitCode: 143}}}});
		for (const late of [{type: 'retry'} as const, started(1), exited({attempt: 1}), stopped()]) t.deepEqual(step(after, late).effects, []);
	});
}

test('a container without a command ends when it is asked to stop', t => {
	const asked = step(run([inspected()], 'Always', {command: undefined}), stop());
	t.like(told(step(asked, stopped({ok: true, value: null})).effects), {ended: true});
});

test('a stop that comes while it is inspected waits for what is there', t => {
	const asked = run([stop()]);
	t.deepEqual(asked.effects, []);
	t.like(told(step(asked, inspected()).effects), {ended: true});
	t.deepEqual(commandsOf(step(asked, inspected({lastExit: anExit(), nextAttempt: 1})).effects), []);
	t.like(commandsOf(step(asked, inspected({running: aRunningContainer(), nextAttempt: 1})).effects), [
		{type: 'container.stop', graceMs: 30_000},
	]);
	const hurried = run([stop(5_000), stop(30_000), inspected({running: aRunningContainer(), nextAttempt: 1})]);
	t.like(commandsOf(hurried.effects), [{type: 'container.stop', graceMs: 5_000}], 'the shortest of all graces counts');
});

test('a stop survives a runtime that cannot be asked at first', t => {
	const broken: ContainerMessage = {type: 'inspected', id: 'x', outcome: failed('ERR_RUNTIME', {message: 'disk error'})};
	const again = step(step(run([stop()]), broken), {type: 'retry'});
	t.like(told(step(again, inspected()).effects), {ended: true});
});

test('a stop that fails is tried again until it is done', t => {
	let now = step(run(running), stop());
	now = step(now, stopped(failed('ERR_RUNTIME', {message: 'disk error'})));
	t.like(told(now.effects), {ended: false});
	now = step(now, {type: 'retry'});
	t.like(commandsOf(now.effects), [{type: 'container.inspect'}]);
	now = step(now, inspected({running: aRunningContainer(), nextAttempt: 1}));
	t.like(commandsOf(now.effects), [{type: 'container.stop', graceMs: 30_000}]);
	t.like(told(step(now, stopped()).effects), {ended: true});
});

test('a second stop with a shorter grace is asked for as well; the first answer ends it', t => {
	const first = step(run(running), stop(30_000));
	const second = step(first, stop(1000));
	t.like(commandsOf(second.effects), [{type: 'container.stop', graceMs: 1000}]);
	t.is(second.state.stopGraceMs, 1000);
	const ended = step(second, stopped());
	t.true(told(ended.effects)?.ended);
	t.deepEqual(step(ended, stopped()).effects, []);
});

test('an end while it stops is the end, without another attempt and without alarm', t => {
	const {effects} = step(step(run(running), stop()), exited({exitCode: 143}));
	t.like(told(effects), {ended: true, events: [], status: {state: {terminated: {exitCode: 143}}}});
	t.deepEqual(commandsOf(effects), []);
});

test('ends of other attempts are no news', t => {
	const now = step(step(run(running), exited()), started(1));
	for (const attempt of [0, 2]) t.deepEqual(step(now, exited({attempt})).effects, []);
	t.deepEqual(step(run([inspected()]), exited({attempt: 7})).effects, []);
});

test('an end that comes before its start was answered is settled, and the late answer ignored', t => {
	const early = step(run([inspected()]), exited());
	t.like(commandsOf(early.effects), [{type: 'container.start', spec: {attempt: 1}}]);
	t.deepEqual(step(early, started(0)).effects, []);
	t.is(told(step(early, started(1)).effects)?.status.restartCount, 1);
});

test('an attempt number that ends like another is another', t => {
	let now = run([inspected({running: aRunningContainer(10), nextAttempt: 11})]);
	now = step(now, exited({attempt: 10}));
	t.is(now.state.attempt, 11);
	t.deepEqual(step(now, started(1)).effects, []);
});

test('what was lost with the host is started again and counted', t => {
	const {effects, state} = run([inspected({lastExit: anExit({attempt: 4, exitCode: undefined, reason: 'LostOnReboot'}), nextAttempt: 5})]);
	t.like(commandsOf(effects), [{type: 'container.start', spec: {attempt: 5}}]);
	t.is(told(effects)?.status.restartCount, 4);
	t.is(told(step({state, effects, stopped: false, object: undefined}, started(5)).effects)?.status.restartCount, 5);
});

test('the last words of a program that failed are kept with its end, their end at most', t => {
	const message = (lastLines: string | undefined): string | undefined =>
		told(run([...running, exited({lastLines})], 'Never').effects)?.status.state?.terminated?.message;
	t.is(message('cannot open /etc/app.conf'), 'cannot open /etc/app.conf');
	t.is(message(undefined), undefined);
	t.is(message(''), undefined);
	t.is(message(`${'x'.repeat(5_000)}end`)?.length, 2_048);
	t.true(message(`${'x'.repeat(5_000)}end`)?.endsWith('end'));
});

test('of a pod that ends what is over already stays over, however soon the runtime says so', t => {
	const {effects} = play(container, {...inputWith('Always'), stopGraceMs: 5_000}, [inspected({lastExit: anExit(), nextAttempt: 1})]);
	t.deepEqual(commandsOf(effects), []);
	t.like(told(effects), {ended: true, events: [], status: {restartCount: 0, state: {terminated: {exitCode: 1}}}});
});
