// Many pods of one node: `npm test` starts some at once, the lane of longer tests five times as many.

import {readdirSync} from 'node:fs';
import type {TestFn} from 'ava';
import {isRoot} from '../_needing.js';
import {groupOf, isThere, processWorld, shimOf, whenTrue} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

/** Declares a test that starts so many pods at once and removes them. */
export function testManyPods(test: TestFn, count: number): void {
	test(`${count} pods start at once and leave nothing when they are removed`, async t => {
		const world = processWorld(clean => t.teardown(clean));
		const {ensure, start, remove, list} = driver(world);
		await ensure('first');
		await start(aContainer('runs', {uid: 'first'}));
		await remove('first');
		const descriptors = (): number => readdirSync('/proc/self/fd').length;
		const before = descriptors();
		const uids = Array.from({length: count}, (_, i) => `uid-${i}`);
		const running = await Promise.all(
			uids.map(async uid => {
				await ensure(uid);
				return start(aContainer('runs', {uid}));
			}),
		);
		const shims = running.flatMap(({pid}) => [shimOf(pid), groupOf(pid)]);
		t.is(new Set(running.map(({pid}) => pid)).size, count);
		await Promise.all(uids.map(uid => remove(uid)));
		t.deepEqual(await list(), []);
		await whenTrue(() => ![...running.map(({pid}) => pid), ...shims].some(isThere));
		await whenTrue(() => descriptors() <= before);
		t.deepEqual(readdirSync(world.directory), isRoot ? ['.stock', '.users'] : ['.stock']);
	});
}
