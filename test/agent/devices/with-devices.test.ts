// A node's runtime with devices: each is one pod's, whichever agent there is, and a container is told which are its own.

import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {openAllotment} from '../../../agent/devices/allotment.js';
import {withDevices} from '../../../agent/devices/with-devices.js';
import {createSimulatedHost} from '../../../agent/simulated/host.js';
import {createSimulatedRuntime} from '../../../agent/simulated-runtime.js';
import type {Device, RuntimeCommand, RuntimeEvent} from '../../../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../../../actors/protocol/runtime-info.js';
import type {Outcome} from '../../../api/errors.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';
import {aSandbox} from '../_sandbox.js';
import {aContainer} from '../runtime-contract.js';

const device = (index: number): Device => ({file: `/dev/nvidia${index}`, index, uuid: `GPU-${index}`});

/** A host with devices, and one agent of it after the other. */
function openHost(t: ExecutionContext, count = 2) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-with-devices-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const record = path.join(folder, 'gpus.json');
	const clock = new ManualClock();
	const host = createSimulatedHost(clock);
	const world = {
		files: Array.from({length: count}, (_, index) => device(index)),
		isLost: (_index: number): boolean => false,
		info: {} as Partial<RuntimeInfo>,
		news: () => undefined as void,
		isOpen: true,
		/** Of the commands that came to the runtime behind it. */
		passed: [] as RuntimeCommand[],
		/** Answers of what pods there are that are on their way, where they are held up. */
		listed: undefined as (() => void)[] | undefined,
		events: [] as RuntimeEvent[],
	};
	const agent = () => {
		const simulated = createSimulatedRuntime({clock, random: seededRandom(1), host});
		const runtime = {
			...simulated,
			info: () => ({...simulated.info(), ...world.info}),
			run: ((command, done) => {
				world.passed.push(command);
				const {listed} = world;
				if (command.type !== 'sandbox.list' || listed === undefined) simulated.run(command, done);
				else simulated.run(command, outcome => void listed.push(() => (done as (outcome: unknown) => void)(outcome)));
			}) as typeof simulated.run,
		};
		const node = withDevices(runtime, {
			allotment: openAllotment(record),
			present: () => world.files.filter(({index}) => !world.isLost(index)),
			files: () => world.files,
			onNews: listener => void (world.news = listener),
			close: () => void (world.isOpen = false),
		});
		node.onEvent(event => world.events.push(event));
		return node;
	};
	let runtime = agent();
	const run = async (command: RuntimeCommand): Promise<Outcome<unknown>> => {
		let outcome: Outcome<unknown> | undefined;
		runtime.run(command, answer => (outcome = answer));
		while (outcome === undefined) {
			clock.fireNext();
			await nextTurn();
		}
		return outcome;
	};
	return {
		...{world, record, run, host},
		runtime: () => runtime,
		restart: () => void (runtime = agent()),
		/** `fine`, or why not. */
		ensure: async (uid: string, gpus?: number) => {
			const outcome = await run({type: 'sandbox.ensure', spec: aSandbox(uid, gpus === undefined ? {} : {gpus})});
			return outcome.ok ? 'fine' : outcome.error.message;
		},
		/** The devices with which the runtime behind it was to start a container. */
		start: async (uid: string, gpus?: {first: number; count: number}, attempt = 0) => {
			const outcome = await run({type: 'container.start', spec: aContainer('runs', {uid, attempt, ...(gpus === undefined ? {} : {gpus})})});
			const last = world.passed.findLast(({type}) => type === 'container.start');
			if (!outcome.ok) return outcome.error.message;
			return last?.type === 'container.start' ? last.spec.devices : undefined;
		},
	};
}

const waitsOf = (present: number, count = 1): string =>
	`the pod asks for ${count} nvidia.com/gpu, and this node has ${present}, of which too few are free: the pod waits for them`;
const waits = waitsOf(2);

async function eventually(isSo: () => boolean): Promise<void> {
	while (!isSo()) await nextTurn();
}

test('each device is one pod’s: the third waits, and has one when a pod is removed or has given its own back', async t => {
	const {ensure, run, host} = openHost(t);
	t.deepEqual([await ensure('a', 1), await ensure('b', 1), await ensure('c', 1)], ['fine', 'fine', waits]);
	t.false(host.pods.has('c'), 'it has no sandbox either');
	t.is(await ensure('a', 1), 'fine', 'what is there is joined');
	t.is(await ensure('plain'), 'fine');
	await run({type: 'sandbox.remove', uid: 'a'});
	t.deepEqual([await ensure('c', 1), await ensure('d', 1)], ['fine', waits]);
	t.true((await run({type: 'devices.release', uid: 'b'})).ok);
	t.is(await ensure('d', 1), 'fine');
	t.is(await ensure('b', 1), 'fine', 'it is over, and its sandbox is looked for by the next agent');
	t.is(await ensure('e', 1), waits);
});

