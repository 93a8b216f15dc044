// What every runtime promises whose sandboxes can die while containers run: those that are started for them, and may be killed.

import type {ExecutionContext, TestFn} from 'ava';
import type {RuntimeEvent} from '../../actors/node/runtime/runtime-port.js';
import {driver, type World} from './runtime-contract.js';

export type LosingWorld = World & {
	/** What the pod's containers share dies; resolves when it is dead. */
	readonly loseSandbox: (uid: string) => Promise<void>;
};

const main = {uid: 'uid-1', container: 'main'};

/** Adds the tests to a file; see `runtimeContract`. */
export function lostSandboxContract(
	test: TestFn,
	name: string,
	makeWorld: (teardown: (clean: () => Promise<void>) => void) => LosingWorld,
): void {
	const claim = (title: string, check: (t: ExecutionContext, world: LosingWorld) => Promise<void>): void =>
		test(`${name}: ${title}`, async t => {
			await check(
				t,
				makeWorld(clean => t.teardown(clean)),
			);
		});

	/** Resolves with the first that is told. */
	const nextEvent = (world: LosingWorld): Promise<RuntimeEvent> =>
		new Promise(resolve => world.runtime().onEvent(event => void (event.type === 'sandboxLost' && resolve(event))));

	claim('the death of a sandbox is told; it is as it was while something runs, and then made anew', async (t, world) => {
		const {ensure, start, stop, aContainer} = driver(world);
		const {podIP} = await ensure('uid-1');
		await start(aContainer('runs'));
		const told = nextEvent(world);
		await world.loseSandbox('uid-1');
		t.deepEqual(await world.settle(told), {type: 'sandboxLost', uid: 'uid-1', namespace: 'default', podName: 'pod-uid-1'});
		t.like(await ensure('uid-1'), {podIP, isLost: true});
		await stop(main, 0);
		const anew = await ensure('uid-1');
		t.is(anew.isLost, undefined);
		t.deepEqual(anew.firstAttempts, {main: 1});
		t.deepEqual(await ensure('uid-1'), anew);
		await start(aContainer('runs', {attempt: 1}));
	});

	claim('nothing starts in a sandbox that has died', async (t, world) => {
		const {ensure, start, run, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		await world.loseSandbox('uid-1');
		t.like(await run<'container.start'>({type: 'container.start', spec: aContainer('runs', {container: 'other'})}), {
			ok: false,
			error: {code: 'ERR_RUNTIME'},
		});
	});

	claim('the next agent finds a sandbox that died without one, and hears of every later time what ran before', async (t, world) => {
		const {ensure, start, inspect, stop, restartAgent, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		await start(aContainer('succeeds', {container: 'other'}));
		await restartAgent(() => world.loseSandbox('uid-1'));
		t.true((await ensure('uid-1')).isLost);
		t.not((await inspect(main)).running, undefined);
		await stop(main, 0);
		t.deepEqual((await ensure('uid-1')).firstAttempts, {main: 1, other: 1});
		await start(aContainer('runs', {attempt: 1}));
		await restartAgent();
		const {isLost, firstAttempts} = await ensure('uid-1');
		t.deepEqual([isLost, firstAttempts], [undefined, {main: 1, other: 1}]);
	});

	claim('a sandbox that has died is removed like any other', async (t, world) => {
		const {ensure, start, remove, list, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		await world.loseSandbox('uid-1');
		await remove('uid-1');
		t.deepEqual(await list(), []);
		t.is((await ensure('uid-1')).firstAttempts, undefined);
	});
}
