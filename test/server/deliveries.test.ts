import test, {type ExecutionContext} from 'ava';
import {AppError, type ErrorCode} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {OpenDeliveries} from '../../server/functions/deliveries.js';
import {aDelivery, deliveryWorld} from './_deliveries.js';

const fn = {namespace: 'default', name: 'f'};
const counts = (deliveries: OpenDeliveries) => deliveries.countsOf(fn)[0];

/** What was just begun without a wait is over. */
const settled = (): Promise<void> => new Promise(resolve => void setTimeout(resolve));

async function untilOver(deliveries: OpenDeliveries, id: string): Promise<void> {
	await new Promise<void>(resolve => void deliveries.whenOver(id, resolve));
}

const code = (t: ExecutionContext, wanted: ErrorCode, act: Promise<unknown>): Promise<void> =>
	t.throwsAsync<AppError>(act, {instanceOf: AppError}).then(error => void t.is(error?.code, wanted));

test('what was accepted is delivered once, and forgotten', async t => {
	const {begin, call, calls, bodies} = deliveryWorld();
	const deliveries = begin();
	const id = await deliveries.accept(aDelivery('{"n":1}', {headers: {'x-troupe-topic': 'a'}}));
	t.is(bodies.size, 1);
	const {body, headers, answer} = await call(0);
	t.deepEqual([body, headers], ['{"n":1}', {'x-troupe-topic': 'a'}]);
	answer({status: 200});
	await untilOver(deliveries, id);
	t.deepEqual([bodies.size, calls.length], [0, 1]);
	t.deepEqual(counts(deliveries), {trigger: 'warm', accepted: 1, waiting: 0, delivered: 1, retried: 0, failed: 0});
});

test('what was not delivered is delivered by the next term, in the order of its queue', async t => {
	const world = deliveryWorld();
	const first = world.begin();
	for (const n of [1, 2, 3]) await first.accept(aDelivery(String(n), {queue: 'a'}));
	await world.call(0);
	const deliveries = world.begin();
	for (const n of [1, 2, 3]) {
		const {body, answer} = await world.call(n);
		t.is(body, String(n), 'the one that was under way comes again');
		answer({status: 200});
	}
	await settled();
	t.is(world.bodies.size, 0);
	t.is(counts(deliveries)?.waiting, 0);
});

test('queues do not wait for each other, and what has none waits for nothing', async t => {
	const {begin, call} = deliveryWorld();
	const deliveries = begin();
	for (const [body, queue] of [
		['a1', 'a'],
		['a2', 'a'],
		['b1', 'b'],
		['c', undefined],
		['d', undefined],
	] as const)
		await deliveries.accept(aDelivery(body, {queue}));
	const under = await Promise.all([call(0), call(1), call(2), call(3)]);
	t.deepEqual(
		under.map(({body}) => body),
		['a1', 'b1', 'c', 'd'],
	);
	under[0].answer({status: 200});
	t.is((await call(4)).body, 'a2');
});

test('one that fails is tried again with growing pauses, before what is behind it, and then given up', async t => {
	const {begin, call, clock, givenUp, published, bodies} = deliveryWorld();
	const deliveries = begin();
	await deliveries.accept(aDelivery('1', {queue: 'a', deadLetterTopic: 'lost', headers: {'x-troupe-topic': 'a'}}));
	await deliveries.accept(aDelivery('2', {queue: 'a'}));
	for (const [tries, pauseMs] of [limits.deliveryPauseMs, 2 * limits.deliveryPauseMs].entries()) {
		(await call(tries)).answer({status: 500, body: Buffer.from('{"error":{"code":"ERR_FUNCTION","message":"it broke"}}')});
		await settled();
		clock.advance(pauseMs);
	}
	const last = await call(2);
	t.is(last.body, '1');
	last.fail(new AppError('ERR_INSTANCE_ENDED', {message: 'the instance ended'}));
	t.is((await call(3)).body, '2');
	t.deepEqual(givenUp, ['warm: the instance ended']);
	t.is(published.length, 1);
	const [{topic, payload} = {topic: '', payload: {}}] = published;
	t.is(topic, 'lost');
	t.like(payload, {
		function: 'default/f',
		trigger: 'warm',
		tries: 3,
		body: '1',
		headers: {'x-troupe-topic': 'a'},
		error: {code: 'ERR_INSTANCE_ENDED', message: 'the instance ended'},
	});
	t.is(bodies.size, 1);
	t.like(counts(deliveries), {accepted: 2, waiting: 1, delivered: 0, retried: 2, failed: 1});
});

