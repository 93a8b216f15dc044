import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {collectGarbage, diskUse, type DiskUse} from '../../../agent/docker/images/garbage.js';
import {createRemembered, type Remembered} from '../../../agent/docker/images/remembered.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {idOf, startFakeEngine, type FakeEngine} from './_fake-engine.js';

const name = (i: number | string): string => `r.local/app:${i}`;

type World = {
	readonly fake: FakeEngine;
	readonly clock: ManualClock;
	readonly remembered: Remembered;
	readonly warnings: readonly string[];
	readonly collect: (disk?: DiskUse) => Promise<readonly string[]>;
	/** Of 1,000 bytes the disk has so many that are no images. */
	readonly disk: {otherBytes: number};
};

/** An Engine that has `count` images of ours of 100 bytes each, the first of which was used longest ago. */
async function world(t: ExecutionContext, count: number): Promise<World> {
	const clock = new ManualClock();
	const fake = await startFakeEngine(t, clock);
	const warnings: string[] = [];
	const onWarning = (message: string): void => void warnings.push(message);
	const remembered = createRemembered({file: path.join(fake.directory, 'images.json'), clock, onWarning});
	t.teardown(() => remembered.save());
	const disk = {otherBytes: 0};
	const ofImages: DiskUse = folder => {
		t.is(folder, fake.directory);
		const usedBytes = disk.otherBytes + [...fake.images.values()].reduce((sum, {bytes}) => sum + bytes, 0);
		return Promise.resolve({usedBytes, totalBytes: 1_000});
	};
	for (let i = 0; i < count; i++) {
		fake.images.set(name(i), {id: idOf(name(i)), bytes: 100});
		remembered.add(idOf(name(i)), name(i));
		clock.advance(1_000);
	}
	clock.advance(limits.imageKeptMs);
	const collect: World['collect'] = (diskUse = ofImages) => collectGarbage({engine: fake.engine, clock, remembered, diskUse});
	return {fake, clock, remembered, warnings, collect, disk};
}

test('above the high mark images go, what was used longest ago first, down to the low mark', async t => {
	const {fake, collect, disk, remembered} = await world(t, 5);
	disk.otherBytes = 350;
	t.deepEqual(await collect(), [], 'at the high mark nothing goes');
	disk.otherBytes = 500;
	t.deepEqual(await collect(), [idOf(name(0)), idOf(name(1))]);
	t.deepEqual([...fake.images.keys()], [2, 3, 4].map(name));
	t.deepEqual([...(await remembered.all()).keys()], [2, 3, 4].map(name).map(idOf));
	t.deepEqual(await collect(), []);
});

test('what a container uses stays, and what was used a moment ago', async t => {
	const {fake, collect, disk, remembered, clock} = await world(t, 4);
	disk.otherBytes = 900;
	fake.used.add(idOf(name(0)));
	remembered.use(idOf(name(1)));
	t.deepEqual(await collect(), [2, 3].map(name).map(idOf));
	fake.used.clear();
	t.deepEqual(await collect(), [], 'its container has only just gone');
	clock.advance(limits.imageKeptMs + 1);
	t.deepEqual(await collect(), [1, 0].map(name).map(idOf));
});

test('images of others are never removed, nor those of ours to which people gave a name', async t => {
	const {fake, collect, disk} = await world(t, 3);
	disk.otherBytes = 900;
	fake.images.set('mine:1', {id: 'sha256:mine', bytes: 100});
	fake.images.set('keep/this:1', {id: idOf(name(1)), bytes: 100});
	await collect();
	t.deepEqual([...fake.images.keys()].sort(), ['keep/this:1', 'mine:1', name(1)]);
});

test('a container that came in between keeps its image', async t => {
	const {fake, collect, disk, remembered} = await world(t, 2);
	disk.otherBytes = 900;
	const all = await remembered.all();
	let looks = 0;
	const removed = await collect(() => {
		looks += 1;
		// After the list of containers was asked for, before the first is removed.
		if (looks === 2) fake.used.add(idOf(name(0)));
		return Promise.resolve({usedBytes: 1_000, totalBytes: 1_000});
	});
	t.deepEqual(removed, [idOf(name(1))]);
	t.deepEqual([...all.keys()], [idOf(name(0))]);
});

test('nothing is removed where the disk is not to be seen', async t => {
	const {collect} = await world(t, 2);
	t.deepEqual(await collect(() => Promise.resolve(undefined)), []);
	t.deepEqual(await collect(() => Promise.reject(new Error('ENOENT'))), []);
});

test('what is remembered is there for the next agent; a damaged file removes nothing, and says so', async t => {
	const {fake, remembered, clock} = await world(t, 2);
	await remembered.save();
	const file = path.join(fake.directory, 'images.json');
	const warnings: string[] = [];
	const again = (): Remembered => createRemembered({file, clock, onWarning: message => warnings.push(message)});
	const next = again();
	t.deepEqual([...(await next.all())], [...(await remembered.all())]);
	next.add('sha256:new', name('new'));
	next.add('sha256:new', name('other'));
	await next.save();
	t.deepEqual((await again().all()).get('sha256:new')?.names, [name('new'), name('other')]);
	t.deepEqual(warnings, []);
	for (const text of ['{"images": [', '[]', '{"images": 3}']) {
		await writeFile(file, text);
		t.is((await again().all()).size, 0, text);
	}
	t.is(warnings.length, 3);
	await writeFile(file, '{"images": {"a": {"names": ["x"], "usedAtMs": 1}, "b": {"names": 3}, "c": null}}');
	t.deepEqual([...(await again().all()).keys()], ['a']);
	t.true((await readFile(file, 'utf8')).length > 0);
});

test('only so many images are remembered', async t => {
	const {remembered} = await world(t, 0);
	for (let i = 0; i < limits.imagesRemembered + 5; i++) remembered.add(`sha256:${i}`, name(1));
	t.is((await remembered.all()).size, limits.imagesRemembered);
	t.false((await remembered.all()).has('sha256:4'));
});

test('a disk is as full as df says', async t => {
	const found = await diskUse('/');
	t.true(found !== undefined && found.usedBytes > 0 && found.usedBytes <= found.totalBytes);
});
