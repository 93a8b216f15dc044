// postStart and preStop: what they hold up, and what they do not.

import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {Container, LifecycleHandler} from '../../api/kinds/pod.js';
import {container} from '../../actors/node/containers/container.js';
import type {ContainerActorState, ContainerChanged, ContainerMessage} from '../../actors/node/containers/container-state.js';
import type {ActionResult} from '../../actors/node/runtime/runtime-port.js';
import {limits} from '../../api/limits.js';
import type {Known} from '../../system/index/object-index.js';
import type {Effect, Next} from '../../system/kernel/behavior.js';
import {playContext, receivedBy} from '../../system/kernel/play.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer, nowMs} from './_objects.js';

type Step = Next<ContainerActorState>;

const owner = 'troupe://node-a/pods/default.web';
const self = `${owner}/main`;
const exec: LifecycleHandler = {exec: {command: ['hook']}};
const done = succeeded({ok: true, message: ''});
const wrong = succeeded({ok: false, message: 'exit 1'});

const step = ({state}: Step, message: ContainerMessage, ms = 0): Step =>
	receivedBy(container, state, message, playContext({self, nowMs: nowMs + ms}));
const inspected = (running?: ReturnType<typeof aRunningContainer>): ContainerMessage => ({
	type: 'inspected',
	id: '',
	outcome: succeeded({running, lastExit: undefined, nextAttempt: running === undefined ? 0 : running.attempt + 1}),
});

function begin(lifecycle: Container['lifecycle'], overrides: Partial<Container> = {}): Step {
	const input = {
		assignment: anAssignment(),
		container: aContainer({...overrides, ...(lifecycle === undefined ? {} : {lifecycle})}),
		role: 'main' as const,
		held: false,
		stopGraceMs: undefined,
		sandboxes: 0,
		sandbox,
		owner,
	};
	return container.init(input, playContext({self}));
}

const started = (now: Step): Step =>
	step(step(now, inspected()), {type: 'started', id: 'uid-of-web/main/start/0', outcome: succeeded(aRunningContainer())});
const running = (preStop: LifecycleHandler): Step => started(begin({preStop}));
const postStarted = (now: Step, outcome: Outcome<ActionResult>): Step =>
	step(now, {type: 'postStarted', id: 'uid-of-web/main/postStart/0', outcome});
const preStopped = (now: Step, outcome: Outcome<ActionResult>, ms = 0): Step =>
	step(now, {type: 'preStopped', id: 'uid-of-web/main/preStop/0', outcome}, ms);
const stop = (now: Step, graceMs: number, ms = 0): Step => step(now, {type: 'stopContainer', graceMs}, ms);

const told = ({effects}: Step): ContainerChanged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === owner ? [effect.message as ContainerChanged] : [])).at(-1);
const commands = ({effects}: Step): object[] => effects.flatMap(effect => (effect.type === 'perform' ? [effect.command] : []));
const wakes = ({effects}: Step): Extract<Effect, {type: 'wakeAt'}>[] => effects.filter(effect => effect.type === 'wakeAt');

// ---- postStart ---------------------------------------------------------------------------------------------------------------

test('a container is not running before its postStart hook is done', t => {
	const hooked = started(begin({postStart: exec}, {readinessProbe: {tcpSocket: {port: 80}}}));
	t.like(commands(hooked), [{type: 'container.act', action: {type: 'exec', argv: ['hook']}}]);
	t.is(told(hooked), undefined);
	t.false(hooked.effects.some(effect => effect.type === 'spawn'));
	const up = postStarted(hooked, done);
	t.like(told(up), {status: {started: true, state: {running: {startedAt: '2023-11-14T22:13:20.000Z'}}}, events: [{reason: 'Started'}]});
	t.true(
		up.effects.some(effect => effect.type === 'spawn'),
		'probes begin',
	);
});

for (const [what, outcome] of [
	['fails', wrong],
	['cannot be run', failed('ERR_RUNTIME', {message: 'exit 1'})],
] as const) {
	test(`a postStart hook that ${what} ends the container, which starts again`, t => {
		const killed = postStarted(started(begin({postStart: exec})), outcome);
		t.like(commands(killed), [{type: 'container.stop', graceMs: 30_000}]);
		t.like(told(killed)?.events, [
			{event: 'Warning', reason: 'FailedPostStartHook', message: 'postStart of container main failed, it is ended: exit 1'},
		]);
		const again = step(killed, {type: 'exited', exit: anExit()});
		t.like(commands(again), [{type: 'container.start', spec: {attempt: 1}}]);
	});
}

