// The operators of a Choice: what each compares with, and when it holds. A variable of another type is no error; it just does not hold.

import type {Json} from '../object.js';
import {matchesPattern} from './string-pattern.js';
import {timestampMs} from './timestamp.js';

type Ordered = 'String' | 'Numeric' | 'Boolean' | 'Timestamp';

const relations = ['Equals', 'LessThan', 'GreaterThan', 'LessThanEquals', 'GreaterThanEquals'] as const;

type Relation = (typeof relations)[number];

/** What the literal of an operator has to be. */
export type Literal = 'text' | 'number' | 'boolean' | 'timestamp' | 'pattern';

export type Comparison = {
	readonly literal: Literal;
	/** Whether a variable with this value is as the literal says. */
	readonly holds: (value: Json, literal: Json) => boolean;
	/** The literal is a path, and what it finds is compared with. */
	readonly isPath: boolean;
};

const literals: {readonly [Type in Ordered]: Literal} = {String: 'text', Numeric: 'number', Boolean: 'boolean', Timestamp: 'timestamp'};

/** What is compared; undefined for what is not of the type. */
const readings: {readonly [Type in Ordered]: (value: Json) => string | number | boolean | undefined} = {
	String: value => (typeof value === 'string' ? value : undefined),
	Numeric: value => (typeof value === 'number' ? value : undefined),
	Boolean: value => (typeof value === 'boolean' ? value : undefined),
	Timestamp: value => timestampMs(value),
};

function stands(relation: Relation, a: string | number | boolean, b: string | number | boolean): boolean {
	switch (relation) {
		case 'Equals':
			return a === b;
		case 'LessThan':
			return a < b;
		case 'GreaterThan':
			return a > b;
		case 'LessThanEquals':
			return a <= b;
		case 'GreaterThanEquals':
			return a >= b;
	}
}

const typeTests: readonly (readonly [name: string, test: (value: Json) => boolean])[] = [
	['IsNull', value => value === null],
	['IsNumeric', value => typeof value === 'number'],
	['IsString', value => typeof value === 'string'],
	['IsBoolean', value => typeof value === 'boolean'],
	['IsTimestamp', value => timestampMs(value) !== undefined],
];

/** The test that asks whether there is a value at all. */
export const isPresent = 'IsPresent';

/** A Boolean is only equal or not. */
const relationsOf = (type: Ordered): readonly Relation[] => (type === 'Boolean' ? ['Equals'] : relations);

const matches: Comparison = {
	literal: 'pattern',
	isPath: false,
	holds: (value, literal) => typeof value === 'string' && typeof literal === 'string' && matchesPattern(value, literal),
};

const tested = (test: (value: Json) => boolean): Comparison => ({
	literal: 'boolean',
	isPath: false,
	holds: (value, literal) => test(value) === literal,
});

/** All operators by name, but IsPresent. */
const comparisons: ReadonlyMap<string, Comparison> = new Map([
	...(['String', 'Numeric', 'Boolean', 'Timestamp'] as const).flatMap(type => relationsOf(type).flatMap(relation => both(type, relation))),
	['StringMatches', matches] as const,
	...typeTests.map(([name, test]) => [name, tested(test)] as const),
]);

function both(type: Ordered, relation: Relation): readonly (readonly [string, Comparison])[] {
	const read = readings[type];
	const holds = (value: Json, literal: Json): boolean => {
		const [a, b] = [read(value), read(literal)];
		return a !== undefined && b !== undefined && stands(relation, a, b);
	};
	const comparison = {literal: literals[type], holds};
	return [
		[`${type}${relation}`, {...comparison, isPath: false}],
		[`${type}${relation}Path`, {...comparison, isPath: true}],
	];
}

export const comparisonNamed = (name: string): Comparison | undefined => comparisons.get(name);

export const comparisonNames: readonly string[] = [...comparisons.keys(), isPresent];
