// Words for what a compiled schema found: the field's path, what was found and what would be right.

import {pathOfPointer, joinPath} from './path.js';
import type {Problem} from './problem.js';
import {shown, shownType} from './shown.js';
import {didYouMean} from './suggest.js';
import validators, {type SchemaError} from './validators.cjs';

/** Every problem the schema of a kind, or of its status (`<Kind>Status`), has with the value: one per field, none when it passes. */
export function schemaProblems(name: string, value: unknown): readonly Problem[] {
	const validator = validators[name];
	if (validator === undefined) throw new Error(`there is no schema of the name ${name}`);
	if (validator(value)) return [];
	const byPath = new Map<string, Problem>();
	for (const error of validator.errors ?? []) {
		const problem = problemOf(error, value);
		if (!byPath.has(problem.path)) byPath.set(problem.path, problem);
	}
	return [...byPath.values()];
}

function problemOf(error: SchemaError, document: unknown): Problem {
	const path = pathOfPointer(error.instancePath, document);
	const schema = error.parentSchema ?? {};
	switch (error.keyword) {
		case 'required':
			return {path: joinPath(path, String(error.params['missingProperty'])), message: 'is required', reason: 'FieldValueRequired'};
		case 'additionalProperties':
			return unknownField(path, String(error.params['additionalProperty']), schema);
		case 'enum':
			return {path, message: wrongWord(schema, error.data), reason: 'FieldValueNotSupported'};
		default:
			return {path, message: wrongValue(schema, error.data), reason: 'FieldValueInvalid'};
	}
}

type Schema = {readonly [keyword: string]: unknown};

function unknownField(path: string, field: string, schema: Schema): Problem {
	const at = joinPath(path, field);
	if (wordsOf(schema['x-not-yet']).includes(field)) {
		return {path: at, message: `${JSON.stringify(field)} is not supported yet`, reason: 'FieldValueForbidden'};
	}
	const known = Object.keys(schema['properties'] ?? {});
	return {path: at, message: `unknown field ${shown(field)}${didYouMean(field, known)}`, reason: 'FieldValueInvalid'};
}

function wrongWord(schema: Schema, found: unknown): string {
	const words = wordsOf(schema['enum']);
	const hint = typeof found === 'string' ? didYouMean(found, words) : '';
	return `must be ${expectation(schema)}, got ${shown(found)}${hint}`;
}

function wrongValue(schema: Schema, found: unknown): string {
	if (schema['x-mode'] === true) return `must be ${expectation(schema)}, got ${shown(found)}${modeHint(found)}`;
	if (schema['x-private'] === true) return `must be ${expectation(schema)}, got ${shownType(found)}${quotesHint(schema, found, false)}`;
	return `must be ${expectation(schema)}, got ${isEmptyList(found) ? 'an empty list' : shown(found)}${quotesHint(schema, found, true)}`;
}

const isEmptyList = (found: unknown): boolean => Array.isArray(found) && found.length === 0;

/** YAML reads `1` and `yes` as no text, and `"1"` as no number. */
function quotesHint(schema: Schema, found: unknown, open: boolean): string {
	const isScalar = typeof found === 'number' || typeof found === 'boolean';
	if (schema['type'] === 'string' && isScalar) return open ? `; put it in quotes: "${found}"` : '; put it in quotes';
	const wantsNumber = schema['type'] === 'integer' || schema['type'] === 'number';
	if (wantsNumber && typeof found === 'string' && /^\d+$/.test(found)) return '; leave out the quotes';
	return '';
}

/** JSON has no octal numbers, and YAML knows them by the zero in front. */
function modeHint(found: unknown): string {
	const digits = /^(?:0o?)?([0-7]{3})$/.exec(String(found))?.[1];
	if (digits === undefined) return '';
	return `; write 0${digits} without quotes, which is ${Number.parseInt(digits, 8)} in JSON`;
}

/** What would be right, from the schema's own keywords. */
function expectation(schema: Schema): string {
	if (schema['enum'] !== undefined) return `one of ${wordsOf(schema['enum']).join(', ')}`;
	const types = Array.isArray(schema['type']) ? wordsOf(schema['type']) : [String(schema['type'])];
	return types.map(type => typeName(type, schema)).join(' or ');
}

function typeName(type: string, schema: Schema): string {
	switch (type) {
		case 'integer':
			return schema['x-mode'] === true ? 'a file mode from 0 to 0777' : `a whole number${range(schema)}`;
		case 'number':
			return `a number${range(schema)}`;
		case 'string':
			return 'a string';
		case 'boolean':
			return 'true or false';
		case 'array':
			return schema['minItems'] === undefined ? 'a list' : 'a list that is not empty';
		default:
			return 'an object';
	}
}

const range = (schema: Schema): string =>
	typeof schema['minimum'] === 'number' ? ` from ${schema['minimum']} to ${Number(schema['maximum'])}` : '';

const wordsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
