// What probes make of a container: started, ready, or ended and started again.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {Container, RestartPolicy} from '../../api/kinds/pod.js';
import {container} from '../../actors/node/containers/container.js';
import type {ContainerActorState, ContainerChanged, ContainerMessage} from '../../actors/node/containers/container-state.js';
import {actionOf} from '../../actors/node/containers/action.js';
import {probeTerms, type ProbeKind} from '../../actors/node/containers/probe.js';
import type {ProberInput} from '../../actors/node/containers/prober.js';
import {functionAnnotation, functionContainer} from '../../api/function-instance.js';
import {limits} from '../../api/limits.js';
import type {ContainerObservation} from '../../actors/node/runtime/runtime-port.js';
import type {Effect, Next} from '../../system/kernel/behavior.js';
import {playContext, receivedBy} from '../../system/kernel/play.js';
import type {Assignment} from '../../actors/protocol/sync-message.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aContainer, nowMs} from './_objects.js';

type Step = Next<ContainerActorState>;

const owner = 'troupe://node-a/pods/default.web';
const self = `${owner}/main`;
const tcp = {tcpSocket: {port: 80}};

function begin(
	overrides: Partial<Container>,
	observation: Partial<ContainerObservation> = {},
	policy: RestartPolicy = 'Always',
	annotations: Assignment['annotations'] = {},
): Step {
	const spec = {restartPolicy: policy, terminationGracePeriodSeconds: 30};
	const input = {
		assignment: anAssignment({spec, annotations}),
		container: aContainer(overrides),
		role: 'main' as const,
		held: false,
		stopGraceMs: undefined,
		sandboxes: 0,
		sandbox,
		owner,
	};
	const context = playContext({self});
	const outcome = succeeded({running: undefined, lastExit: undefined, nextAttempt: 0, ...observation});
	return receivedBy(container, container.init(input, context).state, {type: 'inspected', id: '', outcome}, context);
}

const step = ({state}: Step, message: ContainerMessage, ms = 0): Step =>
	receivedBy(container, state, message, playContext({self, nowMs: nowMs + ms}));
const started = (now: Step, attempt = 0): Step =>
	step(now, {type: 'started', id: `uid-of-web/main/start/${attempt}`, outcome: succeeded(aRunningContainer(attempt))});
const running = (overrides: Partial<Container>): Step => started(begin(overrides));
const adopted = (overrides: Partial<Container>): Step => begin(overrides, {running: aRunningContainer(3), nextAttempt: 4});
const news = (now: Step, probe: ProbeKind, passed: boolean | undefined, failure?: string, attempt = 0): Step =>
	step(now, {type: 'probeNews', probe, attempt, passed, failure});

const told = ({effects}: Step): ContainerChanged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === owner ? [effect.message as ContainerChanged] : [])).at(-1);
const stateOf = (now: Step): unknown => {
	const {status, isUnsettled} = told(now) ?? {};
	return [status?.started, status?.ready, isUnsettled];
};
const spawned = ({effects}: Step): string[] => effects.flatMap(effect => (effect.type === 'spawn' ? [effect.name] : []));
const ended = ({effects}: Step): string[] => effects.flatMap(effect => (effect.type === 'stopChild' ? [effect.name] : []));
const commands = ({effects}: {readonly effects: readonly Effect[]}): object[] =>
	effects.flatMap(effect => (effect.type === 'perform' ? [effect.command] : []));

test('without probes a container that runs is ready, and nothing is tried', t => {
	t.deepEqual(stateOf(running({})), [true, true, false]);
	t.deepEqual(spawned(running({})), []);
});

test('with a readiness probe it is ready when that has passed, and no longer when it fails', t => {
	const now = running({readinessProbe: tcp});
	t.deepEqual(spawned(now), ['readiness-0']);
	t.deepEqual(stateOf(now), [true, false, false]);
	const ready = news(now, 'readiness', true);
	t.deepEqual(stateOf(ready), [true, true, false]);
	const unready = news(ready, 'readiness', false, 'failed: connection refused');
	t.deepEqual(stateOf(unready), [true, false, false]);
	t.like(told(unready)?.events, [{event: 'Warning', reason: 'Unhealthy', message: 'Readiness probe failed: connection refused'}]);
	t.deepEqual(commands(unready), []);
});

