// The row of a pod that is being initialised, as kubectl prints it.

import test from 'ava';
import {podColumns} from '../../api/columns/pod.js';
import type {ContainerState, ContainerStatus, Pod, PodStatus} from '../../api/kinds/pod.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const statusOf = (name: string, state: ContainerState, restartCount = 0): ContainerStatus => ({
	name,
	ready: false,
	restartCount,
	image: 'x',
	imageID: '',
	state,
	...(restartCount === 0 ? {} : {lastState: {terminated: {exitCode: 1, finishedAt: '2026-01-01T00:03:10Z'}}}),
});

/** Ready, status, restarts. */
function rowOf(inits: readonly ContainerStatus[], status: Partial<PodStatus> = {}): readonly unknown[] {
	const containers = [{name: 'main', image: 'x'}];
	const pod: Pod = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: 'web', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
		spec: {containers, initContainers: inits.map(({name}) => ({name, image: 'x'}))},
		status: {
			phase: 'Pending',
			initContainerStatuses: inits,
			containerStatuses: [statusOf('main', {waiting: {reason: 'PodInitializing'}})],
			...status,
		},
	};
	return ['Ready', 'Status', 'Restarts'].map(name => podColumns.find(column => column.name === name)?.cell(pod, nowMs));
}

const done: ContainerState = {terminated: {exitCode: 0, reason: 'Completed'}};
const later = statusOf('two', {waiting: {reason: 'PodInitializing'}});
const retryAt = '2026-01-01T00:03:22Z';

const rows: readonly (readonly [inits: readonly ContainerStatus[], status: string, restarts: string])[] = [
	[[statusOf('one', {waiting: {reason: 'PodInitializing'}}), later], 'Init:0/2', '0'],
	[[statusOf('one', {running: {}}), later], 'Init:0/2', '0'],
	[[statusOf('one', done), later], 'Init:1/2', '0'],
	[[statusOf('one', done), statusOf('two', {running: {}}, 3)], 'Init:1/2', '3 (10s ago)'],
	[[statusOf('one', {waiting: {reason: 'CrashLoopBackOff', retryAt}}, 2), later], 'Init:CrashLoopBackOff', '2 (10s ago)'],
	[[statusOf('one', {waiting: {reason: 'Pulling', message: '7 %, 1 of 9 MB'}}), later], 'Init:Pulling 7%', '0'],
	[[statusOf('one', {waiting: {reason: 'CreateContainerConfigError', message: 'x'}}), later], 'Init:CreateContainerConfigError', '0'],
	[[statusOf('one', {terminated: {exitCode: 1, reason: 'Error'}}), later], 'Init:Error', '0'],
	[[statusOf('one', {terminated: {exitCode: 3}}), later], 'Init:ExitCode:3', '0'],
	[[statusOf('one', {terminated: {exitCode: 137, signal: 9}}), later], 'Init:Signal:9', '0'],
];
for (const [inits, status, restarts] of rows) {
	test(`${JSON.stringify(inits.map(({state}) => state))} is ${status}`, t => {
		t.deepEqual(rowOf(inits), ['0/1', status, restarts]);
	});
}

test('when all are done the row is that of the containers', t => {
	const inits = [statusOf('one', done, 4)];
	t.deepEqual(rowOf(inits, {containerStatuses: [{...statusOf('main', {running: {}}), ready: true}], phase: 'Running'}), [
		'1/1',
		'Running',
		'0',
	]);
	const initialized = {conditions: [{type: 'Initialized', status: 'True'} as const], phase: 'Running' as const};
	t.deepEqual(
		rowOf([statusOf('one', {waiting: {}})], {...initialized, containerStatuses: [{...statusOf('main', {running: {}}), ready: true}]}),
		['1/1', 'Running', '0'],
	);
});

test('what waits after it was out of memory says that instead of its exit code', t => {
	const waiting = statusOf('main', {waiting: {reason: 'CrashLoopBackOff', retryAt}}, 6);
	const after = (exitCode: number, reason: string): unknown =>
		rowOf([], {phase: 'Running', containerStatuses: [{...waiting, lastState: {terminated: {exitCode, reason}}}]})[1];
	t.deepEqual([after(137, 'OOMKilled'), after(137, 'Error')], ['retry 7 in 2 s: OOMKilled', 'retry 7 in 2 s: exit 137']);
});

test('a pod that was ended for a reason of its own says that', t => {
	const status = {phase: 'Failed', reason: 'DeadlineExceeded'} as const;
	t.deepEqual(rowOf([statusOf('one', {terminated: {exitCode: 143, reason: 'Error'}})], status)[1], 'DeadlineExceeded');
});

test('a sidecar that has started holds nothing back, and counts as a container', t => {
	const rowWith = (inits: readonly ContainerStatus[], sidecars: readonly string[], status: Partial<PodStatus> = {}): readonly unknown[] => {
		const initContainers = inits.map(({name}) => ({
			name,
			image: 'x',
			...(sidecars.includes(name) ? {restartPolicy: 'Always' as const} : {}),
		}));
		const spec = {containers: [{name: 'main', image: 'x'}], initContainers};
		const containerStatuses = [statusOf('main', {waiting: {reason: 'PodInitializing'}})];
		const pod: Pod = {
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {name: 'web', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
			spec,
			status: {phase: 'Pending', initContainerStatuses: inits, containerStatuses, ...status},
		};
		return ['Ready', 'Status', 'Restarts'].map(name => podColumns.find(column => column.name === name)?.cell(pod, nowMs));
	};
	const started = {...statusOf('one', {running: {}}, 2), ready: true, started: true};
	t.deepEqual(rowWith([{...started, ready: false, started: false}, later], ['one']), ['0/2', 'Init:0/2', '2 (10s ago)']);
	t.deepEqual(rowWith([started, later], ['one']), ['1/2', 'Init:1/2', '2 (10s ago)']);
	const main = {...statusOf('main', {running: {}}), ready: true};
	const runs = {phase: 'Running', containerStatuses: [main], conditions: [{type: 'Initialized', status: 'True'}]} as const;
	t.deepEqual(rowWith([started], ['one'], runs), ['2/2', 'Running', '2 (10s ago)']);
	const crashed = statusOf('one', {waiting: {reason: 'CrashLoopBackOff'}}, 3);
	t.deepEqual(rowWith([crashed], ['one'], runs), ['1/2', 'Running', '3 (10s ago)']);
});
