// Runs that triggers start: what they are called, what they begin with, and what becomes of those that cannot be made.

import test from 'ava';
import {AppError, failed, succeeded, type Outcome} from '../../../api/errors.js';
import {collectionAddress, objectKey} from '../../../api/keys.js';
import type {Run} from '../../../api/kinds/run.js';
import type {Workflow} from '../../../api/kinds/workflow.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Json} from '../../../api/object.js';
import {causesOf} from '../../../api/triggered-run.js';
import {createRunStarts} from '../../../server/workflows/run-starts.js';
import type {Occasion, Seen, Trigger} from '../../../server/triggers/occasion.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {testCluster} from '../cluster.js';
import {settled} from './_tasks.js';

const definition = {StartAt: 'A', States: {A: {Type: 'Succeed'}}};

const aWorkflow = (name: string, uid = `uid-of-${name}`): Workflow => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Workflow',
	metadata: {name, namespace: 'default', uid, generation: 1, resourceVersion: '1', creationTimestamp: ''},
	spec: {definition},
});

function startWorld() {
	const cluster = testCluster();
	const clock = new ManualClock();
	const told: string[] = [];
	const {index, ask} = cluster.control;
	const starts = createRunStarts({
		control: {
			index,
			// A commit takes its time.
			async ask(...asked) {
				await Promise.resolve();
				return ask(...asked);
			},
		},
		clock,
		onGivenUp: ({target, trigger}, why) => void told.push(`${target.name} ${trigger}: ${why}`),
		onPassedOver: ({trigger}) => void told.push(`${trigger.name} passed over`),
	});
	cluster.put(aWorkflow('order'));
	const runs = (): readonly Run[] => [...cluster.control.index.list('runs')] as Run[];
	const only = (): Run => {
		const [run, ...more] = runs();
		if (run === undefined || more.length > 0) throw new Error(`there are ${more.length + (run === undefined ? 0 : 1)} runs`);
		return run;
	};
	const phase = ({metadata}: Run, is: NonNullable<Run['status']>['phase']): void => {
		const run = cluster.control.index.get(objectKey('runs', metadata.namespace, metadata.name));
		cluster.put({...(run as ApiObject), status: {phase: is}});
	};
	return {cluster, clock, told, starts, runs, only, phase};
}

const atMs = Date.UTC(2030, 0, 1, 3);
const atTime: Seen = {type: 'time', atMs, params: '{"a": null}'};

const message = (payload: string | Buffer, json?: unknown): Seen => ({
	type: 'message',
	topic: 'orders/7',
	payload: Buffer.from(payload as string),
	json,
	login: 'ann',
});

const occasion = (seen: Seen, trigger: Partial<Trigger> = {}, name = 'order'): Occasion => ({
	target: {plural: 'workflows', namespace: 'default', name},
	trigger: {name: 'now', ...trigger},
	seen,
});

test('the run of a time is called after it, belongs to its workflow, and begins with the params', async t => {
	const {starts, only, cluster} = startWorld();
	await starts.accept(occasion(atTime));
	const {metadata, spec} = only();
	t.is(metadata.name, `order-now-${atMs / 60_000}`);
	t.deepEqual(metadata.labels, {'troupe.dev/workflow': 'order', 'troupe.dev/trigger': 'now'});
	t.deepEqual(metadata.annotations, {'troupe.dev/scheduled-time': '2030-01-01T03:00:00.000Z'});
	t.like(metadata.ownerReferences?.[0], {kind: 'Workflow', uid: 'uid-of-order', controller: true});
	t.deepEqual(spec, {workflow: 'order', input: {a: null}});
	t.is(cluster.asked.at(-1)?.options.cause, 'trigger default/order/now');
	await starts.accept(occasion(atTime));
	t.is(only().metadata.uid, metadata.uid, 'the same time starts no other');
});

test('the same time of another workflow and trigger whose names come to the same starts its own run', async t => {
	const {starts, runs, cluster} = startWorld();
	cluster.put(aWorkflow('order-now'));
	await starts.accept(occasion(atTime, {name: 'now-daily'}));
	await starts.accept(occasion(atTime, {name: 'daily'}, 'order-now'));
	await starts.accept(occasion(atTime, {name: 'daily'}, 'order-now'));
	t.deepEqual(
		runs().map(({metadata, spec}) => [metadata.name.replace(/-[a-z0-9]{10}$/, '-*'), spec?.workflow]),
		[
			[`order-now-daily-${atMs / 60_000}`, 'order'],
			[`order-now-daily-${atMs / 60_000}-*`, 'order-now'],
		],
	);
});

