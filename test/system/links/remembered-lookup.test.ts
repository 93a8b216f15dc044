import type {LookupFunction} from 'node:net';
import test from 'ava';
import {createLookup} from '../../../system/links/remembered-lookup.js';

type Answer = Parameters<LookupFunction>[2];

function rig() {
	const asked: {readonly host: string; readonly answer: Answer}[] = [];
	const lookup = createLookup((host, _options, answer) => void asked.push({host, answer}));
	const find = (host: string): Promise<string> =>
		new Promise(resolve => lookup(host, {}, (error, address) => resolve(error === null ? (address as string) : error.message)));
	return {asked, find};
}

test('one question per name is under way, and its answer is for all that wait', async t => {
	const {asked, find} = rig();
	const both = Promise.all([find('a'), find('a')]);
	t.deepEqual(
		asked.map(({host}) => host),
		['a'],
	);
	asked[0]?.answer(null, '10.0.0.1', 4);
	t.deepEqual(await both, ['10.0.0.1', '10.0.0.1']);
});

test('a name that was known is answered at once, and asked for again meanwhile', async t => {
	const {asked, find} = rig();
	const first = find('a');
	asked[0]?.answer(null, '10.0.0.1', 4);
	await first;
	t.is(await find('a'), '10.0.0.1');
	t.is(await find('a'), '10.0.0.1');
	t.is(asked.length, 2);
	asked[1]?.answer(new Error('no name server'), '', 0);
	t.is(await find('a'), '10.0.0.1');
	asked[2]?.answer(null, '10.0.0.2', 4);
	t.is(await find('a'), '10.0.0.2');
});

test('a name that was never known fails for all that wait, and is asked for anew', async t => {
	const {asked, find} = rig();
	const first = find('a');
	asked[0]?.answer(new Error('not found'), '', 0);
	t.is(await first, 'not found');
	const second = find('a');
	asked[1]?.answer(null, '10.0.0.1', 4);
	t.is(await second, '10.0.0.1');
});
