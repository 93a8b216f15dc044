// Payload templates: JSON in which a member `name.$` is the value of a path or an intrinsic, under `name`.

import {isObject, type Json, type JsonObject} from '../object.js';
import {EvaluationError} from './errors.js';
import {intrinsicValue} from './intrinsics.js';
import {looksIntrinsic, parseIntrinsic, unescaped, type Argument, type Intrinsic} from './intrinsic-syntax.js';
import {nothing, valueAt, valueAtText, type Roots} from './path.js';
import type {Tools} from './tools.js';

export type Scope = Roots & {readonly tools: Tools};

/** What the name of a member ends with whose value is looked up. */
export const lookedUp = '.$';

/** Throws EvaluationError: States.ParameterPathFailure where a path finds nothing, States.IntrinsicFailure where an intrinsic cannot. */
export function filled(template: Json, scope: Scope): Json {
	if (Array.isArray(template)) return (template as readonly Json[]).map(item => filled(item, scope));
	return isObject(template) ? filledObject(template, scope) : template;
}

function filledObject(template: JsonObject, scope: Scope): Json {
	return Object.fromEntries(
		Object.entries(template).map(([name, value = null]): [string, Json] =>
			name.endsWith(lookedUp) && typeof value === 'string'
				? [name.slice(0, -lookedUp.length), lookUp(value, scope)]
				: [name, filled(value, scope)],
		),
	);
}

/** The value of a path or of an intrinsic, as it is written. */
export function lookUp(text: string, scope: Scope): Json {
	if (looksIntrinsic(text)) return called(parseIntrinsic(text), scope);
	const value = valueAtText(text, scope);
	if (value === nothing) throw new EvaluationError('States.ParameterPathFailure', `there is nothing at ${text}`);
	return value;
}

function called({name, arguments: given}: Intrinsic, scope: Scope): Json {
	return intrinsicValue(
		name,
		given.map((argument, at) => argumentValue(argument, name === 'States.Format' && at === 0, scope)),
		scope,
	);
}

function argumentValue(argument: Argument, keepsBackslashes: boolean, scope: Scope): Json {
	switch (argument.type) {
		case 'call':
			return called(argument, scope);
		case 'text':
			return keepsBackslashes ? argument.written : unescaped(argument.written);
		case 'value':
			return argument.value;
		case 'path': {
			const value = valueAt(argument.path, scope);
			if (value === nothing) throw new EvaluationError('States.IntrinsicFailure', `there is nothing at ${argument.text}`);
			return value;
		}
	}
}
