// Nulls that a client has left out of what it sent: `kubectl apply` sends none, and writes into its annotation what the manifest had.

import type {KindDefinition} from './kind.js';
import {isObject, type ApiObject, type Json, type JsonObject} from './object.js';
import {joinPath, parsePath} from './path.js';
import {shownPath} from './problem.js';
import {lastAppliedAnnotation} from './sealed.js';
import {parsedJson} from './value-or.js';

/** Of those that are told by their fields. */
const pathsShown = 3;

/**
 * What to tell the writer of an object whose annotation has nulls in places where they say something, and whose members have none there; nothing
 * where the metadata that was sent has no such annotation.
 */
export function lostNullWarnings(
	{keepsNulls = []}: Pick<KindDefinition, 'keepsNulls'>,
	object: ApiObject,
	sent: unknown,
): readonly string[] {
	const annotations = isObject(sent) ? sent['annotations'] : undefined;
	const text = isObject(annotations) ? annotations[lastAppliedAnnotation] : undefined;
	const applied = typeof text === 'string' && keepsNulls.length > 0 ? parsedJson(text) : undefined;
	const lost = keepsNulls.flatMap(path => lostBelow(path, memberAt(applied, path), memberAt(object, path)));
	if (lost.length === 0) return [];
	const more = lost.length > pathsShown ? ` and ${lost.length - pathsShown} more` : '';
	const fields = lost.slice(0, pathsShown).map(shownPath).join(', ');
	return [`kubectl apply leaves out members that are null, which troupe apply and kubectl replace keep: ${fields}${more}`];
}

const memberAt = (value: unknown, path: string): unknown =>
	(parsePath(path) ?? []).reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);

/** Goes no deeper than the object does, which is bounded. */
function lostBelow(path: string, applied: unknown, kept: unknown): readonly string[] {
	if (applied === null) return kept === null ? [] : [path];
	if (Array.isArray(applied)) {
		const items: readonly unknown[] = Array.isArray(kept) ? kept : [];
		return applied.slice(0, items.length).flatMap((item, at) => lostBelow(joinPath(path, at), item, items[at]));
	}
	if (!isObject(applied) || !isObject(kept)) return [];
	return Object.entries(applied).flatMap(([key, member]) => lostBelow(joinPath(path, key), member, own(kept, key)));
}

const own = (object: JsonObject, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);