test('a startup probe holds the others back', t => {
	const now = running({startupProbe: tcp, readinessProbe: tcp, livenessProbe: tcp});
	t.deepEqual(spawned(now), ['startup-0']);
	t.deepEqual(stateOf(now), [false, false, false]);
	const up = news(now, 'startup', true);
	t.deepEqual(ended(up), ['startup-0']);
	t.deepEqual(spawned(up), ['readiness-0', 'liveness-0']);
	t.deepEqual(stateOf(up), [true, false, false]);
	t.deepEqual(stateOf(news(running({startupProbe: tcp, livenessProbe: tcp}), 'startup', true)), [true, true, false]);
});

for (const probe of ['liveness', 'startup'] as const) {
	test(`a container that failed its ${probe} probe is ended with its grace, and started again`, t => {
		const now = running({[`${probe}Probe`]: tcp});
		const killed = news(now, probe, false, 'failed: exit 1');
		t.like(commands(killed), [{type: 'container.stop', graceMs: 30_000}]);
		t.deepEqual(ended(killed), [`${probe}-0`]);
		t.deepEqual(
			told(killed)?.events.map(({event, reason}) => [event, reason]),
			[
				['Warning', 'Unhealthy'],
				['Normal', 'Killing'],
			],
		);
		t.like(told(killed), {ended: false, status: {ready: false, state: {running: {startedAt: '2023-11-14T22:13:20.000Z'}}}});
		const again = step(killed, {type: 'exited', exit: anExit({exitCode: 143})});
		t.like(commands(again), [{type: 'container.start', spec: {attempt: 1}}]);
		t.like(told(started(again, 1)), {status: {restartCount: 1}});
		t.deepEqual(spawned(started(again, 1)), [`${probe}-1`]);
	});
}

test('what is told of an end that was asked for names what asked for it', t => {
	const because = (now: Step, message: ContainerMessage, cause: string): Step =>
		receivedBy(container, now.state, message, playContext({self, nowMs, cause}));
	const failing = {type: 'probeNews', probe: 'liveness', attempt: 0, passed: false, failure: 'failed: x'} as const;
	const killed = because(running({livenessProbe: tcp}), failing, 'liveness probe of main');
	const over = because(
		killed,
		{type: 'exited', exit: anExit({exitCode: 143, startedAtMs: nowMs - 1, finishedAtMs: nowMs})},
		'exit of main',
	);
	const causes = (now: Step) => now.effects.flatMap(effect => (effect.type === 'tell' ? [effect.cause] : []));
	t.deepEqual(causes(over), ['liveness probe of main']);
	const crashed = because(running({}), {type: 'exited', exit: anExit({exitCode: 1})}, 'exit of main');
	t.deepEqual(causes(crashed), [undefined], 'of one that was not, the exit itself is the cause');
});

test('the answer to that stop alone is enough', t => {
	const killed = news(running({livenessProbe: tcp}), 'liveness', false, 'failed: x');
	const again = step(killed, {type: 'stopped', id: '', outcome: succeeded(anExit({exitCode: 137}))});
	t.like(commands(again), [{type: 'container.start', spec: {attempt: 1}}]);
	t.like(
		commands(step(killed, {type: 'stopped', id: '', outcome: succeeded(null)})),
		[{type: 'container.inspect'}],
		'nobody knows how it ended',
	);
});

test('a stop that fails is found out about, and the container probed anew', t => {
	const killed = news(running({livenessProbe: tcp}), 'liveness', false, 'failed: x');
	const waiting = step(killed, {type: 'stopped', id: '', outcome: failed('ERR_RUNTIME', {message: 'no'})});
	const looking = step(waiting, {type: 'retry'});
	t.like(commands(looking), [{type: 'container.inspect'}]);
});

test('restartPolicy decides what follows: with Never it stays ended', t => {
	const killed = news(started(begin({livenessProbe: tcp}, {}, 'Never')), 'liveness', false, 'failed: x');
	t.like(told(step(killed, {type: 'exited', exit: anExit({exitCode: 143})})), {
		ended: true,
		status: {state: {terminated: {exitCode: 143}}},
	});
});

test('the probe’s own grace goes before the pod’s', t => {
	const now = running({livenessProbe: {...tcp, terminationGracePeriodSeconds: 3}});
	t.like(commands(news(now, 'liveness', false, 'failed: x')), [{graceMs: 3_000}]);
});

