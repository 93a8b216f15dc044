// Reference paths: paths that name one place, in which a result is put.

import {limits} from '../limits.js';
import {isObject, type Json} from '../object.js';
import {EvaluationError} from './errors.js';
import {memberOf} from './path.js';
import {isDefinite, parsePathText, SyntaxProblem} from './path-syntax.js';

type Step = string | number;

/** The steps of a reference path from `$`. Throws SyntaxProblem for other paths. */
export function stepsOf(text: string): readonly Step[] {
	const path = parsePathText(text);
	if (path.root === '$$') throw new SyntaxProblem('the context object "$$" cannot be written to');
	if (!isDefinite(path.segments))
		throw new SyntaxProblem('must name one place: members and indexes alone, without "*", "..", ":", "," and filters');
	return path.segments.map(segment => {
		if (segment.type === 'names') return segment.names[0] ?? '';
		const index = segment.type === 'indexes' ? (segment.indexes[0] ?? 0) : 0;
		if (index < 0) throw new SyntaxProblem('an index counts from the beginning of the list here');
		return index;
	});
}

/** The data with the value at that place: objects on the way are made, of a list only an item that is there is replaced. */
export function placed(data: Json, text: string, value: Json): Json {
	const steps = stepsOf(text);
	if (steps.length > limits.statesDataDepth) throw new EvaluationError('States.ResultPathMatchFailure', `${text} is too deep`);
	return placedAt(data, steps, 0, value, text);
}

function placedAt(data: Json | undefined, steps: readonly Step[], at: number, value: Json, text: string): Json {
	const step = steps[at];
	if (step === undefined) return value;
	if (typeof step === 'number') {
		if (!Array.isArray(data) || step >= data.length) throw mismatch(text, steps.slice(0, at), 'has no such item');
		const items = data as readonly Json[];
		return items.with(step, placedAt(items[step], steps, at + 1, value, text));
	}
	if (data !== undefined && !isObject(data)) throw mismatch(text, steps.slice(0, at), 'is no object');
	const base = data ?? {};
	// A computed member is the object's own, whatever its name.
	return {...base, [step]: placedAt(memberOf(base, step), steps, at + 1, value, text)};
}

const mismatch = (text: string, way: readonly Step[], what: string): EvaluationError =>
	new EvaluationError('States.ResultPathMatchFailure', `the result cannot be put at ${text}: ${['$', ...way].join('.')} ${what}`);
