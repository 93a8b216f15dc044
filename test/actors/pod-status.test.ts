// A pod's phase and conditions from the states of its containers, as Kubernetes computes them.

import {overdueFailure} from '../../actors/node/pods/pod-failure.js';
import test from 'ava';
import type {ContainerState, ContainerStatus, PodPhase, RestartPolicy} from '../../api/kinds/pod.js';
import {podStatusOf, type PodView} from '../../actors/node/pods/pod-status.js';
import {aContainer, now, nowMs} from './_objects.js';
import {anAssignment, sandbox} from './_agent.js';

const states = {
	running: {state: {running: {startedAt: now}}, ready: true},
	creating: {state: {waiting: {reason: 'ContainerCreating'}}},
	backOff: {state: {waiting: {reason: 'CrashLoopBackOff'}}, lastState: {terminated: {exitCode: 1}}},
	done: {state: {terminated: {exitCode: 0}}},
	broken: {state: {terminated: {exitCode: 1}}},
} satisfies Record<string, {readonly state: ContainerState; readonly lastState?: ContainerState; readonly ready?: boolean}>;

type State = keyof typeof states | 'silent';

function viewOf(given: readonly State[], policy: RestartPolicy = 'Always', overrides: Partial<PodView> = {}): PodView {
	const containers: Record<string, ContainerStatus> = {};
	given.forEach((state, i) => {
		if (state !== 'silent') containers[`c${i}`] = {name: `c${i}`, ready: false, restartCount: 0, image: 'x', imageID: '', ...states[state]};
	});
	const spec = {restartPolicy: policy, containers: given.map((_, i) => aContainer({name: `c${i}`}))};
	return {
		assignment: anAssignment({spec}),
		sandbox,
		problem: undefined,
		containers,
		awaited: undefined,
		failure: undefined,
		startedAtMs: nowMs,
		previous: undefined,
		...overrides,
	};
}

const phases: readonly (readonly [RestartPolicy, readonly State[], PodPhase])[] = [
	['Always', ['silent'], 'Pending'],
	['Always', ['creating'], 'Pending'],
	['Always', ['running', 'creating'], 'Pending'],
	['Always', ['running', 'silent'], 'Pending'],
	['Always', ['running', 'running'], 'Running'],
	['Always', ['backOff'], 'Running'],
	['Always', ['running', 'backOff'], 'Running'],
	['Always', ['done'], 'Running'],
	['OnFailure', ['done', 'running'], 'Running'],
	['OnFailure', ['backOff', 'done'], 'Running'],
	['OnFailure', ['done', 'done'], 'Succeeded'],
	['Never', ['done'], 'Succeeded'],
	['Never', ['done', 'broken'], 'Failed'],
	['Never', ['broken', 'running'], 'Running'],
	['Never', ['broken', 'creating'], 'Pending'],
];
for (const [policy, given, phase] of phases) {
	test(`with restartPolicy ${policy}, ${given.join(' and ')} make a pod ${phase}`, t => {
		t.is(podStatusOf(viewOf(given, policy), nowMs).phase, phase);
	});
}

const readiness = (view: PodView): readonly unknown[] =>
	(podStatusOf(view, nowMs).conditions ?? [])
		.filter(({type}) => type === 'Ready')
		.map(({status, reason, message}) => [status, reason, message]);

test('a pod is ready when all its containers are', t => {
	t.deepEqual(readiness(viewOf(['running', 'running'])), [['True', undefined, undefined]]);
	t.deepEqual(readiness(viewOf(['running', 'backOff'])), [['False', 'ContainersNotReady', 'containers with unready status: [c1]']]);
});

test('a pod that is over is not ready, and says how it ended', t => {
	t.deepEqual(readiness(viewOf(['done'], 'Never')), [['False', 'PodCompleted', undefined]]);
	t.deepEqual(readiness(viewOf(['broken'], 'Never')), [['False', 'PodFailed', undefined]]);
});

test('a sandbox that cannot be made is the reason', t => {
	const status = podStatusOf(viewOf(['silent'], 'Always', {sandbox: undefined, problem: 'no address left'}), nowMs);
	t.like(status, {phase: 'Pending', reason: 'SandboxFailed', message: 'no address left'});
	t.deepEqual(status.containerStatuses?.[0]?.state, {waiting: {reason: 'SandboxFailed', message: 'no address left'}});
	t.false(Object.hasOwn(status, 'podIP'));
	t.deepEqual(readiness(viewOf(['silent'], 'Always', {problem: 'no address left'})), [['False', 'ContainersNotReady', 'no address left']]);
});

test('addresses, the start and all containers are told, those that have not spoken too', t => {
	t.like(podStatusOf(viewOf(['running', 'silent']), nowMs), {
		hostIP: '127.0.0.1',
		podIP: '127.1.0.5',
		podIPs: [{ip: '127.1.0.5'}],
		startTime: now,
		containerStatuses: [
			{name: 'c0', ready: true},
			{name: 'c1', ready: false, state: {waiting: {reason: 'ContainerCreating'}}},
		],
	});
});

test('a condition keeps its time until its status changes', t => {
	const first = podStatusOf(viewOf(['running']), nowMs);
	const later = nowMs + 5000;
	t.deepEqual(podStatusOf(viewOf(['running'], 'Always', {previous: first}), later), first);
	const crashed = podStatusOf(viewOf(['backOff'], 'Always', {previous: first}), later);
	t.deepEqual(
		crashed.conditions?.map(({type, lastTransitionTime}) => [type, lastTransitionTime]),
		[
			['Initialized', now],
			['ContainersReady', '2023-11-14T22:13:25Z'],
			['Ready', '2023-11-14T22:13:25Z'],
		],
	);
});

test('who waits for its turn says what the pod waits for', t => {
	const held: ContainerStatus = {
		name: 'c0',
		ready: false,
		restartCount: 0,
		image: 'x',
		imageID: '',
		state: {waiting: {reason: 'PodInitializing'}},
	};
	const awaited = {reason: 'FailedMount', message: 'no space'};
	const view = viewOf(['silent'], 'Always', {containers: {c0: held}, awaited});
	t.deepEqual(podStatusOf(view, nowMs).containerStatuses?.[0]?.state, {waiting: awaited});
	t.deepEqual(podStatusOf({...view, awaited: undefined}, nowMs).containerStatuses?.[0]?.state, {waiting: {reason: 'ContainerCreating'}});
});

test('a pod past its deadline has failed, whatever its containers did', t => {
	const status = podStatusOf(viewOf(['running', 'done'], 'Always', {failure: overdueFailure}), nowMs);
	t.like(status, {phase: 'Failed', reason: 'DeadlineExceeded'});
	t.deepEqual(readiness(viewOf(['running'], 'Always', {failure: overdueFailure})), [['False', 'PodFailed', undefined]]);
});
