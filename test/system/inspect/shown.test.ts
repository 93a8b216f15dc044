import {Buffer} from 'node:buffer';
import test from 'ava';
import type {Shown} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {partOf, shownOf} from '../../../system/inspect/shown.js';

const plain = (value: unknown, options?: Parameters<typeof shownOf>[1]): unknown => JSON.parse(JSON.stringify(shownOf(value, options)));

class Counter {
	readonly count = 2;
	readonly #hidden = 1;

	get double(): number {
		return this.#hidden * 2;
	}
}

for (const [what, value, shown] of [
	['plain data', {a: [1, 'x', true, null]}, {a: [1, 'x', true, null]}],
	['a map by texts', new Map([['a', {b: 1}]]), {$: 'map', size: 1, of: {a: {b: 1}}}],
	['a map by other keys', new Map([[{k: 1}, 2]]), {$: 'map', size: 1, of: [[{k: 1}, 2]]}],
	['an empty map', new Map(), {$: 'map', size: 0, of: {}}],
	['a set', new Set([1, 'a']), {$: 'set', size: 2, of: [1, 'a']}],
	['an instance of a class', {c: new Counter()}, {c: {$: 'Counter', of: {count: 2}}}],
	['a plain object with a member $', {$: 'map'}, {$: 'object', of: {$: 'map'}}],
	['a member that is undefined', {a: undefined, b: 1}, {b: 1}],
	[
		'what JSON has not',
		[undefined, NaN, 12n, new Date(0)],
		[{$: 'undefined'}, {$: 'number', of: 'NaN'}, {$: 'bigint', of: '12'}, {$: 'date', of: '1970-01-01T00:00:00.000Z'}],
	],
	['bytes', new Uint8Array(5), {$: 'bytes', size: 5}],
	['functions', {f: function name() {}}, {f: {$: 'function', of: 'name'}}],
	['an error', new Error('bad'), {$: 'Error', of: {message: 'bad'}}],
	['a name that is special', JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
] satisfies readonly (readonly [string, unknown, unknown])[]) {
	test(`${what} is shown`, t => {
		t.deepEqual(plain(value), shown);
	});
}

test('a getter is not run', t => {
	const value = {
		get boom(): number {
			throw new Error('run');
		},
	};
	t.deepEqual(plain(value), {boom: {$: 'getter'}});
});

test('a cycle is named by how far up it leads, and what is there twice is shown twice', t => {
	const child: {name: string; parent?: unknown} = {name: 'child'};
	const parent = {child, again: child};
	child.parent = parent;
	t.deepEqual(plain(parent), {
		child: {name: 'child', parent: {$: 'cycle', up: 2}},
		again: {name: 'child', parent: {$: 'cycle', up: 2}},
	});
});

test('what lies deeper than asked for is counted, and what is empty is shown', t => {
	const value = {a: {b: 1}, list: [1, 2], map: new Map([['x', 1]]), none: {}};
	t.deepEqual(plain(value, {depth: 1}), {
		a: {$: 'deeper', of: 'object', size: 1},
		list: {$: 'deeper', of: 'list', size: 2},
		map: {$: 'deeper', of: 'map', size: 1},
		none: {},
	});
});

test('what is left out of long lists, objects and maps is counted', t => {
	const many = limits.shownMembers + 7;
	const list = plain(Array.from({length: many}, () => 1)) as Shown[];
	t.is(list.length, limits.shownMembers + 1);
	t.deepEqual(list.at(-1), {$: 'more', count: 7});
	const members = Object.fromEntries(Array.from({length: many}, (_, at) => [`m${at}`, at]));
	t.deepEqual((plain(members) as {readonly [name: string]: unknown})['…'], {$: 'more', count: 7});
	const map = plain(new Map(Object.entries(members))) as {readonly size: number; readonly of: {readonly [name: string]: unknown}};
	t.deepEqual([map.size, map.of['…']], [many, {$: 'more', count: 7}]);
});

test('a long text is cut, and whole up to the bytes when it is asked for by itself', t => {
	const text = 'é'.repeat(limits.shownTextCharacters + 1);
	t.deepEqual(plain({text}), {text: {$: 'text', of: 'é'.repeat(limits.shownTextCharacters), characters: text.length}});
	t.is(plain(text), text);
});

test('half a character is not shown', t => {
	const shown = shownOf({text: '😀'.repeat(limits.shownTextCharacters)}) as {readonly text: {readonly of: string}};
	t.true(Buffer.from(shown.text.of).toString() === shown.text.of);
});

test('bytes are bounded, not characters', t => {
	const shown = shownOf('a界😀'.repeat(1_000), {bytes: 1_003}) as {readonly of: string};
	t.is(Buffer.byteLength(shown.of), 1_001, 'the beginning that fits, without half a character');
	t.true('a界😀'.repeat(1_000).startsWith(shown.of));
	const texts = Array.from({length: 400}, (_, at) => ({[`名${at}`]: '界'.repeat(1_000)}));
	const bytes = Buffer.byteLength(JSON.stringify(shownOf(texts, {bytes: 100_000})));
	t.true(bytes < 150_000, `${bytes} bytes`);
});

test('bytes are bounded, the upper levels come first, and each container says what it leaves out', t => {
	const wide = Array.from({length: 400}, (_, at) => ({name: `item ${at}`, inner: {text: 'x'.repeat(100)}}));
	const value = {wide, last: {is: 'here'}};
	const json = JSON.stringify(shownOf(value, {bytes: 20_000}));
	t.true(json.length < 60_000, `${json.length} bytes`);
	t.true(json.includes('"last":{"is":"here"}'));
	t.true(json.includes('"$":"more"'));
});

test('of 100 MB of state no more is looked at than is shown', t => {
	const inner = Array.from({length: 1_000}, (_, at) => ({at, text: 'x'.repeat(100)}));
	const state = new Map(Array.from({length: 1_000}, (_, at) => [`k${at}`, inner.map(item => ({...item, key: at}))]));
	let looks = 0;
	const isSecret = (): boolean => {
		looks++;
		return false;
	};
	const json = JSON.stringify(shownOf(state, {isSecret}));
	t.true(json.length < 4 * limits.shownBytes, `${json.length} bytes`);
	// Of 3,001,000 members.
	t.true(looks < limits.shownBytes / 2, `${looks} members`);
});

test('what is secret is not shown, wherever it is', t => {
	const isSecret = (holder: unknown, member: string): boolean =>
		(holder as {readonly kind?: string}).kind === 'Secret' && member === 'data';
	const secret = {kind: 'Secret', data: {password: 'x'}};
	t.deepEqual(plain({list: [secret], map: new Map([['s', secret]])}, {isSecret}), {
		list: [{kind: 'Secret', data: {$: 'secret'}}],
		map: {$: 'map', size: 1, of: {s: {kind: 'Secret', data: {$: 'secret'}}}},
	});
	t.deepEqual(partOf({secret}, ['secret', 'data', 'password'], isSecret), {ok: false, problem: '"secret.data" is secret'});
});

test('a part is led to through objects, lists, maps and sets', t => {
	const value = {map: new Map<unknown, unknown>([[7, [{deep: new Set(['a', 'b'])}]]])};
	t.deepEqual(partOf(value, ['map', '7', '0', 'deep', '1']), {ok: true, value: 'b'});
	t.deepEqual(partOf(value, ['map', '8']), {ok: false, problem: '"map" has no "8": there is 7'});
	t.deepEqual(partOf(value, ['toString']), {ok: false, problem: 'the state has no "toString": there is map'});
	t.deepEqual(partOf(value, ['map', '7', 'length', 'x']), {ok: false, problem: '"map.7.length" has no "x": there is nothing below it'});
});

test('a value that throws when it is looked at is said to, and all around it is shown', t => {
	const fail = (): never => {
		throw new Error('no looking');
	};
	const closed = new Proxy({}, {getPrototypeOf: fail});
	const unlisted = new Proxy({}, {ownKeys: fail});
	const [first, second] = [
		new Proxy({}, {ownKeys: fail}),
		new Proxy([1, 2], {get: (list, name) => (name === 'length' ? 2 : name === '0' ? fail() : (Reflect.get(list, name) as unknown))}),
	];
	const unreadable = {$: 'unreadable', of: {error: 'no looking'}};
	t.deepEqual(JSON.parse(JSON.stringify(shownOf({closed, unlisted, map: new Map([['a', first]]), second, ok: 1}))), {
		closed: unreadable,
		unlisted: {'…': unreadable},
		map: {$: 'map', size: 1, of: {a: {'…': unreadable}}},
		second: [unreadable],
		ok: 1,
	});
	const odd = new Proxy(
		{},
		{
			getPrototypeOf() {
				throw Object.defineProperty(new Error('x'), 'message', {get: fail});
			},
		},
	);
	t.like(shownOf([odd]), [{$: 'unreadable', of: {error: 'it throws'}}]);
});