test('what a message and a change start runs with', async t => {
	const cases: readonly (readonly [Seen, Json])[] = [
		[message('{"n":1}', {n: 1}), {topic: 'orders/7', payload: {n: 1}}],
		[message('null', null), {topic: 'orders/7', payload: null}],
		[message('two'), {topic: 'orders/7', payload: 'two'}],
		[message(''), {topic: 'orders/7', payload: ''}],
		[message(Buffer.from([0xff, 0])), {topic: 'orders/7', payload: '/wA=', encoding: 'base64'}],
		[
			{type: 'change', key: 'pods/default/p', change: 'updated', object: '{"kind":"Pod","a":null}', causes: []},
			{change: 'updated', object: {kind: 'Pod', a: null}},
		],
	];
	for (const [seen, input] of cases) {
		const {starts, only} = startWorld();
		await starts.accept(occasion(seen));
		const {metadata, spec} = only();
		t.deepEqual(spec?.input, input);
		t.regex(metadata.name, /^order-now-[0-9a-f]{12}$/);
	}
});

test('a run says because of which workflows a change has started it', async t => {
	const {starts, only} = startWorld();
	await starts.accept(occasion({type: 'change', key: 'runs/default/x', change: 'created', object: '{}', causes: ['pack', 'send']}));
	t.deepEqual(causesOf(only()), ['pack', 'send']);
});

test('of two equal messages each starts a run; who has published them is the cause', async t => {
	const {starts, runs, cluster} = startWorld();
	await Promise.all([starts.accept(occasion(message('1', 1))), starts.accept(occasion(message('1', 1)))]);
	t.is(runs().length, 2);
	t.is(cluster.asked.at(-1)?.options.cause, 'trigger default/order/now mqtt ann');
});

test('with Forbid a run begins beside none of its trigger, and is passed over', async t => {
	const {starts, runs, told, phase} = startWorld();
	const forbids = (n: number): Occasion => occasion(message(`${n}`, n), {concurrencyPolicy: 'Forbid'});
	await Promise.all([starts.accept(forbids(1)), starts.accept(forbids(2))]);
	t.deepEqual([runs().length, told], [1, ['now passed over']], 'also beside one that is just being made');
	await starts.accept(occasion(message('3', 3), {name: 'other', concurrencyPolicy: 'Forbid'}));
	t.is(runs().length, 2, 'another trigger has its own');
	await starts.accept(forbids(4));
	t.is(runs().length, 2);
	for (const run of runs()) phase(run, 'Succeeded');
	await starts.accept(forbids(5));
	t.is(runs().length, 3);
	t.deepEqual(told, ['now passed over', 'now passed over']);
});

const creates = (cluster: ReturnType<typeof testCluster>, answer: (count: number) => Outcome<unknown>): (() => number) => {
	let count = 0;
	cluster.answers.set(collectionAddress('runs'), () => answer(++count));
	return () => count;
};

test('a message whose run cannot be made now is not taken; what never can be is final', async t => {
	const {starts, cluster, clock} = startWorld();
	const count = creates(cluster, made =>
		made === 1 ? failed('ERR_STORE', {message: 'full'}) : failed('ERR_FORBIDDEN', {message: 'exceeded quota'}),
	);
	await t.throwsAsync(starts.accept(occasion(message('1', 1))), {instanceOf: AppError, message: /full/});
	await t.throwsAsync(starts.accept(occasion(message('1', 1))), {message: 'exceeded quota'});
	t.is(count(), 2);
	t.is(clock.nextAtMs(), undefined);
	await t.throwsAsync(starts.accept(occasion(message('1', 1), {}, 'gone')), {instanceOf: AppError, message: /"gone" not found/});
});

