// RFC 6902: what each operation does, what it refuses, and how much it may cost.

import test from 'ava';
import fc from 'fast-check';
import {deepEqual} from '../../api/equal.js';
import {applyJsonPatch, readJsonPatch, type JsonPatchOperation} from '../../api/json-patch.js';
import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';

/** The document that becomes of it, or why not. */
function outcomeOf(document: Json, patch: readonly object[]): unknown {
	const read = readJsonPatch(patch);
	const done = read.ok ? applyJsonPatch(document, read.value) : read;
	return done.ok ? done.value : `${done.error.code} ${done.error.message}`;
}

const applied: readonly (readonly [title: string, document: Json, patch: readonly object[], result: Json | undefined])[] = [
	['a member is added', {a: 1}, [{op: 'add', path: '/b', value: 2}], {a: 1, b: 2}],
	['a member is added over one', {a: 1}, [{op: 'add', path: '/a', value: 2}], {a: 2}],
	['an item is put in', [1, 3], [{op: 'add', path: '/1', value: 2}], [1, 2, 3]],
	['an item is put at the end', {a: [1]}, [{op: 'add', path: '/a/1', value: 2}], {a: [1, 2]}],
	['an item is appended', {a: [1]}, [{op: 'add', path: '/a/-', value: [2]}], {a: [1, [2]]}],
	['a member is removed', {a: {b: 1, c: 2}}, [{op: 'remove', path: '/a/b'}], {a: {c: 2}}],
	['an item is removed', [1, 2, 3], [{op: 'remove', path: '/0'}], [2, 3]],
	['a value is replaced', {a: {b: 1}}, [{op: 'replace', path: '/a/b', value: {c: null}}], {a: {b: {c: null}}}],
	['an item is replaced', ['a', 'b'], [{op: 'replace', path: '/1', value: 'c'}], ['a', 'c']],
	['the whole is replaced', {a: 1}, [{op: 'replace', path: '', value: [1]}], [1]],
	['the whole is removed', {a: 1}, [{op: 'remove', path: ''}], undefined],
	['a member moves', {a: {b: 1}, c: {}}, [{op: 'move', from: '/a/b', path: '/c/d'}], {a: {}, c: {d: 1}}],
	['an item moves', [1, 2, 3], [{op: 'move', from: '/0', path: '/2'}], [2, 3, 1]],
	[
		'a value is copied, not shared',
		{a: {b: [1]}},
		[
			{op: 'copy', from: '/a', path: '/c'},
			{op: 'add', path: '/c/b/-', value: 2},
		],
		{a: {b: [1]}, c: {b: [1, 2]}},
	],
	['a true test changes nothing', {a: {b: [1, {c: 'd'}]}}, [{op: 'test', path: '/a', value: {b: [1, {c: 'd'}]}}], {a: {b: [1, {c: 'd'}]}}],
	['what is not there is null', {a: 1}, [{op: 'test', path: '/b', value: null}], {a: 1}],
	['a path is escaped', {'a/b': {'m~n': 1}}, [{op: 'replace', path: '/a~1b/m~0n', value: 2}], {'a/b': {'m~n': 2}}],
	['~01 is no slash', {'~1': 1}, [{op: 'test', path: '/~01', value: 1}], {'~1': 1}],
	['an empty key is a key', {'': 1}, [{op: 'replace', path: '/', value: 2}], {'': 2}],
	[
		'operations follow one another',
		{},
		[
			{op: 'add', path: '/a', value: {}},
			{op: 'add', path: '/a/b', value: 1},
			{op: 'move', from: '/a', path: '/c'},
		],
		{c: {b: 1}},
	],
	[
		'names that every object has are names like others',
		{},
		[
			{op: 'add', path: '/toString', value: {}},
			{op: 'add', path: '/toString/constructor', value: 1},
		],
		{toString: {constructor: 1}},
	],
	['what an operation has besides does not count', {}, [{op: 'add', path: '/a', value: 1, xyz: 2}], {a: 1}],
];

for (const [title, document, patch, result] of applied)
	test(`JSON patch: ${title}`, t => {
		const before = JSON.stringify({document, patch});
		t.deepEqual(outcomeOf(document, patch), result);
		t.is(JSON.stringify({document, patch}), before);
	});