test('a postStart hook that sleeps needs no more than a timer', t => {
	const hooked = started(begin({postStart: {sleep: {seconds: 4}}}));
	t.deepEqual(commands(hooked), []);
	t.like(wakes(hooked), [{atMs: nowMs + 4_000, atMostMs: 4_000, message: {type: 'slept', hook: 'postStart', attempt: 0}}]);
	t.like(told(step(hooked, {type: 'slept', hook: 'postStart', attempt: 0})), {status: {ready: true}});
	t.deepEqual(step(hooked, {type: 'slept', hook: 'postStart', attempt: 9}).effects, []);
});

test('a hook that names a port which is not there is a hook that failed', t => {
	const killed = started(begin({postStart: {httpGet: {port: 'web'}}}));
	t.like(told(killed)?.events, [{reason: 'FailedPostStartHook'}]);
});

test('a program that ends during its postStart hook is settled, and the late answer ignored', t => {
	const again = step(started(begin({postStart: exec})), {type: 'exited', exit: anExit()});
	t.like(commands(again), [{type: 'container.start', spec: {attempt: 1}}]);
	t.deepEqual(postStarted(again, wrong).effects, []);
});

test('what runs already has had its postStart hook', t => {
	const now = step(begin({postStart: exec}), inspected(aRunningContainer(2)));
	t.deepEqual(commands(now), []);
	t.like(told(now), {status: {ready: true}});
});

test('a stop ends a container during its postStart hook', t => {
	const asked = stop(started(begin({postStart: exec, preStop: exec})), 30_000);
	t.like(commands(asked), [{type: 'container.act'}]);
	t.deepEqual(postStarted(asked, wrong).effects, []);
});

const busy = failed('ERR_BUSY', {address: 'exec actions', waiting: 64});

test('a hook for which there is no room is asked for again, and has not failed', t => {
	const waiting = postStarted(started(begin({postStart: exec})), busy);
	t.deepEqual(commands(waiting), []);
	t.like(wakes(waiting), [{atMs: nowMs + 250, message: {type: 'hookAgain'}}]);
	t.like(commands(step(waiting, {type: 'hookAgain', hook: 'postStart', attempt: 0}, 250)), [{type: 'container.act'}]);
	const stopping = preStopped(stop(running(exec), 30_000), busy, 1_000);
	t.deepEqual(commands(stopping), []);
	t.like(commands(step(stopping, {type: 'hookAgain', hook: 'preStop', attempt: 0}, 1_250)), [{type: 'container.act', timeoutMs: 28_750}]);
	t.deepEqual(step(stopping, {type: 'hookAgain', hook: 'preStop', attempt: 0}, 30_000).effects, []);
	t.deepEqual(step(stopping, {type: 'hookAgain', hook: 'postStart', attempt: 0}).effects, []);
});

// ---- preStop -----------------------------------------------------------------------------------------------------------------

test('preStop comes before SIGTERM, which gets what is left of the grace', t => {
	const asked = stop(running(exec), 30_000);
	t.like(commands(asked), [{type: 'container.act', action: {type: 'exec', argv: ['hook']}, timeoutMs: 30_000}]);
	const signalled = preStopped(asked, done, 12_000);
	t.like(commands(signalled), [{type: 'container.stop', graceMs: 18_000}]);
	t.true(told(step(signalled, {type: 'exited', exit: anExit({exitCode: 143})}))?.ended);
});

test('however long it took, the program has two seconds', t => {
	t.like(commands(preStopped(stop(running(exec), 30_000), done, 29_500)), [{graceMs: 2_000}]);
});

test('a preStop hook that fails is told, and holds nothing up', t => {
	const signalled = preStopped(stop(running(exec), 30_000), wrong, 1_000);
	t.like(commands(signalled), [{type: 'container.stop', graceMs: 29_000}]);
	t.like(told(signalled), {
		ended: false,
		events: [
			{
				event: 'Warning',
				reason: 'FailedPreStopHook',
				message: 'preStop of container main failed: exit 1',
				fieldPath: 'spec.containers{main}',
			},
		],
	});
	t.like(commands(stop(running({httpGet: {port: 'nowhere'}}), 30_000)), [{type: 'container.stop', graceMs: 30_000}]);
});

test('one that hangs is left behind at the end of the grace', t => {
	const asked = stop(running(exec), 30_000);
	const [wake] = wakes(asked);
	t.is(wake?.atMs, nowMs + 30_000);
	const over = step(asked, wake?.message as ContainerMessage, 30_000);
	t.like(commands(over), [{type: 'container.stop', graceMs: 2_000}]);
	t.like(told(over)?.events, [{reason: 'FailedPreStopHook'}]);
	t.deepEqual(preStopped(over, done, 31_000).effects, []);
});

test('wherever the clock is set meanwhile, what is left of the grace is no more than the grace', t => {
	const asked = stop(running(exec), 30_000);
	t.like(commands(preStopped(asked, done, -3_600_000)), [{type: 'container.stop', graceMs: 30_000}]);
	t.like(commands(preStopped(asked, done, 3_600_000)), [{type: 'container.stop', graceMs: 2_000}]);
});