test('the run of a time is tried again for a while, and is made once even where its answer is lost', async t => {
	const {starts, cluster, clock, runs} = startWorld();
	const {ask} = cluster.control;
	let lost = 0;
	const control = {
		index: cluster.control.index,
		async ask<Value>(...asked: Parameters<typeof ask>): Promise<Outcome<Value>> {
			const outcome = await ask<Value>(...asked);
			return lost++ === 0 ? failed('ERR_TIMEOUT', {address: 'runs', deadlineMs: 1}) : outcome;
		},
	};
	const losing = createRunStarts({control, clock, onGivenUp: () => undefined, onPassedOver: () => undefined});
	const accepted = losing.accept(occasion(message('1', 1)));
	await t.throwsAsync(accepted, {message: /did not answer/});
	lost = 0;
	const timed = losing.accept(occasion(atTime));
	await settled();
	t.true(clock.fireNext());
	await timed;
	t.is(runs().length, 2);

	const count = creates(cluster, () => failed('ERR_STORE', {message: 'full'}));
	let why: Error | undefined;
	const given = starts.accept(occasion({...atTime, atMs: atMs + 60_000})).catch((error: unknown) => void (why = error as Error));
	const beganMs = clock.nowMs();
	for (let turns = 0; why === undefined && turns < 1_000; turns++) {
		await settled();
		clock.fireNext();
	}
	await given;
	t.regex(why?.message ?? '', /full/);
	t.true(clock.nowMs() - beganMs >= limits.workflowStartMs);
	t.true(count() > 5 && count() < 20, `${count()}`);
});

test('what is too much for a run to begin with is final', async t => {
	const {starts, runs} = startWorld();
	const large = {text: 'x'.repeat(limits.statesDataBytes)};
	await t.throwsAsync(starts.accept(occasion(message('', large))), {message: /^what the run would begin with has more than 262144 bytes/});
	await t.throwsAsync(starts.accept(occasion({...atTime, params: '['.repeat(100) + ']'.repeat(100)})), {message: /nested deeper than/});
	t.is(runs().length, 0);
});

test('runs that are being made are bounded, of one workflow and in bytes, and so are those under way', async t => {
	const {starts, cluster} = startWorld();
	cluster.put(aWorkflow('other'));
	const settles: (() => void)[] = [];
	cluster.answers.set(collectionAddress('runs'), () => new Promise(resolve => settles.push(() => resolve(succeeded({})))));
	const large = occasion(message(Buffer.alloc(16_777_216)), {}, 'other');
	const waiting = Array.from({length: 3}, () => starts.accept({...large, seen: {...large.seen, json: 1} as Seen}));
	t.throws(() => starts.checkRoom([large]), {message: /at most 67108864 may; try again$/});
	await t.throwsAsync(starts.accept(large), {message: /at most 67108864 may/});
	for (let n = 0; n < limits.workflowStarts; n++) waiting.push(starts.accept(occasion(message('1', 1))));
	t.throws(() => starts.checkRoom([occasion(message('1', 1))]), {message: /^1000 runs of the workflow "order" are being made/});
	t.notThrows(() => starts.checkRoom([occasion(message('1', 1), {}, 'other'), occasion(message('1', 1), {}, 'gone')]));
	await settled();
	for (const settle of settles) settle();
	await Promise.all(waiting);
	t.notThrows(() => starts.checkRoom([occasion(message('1', 1)), large]));
});

test('no run is started beside as many as may be under way', async t => {
	const {starts, cluster} = startWorld();
	const full = {
		...cluster.control,
		index: {get: cluster.control.index.get.bind(cluster.control.index), countByTerm: () => limits.workflowRunsUnderWay},
	};
	const clock = new ManualClock();
	const beside = createRunStarts({control: full, clock, onGivenUp: () => undefined, onPassedOver: () => undefined});
	t.throws(() => beside.checkRoom([occasion(message('1', 1))]), {message: /^10000 runs of the workflow "order" are under way/});
	await t.throwsAsync(beside.accept(occasion(message('1', 1))), {instanceOf: AppError, message: /under way, as many as may; try again$/});
	t.notThrows(() => starts.checkRoom([occasion(message('1', 1))]));
});

test('a workflow that is being deleted starts nothing, nor does one that nobody leads', async t => {
	const {starts, cluster, runs, told} = startWorld();
	const {metadata, ...rest} = aWorkflow('order');
	cluster.put({...rest, metadata: {...metadata, finalizers: ['x'], deletionTimestamp: '2030-01-01T00:00:00Z'}});
	await t.throwsAsync(starts.accept(occasion(message('1', 1))), {message: /not found/});
	cluster.put(aWorkflow('order'));
	creates(cluster, () => failed('ERR_STORE', {message: 'full'}));
	const waits = starts.accept(occasion(atTime));
	await settled();
	starts.close();
	await t.throwsAsync(waits, {message: /does not lead/});
	await t.throwsAsync(starts.accept(occasion(message('1', 1))), {message: /does not lead/});
	t.throws(() => starts.checkRoom([]), {message: /does not lead/});
	starts.giveUp(occasion(atTime), new Error('no luck'));
	t.deepEqual([runs().length, told], [0, ['order now: no luck']]);
});