test('what the function refuses is not tried again', async t => {
	const {begin, call, calls, givenUp} = deliveryWorld();
	const deliveries = begin();
	const id = await deliveries.accept(aDelivery('{'));
	(await call(0)).answer({status: 400});
	await untilOver(deliveries, id);
	t.is(calls.length, 1);
	t.deepEqual(givenUp, ['warm: the function answered with status 400']);
});

test('what nobody could begin is no try, however often', async t => {
	const {begin, call, clock, givenUp} = deliveryWorld();
	const deliveries = begin();
	await deliveries.accept(aDelivery('1', {retries: 0}));
	for (let n = 0; n < 5; n++) {
		(await call(n)).fail(new AppError('ERR_NOT_REACHABLE', {message: 'no instance'}));
		await settled();
		clock.advance(limits.deliveryPauseMs * 2 ** n);
	}
	(await call(5)).answer({status: 204});
	await settled();
	t.deepEqual(givenUp, []);
	t.like(counts(deliveries), {delivered: 1, retried: 0, failed: 0});
});

test('where nobody can begin one, a function has one under way until one was begun', async t => {
	const {begin, call, calls, clock} = deliveryWorld();
	const deliveries = begin();
	for (const n of [1, 2, 3]) await deliveries.accept(aDelivery(String(n)));
	for (const n of [0, 1, 2]) (await call(n)).fail(new AppError('ERR_NOT_REACHABLE', {message: 'no instance'}));
	await settled();
	clock.advance(limits.deliveryPauseMostMs);
	const fourth = await call(3);
	await settled();
	t.is(calls.length, 4);
	fourth.answer({status: 200});
	await call(5);
	t.is(calls.length, 6);
});

test('many that could not be begun together are one time in vain, and all go on once one was begun', async t => {
	const {begin, call, calls, clock} = deliveryWorld();
	const deliveries = begin();
	const many = limits.deliveriesUnderWay;
	await Promise.all(Array.from({length: many}, (_, n) => deliveries.accept(aDelivery(String(n)))));
	for (let n = 0; n < many; n++) (await call(n)).fail(new AppError('ERR_NOT_REACHABLE', {message: 'no instance'}));
	await settled();
	// The first time, and the last of them once more.
	clock.advance(2 * limits.deliveryPauseMs);
	const probe = await call(many);
	await settled();
	t.is(calls.length, many + 1);
	probe.answer({status: 200});
	await call(2 * many - 1);
	t.is(calls.length, 2 * many);
});

test('the bytes of one function are bounded apart from those of all', async t => {
	const {begin} = deliveryWorld();
	const deliveries = begin();
	const body = 'x'.repeat(limits.deliveryBytes);
	const most = Math.ceil(limits.deliveriesBytesPerFunction / limits.deliveryBytes);
	const outcomes = await Promise.allSettled(Array.from({length: most}, () => deliveries.accept(aDelivery(body, {queue: 'a'}))));
	t.true(outcomes.some(({status}) => status === 'rejected'));
	t.throws(() => deliveries.checkRoom([aDelivery(body)]), {message: /deliveries to the function "default\/f" wait with/});
	await t.notThrowsAsync(deliveries.accept(aDelivery(body, {function: {namespace: 'default', name: 'g'}})));
});

test('what a trigger could not have accepted is counted, told, and a dead letter', t => {
	const {begin, givenUp, published} = deliveryWorld();
	const deliveries = begin();
	deliveries.giveUp(aDelivery('1', {deadLetterTopic: 'lost'}), new Error('it is too large'));
	t.deepEqual(givenUp, ['warm: it is too large']);
	t.like(published[0]?.payload, {function: 'default/f', tries: 0, body: '1', error: {message: 'it is too large'}});
	t.is(counts(deliveries)?.failed, 1);
});

test('an answer is kept to be fetched, by its status, also over a new term', async t => {
	const world = deliveryWorld();
	const deliveries = world.begin();
	const id = await deliveries.accept(aDelivery('1', {reply: {type: 'kept'}}));
	t.deepEqual(await deliveries.look(id), {by: 'admin', result: undefined});
	(await world.call(0)).answer({status: 201, contentType: 'text/plain', body: Buffer.from('yes')});
	await untilOver(deliveries, id);
	for (const each of [deliveries, world.begin()])
		t.like(await each.look(id), {by: 'admin', result: {status: 201, contentType: 'text/plain', body: Buffer.from('yes')}});
	world.clock.advance(limits.resultKeptMs + 1);
	await settled();
	t.is(await world.begin().look(id), undefined);
	t.is(world.bodies.size, 0);
});

