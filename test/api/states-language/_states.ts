// What tests of the States Language share.

import {createHash} from 'node:crypto';
import {formatProblem} from '../../../api/problem.js';
import type {Json} from '../../../api/object.js';
import {newBudget} from '../../../api/states-language/budget.js';
import type {Definition} from '../../../api/states-language/definition.js';
import type {Scope} from '../../../api/states-language/template.js';
import type {Tools} from '../../../api/states-language/tools.js';
import {readDefinition} from '../../../api/states-language/validation/definition.js';
import {seededRandom} from '../../../system/time/random.js';

const names = {MD5: 'md5', 'SHA-1': 'sha1', 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512'} as const;

export const testTools = (seed = 1): Tools => {
	const random = seededRandom(seed);
	return {
		random: random.next,
		uuid: random.uuid,
		seeded: each => seededRandom(each).next(),
		hash: (algorithm, text) => createHash(names[algorithm]).update(text).digest('hex'),
	};
};

export const scopeWith = (data: Json, context: Json = {}): Scope => ({
	data,
	context: () => context,
	budget: newBudget(),
	tools: testTools(),
});

/** A definition that must be right. */
export function definitionOf(value: unknown): Definition {
	const read = readDefinition(value);
	if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
	return read.definition;
}

/** What is wrong with one, as lines. */
export function problemsOf(value: unknown): readonly string[] {
	const read = readDefinition(value);
	return read.ok ? [] : read.problems.map(formatProblem);
}
