// Intrinsic functions and payload templates.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import {EvaluationError} from '../../../api/states-language/errors.js';
import {intrinsicArguments, parseIntrinsic} from '../../../api/states-language/intrinsic-syntax.js';
import {SyntaxProblem} from '../../../api/states-language/path-syntax.js';
import {filled, lookUp} from '../../../api/states-language/template.js';
import {scopeWith} from './_states.js';

const data: Json = {
	name: 'Ada',
	n: 3,
	list: [1, 2, 2, {a: 1, b: 2}, {b: 2, a: 1}],
	text: '{"x": [1]}',
	a: {x: 1, y: 1},
	b: {y: 2},
	f: '{}-{}',
	long: 'x'.repeat(10_001),
	no: 'no base64!',
};

const answers: readonly (readonly [intrinsic: string, value: unknown])[] = [
	["States.Format('Hello, {}: {}', $.name, $.n)", 'Hello, Ada: 3'],
	["States.Format('It\\'s \\{{}\\} \\\\', 1)", "It's {1} \\"],
	['States.Format($.f, true, null)', 'true-null'],
	["States.Format('{}', $.a)", '{"x":1,"y":1}'],
	['States.StringToJson($.text)', {x: [1]}],
	['States.JsonToString($.a)', '{"x":1,"y":1}'],
	["States.Array(1, 'two', $.n, null, true, States.Array())", [1, 'two', 3, null, true, []]],
	['States.ArrayPartition($.list, 2)', [[1, 2], [2, {a: 1, b: 2}], [{b: 2, a: 1}]]],
	['States.ArrayContains($.list, 2)', true],
	['States.ArrayContains($.list, 9)', false],
	['States.ArrayContains($.list, States.StringToJson(\'{"b": 2, "a": 1}\'))', true],
	['States.ArrayRange(1, 9, 2)', [1, 3, 5, 7, 9]],
	['States.ArrayRange(3, 1, -1)', [3, 2, 1]],
	['States.ArrayGetItem($.list, 1)', 2],
	['States.ArrayLength($.list)', 5],
	['States.ArrayUnique($.list)', [1, 2, {a: 1, b: 2}]],
	["States.Base64Encode('Grüße')", 'R3LDvMOfZQ=='],
	["States.Base64Decode('R3LDvMOfZQ==')", 'Grüße'],
	["States.Hash('abc', 'MD5')", '900150983cd24fb0d6963f7d28e17f72'],
	["States.Hash('abc', 'SHA-1')", 'a9993e364706816aba3e25717850c26c9cd0d89d'],
	["States.Hash('abc', 'SHA-256')", 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
	["States.ArrayLength(States.StringSplit(States.Hash($.a, 'SHA-512'), ','))", 1],
	['States.JsonMerge($.a, $.b, false)', {x: 1, y: 2}],
	['States.MathAdd(111, -1)', 110],
	['States.MathAdd(1.6, $.n)', 5],
	["States.StringSplit('This.is+a,test=string', '.+,=')", ['This', 'is', 'a', 'test', 'string']],
	["States.StringSplit(',a,,b,', ',')", ['a', 'b']],
	["States.Format('{}', States.ArrayGetItem(States.Array(1, 2), 1))", '2'],
];

test('each intrinsic answers as the language says', t => {
	for (const [intrinsic, value] of answers) t.deepEqual(lookUp(intrinsic, scopeWith(data)), value as Json, intrinsic);
	const tried = new Set(answers.flatMap(([text]) => [...text.matchAll(/States\.\w+/g)].map(([name]) => name)));
	t.deepEqual(
		Object.keys(intrinsicArguments).filter(name => !tried.has(name)),
		['States.MathRandom', 'States.UUID'],
	);
});

test('chance is handed in: a seed gives one number, and all numbers are in the range', t => {
	t.regex(
		JSON.stringify(lookUp('States.UUID()', scopeWith(data))),
		/^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/,
	);
	t.is(lookUp('States.MathRandom(1, 1000, 7)', scopeWith(data)), lookUp('States.MathRandom(1, 1000, 7)', scopeWith(data)));
	const scope = scopeWith(data);
	const drawn = new Set(Array.from({length: 200}, () => lookUp('States.MathRandom(1, 4)', scope)));
	t.deepEqual([...drawn].toSorted(), [1, 2, 3]);
});

test('an intrinsic that cannot answer fails with its own error', t => {
	const failing = [
		'States.Format($.f, 1)',
		'States.Format($.n, 1)',
		"States.StringToJson('{x}')",
		'States.StringToJson($.n)',
		'States.ArrayPartition($.list, 0)',
		'States.ArrayPartition($.n, 1)',
		'States.ArrayContains($.n, 1)',
		'States.ArrayRange(1, 2000, 1)',
		'States.ArrayRange(1, 2, 0)',
		'States.ArrayGetItem($.list, 9)',
		'States.ArrayGetItem($.list, -1)',
		'States.ArrayLength($.name)',
		'States.ArrayUnique($.name)',
		'States.Base64Encode($.long)',
		'States.Base64Decode($.no)',
		"States.Hash('x', 'CRC32')",
		"States.Hash($.long, 'MD5')",
		'States.JsonMerge($.a, $.b, true)',
		'States.JsonMerge($.a, $.n, false)',
		'States.MathRandom(2, 2)',
		"States.MathRandom('a', 2)",
		'States.MathAdd(2147483647, 1)',
		"States.MathAdd('1', 1)",
		'States.StringSplit($.n, 1)',
		'States.ArrayLength($.nowhere)',
	];
	for (const text of failing) {
		const error = t.throws(() => lookUp(text, scopeWith(data)), {instanceOf: EvaluationError}, text);
		t.is(error?.error.Error, 'States.IntrinsicFailure', text);
	}
});

test('a text that is no intrinsic is refused', t => {
	const wrong: readonly (readonly [string, RegExp])[] = [
		["States.Fromat('x')", /no intrinsic "States.Fromat"; did you mean "States.Format"\?/],
		['eval(1)', /no intrinsic "eval"/],
		['States.UUID', /"\(" is missing/],
		['States.UUID(', /an argument is/],
		['States.UUID(1)', /takes 0 arguments, got 1/],
		['States.MathRandom(1)', /takes 2 to 3 arguments, got 1/],
		['States.Array(1 2)', /"\)" is missing/],
		["States.Array('x)", /closing ' is missing/],
		['States.Array($.a[)', /a name in quotes/],
		['States.UUID() + 1', /unexpected "\+"/],
		["States.Format('{} {}', 1)", /has 2 places \{\}, and there are 1 arguments/],
		[`${'States.Array('.repeat(20)}1${')'.repeat(20)}`, /deeper than 10 levels/],
		[`States.Array('${'x'.repeat(limits.statesIntrinsicCharacters)}')`, /more than 10000 characters/],
	];
	for (const [text, message] of wrong)
		t.regex(t.throws(() => parseIntrinsic(text), {instanceOf: SyntaxProblem})?.message ?? '', message, text);
});

test('a template is filled member by member, at any depth and in lists', t => {
	const template = JSON.parse(
		`{"fixed": 1, "name.$": "$.name", "inner": {"list": [{"n.$": "$.n"}, "$.n"], "who.$": "$$.State.Name"}, "made.$": "States.Format('{}!', $.name)", "__proto__.$": "$.a", "empty": {}, "dollar.$.x": 1}`,
	) as Json;
	t.is(
		JSON.stringify(filled(template, scopeWith(data, {State: {Name: 'S'}}))),
		'{"fixed":1,"name":"Ada","inner":{"list":[{"n":3},"$.n"],"who":"S"},"made":"Ada!","__proto__":{"x":1,"y":1},"empty":{},"dollar.$.x":1}',
	);
	const error = t.throws(() => filled({'x.$': '$.nowhere'}, scopeWith(data)), {instanceOf: EvaluationError});
	t.is(error?.error.Error, 'States.ParameterPathFailure');
});

test('texts and lists that intrinsics make are bounded', t => {
	const text = 'y'.repeat(200_000);
	const many = States(`States.Format('${'{}'.repeat(60)}', ${Array.from({length: 60}, () => '$.text').join(', ')})`, {text});
	t.is(many, 'States.IntrinsicFailure');
	t.is(States('States.StringToJson($.text)', {text: '['.repeat(60_000) + ']'.repeat(60_000)}), 'States.DataLimitExceeded');
	const scope = scopeWith({text});
	t.is(
		t.throws(
			() =>
				filled(
					Array.from({length: 100}, () => ({'x.$': "States.StringSplit($.text, ',')"})),
					scope,
				),
			{instanceOf: EvaluationError},
		)?.error.Error,
		'States.Runtime',
	);
});

/** The name of the error that an intrinsic ends with. */
function States(intrinsic: string, input: Json): string {
	try {
		lookUp(intrinsic, scopeWith(input));
		return '';
	} catch (error) {
		if (error instanceof EvaluationError) return error.error.Error;
		throw error;
	}
}
