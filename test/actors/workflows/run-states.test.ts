// What is shown of a run that is under way.

import test from 'ava';
import {statesOf, type RunState} from '../../../actors/control/workflows/run-states.js';
import {gives, RunCluster, throws} from './_run-cluster.js';

const shown = (cluster: RunCluster, most = 100) => statesOf(cluster.run('one'), cluster.durable.index, most);
const brief = ({state, attempt, phase, waits}: RunState): readonly unknown[] => [state, attempt, phase, waits ?? false];

test('states under way are told with their attempts, phases and times, the outermost first, and nothing of a run that is over', t => {
	const task = {Type: 'Task', Resource: 'f', End: true};
	const cluster = new RunCluster((_call, state) =>
		state === 'Bad' ? {outcome: throws('No')} : state === 'Long' ? {outcome: 'never'} : {outcome: {type: 'waiting'}},
	);
	const branch = (name: string, state: object) => ({StartAt: name, States: {[name]: state}});
	const ask = {...task, Resource: 'activity:ask', TimeoutSeconds: 60, HeartbeatSeconds: 20};
	cluster.begin('w', 'one');
	t.deepEqual(shown(cluster), {states: [], more: 0});
	cluster.workflow('w', {
		...branch('Both', {
			Type: 'Parallel',
			End: true,
			Branches: [
				branch('Ask', ask),
				branch('Bad', {...task, Retry: [{ErrorEquals: ['No'], IntervalSeconds: 30}]}),
				branch('Pause', {Type: 'Wait', Seconds: 90, End: true}),
				branch('Long', task),
			],
		}),
	});
	cluster.pass(1);
	const {states, more} = shown(cluster);
	t.is(more, 0);
	t.deepEqual(states.map(brief), [
		['Both', 1, 'children', false],
		['Ask', 1, 'task', true],
		['Bad', 2, 'retrying', false],
		['Pause', 1, 'waiting', false],
		['Long', 1, 'task', false],
	]);
	const [both, asks, bad, pause, long] = states;
	const beganMs = both?.enteredAtMs ?? 0;
	t.deepEqual(both?.children, {total: 4, started: 4, ended: 0, failed: 0});
	t.deepEqual(
		[asks, bad, pause, long].map(each => (each?.untilMs === undefined ? undefined : Math.floor((each.untilMs - beganMs) / 1_000))),
		[20, 30, 90, undefined],
	);
	t.regex(asks?.key ?? '', /\/1-Both\.1\.0\/1-Ask\.1$/);
	t.is(asks?.frame, '1-Both.1.0/');
	t.deepEqual(shown(cluster, 2), {states: states.slice(0, 2), more: 3});
	t.true(cluster.tellRun('one', {type: 'taskAnswered', task: {key: asks?.key ?? ''}, outcome: gives(1)}).ok);
	cluster.settle();
	t.deepEqual(shown(cluster).states[0]?.children, {total: 4, started: 4, ended: 1, failed: 0});
	cluster.patchRun('one', {cancel: true});
	cluster.settle();
	t.deepEqual(shown(cluster), {states: [], more: 0});
});
