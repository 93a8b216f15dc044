// What records and containers say keeps them from what they are for: `tree` shows such actors first.

import test from 'ava';
import {troubleOf} from '../../actors/control/objects/trouble.js';
import {container} from '../../actors/node/containers/container.js';
import {play} from '../../system/kernel/play.js';
import {anAssignment, anExit, sandbox} from './_agent.js';
import {aContainer, aPod, nowMs} from './_objects.js';

const waiting = (waits: object, more: object = {}) => ({containerStatuses: [{name: 'web', state: {waiting: waits}, ...more}]});
const condition = (type: string, status: string, reason: string, message = '') => ({conditions: [{type, status, reason, message}]});
const owned = {metadata: {...aPod().metadata, ownerReferences: []}};
const crashLoop = {reason: 'CrashLoopBackOff', message: 'back-off before attempt 4: …'};

const cases: readonly (readonly [string, object, string | undefined])[] = [
	['a pod that runs', {status: {phase: 'Running', containerStatuses: [{name: 'web', state: {running: {}}}]}}, undefined],
	['a pod that is starting', {status: waiting({reason: 'ContainerCreating'})}, undefined],
	[
		'a pod whose container ends again and again',
		{status: waiting(crashLoop, {lastState: {terminated: {exitCode: 3}}})},
		'web: CrashLoopBackOff: exit 3',
	],
	[
		'a pod whose container cannot start',
		{status: waiting({reason: 'RunContainerError', message: 'container "web" cannot start: program "slep" was not found'})},
		'web: RunContainerError: program "slep" was not found',
	],
	[
		'a pod that no node fits',
		{status: condition('PodScheduled', 'False', 'Unschedulable', '0/1 nodes fit')},
		'Unschedulable: 0/1 nodes fit',
	],
	['a pod that failed', {status: {phase: 'Failed'}}, 'Failed'],
	['a pod that failed, of a Job', {...owned, status: {phase: 'Failed'}}, undefined],
	['a Deployment past its deadline', {status: condition('Progressing', 'False', 'ProgressDeadlineExceeded')}, 'ProgressDeadlineExceeded'],
	['a set that is refused pods', {status: condition('ReplicaFailure', 'True', 'FailedCreate', 'quota')}, 'FailedCreate: quota'],
	['a node that is not heard', {kind: 'Node', status: condition('Ready', 'Unknown', 'NodeStatusUnknown')}, 'NodeStatusUnknown'],
	['a pod that is not ready yet', {status: condition('Ready', 'False', 'ContainersNotReady')}, undefined],
	['one without a status', {}, undefined],
];

for (const [what, more, expected] of cases)
	test(`${what}: ${expected ?? 'no trouble'}`, t => t.is(troubleOf({...aPod(), ...more}), expected));

test('what is being deleted has no trouble', t => {
	const pod = aPod();
	const status = condition('PodScheduled', 'False', 'Unschedulable');
	t.is(troubleOf({...pod, metadata: {...pod.metadata, deletionTimestamp: new Date(nowMs).toISOString()}, status}), undefined);
});

test('a container that waits for its next attempt says how the last one ended; one that runs says nothing', t => {
	const input = {
		assignment: anAssignment(),
		container: aContainer({name: 'main'}),
		role: 'main' as const,
		held: false,
		stopGraceMs: undefined,
		sandboxes: 0,
		sandbox,
	};
	const begun = play(container, {...input, owner: 'troupe://node-a/pods/default.web'});
	t.is(container.trouble?.(begun.state), undefined);
	const lastExit = anExit({exitCode: 3});
	const at = {retry: undefined, type: 'waiting', reason: 'CrashLoopBackOff', message: 'back-off'} as const;
	t.is(container.trouble?.({...begun.state, attempt: 4, lastExit, phase: at}), 'CrashLoopBackOff: exit 3, attempt 4 comes next');
	const unstartable = {...at, reason: 'RunContainerError', message: 'container "main" cannot start: no such program'};
	t.is(container.trouble?.({...begun.state, phase: unstartable}), 'RunContainerError: no such program');
});