const refused: readonly (readonly [title: string, document: Json, patch: readonly object[], says: RegExp])[] = [
	['a test that fails', {a: 1}, [{op: 'test', path: '/a', value: 2}], /^ERR_INVALID patch\[0\]: testing value \/a failed: test failed$/],
	['a number is no text', {a: 1}, [{op: 'test', path: '/a', value: '1'}], /^ERR_INVALID .*test failed$/],
	[
		'a place without a parent',
		{},
		[{op: 'add', path: '/a/b', value: 1}],
		/patch\[0\]: add operation does not apply: doc is missing path: "\/a\/b"/,
	],
	['a place in a text', {a: 'b'}, [{op: 'add', path: '/a/length', value: 1}], /doc is missing path/],
	[
		'to replace what is not there',
		{},
		[{op: 'replace', path: '/a', value: 1}],
		/replace operation does not apply: doc is missing path: "\/a"/,
	],
	[
		'to remove what is not there',
		{a: []},
		[{op: 'remove', path: '/a/0'}],
		/remove operation does not apply: doc is missing path: "\/a\/0"/,
	],
	['to remove what comes after the end', {a: []}, [{op: 'remove', path: '/a/-'}], /doc is missing path/],
	['to move what is not there', {}, [{op: 'move', from: '/a', path: '/b'}], /move operation does not apply: doc is missing path: "\/a"/],
	['to copy what is not there', {}, [{op: 'copy', from: '/a', path: '/b'}], /copy operation does not apply: doc is missing path: "\/a"/],
	['to move something into itself', {a: {b: {}}}, [{op: 'move', from: '/a', path: '/a/b/c'}], /is inside of what is moved/],
	['an index beyond the end', [1], [{op: 'add', path: '/2', value: 1}], /invalid index: "\/2"/],
	['an index with a zero before it', [1, 2], [{op: 'add', path: '/01', value: 1}], /invalid index/],
	['an index that is none', {a: []}, [{op: 'add', path: '/a/x', value: 1}], /invalid index/],
	['a negative index', [1], [{op: 'remove', path: '/-1'}], /missing path/],
	['a path that does not begin with a slash', {a: 1}, [{op: 'remove', path: 'a'}], /missing path: "a"/],
	['an escape that there is not', {'~2': 1}, [{op: 'remove', path: '/~2'}], /missing path/],
	['a way through a prototype', {a: {}}, [{op: 'add', path: '/a/toString/planted', value: 1}], /missing path/],
	['a copy of a prototype', {a: {}}, [{op: 'copy', from: '/a/constructor', path: '/b'}], /missing path/],
	['a test of a prototype', {a: {}}, [{op: 'test', path: '/a/toString', value: 1}], /test failed/],
	['a prototype of its own', {a: {}}, [{op: 'add', path: '/a/__proto__', value: {planted: 1}}], /missing path/],
	[
		'a later operation that fails undoes the earlier',
		{a: 1},
		[
			{op: 'remove', path: '/a'},
			{op: 'test', path: '/a', value: 1},
		],
		/patch\[1\]: testing value \/a/,
	],
	[
		'an operation that there is not',
		{},
		[{op: 'added', path: '/a', value: 1}],
		/^ERR_BAD_REQUEST patch\[0\]: op must be one of add, .*got "added"/,
	],
	['an operation of a prototype', {}, [{op: 'toString', path: '/a', value: 1}], /^ERR_BAD_REQUEST/],
	['no operation', {}, [{path: '/a'}], /^ERR_BAD_REQUEST patch\[0\]: op must be one of/],
	['no path', {}, [{op: 'remove'}], /^ERR_BAD_REQUEST patch\[0\]: path must be a JSON pointer/],
	['a path of a number', {}, [{op: 'remove', path: 1}], /path must be a JSON pointer such as .*got 1/],
	['no value', {}, [{op: 'add', path: '/a'}], /^ERR_BAD_REQUEST patch\[0\]: add needs a value/],
	['no from', {}, [{op: 'copy', path: '/a'}], /^ERR_BAD_REQUEST patch\[0\]: from must be/],
	['a list in place of an operation', {}, [[]], /^ERR_BAD_REQUEST patch\[0\]: must be an object, got a list/],
];

for (const [title, document, patch, says] of refused)
	test(`JSON patch refuses ${title}`, t => {
		const before = JSON.stringify(document);
		t.regex(String(outcomeOf(document, patch)), says);
		t.is(JSON.stringify(document), before);
		t.is(({} as {planted?: unknown}).planted ?? (Object.prototype.toString as {planted?: unknown}).planted, undefined);
	});

test('a JSON patch is a list', t => {
	for (const document of [{}, {op: 'remove', path: '/a'}, null, 'remove', 1, undefined]) {
		const read = readJsonPatch(document);
		t.is(read.ok ? '' : read.error.code, 'ERR_BAD_REQUEST');
	}
});