test('another agent gives nothing out that a pod has, and forgets what a pod had of which nothing is left', async t => {
	const {ensure, restart, host} = openHost(t);
	await ensure('a', 1);
	await ensure('b', 1);
	restart();
	t.is(await ensure('c', 1), waits);
	// The agent before was killed after the sandbox was gone, and before it had said so.
	host.removePod('b');
	restart();
	t.is(await ensure('c', 1), 'fine');
	t.is(await ensure('d', 1), waits);
	restart();
	t.is(await ensure('a', 1), 'fine');
});

test('pods that are made at the same time never have the same device', async t => {
	const {ensure, record} = openHost(t, 3);
	const told = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(uid => ensure(uid, 1)));
	t.is(told.filter(word => word === 'fine').length, 3);
	const allotment = openAllotment(record);
	t.deepEqual(
		allotment
			.holders()
			.flatMap(uid => allotment.of(uid) ?? [])
			.sort(),
		[0, 1, 2],
	);
});

test('a container is told its own share of its pod’s, and which it has not; without any only that', async t => {
	const {ensure, start, world} = openHost(t, 3);
	await ensure('a', 2);
	await ensure('b');
	t.deepEqual(await start('a', {first: 1, count: 1}), {own: [device(1)], others: ['/dev/nvidia0', '/dev/nvidia2']});
	t.deepEqual(await start('b'), {own: [], others: ['/dev/nvidia0', '/dev/nvidia1', '/dev/nvidia2']});
	world.files = [];
	await ensure('c');
	t.is(await start('c'), undefined, 'where there are none nothing is said');
});

test('a container whose devices are not its pod’s any more does not start, and says why', async t => {
	const {ensure, start, run, world} = openHost(t);
	await ensure('a', 1);
	await ensure('b', 1);
	t.is(await start('a', {first: 0, count: 2}), 'container "main" cannot start: its pod has not the nvidia.com/gpu that it asks for');
	world.files = [device(1)];
	t.is(
		await start('a', {first: 0, count: 1}),
		'container "main" cannot start: this node has a nvidia.com/gpu no more that its pod was given',
	);
	await run({type: 'devices.release', uid: 'b'});
	t.regex(JSON.stringify(await start('b', {first: 0, count: 1})), /has not the nvidia\.com\/gpu/);
});

test('a device that does not answer its driver is given to no pod, and opened by none that has not got it', async t => {
	const {ensure, start, world, runtime} = openHost(t);
	world.isLost = index => index === 0;
	t.is(runtime().info().gpus, 1);
	t.is(await ensure('a', 1), 'fine');
	t.deepEqual(await start('a', {first: 0, count: 1}), {own: [device(1)], others: ['/dev/nvidia0']});
	world.isLost = () => true;
	t.is(await ensure('b', 1), 'the pod asks for 1 nvidia.com/gpu, and this node has none now: the pod waits for them');
});

test('a record that is damaged gives out nothing, and holds up no pod without devices', async t => {
	const {ensure, restart, record} = openHost(t);
	writeFileSync(record, 'rubbish');
	restart();
	t.regex(
		await ensure('a', 1),
		/^the pod asks for 1 nvidia\.com\/gpu, and ".*gpus\.json" does not say any more which pod has which: remove it/,
	);
	t.is(await ensure('b'), 'fine');
});

test('of what runs or is over nothing is held up by a record that was lost: it begins nothing anew, and says why', async t => {
	const {ensure, start, run, restart, record} = openHost(t, 1);
	await ensure('over', 1);
	await run({type: 'devices.release', uid: 'over'});
	await ensure('runs', 1);
	writeFileSync(record, 'rubbish');
	restart();
	t.deepEqual([await ensure('over', 1), await ensure('runs', 1)], ['fine', 'fine']);
	t.regex(JSON.stringify(await start('runs', {first: 0, count: 1})), /does not say any more which pod has which/);
	rmSync(record);
	restart();
	t.deepEqual([await ensure('over', 1), await ensure('runs', 1), await ensure('new', 1)], ['fine', 'fine', waitsOf(1)]);
});

test('a pod that is made while it is looked what is left of others keeps its device', async t => {
	const {ensure, world, record} = openHost(t, 2);
	await ensure('a', 2);
	world.listed = [];
	// `b` finds none, and asks what is left of pods: the answer says nothing yet of what comes meanwhile.
	const b = ensure('b', 1);
	await eventually(() => world.listed?.length === 1);
	world.files = [device(0), device(1), device(2)];
	t.is(await ensure('c', 1), 'fine');
	for (const tell of world.listed) tell();
	t.is(await b, waitsOf(3));
	t.deepEqual(openAllotment(record).of('c'), [2]);
});

