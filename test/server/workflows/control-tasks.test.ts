// Tasks that an actor of a real control plane asks for, over its edge: what they make are its own objects.

import test, {type ExecutionContext} from 'ava';
import {controlDesign} from '../../../actors/control/design.js';
import {controlRoot} from '../../../actors/control/root.js';
import type {CallTask, StopTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {succeeded, type Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import type {Job} from '../../../api/kinds/job.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {createTaskCalls, type TaskCalls} from '../../../server/workflows/task-calls.js';
import {next, reply, type Behavior, type Message, type Reply, type ReplyTo} from '../../../system/kernel/behavior.js';
import {systemClock} from '../../../system/time/clock.js';
import {openDoors} from '../../cli/_three-doors.js';
import {aTask} from './_tasks.js';

type Please = Message & {readonly type: 'please'; readonly command: CallTask | StopTask};

/** Asks the edge for what it is told, as the actors of runs do. */
const asker: Behavior<null, ReadonlyMap<string, ReplyTo | undefined>, Please | Reply<TaskOutcome, 'answered'>> = {
	kind: 'Asker',
	init: () => next(new Map()),
	receive(state, message) {
		if (message.type === 'answered') return next(state, reply(state.get(message.id), message.outcome));
		const {command, replyTo} = message;
		const key = `${command.type} ${command.key}`;
		return next(new Map(state).set(key, replyTo), [{type: 'perform', command, key, as: 'answered'}]);
	},
};

const root: typeof controlRoot = {
	...controlRoot,
	kind: 'RootWithAsker',
	init(input, context) {
		const made = controlRoot.init(input, context);
		return {...made, effects: [...made.effects, {type: 'spawn', name: 'asker', behavior: asker.kind, input: null}]};
	},
};

const design: typeof controlDesign = {
	...controlDesign,
	root: root.kind,
	behaviors: {...controlDesign.behaviors, [root.kind]: root, [asker.kind]: asker},
};

async function openTasks(t: ExecutionContext) {
	const late: {tasks?: TaskCalls} = {};
	const {plane, call} = await openDoors(t, {
		design,
		perform: (command, done) => late.tasks?.perform(command, done),
		onChange: change => late.tasks?.hear(change),
	});
	const problems: unknown[] = [];
	const tasks = createTaskCalls({
		control: plane,
		clock: systemClock,
		callWhole: () => Promise.reject(new Error('there are no functions here')),
		onProblem: error => void problems.push(error),
	});
	late.tasks = tasks;
	t.teardown(tasks.close);
	await eventually('there is a namespace', () => plane.index.get('namespaces/_/default') !== undefined);
	// An owner that is there.
	t.is((await call('POST', '/api/v1/namespaces/default/configmaps', '{"metadata": {"name": "run-1"}}')).status, 201);
	const uid = plane.index.get('configmaps/default/run-1')?.metadata.uid ?? '';
	const endsAsked = new Set<string>();
	const perform = async (command: CallTask | StopTask): Promise<Outcome<TaskOutcome>> => {
		const message: Please = {type: 'please', command};
		if (command.type === 'callTask' && command.isMade === true) endsAsked.add(command.key);
		const asked = plane.ask(address('control', 'asker'), message, {deadlineMs: 60_000, cause: 'test'});
		const outcome = (await within('the end of the task', asked)) as Outcome<TaskOutcome>;
		// As a run does, once that is committed.
		if (command.type === 'callTask' && outcome.ok && outcome.value.type === 'made') return perform({...command, isMade: true});
		return outcome;
	};
	return {
		plane,
		call,
		tasks,
		problems,
		perform,
		/** Attempts whose object was made, and whose end is asked for. */
		endsAsked,
		aJobTask: (spec: object) => aTask('job:', {run: {namespace: 'default', name: 'run-1', uid}, input: {spec: {template, ...spec}}}),
		jobs: () => [...plane.index.list('jobs')] as Job[],
	};
}

const template = {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'none', command: ['true']}]}};

test('a Job that a task asked for is made, ends, and its end comes back to the actor', async t => {
	const {perform, aJobTask, jobs, tasks, problems} = await openTasks(t);
	const outcome = await perform(aJobTask({activeDeadlineSeconds: 1}));
	t.deepEqual(outcome, succeeded({type: 'failed', error: {Error: 'Job.Failed', Cause: 'Job was active longer than specified deadline'}}));
	t.is(jobs().length, 1);
	t.deepEqual([tasks.counts(), problems], [{attempts: 0, underWay: 0, waiting: 0, followed: 0}, []]);
});

test('a Job whose task is stopped is gone, and so is one whose run goes', async t => {
	const {perform, endsAsked, aJobTask, jobs, call, tasks} = await openTasks(t);
	const stopped = perform(aJobTask({suspend: true}));
	await eventually('there is a job', () => jobs().length === 1 && tasks.counts().followed === 1 && endsAsked.size === 1);
	t.deepEqual(await perform({type: 'stopTask', key: aTask('').key}), succeeded(null));
	t.like(await stopped, {ok: true, value: {type: 'failed', error: {Error: 'States.TaskFailed'}}});
	await eventually('the job is gone', () => jobs().length === 0);
	const deleted = perform({...aJobTask({suspend: true}), key: 'run-1/2-B.1'});
	await eventually('there is another job', () => jobs().length === 1 && tasks.counts().followed === 1 && endsAsked.size === 2);
	await call('DELETE', '/api/v1/namespaces/default/configmaps/run-1');
	t.like(await deleted, {
		ok: true,
		value: {type: 'failed', error: {Error: 'States.TaskFailed', Cause: 'the run that has this task was deleted'}},
	});
	await eventually('the other job is gone', () => jobs().length === 0);
});

test('a Job that the cluster refuses fails its task in the words of admission', async t => {
	const {perform, aJobTask, jobs} = await openTasks(t);
	const outcome = await perform(aJobTask({completions: -1}));
	t.like(outcome, {ok: true, value: {type: 'failed', error: {Error: 'Job.Refused'}}});
	t.regex(JSON.stringify(outcome), /spec\.completions/);
	t.deepEqual(jobs(), []);
});
