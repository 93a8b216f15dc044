import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {CommitOutcome, MetaOutcome, StoreDriver} from '../../../system/store/store.js';
import {aPod, podKey, startedPipeline} from './pipeline-world.js';

/** Writes down the size of every batch that passes. */
const counting =
	(sizes: number[]) =>
	(driver: StoreDriver): StoreDriver => ({
		...driver,
		commit(batch, done) {
			if (batch.writes.length > 0) sizes.push(batch.writes.length);
			driver.commit(batch, done);
		},
	});

/** Answers the batches after the start by hand. */
function byHand(answers: CommitOutcome[], metas: MetaOutcome[] = [], applies = false) {
	return (driver: StoreDriver): StoreDriver => ({
		...driver,
		commit(batch, done) {
			const answer = batch.writes.length === 0 ? undefined : answers.shift();
			if (answer === undefined) return driver.commit(batch, done);
			if (applies) driver.commit(batch, () => done(answer));
			else driver.readMeta(() => done(answer));
		},
		readMeta(done) {
			const meta = metas.shift();
			if (meta === undefined) driver.readMeta(done);
			else driver.readMeta(() => done(meta));
		},
	});
}

const timedOut: CommitOutcome = {type: 'unknown', message: 'no answer in 5000 ms'};
const noAnswer: MetaOutcome = {ok: false, message: 'no connection'};
/** What the start itself finds. */
const noMetaYet: MetaOutcome = {ok: true, meta: undefined};

test('writes that wait together are one batch, with one version each in their order', t => {
	const sizes: number[] = [];
	const {world, write, answers, index, applied} = startedPipeline(counting(sizes));
	for (const name of ['a', 'b', 'c']) write(name);
	t.is(index.size, 0);
	world.run();
	t.deepEqual(sizes, [3]);
	t.deepEqual(answers, [
		['a', 1],
		['b', 2],
		['c', 3],
	]);
	t.deepEqual(
		applied.map(changes => changes.map(({version}) => version)),
		[[1, 2, 3]],
	);
	t.is(index.get(podKey('b'))?.metadata.resourceVersion, '2');
});

test('a batch has at most so many operations, and nobody overtakes', t => {
	const sizes: number[] = [];
	const {world, write, answers} = startedPipeline(counting(sizes));
	for (let at = 0; at < 250; at++) write(`p${at}`);
	world.run();
	t.deepEqual(sizes, [limits.batchOperations, limits.batchOperations, 50]);
	t.deepEqual(
		answers,
		Array.from({length: 250}, (_, at) => [`p${at}`, at + 1] as const),
	);
});

test('a batch has at most so many bytes', t => {
	const sizes: number[] = [];
	const {world, write} = startedPipeline(counting(sizes));
	for (let at = 0; at < 5; at++) write(`p${at}`, {text: 'x'.repeat(500_000)});
	world.run();
	t.deepEqual(sizes, [2, 2, 1]);
});

test('those who are answered by one batch are together in the next', t => {
	const sizes: number[] = [];
	const {world, pipeline} = startedPipeline(counting(sizes));
	const again = (name: string, left: number): void =>
		pipeline.submit({key: podKey(name), object: aPod(name), done: () => (left > 0 ? again(name, left - 1) : undefined)});
	for (const name of ['a', 'b', 'c']) again(name, 3);
	world.run();
	t.deepEqual(sizes, [3, 3, 3, 3]);
});

test('a key is written once a batch', t => {
	const sizes: number[] = [];
	const {world, write, answers, index} = startedPipeline(counting(sizes));
	write('a', {turn: 1});
	write('b');
	write('a', {turn: 2});
	write('c');
	world.run();
	t.deepEqual(sizes, [2, 2]);
	t.deepEqual(answers, [
		['a', 1],
		['b', 2],
		['a', 3],
		['c', 4],
	]);
	t.deepEqual(index.get(podKey('a'))?.spec, {turn: 2});
});

test('a removal takes a version of its own and is a change with what was there before', t => {
	const {world, write, remove, answers, index, applied, data, pipeline} = startedPipeline();
	write('a');
	remove('a');
	world.run();
	t.deepEqual(answers, [
		['a', 1],
		['a', 2],
	]);
	t.is(index.get(podKey('a')), undefined);
	t.is(applied[1]?.[0]?.before?.version, 1);
	t.is(applied[1]?.[0]?.after, undefined);
	t.is(data.bodies.size, 0);
	t.is(pipeline.meta.version, 2);
});

test('removing what does not exist is a bug', t => {
	const {world, write, remove} = startedPipeline();
	t.throws(() => remove('a'), {message: 'a removal of what does not exist: "pods/default/a"'});
	write('a');
	remove('a');
	t.throws(() => remove('a'));
	world.run();
	t.throws(() => remove('a'));
});

