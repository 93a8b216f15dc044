// What a task that is a function comes to with a real runner and the calls of a server, whatever the language: only who gives out slots is a test's.

import net from 'node:net';
import type {ExecutionContext} from 'ava';
import {activatorOf, activatorsAddress} from '../../../actors/addresses.js';
import type {CallTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {succeeded} from '../../../api/errors.js';
import type {Json} from '../../../api/object.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {createFunctionCalls} from '../../../server/functions/calls.js';
import {createTaskCalls} from '../../../server/workflows/task-calls.js';
import {systemClock} from '../../../system/time/clock.js';
import {aFunction} from '../../actors/_functions.js';
import type {Limits, Runner} from '../../agent/functions/_runner.js';
import {testCluster} from '../cluster.js';
import {aTask, failure} from './_tasks.js';

export type TaskLanguage = {
	readonly name: string;
	/**
	 * A function that does what `how` says: `declined` throws a CardDeclined("no money") of its own; `usual` throws a TypeError; `text` answers the
	 * text grüße; `nothing` answers with 204; `told` returns the key and the id that it was called with; `waits` writes `begun` and does not end;
	 * `dies` kills its process; anything else is returned.
	 */
	readonly start: (t: ExecutionContext, limits?: Partial<Limits>) => Promise<Runner>;
};

export function runnerTasks(test: (title: string, run: (t: ExecutionContext) => Promise<void>) => void, {name, start}: TaskLanguage): void {
	const world = async (t: ExecutionContext, limits: Partial<Limits> = {}) => {
		const runner = await start(t, limits);
		const cluster = testCluster();
		const fn = aFunction();
		cluster.put(fn);
		const {namespace = '', name: called} = fn.metadata;
		const released: string[] = [];
		cluster.answers.set(activatorsAddress, () => succeeded({uid: 'uid-of-instance', pod: 'instance', node: 'here'}));
		cluster.answers.set(activatorOf(namespace, called), message => {
			released.push((message as unknown as {ticket: string}).ticket);
			return succeeded(null);
		});
		const connect = (): Promise<net.Socket> =>
			new Promise((resolve, reject) => {
				const connection = net.connect(runner.socket);
				connection.once('connect', () => resolve(connection)).once('error', reject);
			});
		const calls = createFunctionCalls({control: cluster.control, clock: systemClock, connectHere: () => connect});
		const problems: unknown[] = [];
		const tasks = createTaskCalls({
			control: cluster.control,
			clock: systemClock,
			callWhole: calls.callWhole,
			onProblem: error => void problems.push(error),
		});
		t.teardown(() => {
			tasks.close();
			calls.close();
		});
		const begun = (how: string, more: Partial<CallTask> = {}): Promise<TaskOutcome> =>
			new Promise((resolve, reject) =>
				tasks.perform(aTask(`${namespace}/${called}`, {input: {how}, ...more}), outcome =>
					outcome.ok ? resolve(outcome.value as TaskOutcome) : reject(new Error(outcome.error.message)),
				),
			);
		return {
			runner,
			tasks,
			released,
			problems,
			begun,
			ended: (how: string, more?: Partial<CallTask>) => within('the task', begun(how, more)),
		};
	};
	const result = (output: Json): TaskOutcome => ({type: 'succeeded', output});

	test(`${name}: the name of an error is the class of what the function threw`, async t => {
		const {ended} = await world(t);
		t.deepEqual(await ended('declined'), failure('CardDeclined', 'no money'));
		const usual = await ended('usual');
		t.is(usual.type === 'failed' ? usual.error.Error : usual.type, 'TypeError');
	});

	test(`${name}: what a function answers is the result of its task`, async t => {
		const {ended} = await world(t);
		t.deepEqual(await ended('anything'), result({how: 'anything'}));
		t.deepEqual(await ended('text'), result('grüße'));
		t.deepEqual(await ended('nothing'), result(null));
		t.deepEqual(await ended('anything', {input: null}), result(null));
	});

	test(`${name}: a function is told the key of its attempt, and its log has the state`, async t => {
		const {ended, tasks} = await world(t);
		const told = await ended('told', {key: 'default.order-7/2-Each.1.3/1-Charge.2'});
		const {key, id} = (told.type === 'succeeded' ? told.output : {}) as {key?: string; id?: string};
		t.is(key, 'default.order-7/2-Each.1.3/1-Charge.2');
		t.regex(id ?? '', /^1-Charge\.2\.[0-9a-f]{20}$/);
		t.deepEqual(tasks.counts(), {attempts: 0, underWay: 0, waiting: 0, followed: 0});
	});

	test(`${name}: a function that takes too long, and one whose instance dies, are errors of their own`, async t => {
		const {ended} = await world(t, {timeoutMs: 1_000});
		const late = await ended('waits');
		t.is(late.type === 'failed' ? late.error.Error : late.type, 'Function.Timeout');
		const dead = await ended('dies');
		if (dead.type !== 'failed') return t.fail();
		t.is(dead.error.Error, 'States.TaskFailed');
		t.regex(dead.error.Cause, /^the instance instance ended before it answered/);
	});

	test(`${name}: a call that nobody waits for any more is cut, and its slot is free`, async t => {
		const {begun, tasks, runner, released, problems} = await world(t);
		const stopped = begun('waits');
		await runner.wrote('begun');
		t.deepEqual(released, []);
		tasks.perform({type: 'stopTask', key: aTask('').key} as never, () => undefined);
		t.is((await stopped).type, 'failed');
		await eventually('its slot is given back', () => released.length === 1);
		t.deepEqual([tasks.counts(), problems], [{attempts: 0, underWay: 0, waiting: 0, followed: 0}, []]);
	});
}
