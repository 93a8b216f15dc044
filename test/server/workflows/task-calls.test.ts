import test from 'ava';
import {AppError} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {aTask, failure, settled, taskWorld} from './_tasks.js';

const nothing = {attempts: 0, underWay: 0, waiting: 0, followed: 0};

test('an activity waits for who answers it, and nothing is called', async t => {
	const {outcome, calls, tasks} = taskWorld();
	t.deepEqual(await outcome(aTask('activity:approve')), {type: 'waiting'});
	t.deepEqual([calls.length, tasks.counts()], [0, nothing]);
});

test('what is no resource fails with words that say what would be one', async t => {
	const {outcome} = taskWorld();
	for (const resource of ['arn:aws:states:::sqs:sendMessage', 'Charge', '']) {
		const ended = await outcome(aTask(resource));
		if (ended.type !== 'failed') t.fail(resource);
		else {
			t.is(ended.error.Error, 'States.Runtime');
			t.regex(ended.error.Cause, /^the Resource must be a function/);
		}
	}
});

test('other commands are nobody’s', async t => {
	const {perform} = taskWorld();
	const outcome = await perform({type: 'other'});
	t.like(outcome, {ok: false, error: {code: 'ERR_INTERNAL'}});
});

test('two calls with one key are one attempt, whose outcome both hear', async t => {
	const {outcome, call, calls} = taskWorld();
	const both = [outcome(aTask('charge')), outcome(aTask('charge'))];
	(await call(0)).answer('once');
	t.deepEqual(await Promise.all(both), [
		{type: 'succeeded', output: 'once'},
		{type: 'succeeded', output: 'once'},
	]);
	t.is(calls.length, 1);
	const again = outcome(aTask('charge'));
	(await call(1)).answer('twice');
	t.deepEqual(await again, {type: 'succeeded', output: 'twice'}, 'what is over is asked for anew');
});

test('of very many who ask for one attempt those hear of it that asked last', async t => {
	const {tasks, call} = taskWorld();
	const heard: number[] = [];
	for (let asker = 0; asker < limits.workflowTaskAskers + 3; asker++) tasks.perform(aTask('charge'), () => void heard.push(asker));
	(await call(0)).answer(null);
	await settled();
	t.deepEqual(heard, [3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a stop of what is not under way is answered, and changes nothing', async t => {
	const {stop, tasks} = taskWorld();
	t.deepEqual(await stop('r/1-A.1'), {ok: true, value: null});
	t.deepEqual(tasks.counts(), nothing);
});

test('what goes wrong with a task by a mistake of ours fails it, and is told', async t => {
	const {outcome, call, problems, tasks} = taskWorld();
	const ended = outcome(aTask('charge'));
	const mistake = new TypeError('a mistake');
	(await call(0)).fail(mistake);
	t.deepEqual(await ended, failure('States.TaskFailed', 'the task could not be carried out: a mistake'));
	t.deepEqual([problems, tasks.counts()], [[mistake], nothing]);
});

test('at the end of a term all is dropped, nobody is told, and nothing is begun any more', async t => {
	const {tasks, call, calls, clock, problems} = taskWorld(1);
	const heard: unknown[] = [];
	const ask = (key: string, resource: string): void => tasks.perform(aTask(resource, {key}), outcome => void heard.push(outcome));
	ask('r/1', 'charge');
	ask('r/2', 'charge');
	const {call: made, answer} = await call(0);
	tasks.close();
	t.true(made.signal?.aborted);
	ask('r/3', 'charge');
	ask('r/4', 'activity:approve');
	answer('late');
	await settled();
	t.deepEqual(heard, []);
	t.deepEqual([calls.length, clock.nextAtMs(), problems, tasks.counts()], [1, undefined, [], nothing]);
});

test('all that a run has under way ends when it is deleted, also what waits to be begun, and nothing of another run', async t => {
	const world = taskWorld(2);
	const {tasks, outcome, call, calls, clock} = world;
	const aRun = (name: string) => ({
		...{apiVersion: 'troupe.dev/v1', kind: 'Run', spec: {workflow: 'w'}},
		metadata: {
			name,
			namespace: 'default',
			uid: `uid-of-${name}`,
			resourceVersion: '1',
			generation: 1,
			creationTimestamp: '2030-01-01T00:00:00Z',
		},
	});
	for (const name of ['one', 'two']) world.commit(`runs/default/${name}`, aRun(name));
	const begin = (name: string, key: string) => outcome(aTask('charge', {key, run: {namespace: 'default', name, uid: `uid-of-${name}`}}));
	const ended = [begin('one', 'a'), begin('one', 'b'), begin('one', 'c')];
	const other = begin('two', 'd');
	(await call(0)).fail(new AppError('ERR_BUSY', {message: 'not now'}));
	await call(2);
	await settled();
	t.like(tasks.counts(), {attempts: 4, underWay: 2});
	world.commit('runs/default/one', undefined);
	t.true(calls[1]?.call.signal?.aborted);
	t.true(calls[2]?.call.signal?.aborted);
	t.deepEqual([...new Set((await Promise.all(ended)).map(({type}) => type))], ['failed']);
	(await call(3)).answer('d');
	t.deepEqual(await other, {type: 'succeeded', output: 'd'});
	t.deepEqual([calls.length, clock.nextAtMs(), tasks.counts()], [4, undefined, nothing]);
});

test('so many tasks are called at once, the others in the order in which they came', async t => {
	const {outcome, stop, call, calls, tasks} = taskWorld(2);
	const ended = ['a', 'b', 'c', 'd', 'e'].map(key => outcome(aTask('charge', {key, input: key})));
	const called = (): unknown[] => calls.map(each => JSON.parse(each.call.body.toString()) as unknown);
	await call(1);
	await settled();
	t.deepEqual([called(), tasks.counts()], [['a', 'b'], {attempts: 5, underWay: 2, waiting: 3, followed: 0}]);
	await stop('c');
	(await call(0)).answer('a');
	await call(2);
	await settled();
	t.deepEqual(called(), ['a', 'b', 'd']);
	await stop('b');
	await call(3);
	t.deepEqual(called(), ['a', 'b', 'd', 'e']);
	(await call(2)).answer('d');
	(await call(3)).answer('e');
	t.deepEqual(
		(await Promise.all(ended)).map(({type}) => type),
		['succeeded', 'failed', 'failed', 'succeeded', 'succeeded'],
	);
	t.deepEqual(tasks.counts(), nothing);
});

test('a turn is given on by whoever is stopped with those that wait for it', async t => {
	const {outcome, tasks, call, calls} = taskWorld(1);
	for (const key of ['a', 'b', 'c']) void outcome(aTask('charge', {key, input: key}));
	const last = outcome(aTask('charge', {key: 'd'}));
	await call(0);
	for (const key of ['a', 'b', 'c']) tasks.perform({type: 'stopTask', key} as never, () => undefined);
	(await call(1)).answer('d');
	t.deepEqual(await last, {type: 'succeeded', output: 'd'});
	t.is(calls.length, 2);
	t.deepEqual(tasks.counts(), nothing);
});