test('a failure before the threshold is told and nothing else', t => {
	const now = news(running({livenessProbe: tcp}), 'liveness', undefined, 'failed: slow');
	t.deepEqual(commands(now), []);
	t.like(told(now), {status: {ready: true}, events: [{reason: 'Unhealthy', aspect: 'liveness', message: 'Liveness probe failed: slow'}]});
	t.deepEqual(news(now, 'liveness', true).effects, []);
});

test('news of an earlier attempt, and of a container that ends, are none', t => {
	const now = running({livenessProbe: tcp, readinessProbe: tcp});
	t.deepEqual(news(now, 'liveness', false, 'failed: x', 7).effects, []);
	const stopping = step(now, {type: 'stopContainer', graceMs: 30_000});
	t.deepEqual(ended(stopping), ['readiness-0', 'liveness-0']);
	t.deepEqual(news(stopping, 'liveness', false, 'failed: x').effects, []);
	t.deepEqual(news(stopping, 'readiness', true).effects, []);
});

test('what runs already is probed from the beginning, and until then nobody says that it is not ready', t => {
	const now = adopted({readinessProbe: tcp});
	t.deepEqual(spawned(now), ['readiness-3']);
	t.deepEqual(stateOf(now), [true, false, true]);
	t.deepEqual(stateOf(news(now, 'readiness', true, undefined, 3)), [true, true, false]);
	t.deepEqual(stateOf(news(now, 'readiness', false, 'failed: x', 3)), [true, false, false]);
	t.deepEqual(stateOf(adopted({livenessProbe: tcp})), [true, true, false]);
});

test('so is what has to start up first', t => {
	const now = adopted({startupProbe: tcp, readinessProbe: tcp});
	t.deepEqual(stateOf(now), [false, false, true]);
	const up = news(now, 'startup', true, undefined, 3);
	t.deepEqual(stateOf(up), [true, false, true]);
	t.deepEqual(stateOf(news(up, 'readiness', true, undefined, 3)), [true, true, false]);
	t.deepEqual(stateOf(news(now, 'startup', undefined, 'failed: x', 3)), [false, false, false]);
	t.deepEqual(stateOf(news(adopted({startupProbe: tcp}), 'startup', true, undefined, 3)), [true, true, false]);
});

test('a stop that comes while a failed container is ended makes that end the last', t => {
	const killed = news(running({livenessProbe: tcp}), 'liveness', false, 'failed: x');
	const asked = step(killed, {type: 'stopContainer', graceMs: 1_000});
	t.like(commands(asked), [{type: 'container.stop', graceMs: 1_000}]);
	t.deepEqual(commands(step(killed, {type: 'stopContainer', graceMs: 30_000})), [], 'it is being stopped already');
	t.true(told(step(asked, {type: 'exited', exit: anExit({exitCode: 143})}))?.ended);
});

const instance = {artifact: `sha256:${'0'.repeat(64)}`, runtime: 'python', concurrency: 1, timeoutMs: 1_000};
const annotations = {[functionAnnotation]: JSON.stringify(instance)};

test('an instance of a function is ready when its runner serves, which one long try waits for', t => {
	const begun = begin({name: functionContainer, startupProbe: tcp}, {}, 'Always', annotations);
	const now = step(begun, {type: 'started', id: 'uid-of-web/function/start/0', outcome: succeeded(aRunningContainer(0))});
	t.deepEqual(stateOf(now), [false, false, false]);
	const [probed] = now.effects.flatMap(effect => (effect.type === 'spawn' ? [effect.input as ProberInput] : []));
	if (probed === undefined) return t.fail();
	t.like(probeTerms(probed.probe), {timeoutMs: limits.functionLoadMs, failureThreshold: 1, initialDelayMs: 0});
	t.deepEqual(actionOf(probed.probe, probed.container, probed.podIP), {ok: true, value: {type: 'runnerListens'}});
	t.deepEqual(stateOf(news(now, 'startup', true)), [true, true, false]);
	const ended = news(now, 'startup', false, 'failed: the function was not loaded within 30 s');
	t.like(commands(ended), [{type: 'container.stop', graceMs: 30_000}]);
});

test('another container of the pod of an instance has the probes that it names', t => {
	const begun = begin({name: 'main'}, {}, 'Always', annotations);
	t.deepEqual(spawned(started(begun)), []);
	t.deepEqual(stateOf(started(begun)), [true, true, false]);
});
