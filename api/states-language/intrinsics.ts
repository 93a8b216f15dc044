// What the intrinsic functions answer. One that cannot ends with States.IntrinsicFailure.

import {base64Of} from '../base64.js';
import {deepEqual} from '../equal.js';
import {limits} from '../limits.js';
import {isObject, type Json} from '../object.js';
import {shown} from '../shown.js';
import {valueOr} from '../value-or.js';
import {spend, type Budget} from './budget.js';
import {withinBounds} from './data-bounds.js';
import {EvaluationError} from './errors.js';
import {place, placesOf, type IntrinsicName} from './intrinsic-syntax.js';
import {sizeOf} from './path.js';
import {hashAlgorithms, type Tools} from './tools.js';

type Around = {readonly tools: Tools; readonly budget: Budget};

type Answer = (given: readonly Json[], around: Around) => Json;

/** The value of an intrinsic for arguments that are evaluated. Throws EvaluationError. */
export function intrinsicValue(name: IntrinsicName, given: readonly Json[], around: Around): Json {
	for (const value of given) spend(around.budget, costOf(value));
	const value = answers[name](given, around);
	spend(around.budget, costOf(value));
	return value;
}

/** Texts cost by their length. */
const costOf = (value: Json): number => 1 + (typeof value === 'string' ? Math.ceil(value.length / charactersAValue) : 0);

const charactersAValue = 64;

const fail = (cause: string): never => {
	throw new EvaluationError('States.IntrinsicFailure', cause);
};

const answers: {readonly [Name in IntrinsicName]: Answer} = {
	'States.Format': ([template = null, ...values]) => format(textIn('States.Format', template), values),
	'States.StringToJson': ([text = null], around) => parsed(textIn('States.StringToJson', text), around),
	'States.JsonToString': ([value = null], around) => jsonText('States.JsonToString', value, around),
	'States.Array': given => given,
	'States.ArrayPartition': ([list = null, size = null], around) => partition(listIn('States.ArrayPartition', list, around), size),
	'States.ArrayContains': ([list = null, value = null], around) => contains(listIn('States.ArrayContains', list, around), value, around),
	'States.ArrayRange': given => range(given.map(value => wholeIn('States.ArrayRange', value))),
	'States.ArrayGetItem': ([list = null, index = null]) => itemOf(list, index),
	'States.ArrayLength': ([list = null]) => (Array.isArray(list) ? list.length : wrong('States.ArrayLength', 'a list', list)),
	'States.ArrayUnique': ([list = null], around) => unique(listIn('States.ArrayUnique', list, around), around),
	'States.Base64Encode': ([text = null]) => base64Of(shortTextIn('States.Base64Encode', text)),
	'States.Base64Decode': ([text = null]) => decoded(shortTextIn('States.Base64Decode', text)),
	'States.Hash': ([data = null, algorithm = null], around) => hash(data, algorithm, around),
	'States.JsonMerge': ([first = null, second = null, isDeep = null]) => merged(first, second, isDeep),
	'States.MathRandom': ([from = null, to = null, seed], {tools}) => random(from, to, seed, tools),
	'States.MathAdd': given => sum(given.map(value => wholeIn('States.MathAdd', value))),
	'States.StringSplit': ([text = null, signs = null], {budget}) =>
		split(textIn('States.StringSplit', text), textIn('States.StringSplit', signs), budget),
	'States.UUID': (_given, {tools}) => tools.uuid(),
};

const wrong = (name: string, wanted: string, got: Json): never => fail(`${name} takes ${wanted}, got ${shown(got)}`);

const textIn = (name: string, value: Json): string => (typeof value === 'string' ? value : wrong(name, 'a text', value));

/** What it costs to go through it is taken from the budget. */
function listIn(name: string, value: Json, {budget}: Around): readonly Json[] {
	if (!Array.isArray(value)) return wrong(name, 'a list', value);
	spend(budget, value.length);
	return value as readonly Json[];
}

function shortTextIn(name: string, value: Json): string {
	const text = textIn(name, value);
	return text.length > limits.statesHashedCharacters
		? fail(`${name} takes at most ${limits.statesHashedCharacters} characters, got ${text.length}`)
		: text;
}

/** Numbers with a fraction are rounded, as the language has it; 32 bits. */
function wholeIn(name: string, value: Json): number {
	const whole = typeof value === 'number' ? Math.round(value) : wrong(name, 'numbers', value);
	return Math.abs(whole) > 2_147_483_647 ? wrong(name, 'numbers from -2147483647 to 2147483647', whole) : whole;
}

function format(template: string, values: readonly Json[]): string {
	const parts = placesOf(template);
	const places = parts.filter(part => part === place).length;
	if (places !== values.length) fail(`the text of States.Format has ${places} places {}, and there are ${values.length} values for them`);
	let next = 0;
	let text = '';
	for (const part of parts) {
		text += part === place ? formatted(values[next++] ?? null) : part;
		if (text.length > limits.statesDataBytes) fail(`States.Format makes more than ${limits.statesDataBytes} characters`);
	}
	return text;
}

const formatted = (value: Json): string =>
	typeof value === 'string' ? value : typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** Reading costs more than looking. */
