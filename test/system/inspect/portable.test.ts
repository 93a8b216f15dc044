import {Buffer} from 'node:buffer';
import test from 'ava';
import fc from 'fast-check';
import type {Json} from '../../../api/object.js';
import {apply, areSame, deltaOf} from '../../../system/inspect/delta.js';
import {decode, encode, NotPortable} from '../../../system/inspect/portable.js';

/** Whatever a state may hold: maps and sets in one another, members that are undefined, names that look like a tag. */
const anyState = fc.letrec<{value: unknown}>(tie => ({
	value: fc.oneof(
		{depthSize: 'small', withCrossShrink: true},
		fc.oneof(
			fc.constantFrom(null, undefined, true, false, '', '$', NaN, Infinity, -Infinity, -0, 0),
			fc.double(),
			fc.integer(),
			fc.string({unit: 'binary'}),
			fc.bigInt(),
			fc.date(),
			fc.uint8Array({maxLength: 8}),
		),
		fc.array(tie('value'), {maxLength: 4}),
		fc.uniqueArray(tie('value'), {maxLength: 4}).map(items => new Set(items)),
		fc.array(fc.tuple(tie('value'), tie('value')), {maxLength: 4}).map(pairs => new Map(pairs)),
		fc
			.array(fc.tuple(fc.oneof(fc.constantFrom('$', 'of', '__proto__', 'constructor', ''), fc.string({maxLength: 3})), tie('value')), {
				maxLength: 4,
			})
			.map(members => Object.fromEntries(members) as unknown),
	),
})).value;

test('any plain value comes back from its portable form as it was, also through JSON text', t => {
	fc.assert(
		fc.property(anyState, value => {
			const json = encode(value);
			const text = JSON.stringify(json);
			t.deepEqual(decode(JSON.parse(text) as Json), value);
			t.is(JSON.stringify(encode(decode(json))), text);
		}),
		{numRuns: 2_000},
	);
});

test('what has to be done to one portable value to make another of it does just that, and is nothing only where they are equal', t => {
	fc.assert(
		fc.property(anyState, anyState, (a, b) => {
			const [before, after] = [encode(a), encode(b)];
			const delta = JSON.parse(JSON.stringify(deltaOf(before, after))) as ReturnType<typeof deltaOf>;
			const made = apply(before, delta);
			t.true(areSame(made, after));
			t.deepEqual(decode(made), b);
			t.is(delta.length === 0, areSame(after, before));
			t.deepEqual(deltaOf(before, encode(a)), []);
		}),
		{numRuns: 2_000},
	);
});

test('a small change of a large state is a small delta: of a member, of a map, of a list', t => {
	const pods = new Map(Array.from({length: 1_000}, (_, at) => [`pod-${at}`, {phase: 'Running', restarts: 0}]));
	const state = {pods, queue: [1, 2, 3, 4], turn: 1};
	const next = {...state, pods: new Map(pods).set('pod-500', {phase: 'Failed', restarts: 0}), queue: [1, 2, 4]};
	t.deepEqual(deltaOf(encode(state), encode(next)), [
		{at: ['pods', 'of', 500, 1, 'phase'], to: 'Failed'},
		{at: ['queue'], from: 2, less: 1, more: []},
	]);
});

test('what is no data is refused with its place: a function, an instance of a class, a symbol', t => {
	class Connection {}
	const cases: [unknown, string][] = [
		[{send: () => undefined}, '"send" is a function'],
		[{peers: new Map([['vm', {link: new Connection()}]])}, '"peers.vm.link" is an instance of Connection'],
		[[Symbol('x')], '"0" is a symbol'],
		[() => undefined, 'the value is a function'],
	];
	for (const [value, message] of cases) t.throws(() => encode(value), {instanceOf: NotPortable, message});
});

test('what is too deep, too large, or goes round in a ring is refused and costs no more than the bound', t => {
	const ring: {self?: unknown} = {};
	ring.self = ring;
	t.throws(() => encode(ring), {instanceOf: NotPortable, message: /lies deeper than 100 levels/});
	const room = {bytes: 1_000};
	t.throws(() => encode({text: 'x'.repeat(2_000)}, room), {instanceOf: NotPortable, message: /too large/});
	t.throws(
		() =>
			encode(
				Array.from({length: 1_000_000}, () => ({a: 1})),
				{bytes: 1_000},
			),
		{instanceOf: NotPortable},
	);
	const shared = {bytes: 1_000};
	encode('x'.repeat(600), shared);
	t.throws(() => encode('x'.repeat(600), shared), {instanceOf: NotPortable});
});

/** Says how many of its entries were looked at. */
class CountedMap extends Map<number, number> {
	looked = 0;

	override *[Symbol.iterator](): MapIterator<[number, number]> {
		for (const entry of this.entries()) {
			this.looked++;
			yield entry;
		}
	}
}

class CountedSet extends Set<number> {
	looked = 0;

	override *[Symbol.iterator](): SetIterator<number> {
		for (const item of this.values()) {
			this.looked++;
			yield item;
		}
	}
}

test('of what is too large nothing more is looked at than there is room for', t => {
	const [map, set] = [new CountedMap(), new CountedSet()];
	for (let at = 0; at < 2_000; at++) {
		map.set(at, at);
		set.add(at);
	}
	for (const each of [map, set]) {
		t.throws(() => encode(each, {bytes: 1_000}), {instanceOf: NotPortable, message: /too large/});
		t.is(each.looked, 0, 'so many have no room, however small each is');
		t.throws(() => encode(each, {bytes: 8_000}), {instanceOf: NotPortable, message: /too large/});
		t.true(each.looked <= 1_000, String(each.looked));
	}
	let looked = 0;
	const members = Object.fromEntries(Array.from({length: 2_000}, (_, at) => [`m${at}`, at]));
	const object = new Proxy(members, {get: (of, name) => (looked++, Reflect.get(of, name) as unknown)});
	t.throws(() => encode(object, {bytes: 1_000}), {instanceOf: NotPortable, message: /too large/});
	t.is(looked, 0);
});

test('what a value takes of the room is about what its portable form has', t => {
	const values = [
		Array.from({length: 1_000}, () => null),
		Array.from({length: 1_000}, () => new Map()),
		Array.from({length: 1_000}, () => NaN),
		Array.from({length: 1_000}, () => 10n ** 100n),
		10n ** 10_000n,
		'ü'.repeat(1_000),
	];
	for (const value of values) {
		const room = {bytes: 1_000_000};
		const bytes = Buffer.byteLength(JSON.stringify(encode(value, room)));
		// Brackets and commas aside.
		t.true(1_000_000 - room.bytes > bytes * 0.8, `${bytes} bytes took ${1_000_000 - room.bytes}`);
	}
});

test('what no recorder wrote is an error, not a value, and never a stack that runs over', t => {
	for (const text of [
		'{"$":"function"}',
		'{"$":"map"}',
		'{"$":"map","of":[1]}',
		'{"$":"set","of":{}}',
		'{"$":"bigint","of":"x"}',
		'{"$":7}',
	]) {
		t.throws(() => decode(JSON.parse(text) as Json), {instanceOf: Error}, text);
	}
	t.throws(() => decode(JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as Json), {message: /too deeply/});
	t.is(Object.getPrototypeOf(decode(JSON.parse('{"__proto__":{"a":1}}') as Json)), Object.prototype);
});
