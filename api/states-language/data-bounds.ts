// Bounds of the data of a run: how many bytes it is as JSON, and how deep it goes. Measured without making the text, which may be
// far larger than the data in memory: a template can name one value ten thousand times. And what no object of the cluster may have is in no data
// either: a run with it could be shown and not be changed any more.

import {limits} from '../limits.js';
import type {Json} from '../object.js';
import {EvaluationError} from './errors.js';

type Measure = {left: number; foreign?: string};

/** Throws States.DataLimitExceeded for data that is too large, too deep or of no object. `what` begins its words: "the output". */
export function withinBounds(value: Json, what: string): Json {
	const problem = dataProblem(value);
	if (problem !== undefined) throw new EvaluationError('States.DataLimitExceeded', `${what} ${problem}`);
	return value;
}

/** In what data is too much for a run, or what it has that none may have; undefined where it is as it may be. */
export function dataProblem(value: Json): string | undefined {
	const measure: Measure = {left: limits.statesDataBytes};
	if (fits(value, measure, 0)) return measure.foreign;
	return measure.left < 0 ? `has more than ${limits.statesDataBytes} bytes` : `is nested deeper than ${limits.statesDataDepth} levels`;
}

/** Whether data is no more bytes than these; its depth is bounded elsewhere. */
export const withinBytes = (value: Json, bytes: number): boolean => fits(value, {left: bytes}, 0);

/** How many bytes data is as JSON, as far as the bound of a state's data goes. */
export const jsonBytes = (value: Json): number => bytesUpTo(limits.statesDataBytes, value, 0);

/** The same of a record that has such data a few levels deep. */
export const recordBytes = (value: Json): number => bytesUpTo(limits.objectBytes, value, -recordDepth);

const recordDepth = 10;

function bytesUpTo(most: number, value: Json, depth: number): number {
	const measure: Measure = {left: most};
	fits(value, measure, depth);
	return most - measure.left;
}

function fits(value: Json | undefined, measure: Measure, depth: number): boolean {
	if (typeof value === 'string') return take(measure, bytesOfText(value, measure.left));
	if (typeof value === 'number' && !Number.isFinite(value)) measure.foreign ??= `has a number that is none, or is too large: ${value}`;
	if (typeof value !== 'object' || value === null) return take(measure, String(value).length);
	if (depth >= limits.statesDataDepth || !take(measure, 2)) return false;
	// A comma before all but the first; lists of what is looked at would be garbage of the size of the data.
	let commas = 0;
	if (Array.isArray(value)) {
		for (const item of value as readonly Json[]) {
			if (!take(measure, commas) || !fits(item, measure, depth + 1)) return false;
			commas = 1;
		}
		return true;
	}
	const members = value as {readonly [key: string]: Json | undefined};
	for (const key of Object.keys(members)) {
		const member = members[key];
		if (member === undefined) continue;
		if (key === '__proto__') measure.foreign ??= 'has a member "__proto__", which cannot be the name of a field';
		// With its colon.
		if (!take(measure, commas + 1 + bytesOfText(key, measure.left)) || !fits(member, measure, depth + 1)) return false;
		commas = 1;
	}
	return true;
}

function take(measure: Measure, bytes: number): boolean {
	measure.left -= bytes;
	return measure.left >= 0;
}

const encoder = new TextEncoder();

/** A text whose characters are one byte each, also as JSON. */
const isPlain = /^[ !#-[\]-~]*$/;

/** A text has at least as many bytes as characters: a longer one need not be looked at. */
const bytesOfText = (text: string, most: number): number =>
	text.length > most || isPlain.test(text) ? text.length + 2 : encoder.encode(JSON.stringify(text)).length;