test('a write of an unknown kind is a bug', t => {
	const {pipeline} = startedPipeline();
	t.throws(() => pipeline.submit({key: 'ghosts/default/a', object: aPod('a'), done: () => undefined}), {
		message: 'a write of an unknown kind: "ghosts/default/a"',
	});
});

test('index, ring, the batch and then the answers: whoever is told finds everything before it everywhere', t => {
	const seen: string[] = [];
	const run = startedPipeline();
	run.pipeline.ring.watch(0, change => seen.push(`ring ${change.version}, index at ${run.index.version}`));
	const done = (name: string) => (): void => void seen.push(`${name} answered after ${run.applied.length} batch`);
	for (const name of ['a', 'b']) run.pipeline.submit({key: podKey(name), object: aPod(name), done: done(name)});
	run.world.run();
	t.deepEqual(seen, ['ring 1, index at 1', 'ring 2, index at 2', 'a answered after 1 batch', 'b answered after 1 batch']);
});

test('a failed batch leaves no trace but its reason: nothing is visible, and its versions are given again', t => {
	const {world, write, answers, index, applied, data, pipeline} = startedPipeline(byHand([{type: 'failed', message: 'disk full'}]));
	write('a');
	write('b');
	world.run();
	t.deepEqual(answers, [
		['a', 'ERR_STORE'],
		['b', 'ERR_STORE'],
	]);
	t.is(index.size + applied.length + data.bodies.size, 0);
	t.is(pipeline.problem(), 'disk full');
	write('c');
	world.run();
	t.deepEqual(answers.at(-1), ['c', 1]);
	t.is(pipeline.problem(), undefined);
});

test('a removal that waited for a creation that failed fails as well', t => {
	const {world, write, remove, answers} = startedPipeline(byHand([{type: 'failed', message: 'disk full'}]));
	write('a');
	remove('a');
	world.run();
	t.deepEqual(answers, [
		['a', 'ERR_STORE'],
		['a', 'ERR_STORE'],
	]);
});

test('an unknown outcome that was taken is a success', t => {
	const {world, write, answers, index} = startedPipeline(byHand([timedOut], [noMetaYet, noAnswer], true));
	write('a');
	world.run();
	t.deepEqual(answers, [['a', 1]]);
	t.is(index.size, 1);
});

test('an unknown outcome that was not taken fails, and its version is not given to another', t => {
	const {world, write, answers, fenced} = startedPipeline(byHand([timedOut]));
	write('a');
	world.run();
	write('b');
	world.run();
	t.deepEqual(answers, [
		['a', 'ERR_STORE'],
		['b', 3],
	]);
	t.deepEqual(fenced, []);
});

test('a batch that arrives after it was given up is kept out: what was answered as failed does not happen later', t => {
	const lateMs = limits.storeAskMs + 50;
	const {world, write, answers, fenced, data} = startedPipeline((driver, {clock}) => {
		let isFirst = true;
		return {
			...driver,
			commit(batch, done) {
				if (batch.writes.length === 0 || !isFirst) return driver.commit(batch, done);
				isFirst = false;
				clock.after(lateMs, () => driver.commit(batch, () => undefined));
				clock.after(1, () => done(timedOut));
			},
		};
	});
	write('a');
	world.run();
	t.deepEqual(answers, [['a', 'ERR_STORE']]);
	t.deepEqual([...data.bodies.keys()], []);
	write('b');
	world.run();
	t.deepEqual(answers.at(-1), ['b', 3]);
	t.deepEqual(fenced, []);
});

test('an outcome that stays unknown ends the term and everything that waits', t => {
	const metas = [noMetaYet, ...Array.from({length: limits.storeAskAttempts}, () => noAnswer)];
	const {world, write, put, answers, fenced} = startedPipeline(byHand([timedOut], metas, true));
	write('a');
	write('a', {turn: 2});
	put('/troupe/vault/ca', 'sealed');
	world.run();
	t.deepEqual(answers, [
		['a', 'ERR_OUTCOME_UNKNOWN'],
		['a', 'ERR_STORE'],
		['/troupe/vault/ca', 'ERR_STORE'],
	]);
	t.deepEqual(fenced, ['whether the last batch was taken could not be found out: no connection']);
});

test('a writer that somebody else has fenced off writes nothing more', t => {
	const {world, write, answers, fenced, data} = startedPipeline();
	data.meta = {version: 0, epoch: 99, lineage: 'another'};
	write('a');
	world.run();
	write('b');
	t.is(answers.length, 1);
	world.run();
	t.deepEqual(answers, [
		['a', 'ERR_STORE'],
		['b', 'ERR_STORE'],
	]);
	t.is(fenced.length, 1);
	t.is(data.bodies.size, 0);
});

