// Values of a compose file, which takes most of them in several forms: numbers and yes or no as text (a variable is always one), one text
// for a list of one, a list of KEY=VALUE for a map. What is left out, or null, is undefined; what is wrong is told and undefined as well.

import {parseDuration} from '../duration.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {below, refuse, type At} from './findings.js';

type Given = Json | undefined;

const isMissing = (value: Given): value is null | undefined => value === undefined || value === null;

export function textOf(at: At, value: Given): string | undefined {
	if (isMissing(value)) return undefined;
	if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
		return refuse(at, 'is larger than a number can be exact; put it in quotes');
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' ? value : refuse(at, `must be a text, got ${shown(value)}`);
}

const yes = ['true', 'yes', 'on', 'y'];
const no = ['false', 'no', 'off', 'n'];

export function flagOf(at: At, value: Given): boolean | undefined {
	if (isMissing(value) || typeof value === 'boolean') return value ?? undefined;
	const word = typeof value === 'string' ? value.toLowerCase() : '';
	if (yes.includes(word)) return true;
	return no.includes(word) ? false : refuse(at, `must be true or false, got ${shown(value)}`);
}

export function numberOf(at: At, value: Given): number | undefined {
	if (isMissing(value)) return undefined;
	const number = typeof value === 'string' && /^\s*-?\d{1,15}(\.\d{1,15})?\s*$/.test(value) ? Number(value) : value;
	return typeof number === 'number' ? number : refuse(at, `must be a number, got ${shown(value)}`);
}

export function wholeOf(at: At, value: Given, least: number, most: number): number | undefined {
	const number = numberOf(at, value);
	if (number === undefined || (Number.isInteger(number) && number >= least && number <= most)) return number;
	return refuse(at, `must be a whole number from ${least} to ${most}, got ${shown(value)}`);
}

/** Permissions of a file: `0440`, also as text. */
export function modeOf(at: At, value: Given): number | undefined {
	const mode = typeof value === 'string' && /^0?[0-7]{3,4}$/.test(value) ? Number.parseInt(value, 8) : value;
	return wholeOf(at, mode, 0, 0o777);
}

export function listOf(at: At, value: Given): readonly Json[] {
	if (isMissing(value)) return [];
	return Array.isArray(value) ? (value as readonly Json[]) : (refuse(at, `must be a list, got ${shown(value)}`) ?? []);
}

export function membersOf(at: At, value: Given): JsonObject {
	if (isMissing(value)) return {};
	return isObject(value) ? value : (refuse(at, `must be a map, got ${shown(value)}`) ?? {});
}

export type Located = {readonly text: string; readonly at: At};

/** A list of texts, or one. */
export function textsOf(at: At, value: Given): readonly Located[] {
	if (typeof value === 'string') return [{text: value, at}];
	return listOf(at, value).flatMap((item, i): readonly Located[] => {
		const here = below(at, i);
		const text = textOf(here, item);
		return text === undefined ? [] : [{text, at: here}];
	});
}

export type Pair = {readonly key: string; readonly value: string | undefined; readonly at: At};

/** A map of texts, or a list of `KEY=VALUE`; a key alone has no value. */
export function pairsOf(at: At, value: Given): readonly Pair[] {
	if (!isObject(value))
		return textsOf(at, Array.isArray(value) ? value : listOf(at, value)).map(({text, at: here}) => {
			const equals = text.indexOf('=');
			return equals < 0 ? {key: text, value: undefined, at: here} : {key: text.slice(0, equals), value: text.slice(equals + 1), at: here};
		});
	return Object.entries(value).map(([key, member]) => {
		const here = below(at, key);
		return {key, value: typeof member === 'boolean' ? String(member) : textOf(here, member), at: here};
	});
}

const secondsMost = 31_536_000;

/** A time such as `1m30s`, in seconds; not rounded. */
export function secondsOf(at: At, value: Given): number | undefined {
	const text = textOf(at, value);
	if (text === undefined) return undefined;
	const seconds = (parseDuration(text) ?? NaN) / 1_000;
	return seconds >= 0 && seconds <= secondsMost ? seconds : refuse(at, `must be a time such as 30s or 1m30s, got ${shown(value)}`);
}

const unitBytes: {readonly [unit: string]: number} = {'': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40};

/** An amount of memory such as `512m` or `1.5g`: units are powers of 1024. */
export function bytesOf(at: At, value: Given): number | undefined {
	const text = textOf(at, value);
	if (text === undefined) return undefined;
	const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
	const bytes = digits === '' ? NaN : Math.round(Number(digits) * (unitBytes[unit.toLowerCase()] ?? NaN));
	return Number.isSafeInteger(bytes) ? bytes : refuse(at, `must be an amount such as 512m or 2g, got ${shown(value)}`);
}

/** Keys that begin with `x-` are the file's own. */
export const isExtension = (key: string): boolean => key.startsWith('x-');

/** Refuses members that a part does not have. */
export function refuseOthers(at: At, members: JsonObject, known: readonly string[]): void {
	for (const key of Object.keys(members))
		if (!known.includes(key) && !isExtension(key)) refuse(below(at, key), `unknown field ${shown(key)}${didYouMean(key, known)}`);
}
