// What is counted of calls of functions, and told at the door.

import {once} from 'node:events';
import {createServer, request, type IncomingMessage, type ServerResponse} from 'node:http';
import {connect, type AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {activatorOf, activatorsAddress} from '../../actors/addresses.js';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {FunctionFigures, FunctionsAnswer} from '../../api/function-figures.js';
import type {FunctionObject, FunctionStatus} from '../../api/kinds/function.js';
import {createCallCounters} from '../../server/functions/call-counters.js';
import {createRecentEnds} from '../../server/functions/recent-ends.js';
import {createFunctionCalls} from '../../server/functions/calls.js';
import {systemClock} from '../../system/time/clock.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aFunction} from '../actors/_functions.js';
import {testCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';

const path = '/troupe/v1/functions';

const named = (name: string, namespace = 'default', status: FunctionStatus = {}): FunctionObject => {
	const fn = aFunction({}, status);
	return {...fn, metadata: {...fn.metadata, name, namespace, uid: `${namespace}/${name}`}};
};

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A door behind which instances of the function `add` answer as the test says. */
async function open(t: ExecutionContext, serve: Serve = (_request, response) => void response.end('{}')) {
	const cluster = testCluster();
	const instance = createServer(serve).listen(0, '127.0.0.1');
	await once(instance, 'listening');
	t.teardown(() => {
		instance.closeAllConnections();
		instance.close();
	});
	const {port} = instance.address() as AddressInfo;
	const connectHere = () => async () => {
		const socket = connect(port, '127.0.0.1');
		await once(socket, 'connect');
		return socket;
	};
	const calls = createFunctionCalls({control: cluster.control, clock: systemClock, connectHere});
	t.teardown(() => calls.close());
	const door = await openDoor(t, cluster, undefined, undefined, undefined, calls);
	const gives = (slot: () => Outcome<unknown> | Promise<Outcome<unknown>>): void => {
		for (const place of [activatorsAddress, activatorOf('default', 'add')]) cluster.answers.set(place, slot);
	};
	gives(() => succeeded({uid: 'one', pod: 'add-1', node: 'node-a'}));
	const figures = async (): Promise<FunctionFigures> => {
		const {functions} = await door.json<FunctionsAnswer>(200, 'GET', `${path}?namespace=default`);
		const found = functions.find(({name}) => name === 'add');
		if (found === undefined) throw new Error('the function is not told');
		return found;
	};
	return {...door, cluster, gives, figures};
}

test('every function is told, by namespace and name, to who may read functions', async t => {
	const {cluster, json} = await open(t);
	for (const [name, namespace] of [
		['b', 'other'],
		['z', 'default'],
		['a', 'other'],
	] as const)
		cluster.put(named(name, namespace, {desired: 2, ready: 1}));
	const all = await json<FunctionsAnswer>(200, 'GET', path, undefined, {authorization: 'Bearer viewer'});
	t.deepEqual(
		all.functions.map(({namespace, name}) => `${namespace}/${name}`),
		['default/z', 'other/a', 'other/b'],
	);
	t.deepEqual(all.functions[0], {
		namespace: 'default',
		name: 'z',
		...{desired: 2, ready: 1},
		...{calls: 0, held: 0, answered: 0, failed: 0, coldStarts: 0, coldStartMs: 0},
		coldPhases: {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 0},
		triggers: [],
	});
	t.is(typeof all.sinceMs, 'number');
	const some = await json<FunctionsAnswer>(200, 'GET', `${path}?namespace=other`);
	t.deepEqual(
		some.functions.map(({name}) => name),
		['a', 'b'],
	);
	t.is((await json<FunctionsAnswer>(200, 'GET', `${path}?namespace=none`)).functions.length, 0);
	t.regex((await json<StatusBody>(400, 'GET', `${path}?namespace=../x`)).message, /namespace must be the name of one/);
	await json(403, 'GET', path, undefined, {authorization: 'Bearer node-a'});
	await json(401, 'GET', path, undefined, {authorization: 'Bearer nobody'});
});

test('a call is counted by how it ended, and what is no function is not', async t => {
	const statuses = [200, 404, 500, 503];
	const {cluster, call, figures, gives} = await open(t, (_request, response) => {
		response.statusCode = statuses.shift() ?? 200;
		response.end('{}');
	});
	cluster.put(named('add', 'default', {ready: 1, desired: 1}));
	for (const status of [200, 404, 500, 503]) t.is((await call('POST', '/functions/default/add', {})).status, status);
	t.like(await figures(), {answered: 2, failed: 2, calls: 0, held: 0, coldStarts: 0});
	gives(() => failed('ERR_BUSY', {message: 'too many'}));
	t.is((await call('POST', '/functions/default/add', {})).status, 429);
	t.like(await figures(), {answered: 2, failed: 3});
	t.is((await call('POST', '/functions/default/none', {})).status, 404);
	cluster.put({...named('add'), metadata: {...named('add').metadata, uid: 'another'}});
	t.like(await figures(), {answered: 0, failed: 0}, 'one that was made anew');
});

test('an answer that is cut is a failure, and a client that goes is none', async t => {
	const {cluster, call, figures, url, authorization} = await open(t, ({url: asked}, response) => {
		if (asked === '/cut') response.write('half', () => response.destroy());
	});
	cluster.put(named('add', 'default', {ready: 1, desired: 1}));
	await t.throwsAsync(call('POST', '/functions/default/add/cut', {}));
	t.like(await figures(), {answered: 0, failed: 1, calls: 0});
	const leaving = request(`${url}/functions/default/add/wait`, {method: 'POST', headers: {authorization}}).end('{}');
	leaving.on('error', () => undefined);
	await eventually('it is under way', async () => (await figures()).calls === 1);
	leaving.destroy();
	await eventually('it is over', async () => (await figures()).calls === 0);
	t.like(await figures(), {answered: 0, failed: 1, held: 0});
});

const deleted = ({cluster}: {readonly cluster: ReturnType<typeof testCluster>}): readonly string[] =>
	cluster.asked.flatMap(({to, message}) => (message.type === 'delete' ? [to] : []));

test('an instance that says nothing in its time is deleted before its caller hears of it', async t => {
	const rig = await open(t, () => undefined);
	const fn = named('add', 'default', {ready: 1, desired: 1});
	rig.cluster.put({...fn, spec: {...fn.spec, timeout: '1ms'}});
	t.is((await rig.call('POST', '/functions/default/add', {})).status, 504);
	t.deepEqual(deleted(rig), ['troupe://control/pods/default.add-1']);
});

test('who does not read an answer that has begun is cut off, and its instance stays', async t => {
	const rig = await open(t, (_request, response) => {
		const chunk = Buffer.alloc(1 << 20);
		const more = (): void => {
			while (response.write(chunk));
			response.once('drain', more);
		};
		more();
	});
	const fn = named('add', 'default', {ready: 1, desired: 1});
	rig.cluster.put({...fn, spec: {...fn.spec, timeout: '1ms'}});
	const reading = request(`${rig.url}/functions/default/add`, {method: 'POST', headers: {authorization: rig.authorization}}).end('{}');
	const [answer] = (await once(reading, 'response')) as [IncomingMessage];
	const broken = new Promise<void>(resolve => void answer.once('error', () => resolve()));
	await eventually('its call is over', async () => (await rig.figures()).failed === 1);
	t.deepEqual(deleted(rig), []);
	answer.resume();
	await broken;
	t.false(answer.complete);
});

test('a call that finds no ready instance is held, and counts as a cold start with what it waited', async t => {
	const {cluster, call, figures, gives} = await open(t);
	cluster.put(named('add'));
	let give: (slot: Outcome<unknown>) => void = () => undefined;
	gives(() => new Promise(resolve => (give = resolve)));
	const answered = call('POST', '/functions/default/add', {});
	await eventually('it is held', async () => (await figures()).held === 1);
	give(succeeded({uid: 'one', pod: 'add-1', node: 'node-a'}));
	t.is((await answered).status, 200);
	const {coldStartMs, coldPhases, ...counts} = await figures();
	t.like(counts, {held: 0, calls: 0, answered: 1, coldStarts: 1});
	t.true(coldStartMs > 0);
	t.deepEqual(coldPhases, {placeMs: 0, startMs: 0, readyMs: 0, slotMs: coldStartMs}, 'nothing is known of its instance');
});

test('a call is held once and again, a cold start is counted once, and after its end nothing is', t => {
	const clock = new ManualClock();
	const counters = createCallCounters(clock);
	const fn = named('add');
	const call = counters.begun(fn);
	t.like(counters.of(fn), {held: 1, calls: 0});
	clock.advance(200);
	call.goes(undefined);
	t.like(counters.of(fn), {held: 0, calls: 1, coldStarts: 1, coldStartMs: 200});
	call.waits();
	call.waits();
	t.like(counters.of(fn), {held: 1, calls: 0});
	clock.advance(200);
	call.goes(undefined);
	call.ends('answered');
	for (const again of [call.waits, () => call.goes(undefined), () => call.ends('failed'), () => call.ends('left')]) again();
	t.deepEqual(counters.of(fn), {
		...{held: 0, calls: 0, answered: 1, failed: 0, coldStarts: 1, coldStartMs: 200},
		coldPhases: {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 200},
		recent: [...Array.from({length: limits.usageHistorySteps - 1}, () => 0), 1],
	});
	counters.begun(undefined).ends('failed');
	const warm = named('warm', 'default', {ready: 1});
	counters.begun(warm).goes(undefined);
	t.is(counters.of(warm).coldStarts, 0);
});

test('of more functions than are counted the one that was called least recently is forgotten', t => {
	const counters = createCallCounters(new ManualClock(), undefined, 2);
	const [a, b, c] = [named('a'), named('b'), named('c')];
	const first = counters.begun(a);
	for (const fn of [b, a, c]) counters.begun(fn).ends('answered');
	t.deepEqual(
		[a, b, c].map(fn => counters.of(fn).answered),
		[1, 0, 1],
	);
	counters.begun(b).ends('answered');
	t.like(counters.of(a), {answered: 0, held: 0});
	first.ends('answered');
	t.like(counters.of(a), {answered: 0, held: 0}, 'a call of before is not counted, nor taken off');
});

test('ends of the last minutes are counted in steps, and old ones fall out', t => {
	const ends = createRecentEnds();
	const stepMs = limits.usageHistoryMs / limits.usageHistorySteps;
	for (const atMs of [0, 1, stepMs, 10 * stepMs]) ends.add(atMs);
	const counts = ends.counts(10 * stepMs);
	t.is(counts.length, limits.usageHistorySteps);
	t.deepEqual(counts.slice(-11), [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
	t.deepEqual(ends.counts(limits.usageHistoryMs).slice(0, 2), [1, 0]);
	t.true(ends.counts(9 * limits.usageHistoryMs).every(count => count === 0));
});