test('one that sleeps is a timer', t => {
	const asked = stop(running({sleep: {seconds: 5}}), 30_000);
	t.deepEqual(commands(asked), []);
	t.deepEqual(
		wakes(asked).map(({name, atMs}) => [name, atMs - nowMs]),
		[
			['hook', 5_000],
			['grace', 30_000],
		],
	);
	t.like(commands(step(asked, {type: 'slept', hook: 'preStop', attempt: 0}, 5_000)), [{type: 'container.stop', graceMs: 25_000}]);
});

test('without a grace there is no hook', t => {
	t.like(commands(stop(running(exec), 0)), [{type: 'container.stop', graceMs: 0}]);
});

test('a shorter grace hurries the hook, none at all leaves it behind', t => {
	const asked = stop(running(exec), 30_000);
	const hurried = stop(asked, 4_000, 1_000);
	t.deepEqual(commands(hurried), []);
	t.is(wakes(hurried)[0]?.atMs, nowMs + 5_000);
	t.deepEqual(step(hurried, {type: 'graceOver', deadlineMs: nowMs + 30_000}, 30_000).effects, [], 'the time it had before');
	t.like(commands(step(hurried, {type: 'graceOver', deadlineMs: nowMs + 5_000}, 5_000)), [{graceMs: 2_000}]);
	t.like(commands(stop(asked, 0, 1_000)), [{type: 'container.stop', graceMs: 0}]);
	t.deepEqual(stop(asked, 60_000, 1_000).effects, []);
});

test('a program that ends during its preStop hook has ended', t => {
	const over = step(stop(running(exec), 30_000), {type: 'exited', exit: anExit({exitCode: 0})});
	t.true(told(over)?.ended);
	t.deepEqual(preStopped(over, wrong).effects, []);
});

test('a failed probe gives the container its preStop hook, too', t => {
	const now = started(begin({preStop: exec}, {livenessProbe: {tcpSocket: {port: 80}, terminationGracePeriodSeconds: 5}}));
	const killed = step(now, {type: 'probeNews', probe: 'liveness', attempt: 0, passed: false, failure: 'failed: x'});
	t.like(commands(killed), [{type: 'container.act', timeoutMs: 5_000}]);
	const signalled = preStopped(killed, done, 1_000);
	t.like(commands(signalled), [{type: 'container.stop', graceMs: 4_000}]);
	t.like(commands(step(signalled, {type: 'exited', exit: anExit()}, 1_500)), [{type: 'container.start', spec: {attempt: 1}}]);
});

test('a container that was found running and is to stop has its preStop hook', t => {
	const asked = stop(begin({preStop: exec}), 30_000);
	t.like(commands(step(asked, inspected(aRunningContainer()))), [{type: 'container.act'}]);
});

// ---- draining ----------------------------------------------------------------------------------------------------------------

/** A node that knows one slice of a Service. */
const knowing = (conditions: object) => {
	const endpoints = [{addresses: ['127.64.0.1'], conditions, targetRef: {kind: 'Pod', uid: 'uid-of-web'}}];
	const named = {
		type: 'network',
		object: {type: 'endpoints', namespace: 'default', name: 's', service: 's', addressType: 'IPv4', endpoints},
	};
	const list = (plural: string) => (plural === 'endpointslices' ? [{spec: {named}}] : []);
	return {...playContext({self, nowMs}), known: {list} as unknown as Known};
};
const stopKnowing = ({state}: Step, graceMs: number, conditions: object): Step =>
	receivedBy(container, state, {type: 'stopContainer', graceMs}, knowing(conditions));

test('a pod to which a Service leads goes on for a moment, and gets what is left of its grace', t => {
	const asked = stopKnowing(started(begin(undefined)), 30_000, {ready: false, serving: true, terminating: true});
	t.deepEqual(commands(asked), []);
	t.like(wakes(asked)[0], {message: {type: 'slept', hook: 'preStop'}, atMs: nowMs + limits.drainMs});
	t.like(commands(step(asked, {type: 'slept', hook: 'preStop', attempt: 0}, limits.drainMs)), [
		{type: 'container.stop', graceMs: 30_000 - limits.drainMs},
	]);
	const hurried = stopKnowing(started(begin(undefined)), 600, {ready: true, serving: true});
	t.like(wakes(hurried)[0], {atMs: nowMs + 300}, 'never more than half of the grace');
});

test('nothing holds up a pod that does not serve, one without a grace, and one with a hook of its own', t => {
	t.like(commands(stopKnowing(started(begin(undefined)), 30_000, {ready: false, serving: false})), [{type: 'container.stop'}]);
	t.like(commands(stopKnowing(started(begin(undefined)), 0, {ready: true, serving: true})), [{type: 'container.stop'}]);
	t.like(commands(stopKnowing(running(exec), 30_000, {ready: true, serving: true})), [{type: 'container.act'}]);
});
