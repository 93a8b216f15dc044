// Rules that ConfigMaps and Secrets share: the names of their entries, and what stays as it is.

import {deepEqual} from '../equal.js';
import type {ApiObject, JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {forbid, membersOf, refuse, type Found} from './report.js';

const keyLength = 253;
const keySyntax = /^[-._a-zA-Z0-9]+$/;

/** A key is a file's name where the entry becomes a file. */
const isDataKey = (key: string): boolean => key.length <= keyLength && keySyntax.test(key) && key !== '.' && !key.startsWith('..');

/** The keys of one map of entries. Values are never shown. */
export function checkDataKeys(found: Found, path: string, data: unknown): void {
	for (const key in membersOf(data)) checkDataKey(found, joinPath(path, key), key);
}

export function checkDataKey(found: Found, path: string, key: string): void {
	if (isDataKey(key)) return;
	const words = `letters, digits, "-", "_" and ".", at most ${keyLength}, neither "." nor beginning with ".."`;
	refuse(found, path, `the key must be ${words}, got ${shown(key)}`);
}

/** Once an object is immutable it stays so, and with it what it holds. */
export function checkImmutable(found: Found, object: JsonObject, old: ApiObject | undefined, fields: readonly string[]): void {
	const before = membersOf(old);
	if (before['immutable'] !== true) return;
	for (const field of fields) {
		if (!deepEqual(emptyAsAbsent(object[field]), emptyAsAbsent(before[field])))
			forbid(found, field, 'cannot be changed: the object is immutable; delete it and create it again');
	}
	if (object['immutable'] !== true) forbid(found, 'immutable', 'cannot be taken back; delete the object and create it again');
}

const emptyAsAbsent = (value: unknown): unknown => (Object.keys(membersOf(value)).length === 0 ? undefined : value);