test('after the term nothing is sent to the store, and what was on its way gets no answer, though it is taken', t => {
	let mayAct = true;
	const run = (endsBefore: 'it is sent' | 'it counts') => {
		mayAct = true;
		const started = startedPipeline(
			driver => ({
				...driver,
				commit(batch, done) {
					driver.commit(batch, outcome => {
						if (batch.writes.length > 0) mayAct = false;
						done(outcome);
					});
				},
			}),
			undefined,
			{mayAct: () => mayAct},
		);
		started.write('a');
		started.put('/troupe/events/pods/default/a', 'one');
		if (endsBefore === 'it is sent') mayAct = false;
		started.world.run();
		started.write('b');
		started.world.run();
		return started;
	};
	const late = run('it is sent');
	t.deepEqual(late.answers.map(([, answer]) => answer).sort(), ['ERR_STORE', 'ERR_STORE', 'ERR_STORE']);
	t.deepEqual([late.data.bodies.size, late.fenced], [0, ['the term of office is over']]);

	const later = run('it counts');
	t.deepEqual(later.answers, [
		['a', 'ERR_OUTCOME_UNKNOWN'],
		['/troupe/events/pods/default/a', 'ERR_OUTCOME_UNKNOWN'],
		['b', 'ERR_STORE'],
	]);
	t.deepEqual([later.data.bodies.size, later.fenced], [2, ['the term of office is over']], 'the next leader finds it');
	t.deepEqual(later.applied, [], 'and this one shows it to nobody');
	t.is(later.index.get(podKey('a')), undefined);
});

test('a raw record takes a version, and is replaced while it waits', t => {
	const {world, put, write, answers, data, index, pipeline} = startedPipeline();
	put('/troupe/events/pods/default/a', 'one');
	write('a');
	put('/troupe/events/pods/default/a', 'two');
	world.run();
	t.deepEqual(answers, [
		['/troupe/events/pods/default/a', 1],
		['/troupe/events/pods/default/a', 1],
		['a', 2],
	]);
	t.is(data.bodies.get('/troupe/events/pods/default/a')?.(), 'two');
	put('/troupe/events/pods/default/a', undefined);
	world.run();
	t.false(data.bodies.has('/troupe/events/pods/default/a'));
	t.is(index.version, 3);
	t.true(pipeline.ring.watch(3, () => undefined).ok);
});

test('a raw record that is already on its way is not replaced', t => {
	const {world, put, answers, data} = startedPipeline();
	put('/troupe/vault/ca', 'one');
	world.step();
	put('/troupe/vault/ca', 'two');
	world.run();
	t.deepEqual(answers, [
		['/troupe/vault/ca', 1],
		['/troupe/vault/ca', 2],
	]);
	t.is(data.bodies.get('/troupe/vault/ca')?.(), 'two');
});

test('what is too large is refused alone', t => {
	const {world, write, put, answers, pipeline} = startedPipeline();
	write('a');
	write('large', {text: 'x'.repeat(limits.objectBytes)});
	put('/troupe/vault/large', 'é'.repeat(limits.objectBytes / 2 + 1));
	write('b');
	world.run();
	t.deepEqual(
		new Map(answers),
		new Map<string, number | string>([
			['large', 'ERR_TOO_LARGE'],
			['/troupe/vault/large', 'ERR_TOO_LARGE'],
			['a', 1],
			['b', 2],
		]),
	);
	t.is(pipeline.waiting(), 0);
});

test('an object of the largest size is taken', t => {
	const {world, write, answers, data} = startedPipeline();
	const around = JSON.stringify({...aPod('a', {text: ''}), metadata: {...aPod('a').metadata, resourceVersion: '1'}}).length;
	write('a', {text: 'x'.repeat(limits.objectBytes - around)});
	world.run();
	t.deepEqual(answers, [['a', 1]]);
	t.true((data.bodies.get('/troupe/registry/pods/default/a')?.().length ?? 0) > limits.objectBytes);
});

test('control characters and other scripts count as the bytes they become', t => {
	const sizes: number[] = [];
	const {world, write} = startedPipeline(counting(sizes));
	for (let at = 0; at < 4; at++) write(`p${at}`, {text: '\u0001'.repeat(100_000)});
	world.run();
	t.deepEqual(sizes, [1, 1, 1, 1]);
});

test('stopping finishes what is in flight and fails the rest', t => {
	const {world, write, answers, pipeline} = startedPipeline();
	const stopped: string[] = [];
	write('a');
	world.step();
	write('b');
	pipeline.stop(() => stopped.push('stopped'));
	t.deepEqual([pipeline.waiting(), stopped.length, answers.length], [2, 0, 0]);
	world.run();
	t.deepEqual(answers, [
		['a', 1],
		['b', 'ERR_STORE'],
	]);
	t.deepEqual(stopped, ['stopped']);
	write('c');
	world.run();
	t.deepEqual(answers.at(-1), ['c', 'ERR_STORE']);
});

test('a stop with nothing in flight calls back once it has returned', t => {
	const {world, pipeline} = startedPipeline();
	let stopped = 0;
	pipeline.stop(() => stopped++);
	t.is(stopped, 0);
	world.run();
	t.is(stopped, 1);
});
