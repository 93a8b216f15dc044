// What validation says of the parts that many states share: paths, templates, names of errors, numbers.

import {limits} from '../../limits.js';
import {isObject, type Json, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import {refuse, type Found} from '../../rules/report.js';
import {shown} from '../../shown.js';
import {didYouMean} from '../../suggest.js';
import {looksIntrinsic, parseIntrinsic} from '../intrinsic-syntax.js';
import {parsePathText, SyntaxProblem} from '../path-syntax.js';
import {stepsOf} from '../reference-path.js';
import {lookedUp} from '../template.js';

export type {Found} from '../../rules/report.js';

/** What a part is read as is told where it cannot be. */
function checkSyntax(found: Found, path: string, text: string, what: string, parse: (text: string) => unknown): void {
	try {
		parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxProblem)) throw error;
		refuse(found, path, `is no ${what}: ${error.message}, got ${shown(text)}`);
	}
}

/** A member that is a path, such as `$.order.id`; `null` where that is allowed. */
export function checkPath(found: Found, path: string, value: Json | undefined, isNullable = false): void {
	if (value === undefined || (isNullable && value === null)) return;
	if (typeof value !== 'string')
		refuse(found, path, `must be a path such as "$.order"${isNullable ? ', or null' : ''}, got ${shown(value)}`);
	else checkSyntax(found, path, value, 'path', parsePathText);
}

/** A path that names one place. */
export function checkReferencePath(found: Found, path: string, value: Json | undefined, isNullable = false): void {
	if (value === undefined || (isNullable && value === null)) return;
	if (typeof value !== 'string')
		refuse(found, path, `must be a reference path such as "$.result"${isNullable ? ', or null' : ''}, got ${shown(value)}`);
	else checkSyntax(found, path, value, 'reference path', stepsOf);
}

/** A path of one value, of the input or of the context object, or an intrinsic. */
export function checkLookup(found: Found, path: string, value: Json | undefined): void {
	if (value === undefined) return;
	if (typeof value !== 'string')
		refuse(found, path, `must be a path such as "$.order" or an intrinsic such as "States.UUID()", got ${shown(value)}`);
	else if (looksIntrinsic(value)) checkSyntax(found, path, value, 'intrinsic', parseIntrinsic);
	else checkSyntax(found, path, value, 'path', parsePathText);
}

/** All members of a template that are looked up. Depth is bounded where the definition was read. */
export function checkTemplate(found: Found, path: string, value: Json | undefined): void {
	if (Array.isArray(value)) {
		(value as readonly Json[]).forEach((item, at) => checkTemplate(found, joinPath(path, at), item));
		return;
	}
	if (!isObject(value)) return;
	for (const [name, member] of Object.entries(value)) {
		const at = joinPath(path, name);
		if (!name.endsWith(lookedUp)) {
			checkTemplate(found, at, member);
			continue;
		}
		checkLookup(found, at, member);
		if (Object.hasOwn(value, name.slice(0, -lookedUp.length)))
			refuse(found, at, `stands beside ${shown(name.slice(0, -lookedUp.length))}: both would be the same member`, 'FieldValueDuplicate');
	}
}

/** A template of which the outermost must be an object. */
export function checkObjectTemplate(found: Found, path: string, value: Json | undefined): void {
	if (value !== undefined && !isObject(value)) refuse(found, path, `must be an object, got ${shown(value)}`);
	else checkTemplate(found, path, value);
}

export type NumberRule = {readonly least: number; readonly most: number; readonly isWhole?: boolean};

export function checkNumber(found: Found, path: string, value: Json | undefined, {least, most, isWhole = true}: NumberRule): void {
	if (value === undefined) return;
	if (typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isInteger(value))) return;
	refuse(found, path, `must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, got ${shown(value)}`);
}

export function checkText(found: Found, path: string, value: Json | undefined): void {
	if (value !== undefined && typeof value !== 'string') refuse(found, path, `must be a text, got ${shown(value)}`);
}

/** At most one of some members, which say the same in two ways. */
export function checkOneOf(found: Found, path: string, object: JsonObject, members: readonly string[], isRequired = false): void {
	const given = members.filter(member => object[member] !== undefined);
	if (given.length > 1)
		refuse(found, joinPath(path, given[1] ?? ''), `stands beside ${given[0] ?? ''}; one of them is enough`, 'FieldValueForbidden');
	if (given.length === 0 && isRequired) refuse(found, path, `one of ${members.join(', ')} is missing`, 'FieldValueRequired');
}

/** Members that belong to what this version does not do, and what to do instead. */
const unsupported: {readonly [member: string]: string} = {
	QueryLanguage: 'must be "JSONPath"; JSONata is not supported: write paths and intrinsics',
	Arguments: 'belongs to JSONata, which is not supported; Parameters is its JSONPath form',
	Output: 'belongs to JSONata, which is not supported; ResultSelector and ResultPath are its JSONPath form',
	Condition: 'belongs to JSONata, which is not supported; Variable with an operator is its JSONPath form',
	Items: 'belongs to JSONata, which is not supported; ItemsPath is its JSONPath form',
	Assign: 'variables are not supported; ResultPath keeps a result in the data of the run',
	Credentials: 'is not supported: tasks are called with the rights of the workflow',
	ItemReader: 'belongs to Maps in DISTRIBUTED mode, which are not supported; ItemsPath names a list in the data',
	ItemBatcher: 'belongs to Maps in DISTRIBUTED mode, which are not supported; States.ArrayPartition makes batches',
	ResultWriter: 'belongs to Maps in DISTRIBUTED mode, which are not supported',
	Label: 'belongs to Maps in DISTRIBUTED mode, which are not supported',
};

/** Refuses members that a part does not have. Those that others of its sort have are no slips of the finger. */
export function checkMembers(
	found: Found,
	path: string,
	object: JsonObject,
	known: readonly string[],
	what: string,
	ofOthers: readonly string[] = [],
): void {
	for (const name of Object.keys(object)) {
		if (known.includes(name) || (name === 'QueryLanguage' && object[name] === 'JSONPath')) continue;
		refuse(found, joinPath(path, name), whyNot(name, known, what, ofOthers), 'FieldValueForbidden');
	}
	checkText(found, joinPath(path, 'Comment'), object['Comment']);
}

function whyNot(name: string, known: readonly string[], what: string, ofOthers: readonly string[]): string {
	if (Object.hasOwn(unsupported, name)) return unsupported[name] ?? '';
	if (ofOthers.includes(name)) return `does not belong to ${what}; take it out`;
	return `unknown member ${shown(name)} of ${what}${didYouMean(name, known)}`;
}

/** A list, which has to have items; undefined, after a word, for anything else. */
export function itemsIn(found: Found, path: string, value: Json | undefined): readonly Json[] {
	if (Array.isArray(value) && value.length > 0) return value as readonly Json[];
	refuse(found, path, `must be a list of at least one item, got ${Array.isArray(value) ? 'an empty one' : shown(value)}`);
	return [];
}

/** A wait that ends. */
export const seconds: NumberRule = {least: 0, most: limits.statesWaitSeconds};
