// Rules of a Choice: each operator on values it holds for, on values it does not, and on values of other types.

import test from 'ava';
import type {Json, JsonObject} from '../../../api/object.js';
import {ruleHolds} from '../../../api/states-language/choice-rule.js';
import {comparisonNames} from '../../../api/states-language/comparisons.js';
import {EvaluationError} from '../../../api/states-language/errors.js';
import {scopeWith} from './_states.js';

type Row = readonly [operator: string, literal: Json, holdsFor: readonly Json[], not: readonly Json[]];

const early = '2024-01-31T00:00:00Z';
const same = '2024-01-31T01:00:00+01:00';
const late = '2024-01-31T00:00:00.5Z';

const rows: readonly Row[] = [
	['StringEquals', 'b', ['b'], ['a', 'B', 1, null]],
	['StringLessThan', 'b', ['a', ''], ['b', 'c', 0]],
	['StringGreaterThan', 'b', ['c'], ['b', 'a', 9]],
	['StringLessThanEquals', 'b', ['a', 'b'], ['c', null]],
	['StringGreaterThanEquals', 'b', ['b', 'c'], ['a', true]],
	['NumericEquals', 5, [5], [5.1, '5', null]],
	['NumericLessThan', 5, [4.9], [5, '4']],
	['NumericGreaterThan', 5, [5.1], [5, '6']],
	['NumericLessThanEquals', 5, [5, -1], [6, null]],
	['NumericGreaterThanEquals', 5, [5, 6], [4, []]],
	['BooleanEquals', true, [true], [false, 'true', 1]],
	['TimestampEquals', early, [early, same], [late, 'yesterday', 1_706_659_200_000]],
	['TimestampLessThan', late, [early, same], [late, '']],
	['TimestampGreaterThan', early, [late], [early, same]],
	['TimestampLessThanEquals', early, [early, same], [late]],
	['TimestampGreaterThanEquals', early, [late, same], ['2023-12-31T00:00:00Z']],
	['StringMatches', 'log-*.txt', ['log-.txt', 'log-a.b.txt'], ['log.txt', 'log-a.txt2', 1]],
	['StringMatches', 'a\\*b\\\\*', ['a*b\\', 'a*b\\c'], ['axb\\', 'a*b']],
	['StringMatches', '*a*a*', ['aa', 'xayaz'], ['a', 'xay']],
	['StringMatches', 'aa*aa', ['aaaa', 'aaxaa'], ['aaa', 'aa']],
	['IsNull', true, [null], [0, '', false]],
	['IsNull', false, [0, ''], [null]],
	['IsNumeric', true, [0, 1.5], ['1', null]],
	['IsString', true, ['', 'x'], [1, null]],
	['IsBoolean', true, [true, false], ['true', 1]],
	[
		'IsTimestamp',
		true,
		[early, same, late],
		[
			'2024-01-31',
			'2024-02-30T00:00:00Z',
			'2024-01-31 00:00:00Z',
			'2024-01-31t00:00:00z',
			'2024-13-01T00:00:00Z',
			'2024-01-31T25:00:00Z',
			5,
		],
	],
	['IsTimestamp', false, ['x', 5], [early]],
];

const holds = (rule: JsonObject, data: Json): boolean => ruleHolds(rule, scopeWith(data));

test('each operator holds for what it says, and for nothing of another type', t => {
	for (const [operator, literal, right, wrong] of rows) {
		for (const [values, expected] of [
			[right, true],
			[wrong, false],
		] as const)
			for (const value of values) {
				const label = `${JSON.stringify(value)} ${operator} ${JSON.stringify(literal)}`;
				t.is(holds({Variable: '$.v', [operator]: literal}, {v: value}), expected, label);
				if (comparisonNames.includes(`${operator}Path`))
					t.is(holds({Variable: '$.v', [`${operator}Path`]: '$.other'}, {v: value, other: literal}), expected, `${label}, by path`);
			}
	}
	const tried = new Set(rows.flatMap(([operator]) => [operator, `${operator}Path`]));
	t.deepEqual(
		comparisonNames.filter(name => !tried.has(name)),
		['IsPresent'],
	);
});

test('IsPresent asks whether there is a value; all others fail where there is none', t => {
	t.true(holds({Variable: '$.v', IsPresent: true}, {v: null}));
	t.false(holds({Variable: '$.v', IsPresent: true}, {}));
	t.true(holds({Variable: '$.v', IsPresent: false}, {}));
	for (const operator of comparisonNames.filter(name => name !== 'IsPresent')) {
		const error = t.throws(
			() => holds({Variable: '$.v', [operator]: operator.endsWith('Path') ? '$' : 'x'}, {}),
			{instanceOf: EvaluationError},
			operator,
		);
		t.is(error?.error.Error, 'States.Runtime');
	}
	t.throws(() => holds({Variable: '$.v', NumericEqualsPath: '$.none'}, {v: 1}), {instanceOf: EvaluationError});
});

test('And, Or and Not join rules, and what is decided is not looked at further', t => {
	const is = (n: number): JsonObject => ({Variable: '$.v', NumericEquals: n});
	const lost: JsonObject = {Variable: '$.nowhere', IsNull: true};
	t.true(holds({And: [{Not: is(2)}, {Or: [is(1), lost]}]}, {v: 1}));
	t.false(holds({And: [is(2), lost]}, {v: 1}));
	t.false(holds({Or: [is(2), is(3)]}, {v: 1}));
});

test('a pattern and a text made to take long are compared at once, and many of them not at all', t => {
	const text = 'a'.repeat(250_000);
	t.false(holds({Variable: '$', StringMatches: `${'a*'.repeat(120)}b`}, text));
	t.false(holds({Variable: '$', StringMatches: `*${'a'.repeat(120)}b*${'a'.repeat(120)}`}, text));
	const many = Array.from({length: 1_000}, () => ({Variable: '$', StringMatches: `*b${'a'.repeat(200)}`}));
	t.is(t.throws(() => holds({Or: many}, text), {instanceOf: EvaluationError})?.error.Error, 'States.Runtime');
});
