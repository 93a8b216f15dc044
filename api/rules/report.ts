// How rules look at an object and say what is wrong.
//
// Rules run on what the schema refused, too, so that all problems are told at once. So they take any JSON, look only at what
// has the type they expect and leave the rest to the schema: no rule throws, whatever it is given.

import {isObject, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import type {Problem} from '../problem.js';

/** Collects the problems of one object. */
export type Found = Problem[];

export function refuse(found: Found, path: string, message: string, reason: NonNullable<Problem['reason']> = 'FieldValueInvalid'): void {
	found.push({path, message, reason});
}

export const forbid = (found: Found, path: string, message: string): void => refuse(found, path, message, 'FieldValueForbidden');

const nothing: JsonObject = {};

/** The members of an object; none of anything else. */
export const membersOf = (value: unknown): JsonObject => (isObject(value) ? value : nothing);

const noItems: readonly Json[] = [];

/** The items of a list; none of anything else. */
export const itemsOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : noItems);

/** A text; undefined for anything else. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Refuses values that may be there only once; the wording gets the value and where it came first. */
export function refuseDuplicates(
	found: Found,
	items: readonly {readonly value: string; readonly path: string}[],
	wording: (value: string, firstPath: string) => string,
): void {
	if (items.length < 2) return;
	const first = new Map<string, string>();
	for (const {value, path} of items) {
		const before = first.get(value);
		if (before === undefined) first.set(value, path);
		else refuse(found, path, wording(value, before), 'FieldValueDuplicate');
	}
}

/**
 * The one of some members that an object has. Both none and several are refused; of none nothing is said where the object has a member that
 * the schema refused, since that one was meant.
 */
export function requireOne(
	found: Found,
	path: string,
	object: JsonObject,
	members: readonly string[],
	beside: readonly string[] = [],
): string | undefined {
	const given = members.filter(member => object[member] !== undefined);
	if (given.length === 1) return given[0];
	const isOther = given.length === 0 && Object.keys(object).some(member => !beside.includes(member));
	if (!isOther) refuse(found, path, `must be one of ${members.join(', ')}, got ${given.length === 0 ? 'none' : given.join(' and ')}`);
	return undefined;
}

/** Whether a field says nothing: absent, false, zero, or empty. */
export function isEmpty(value: Json | undefined): boolean {
	if (value === undefined || value === null || value === false || value === '' || value === 0) return true;
	return Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0;
}

/** Refuses fields that say something that no part of this version acts on. */
export function refuseUnsupported(found: Found, object: JsonObject, path: string, fields: ReadonlySet<string>): void {
	for (const field in object) {
		if (!fields.has(field) || isEmpty(object[field])) continue;
		forbid(found, joinPath(path, field), `${JSON.stringify(field)} is not supported yet`);
	}
}

/** Refuses all but a few values of fields that this version cannot honour otherwise. */
export function refuseOthers(found: Found, object: JsonObject, path: string, allowed: ReadonlyMap<string, readonly string[]>): void {
	for (const field in object) {
		const values = allowed.get(field);
		const value = object[field];
		if (values === undefined || typeof value !== 'string' || value === '' || values.includes(value)) continue;
		forbid(
			found,
			joinPath(path, field),
			`${JSON.stringify(value)} is not supported yet; ${values.map(v => JSON.stringify(v)).join(' or ')} is`,
		);
	}
}