function parsed(text: string, {budget}: Around): Json {
	spend(budget, Math.ceil(text.length / 8));
	const value = valueOr(nothingRead, () => JSON.parse(text) as Json);
	if (value === nothingRead) return fail('States.StringToJson takes JSON, and the text is none');
	return withinBounds(value, 'what States.StringToJson reads');
}

const nothingRead: unique symbol = Symbol('no JSON');

function jsonText(name: string, value: Json, {budget}: Around): string {
	spend(budget, sizeOf(value, budget.left));
	const text = valueOr('', () => JSON.stringify(value));
	return text === '' || text.length > limits.statesDataBytes
		? fail(`${name} makes more than ${limits.statesDataBytes} characters, or what is too deep`)
		: text;
}

function partition(list: readonly Json[], size: Json): Json {
	if (typeof size !== 'number' || Math.round(size) < 1) return wrong('States.ArrayPartition', 'a size of 1 or more', size);
	const each = Math.round(size);
	return Array.from({length: Math.ceil(list.length / each)}, (_, at) => list.slice(at * each, (at + 1) * each));
}

/** Each comparison looks at no more than the value sought has. */
function contains(list: readonly Json[], value: Json, {budget}: Around): boolean {
	const size = sizeOf(value, budget.left);
	return list.some(item => {
		spend(budget, size);
		return deepEqual(item, value);
	});
}

function range([first = 0, last = 0, step = 0]: readonly number[]): Json {
	if (step === 0) return fail('States.ArrayRange takes a step other than 0');
	const length = Math.max(0, Math.floor((last - first) / step) + 1);
	if (length > limits.statesRangeItems) return fail(`States.ArrayRange makes at most ${limits.statesRangeItems} items, got ${length}`);
	return Array.from({length}, (_, at) => first + at * step);
}

function itemOf(list: Json, index: Json): Json {
	if (!Array.isArray(list)) return wrong('States.ArrayGetItem', 'a list', list);
	const items = list as readonly Json[];
	const at = wholeIn('States.ArrayGetItem', index);
	const item = at < 0 ? undefined : items[at];
	return item === undefined ? fail(`States.ArrayGetItem: there is no item ${at} in a list of ${items.length}`) : item;
}

function unique(list: readonly Json[], around: Around): Json {
	const first = new Map<string, Json>();
	for (const item of list) {
		const key = sortedText(item, around, 0);
		if (!first.has(key)) first.set(key, item);
	}
	return [...first.values()];
}

/** The same text for what is equal: members in the order of their names. */
function sortedText(value: Json, around: Around, depth: number): string {
	spend(around.budget, costOf(value));
	if (depth > limits.statesDataDepth) return fail(`States.ArrayUnique compares at most ${limits.statesDataDepth} levels`);
	if (Array.isArray(value)) return `[${(value as readonly Json[]).map(item => sortedText(item, around, depth + 1)).join(',')}]`;
	if (!isObject(value)) return JSON.stringify(value);
	const members = Object.keys(value).toSorted();
	return `{${members.map(name => `${JSON.stringify(name)}:${sortedText(value[name] ?? null, around, depth + 1)}`).join(',')}}`;
}

/** Bytes that are no text in UTF-8 are refused: they would become another text. */
function decoded(text: string): string {
	const bytes = valueOr(undefined, () => Uint8Array.from(atob(text), sign => sign.charCodeAt(0)));
	const plain = bytes === undefined ? undefined : valueOr(undefined, () => new TextDecoder('utf-8', {fatal: true}).decode(bytes));
	return plain ?? fail('States.Base64Decode takes base64 of a text in UTF-8');
}

function hash(data: Json, algorithm: Json, around: Around): string {
	const known = hashAlgorithms.find(each => each === algorithm);
	if (known === undefined) return wrong('States.Hash', `one of ${hashAlgorithms.join(', ')}`, algorithm);
	return around.tools.hash(known, shortTextIn('States.Hash', typeof data === 'string' ? data : jsonText('States.Hash', data, around)));
}

function merged(first: Json, second: Json, isDeep: Json): Json {
	if (isDeep !== false) return fail('States.JsonMerge merges the first level alone: its third argument must be false');
	if (!isObject(first)) return wrong('States.JsonMerge', 'two objects', first);
	if (!isObject(second)) return wrong('States.JsonMerge', 'two objects', second);
	return {...first, ...second};
}

function random(from: Json, to: Json, seed: Json | undefined, tools: Tools): Json {
	const [least, end] = [wholeIn('States.MathRandom', from), wholeIn('States.MathRandom', to)];
	if (end <= least) return fail(`States.MathRandom takes an end above its start, got ${least} and ${end}`);
	const chance = seed === undefined ? tools.random() : tools.seeded(wholeIn('States.MathRandom', seed));
	return least + Math.floor(chance * (end - least));
}

const sum = ([first = 0, second = 0]: readonly number[]): number => wholeIn('States.MathAdd', first + second);

/** At each of the signs; parts without a character are left out. */
function split(text: string, signs: string, budget: Budget): Json {
	const separators = new Set(signs);
	const parts: string[] = [];
	let part = '';
	for (const sign of text) {
		if (!separators.has(sign)) part += sign;
		else if (part !== '') {
			parts.push(part);
			part = '';
		}
	}
	if (part !== '') parts.push(part);
	spend(budget, parts.length + Math.ceil(text.length / 8));
	return parts;
}