test('where there is no answer its end is kept with why, and nothing is said twice', async t => {
	const {begin, call, givenUp} = deliveryWorld();
	const deliveries = begin();
	const id = await deliveries.accept(aDelivery('1', {reply: {type: 'kept'}, retries: 0}));
	(await call(0)).fail(new AppError('ERR_TIMEOUT', {address: 'functions/f', deadlineMs: 5}));
	await untilOver(deliveries, id);
	const {result} = (await deliveries.look(id)) ?? {};
	t.is(result?.status, 502);
	t.regex(result?.body.toString() ?? '', /ERR_TIMEOUT/);
	t.deepEqual(givenUp, []);
});

test('an answer may be published', async t => {
	const {begin, call, published} = deliveryWorld();
	const deliveries = begin();
	const id = await deliveries.accept(aDelivery('1', {reply: {type: 'topic', topic: 'r', id: 'mine'}}));
	(await call(0)).answer({status: 200, contentType: 'application/json', body: Buffer.from('{"sum":3}')});
	await untilOver(deliveries, id);
	t.deepEqual(published, [{topic: 'r', payload: {id: 'mine', status: 200, answer: {sum: 3}}}]);
});

test('what cannot be kept is not accepted, and is nowhere', async t => {
	const {begin, bodies, takes, isThere, calls} = deliveryWorld();
	const deliveries = begin();
	await code(t, 'ERR_TOO_LARGE', deliveries.accept(aDelivery('x'.repeat(limits.deliveryBytes + 1))));
	takes(0);
	await code(t, 'ERR_STORE', deliveries.accept(aDelivery('1')));
	takes(Infinity);
	isThere(false);
	await code(t, 'ERR_NOT_FOUND', deliveries.accept(aDelivery('1')));
	deliveries.close();
	isThere(true);
	await code(t, 'ERR_NOT_REACHABLE', deliveries.accept(aDelivery('1')));
	await settled();
	t.deepEqual([bodies.size, calls.length, deliveries.countsOf(fn)], [0, 0, []]);
});

test('a store that takes nothing for a while loses no end, and the function is not called again', async t => {
	const {begin, call, calls, takes, clock, bodies} = deliveryWorld();
	const deliveries = begin();
	const id = await deliveries.accept(aDelivery('1', {queue: 'a'}));
	await deliveries.accept(aDelivery('2', {queue: 'a'}));
	takes(0);
	(await call(0)).answer({status: 200});
	await settled();
	t.is(bodies.size, 2);
	takes(Infinity);
	clock.advance(limits.deliveryPauseMs);
	await untilOver(deliveries, id);
	t.is((await call(1)).body, '2');
	t.is(calls.length, 2);
});

test('of one function so many are under way, and others have their turn', async t => {
	const {begin, call, calls} = deliveryWorld();
	const deliveries = begin();
	await Promise.all(Array.from({length: limits.deliveriesUnderWay + 5}, (_, n) => deliveries.accept(aDelivery(`f${n}`))));
	await settled();
	t.is(calls.length, limits.deliveriesUnderWay);
	await deliveries.accept(aDelivery('g', {function: {namespace: 'default', name: 'g'}}));
	t.is((await call(limits.deliveriesUnderWay)).body, 'g');
	calls[0]?.answer({status: 200});
	t.is((await call(limits.deliveriesUnderWay + 1)).body, `f${limits.deliveriesUnderWay}`);
});

test('too many that wait are refused, also of several at once', async t => {
	const {begin} = deliveryWorld();
	const deliveries = begin();
	const outcomes = await Promise.allSettled(
		Array.from({length: limits.deliveriesPerFunction + 3}, () => deliveries.accept(aDelivery('', {queue: 'a'}))),
	);
	const refused = outcomes.flatMap(each => (each.status === 'rejected' ? [(each.reason as AppError).code] : []));
	t.deepEqual(refused, ['ERR_BUSY', 'ERR_BUSY', 'ERR_BUSY']);
	t.is(counts(deliveries)?.waiting, limits.deliveriesPerFunction);
});

test('a record that is no delivery is removed, and ends nothing', async t => {
	const world = deliveryWorld();
	world.bodies.set(`/troupe/deliveries/${'0'.repeat(12)}-${'0'.repeat(12)}-${'0'.repeat(16)}`, 'rubbish');
	world.begin();
	await settled();
	t.deepEqual([world.bodies.size, world.calls.length], [0, 0]);
});