test('a JSON patch is bounded: operations, copies, items that move, depth', t => {
	const many = (count: number, operation: (at: number) => object) => Array.from({length: count}, (_, at) => operation(at));
	const tooMany = many(limits.patchOperations + 1, () => ({op: 'test', path: '', value: 1}));
	t.regex(String(outcomeOf(1, tooMany)), /^ERR_TOO_LARGE the allowed maximum operations in a JSON patch is 10000, got 10001$/);
	const doubling = many(64, () => ({op: 'copy', from: '/a', path: '/a/-'}));
	t.regex(String(outcomeOf({a: [1]}, doubling)), /^ERR_TOO_LARGE patch\[\d+\]: the accumulated size of copies exceeds 1048576/);
	const long = Array.from({length: 200_000}, () => 0);
	const pushing = many(limits.patchOperations, () => ({op: 'add', path: '/0', value: 0}));
	t.regex(String(outcomeOf(long, pushing)), /^ERR_TOO_LARGE patch\[\d+\]: the patch moves more than/);
	const pulling = many(limits.patchOperations, () => ({op: 'remove', path: '/0'}));
	t.regex(String(outcomeOf(long, pulling)), /^ERR_TOO_LARGE/);
	t.regex(String(outcomeOf({}, [{op: 'add', path: '/a'.repeat(100_000), value: 1}])), /^ERR_INVALID .{1,700}$/);
	// Each of these moves makes it deeper by as much as a pointer can lead to.
	const deep = `/c${'/a'.repeat(limits.objectDepth - 4)}`;
	const nest = Array.from({length: limits.objectDepth - 4}).reduce<Json>(inner => ({a: inner}), {});
	const deeper = many(limits.patchOperations / 4, () => [
		{op: 'add', path: '/c', value: nest},
		{op: 'move', from: '/x', path: `${deep}/x`},
		{op: 'move', from: '/c', path: '/x'},
	]).flat();
	t.regex(String(outcomeOf({x: {}}, deeper)), /^ERR_INVALID patch\[7499\]: leaves what is nested deeper than 64 levels$/);
	const copied = [...deeper, {op: 'copy', from: '/x', path: '/y'}, {op: 'remove', path: '/x'}, {op: 'remove', path: '/y'}];
	t.regex(
		String(outcomeOf({x: {}}, copied)),
		/^ERR_INVALID patch\[7500\]: copy operation does not apply: "\/x" is nested deeper than 64 levels$/,
	);
});

// ---- properties -----------------------------------------------------------------------------------------------------------

const escaped = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

/** Operations that make one document of another, found without thought: members one by one, lists from their ends. */
function between(from: Json | undefined, to: Json | undefined, at: string): JsonPatchOperation[] {
	if (deepEqual(from, to) && from !== undefined) return [{op: 'test', path: at, value: from}];
	if (isObject(from) && isObject(to)) {
		const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
		return keys.flatMap(key => memberBetween(own(from, key), own(to, key), `${at}/${escaped(key)}`));
	}
	if (!Array.isArray(from) || !Array.isArray(to)) return [{op: 'replace', path: at, value: to ?? null}];
	const kept = Math.min(from.length, to.length);
	return [
		...from.slice(kept).map((): JsonPatchOperation => ({op: 'remove', path: `${at}/${kept}`})),
		...from.slice(0, kept).flatMap((item: Json, index) => between(item, to[index] as Json, `${at}/${index}`)),
		...to.slice(kept).map((value: Json): JsonPatchOperation => ({op: 'add', path: `${at}/-`, value})),
	];
}

const own = (object: JsonObject, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);

function memberBetween(from: Json | undefined, to: Json | undefined, at: string): JsonPatchOperation[] {
	if (from === undefined) return [{op: 'add', path: at, value: to ?? null}];
	return to === undefined ? [{op: 'remove', path: at}] : between(from, to, at);
}

const json = fc.jsonValue().map(value => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as Json);

test('the difference of two documents makes the second of the first, and leaves the first as it is', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(json, json, (from, to) => {
				const before = JSON.stringify(from);
				const done = applyJsonPatch(from, between(from, to, ''));
				return done.ok && deepEqual(done.value, to) && JSON.stringify(from) === before;
			}),
			{numRuns: 2_000},
		),
	);
});

test('no JSON makes a JSON patch throw, and a refusal has a reason', t => {
	const pointer = fc
		.array(fc.oneof(fc.constantFrom('a', 'b', '0', '1', '-', '~', '__proto__', 'toString', ''), fc.string({maxLength: 3})), {maxLength: 4})
		.map(keys => keys.map(key => `/${key}`).join(''));
	const operation = fc.record(
		{op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'), path: pointer, from: pointer, value: json},
		{requiredKeys: ['op', 'path']},
	);
	const document = fc.dictionary(fc.constantFrom('a', 'b', '0', ''), fc.oneof(json, fc.array(json)));
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.oneof(document, json), fc.oneof(fc.array(operation, {maxLength: 6}), json), (before, patch) => {
				const read = readJsonPatch(patch);
				const done = read.ok ? applyJsonPatch(before, read.value) : read;
				return done.ok || done.error.message !== '';
			}),
			{numRuns: 3_000},
		),
	);
});