test('a pod that comes again while it is looked what is left of it keeps its devices', async t => {
	const {ensure, world, host, record} = openHost(t, 2);
	await ensure('a', 2);
	host.removePod('a');
	world.listed = [];
	const b = ensure('b', 1);
	await eventually(() => world.listed?.length === 1);
	t.is(await ensure('a', 2), 'fine');
	for (const tell of world.listed) tell();
	t.is(await b, waitsOf(2));
	t.deepEqual(openAllotment(record).of('a'), [0, 1]);
});

test('a pod that is removed while its devices are sought is not made afterwards', async t => {
	const {ensure, run, world, host} = openHost(t, 1);
	await ensure('a', 1);
	world.listed = [];
	const made = ensure('b', 1);
	await eventually(() => world.listed?.length === 1);
	await run({type: 'devices.release', uid: 'a'});
	const removed = run({type: 'sandbox.remove', uid: 'b'});
	for (const tell of world.listed) tell();
	t.is(await made, 'fine');
	t.true((await removed).ok);
	t.false(host.pods.has('b'));
	t.is(await ensure('c', 1), 'fine');
});

test('who waits is told at once when devices come free, who came first before the others, and nobody for whom it is too few', async t => {
	const {ensure, run, world, host} = openHost(t, 2);
	const told = (): readonly unknown[] => world.events.splice(0).map(event => (event.type === 'devicesFree' ? event.uid : event.type));
	await ensure('a', 1);
	await ensure('b', 1);
	for (const [uid, count] of [
		['big', 2],
		['c', 1],
		['gone', 1],
		['d', 1],
	] as const)
		t.is(await ensure(uid, count), waitsOf(2, count));
	await run({type: 'sandbox.remove', uid: 'gone'});
	t.deepEqual(told(), []);
	await run({type: 'devices.release', uid: 'a'});
	t.deepEqual(told(), ['c']);
	t.is(await ensure('c', 1), 'fine');
	await run({type: 'sandbox.remove', uid: 'b'});
	t.deepEqual(told(), ['d']);
	t.is(await ensure('d', 1), 'fine');
	// What was over before was looked at, and something of it was there still.
	host.removePod('c');
	host.removePod('d');
	t.is(await ensure('e', 1), 'fine');
	t.deepEqual(told(), [], 'one is free, and two are asked for');
	world.files = [0, 1, 2].map(device);
	world.news();
	t.deepEqual(told(), ['infoChanged', 'big']);
	t.is(await ensure('big', 2), 'fine');
	world.news();
	t.deepEqual(told(), ['infoChanged'], 'who has them waits no more');
});

test('a node says how many it has, tells of changes, and says where all pods can open all of them', t => {
	const {world, runtime, restart} = openHost(t);
	const events: RuntimeEvent[] = [];
	runtime().onEvent(event => events.push(event));
	world.news();
	t.deepEqual(events, [{type: 'infoChanged'}]);
	t.like(runtime().info(), {gpus: 2, conditions: []});
	world.info = {classes: ['process'], features: []};
	t.deepEqual(
		runtime()
			.info()
			.conditions.map(({type}) => type),
		['SharedDevices'],
	);
	world.info = {classes: ['docker'], features: []};
	t.deepEqual(runtime().info().conditions, []);
	world.files = [];
	restart();
	t.is(runtime().info().gpus, undefined);
	void runtime().close();
	t.false(world.isOpen);
});

for (const seed of [1, 2, 3, 4, 5])
	test(`whatever comes and whenever agents die, no device has two pods, and no pod loses its own (seed ${seed})`, async t => {
		const random = seededRandom(seed);
		const below = (count: number): number => Math.floor(random.next() * count);
		const {ensure, run, restart, host, record} = openHost(t, 3);
		/** Pods that were told that they have theirs, and how many. */
		const having = new Map<string, number>();
		for (let step = 0; step < 150; step++) {
			const index = below(6);
			const uid = `pod-${index}`;
			// As long as a pod lives it asks for the same.
			const wanted = 1 + (index % 2);
			switch (below(6)) {
				case 0:
				case 1: {
					// One that is over takes none again.
					const isOver = openAllotment(record).of(uid)?.length === 0;
					if ((await ensure(uid, wanted)) === 'fine' && !isOver) having.set(uid, wanted);
					break;
				}
				case 2:
					await run({type: 'devices.release', uid});
					having.delete(uid);
					break;
				case 3:
					await run({type: 'sandbox.remove', uid});
					having.delete(uid);
					break;
				case 4:
					// Killed after the sandbox was gone, before that was written down.
					host.removePod(uid);
					having.delete(uid);
					restart();
					break;
				default:
					restart();
			}
			const allotment = openAllotment(record);
			const given = allotment.holders().flatMap(each => allotment.of(each) ?? []);
			t.is(new Set(given).size, given.length, `step ${step}`);
			for (const [each, count] of having) t.is(allotment.of(each)?.length, count, `step ${step}: ${each}`);
		}
	});
