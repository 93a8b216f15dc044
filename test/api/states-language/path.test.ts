// Paths: what they find, what they refuse, and what they cost.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import {EvaluationError} from '../../../api/states-language/errors.js';
import {nothing, valueAtText} from '../../../api/states-language/path.js';
import {parsePathText, SyntaxProblem} from '../../../api/states-language/path-syntax.js';
import {placed, stepsOf} from '../../../api/states-language/reference-path.js';
import {scopeWith} from './_states.js';

const data = JSON.parse(`{
	"store": {"books": [
		{"title": "A", "price": 8, "tags": ["x"]}, {"title": "B", "price": 12, "isbn": "1"}, {"title": "C", "price": 20, "isbn": "2", "tags": []}
	], "open": true},
	"limit": 10, "a b": 1, "it's": 2, "naïve-name_1": 3, "null": null,
	"__proto__": {"x": "own"}, "constructor": "word", "list": [1, [2, 3], {"deep": 4}]
}`) as Json;

const found: readonly (readonly [path: string, value: unknown])[] = [
	['$', data],
	['$.limit', 10],
	['$.store.open', true],
	['$.null', null],
	['$.naïve-name_1', 3],
	["$['a b']", 1],
	['$["a b"]', 1],
	["$['it\\'s']", 2],
	['$.store.books[0].title', 'A'],
	['$.store.books[-1].title', 'C'],
	['$.store.books[0,2].title', ['A', 'C']],
	['$.store.books[1:].title', ['B', 'C']],
	['$.store.books[:1].title', ['A']],
	['$.store.books[0:2].title', ['A', 'B']],
	['$.store.books[-2:].title', ['B', 'C']],
	['$.store.books[*].price', [8, 12, 20]],
	['$.store.*', [(data as {store: {books: unknown}}).store.books, true]],
	['$..title', ['A', 'B', 'C']],
	['$..tags[0]', ['x']],
	['$..nowhere', []],
	["$.store['open','closed']", [true]],
	['$.store.books[?(@.price > 10)].title', ['B', 'C']],
	['$.store.books[?(@.price <= $.limit)].title', ['A']],
	['$.store.books[?(@.isbn)].title', ['B', 'C']],
	['$.store.books[?(!@.isbn)].title', ['A']],
	["$.store.books[?(@.title == 'B' || @.price == 20)].title", ['B', 'C']],
	["$.store.books[?(@.title != 'B' && (@.price >= 8 && @.price < 20))].title", ['A']],
	['$.store.books[?(@.tags == $.list)].title', []],
	['$.list[?(@ == 1)]', [1]],
	['$.list[2].deep', 4],
	["$['__proto__'].x", 'own'],
	['$.constructor', 'word'],
	['$.list.length', nothing],
	['$.toString', nothing],
	['$.limit.toFixed', nothing],
	['$.nowhere', nothing],
	['$.list[9]', nothing],
	['$.limit[0]', nothing],
];

test('a path finds what the language says', t => {
	for (const [path, value] of found) t.deepEqual(valueAtText(path, scopeWith(data)), value as Json, path);
	t.deepEqual(valueAtText('$$.State.Name', scopeWith(data, {State: {Name: 'S'}})), 'S');
});

test('a text that is no path is refused with the place', t => {
	const wrong: readonly (readonly [string, RegExp])[] = [
		['store', /begins with "\$"/],
		['$.', /name of a member is missing/],
		['$.a[', /a name in quotes, an index/],
		['$.a[0', /"\]" is missing/],
		["$['a", /closing ' is missing/],
		['$.a b', /unexpected " " \(character 4\)/],
		['$.a.length()', /called as a function; functions are intrinsics/],
		['$.a[?(@.x =~ /y/)]', /"\)" is missing/],
		['$.a[?@.x]', /written as \[\?\(…\)\]/],
		['$.a[?(1)]', /one of == != <= >= < > is missing/],
		['$.a[(@.length-1)]', /a name in quotes, an index/],
		['$.a[?(process.exit())]', /a path from "@" or "\$"/],
		[`$.${'a'.repeat(limits.statesPathCharacters)}`, /more than 1024 characters/],
		[`$.a[?(${'('.repeat(100)}@.x)]`, /deeper than 8 levels/],
		[`$.a[?(${'!'.repeat(100)}@.x)]`, /deeper than 8 levels/],
		[`$${'.a[?(@'.repeat(50)}`, /deeper than 8 levels/],
	];
	for (const [path, message] of wrong)
		t.regex(t.throws(() => parsePathText(path), {instanceOf: SyntaxProblem})?.message ?? '', message, path);
});

test('a path that looks at too much ends, and at once', t => {
	const wide: Json = Array.from({length: 2_000}, (_, at) => ({at}));
	for (const path of ['$[?(@..at == $..at)]', '$..[?($..at)]', '$[?($[?($[*].at == @)])]']) {
		const error = t.throws(() => valueAtText(path, scopeWith(wide)), {instanceOf: EvaluationError}, path);
		t.like(error?.error, {Error: 'States.Runtime'});
	}
	let deep: Json = 1;
	for (let depth = 0; depth < 50_000; depth++) deep = [deep];
	t.true(Array.isArray(valueAtText('$..x', scopeWith(deep))));
});

test('a result is put where a reference path says, and nowhere else', t => {
	const input: Json = {a: {b: 1}, list: [1, {x: 1}]};
	const right: readonly (readonly [string, unknown])[] = [
		['$', 9],
		['$.c', {...input, c: 9}],
		['$.a.b', {...input, a: {b: 9}}],
		['$.a.c.d', {...input, a: {b: 1, c: {d: 9}}}],
		["$['x y']", {...input, 'x y': 9}],
		['$.list[0]', {...input, list: [9, {x: 1}]}],
		['$.list[1].y', {...input, list: [1, {x: 1, y: 9}]}],
	];
	for (const [path, value] of right) t.deepEqual(placed(input, path, 9), value as Json, path);
	t.deepEqual(input, {a: {b: 1}, list: [1, {x: 1}]});
	for (const path of ['$.list[2]', '$.a[0]', '$.a.b.c', '$.list.x']) {
		const error = t.throws(() => placed(input, path, 9), {instanceOf: EvaluationError}, path);
		t.like(error?.error, {Error: 'States.ResultPathMatchFailure'});
	}
	for (const path of ['$..a', '$.a[*]', '$$.a', '$.a[-1]', '$.a[0,1]', '$.a[?(@.x)]', '$.a[0:1]'])
		t.throws(() => stepsOf(path), {instanceOf: SyntaxProblem}, path);
	const proto = placed({}, "$['__proto__'].polluted", true);
	t.deepEqual(Object.keys(proto as object), ['__proto__']);
	t.false('polluted' in {});
	t.is(JSON.stringify(placed({}, '$.constructor.prototype.polluted', true)), '{"constructor":{"prototype":{"polluted":true}}}');
});
