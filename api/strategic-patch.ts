// Kubernetes' strategic merge patch: RFC 7386 but for lists, which are merged where their schema says by what, and for directives, members whose
// names begin with `$`. Pure. The order of lists is that of apimachinery's strategicpatch: items of the patch as it has them, or as
// `$setElementOrder` says, and all others where they were among them.

import {deepEqual} from './equal.js';
import {failed, invalid, succeeded, type Outcome} from './errors.js';
import {limits} from './limits.js';
import {isObject, type Json, type JsonObject} from './object.js';
import patchSchemas, {type PatchField, type PatchFields} from './patch-schemas.cjs';
import {joinPath} from './path.js';
import {shownPath} from './problem.js';
import {itemsOf, refuse, textOf, type Found} from './rules/report.js';
import {shown} from './shown.js';

/** What the patch makes of a document, which says by its kind what schema it has. ERR_INVALID names directives and items that cannot be followed. */
export function strategicMergePatch(document: JsonObject, patch: JsonObject): Outcome<JsonObject> {
	const work: Work = {found: [], walked: 0};
	const fields = fieldOf(patchSchemas, textOf(document['kind']) ?? '')?.fields ?? {};
	const patched = mergeObject(work, '', document, patch, fields);
	if (isTooMuch(work))
		return failed('ERR_TOO_LARGE', {message: `the patch merges more than ${limits.patchMergedMembers} members and items`});
	return work.found.length === 0 ? succeeded(patched) : {ok: false, error: invalid(work.found)};
}

type Work = {
	readonly found: Found;
	/** Members and items that were there where something was merged: a patch may name an item again and again. */
	walked: number;
};

const isTooMuch = ({walked}: Work): boolean => walked > limits.patchMergedMembers;

const fieldOf = (fields: PatchFields, name: string): PatchField | undefined => (Object.hasOwn(fields, name) ? fields[name] : undefined);

function say({found}: Work, path: string, message: string): void {
	if (found.length < limits.problemsShown) refuse(found, shownPath(path), message);
}

const setElementOrder = '$setElementOrder/';
const deleteFromPrimitiveList = '$deleteFromPrimitiveList/';

function mergeObject(work: Work, path: string, original: JsonObject, patch: JsonObject, fields: PatchFields): JsonObject {
	const {$patch: directive = 'merge'} = patch;
	switch (directive) {
		case 'merge':
			return mergeMembers(work, path, retained(work, path, original, patch), patch, fields);
		case 'replace':
			return mergeMembers(work, path, {}, patch, fields);
		case 'delete':
			return {};
		default:
			say(work, joinPath(path, '$patch'), `must be merge, replace or delete, got ${shown(directive)}`);
			return original;
	}
}

/** `$retainKeys`: what the list does not name goes. It names at least what the patch sets. */
function retained(work: Work, path: string, original: JsonObject, patch: JsonObject): JsonObject {
	const {$retainKeys: keys} = patch;
	if (keys === undefined) return original;
	const kept = new Set(listOf(work, joinPath(path, '$retainKeys'), keys));
	for (const [key, value] of Object.entries(patch))
		if (value !== null && !key.startsWith('$') && !kept.has(key)) say(work, joinPath(path, '$retainKeys'), `must name ${shown(key)}, too`);
	return Object.fromEntries(Object.entries(original).filter(([key]) => kept.has(key)));
}

function mergeMembers(work: Work, path: string, original: JsonObject, patch: JsonObject, fields: PatchFields): JsonObject {
	if (isTooMuch(work)) return original;
	const members = new Map(Object.entries(original));
	work.walked += members.size;
	for (const name of namesIn(work, path, patch)) {
		const field = fieldOf(fields, name) ?? {};
		const value = mergeMember(work, path, name, members.get(name), patch, field);
		if (value === undefined) members.delete(name);
		else members.set(name, value);
	}
	return Object.fromEntries(members);
}

/** The members that a patch is about, by themselves or by a directive. */
function namesIn(work: Work, path: string, patch: JsonObject): ReadonlySet<string> {
	const names = new Set<string>();
	for (const key of Object.keys(patch)) {
		const prefix = [setElementOrder, deleteFromPrimitiveList].find(each => key.startsWith(each));
		if (prefix !== undefined) names.add(key.slice(prefix.length));
		else if (!key.startsWith('$')) names.add(key);
		else if (key !== '$patch' && key !== '$retainKeys') say(work, joinPath(path, key), 'is no directive of a strategic merge patch');
	}
	return names;
}

/** What becomes of a member; undefined: it goes. */
function mergeMember(
	work: Work,
	path: string,
	name: string,
	original: Json | undefined,
	patch: JsonObject,
	field: PatchField,
): Json | undefined {
	const at = joinPath(path, name);
	const change = Object.hasOwn(patch, name) ? patch[name] : undefined;
	const order = patch[setElementOrder + name];
	const gone = patch[deleteFromPrimitiveList + name];
	if (change === null) return undefined;
	if (order !== undefined && field.list === undefined) say(work, joinPath(path, setElementOrder + name), notMerged);
	if (gone !== undefined && field.list !== 'set') say(work, joinPath(path, deleteFromPrimitiveList + name), notMerged);
	if (isObject(change) && field.replace !== true)
		return mergeObject(work, at, isObject(original) ? original : {}, change, field.fields ?? {});
	if (field.list === undefined || (change !== undefined && !Array.isArray(change))) return change ?? original;
	if (change === undefined && !Array.isArray(original)) return original;
	return mergeList({
		work,
		path: at,
		original: itemsOf(original),
		items: itemsOf(change),
		order: order === undefined ? undefined : listOf(work, joinPath(path, setElementOrder + name), order),
		gone: gone === undefined ? [] : listOf(work, joinPath(path, deleteFromPrimitiveList + name), gone),
		key: field.list === 'set' ? undefined : field.list.by,
		fields: field.fields ?? {},
	});
}

const notMerged = 'is only for lists that are merged, and this one is replaced as a whole';

function listOf(work: Work, path: string, value: Json): readonly Json[] {
	if (!Array.isArray(value)) say(work, path, `must be a list, got ${shown(value)}`);
	return itemsOf(value);
}

type ListChange = {
	readonly work: Work;
	readonly path: string;
	readonly original: readonly Json[];
	readonly items: readonly Json[];
	/** Of `$setElementOrder`. */
	readonly order: readonly Json[] | undefined;
	/** Of `$deleteFromPrimitiveList`. */
	readonly gone: readonly Json[];
	/** The field that tells items apart; undefined: they are plain values. */
	readonly key: string | undefined;
	/** Of each item. */
	readonly fields: PatchFields;
};

/** What tells an item from others; undefined where nothing does. */
type Identity = string | number | boolean | undefined;

/** An item of a list that is being merged; `was` is its index before, -1 of a new one. */
type Entry = {readonly id: Identity; readonly was: number; value: Json};

function identityOf(item: Json | undefined, key: string | undefined): Identity {
	const id = key === undefined ? item : isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
	return typeof id === 'object' ? undefined : id;
}

const directiveOf = (item: Json): Json | undefined => (isObject(item) ? item['$patch'] : undefined);

function mergeList(change: ListChange): readonly Json[] {
	const {work, original, items, key} = change;
	if (isTooMuch(work)) return original;
	work.walked += original.length;
	const deleted = new Set(items.filter(item => directiveOf(item) === 'delete').map(item => identityOf(item, key)));
	for (const id of change.gone) deleted.add(identityOf(id, undefined));
	const isReplaced = items.some(item => directiveOf(item) === 'replace');
	const kept = isReplaced ? [] : original.map((value, was): Entry => ({id: identityOf(value, key), was, value}));
	const entries = kept.filter(({id}) => id === undefined || !deleted.has(id));
	const written = mergeItems(change, entries);
	const order = change.order?.map(item => identityOf(item, key)) ?? written;
	checkOrder(change, order, written);
	return ordered(entries, order).map(({value}) => value);
}

/** Merges the items of a patch into those that are there; what they are told by, in their order. */
function mergeItems({work, path, items, key, fields}: ListChange, entries: Entry[]): readonly Identity[] {
	const byId = new Map<Identity, Entry>();
	for (const entry of entries) if (!byId.has(entry.id)) byId.set(entry.id, entry);
	const written: Identity[] = [];
	for (const [index, item] of items.entries()) {
		const directive = directiveOf(item);
		if (directive === 'replace') continue;
		const id = identityOf(item, key);
		if (id === undefined)
			say(
				work,
				joinPath(path, index),
				key === undefined ? `must be a plain value, got ${shown(item)}` : `has no ${key}, by which items are told apart`,
			);
		if (id === undefined || directive === 'delete') continue;
		const before = byId.get(id);
		const base = isObject(before?.value) ? before.value : {};
		const value = isObject(item) ? mergeObject(work, joinPath(path, index), base, item, fields) : item;
		written.push(id);
		if (before !== undefined) before.value = value;
		else {
			const entry = {id, was: -1, value};
			entries.push(entry);
			byId.set(id, entry);
		}
	}
	return written;
}

/** An order names all that the patch has, as the patch has it. */
function checkOrder({work, path, order: given}: ListChange, order: readonly Identity[], written: readonly Identity[]): void {
	if (given === undefined) return;
	const known = new Set(written);
	const rest = [...new Set(order)].filter(id => known.has(id));
	if (!deepEqual(rest, [...known])) say(work, path, `must have its items as ${setElementOrder} has them, which names each`);
}

/** Items of the patch in their order, and among them all others, each before the first that it was before. */
function ordered(entries: readonly Entry[], order: readonly Identity[]): readonly Entry[] {
	const rank = new Map(order.map((id, at) => [id, at]));
	const rankOf = ({id}: Entry): number => (id === undefined ? -1 : (rank.get(id) ?? -1));
	const others = entries.filter(entry => rankOf(entry) < 0);
	const mine = entries.filter(entry => rankOf(entry) >= 0).sort((a, b) => rankOf(a) - rankOf(b));
	const result: Entry[] = [];
	let next = 0;
	for (const entry of mine) {
		for (let other = others[next]; other !== undefined && other.was < entry.was; other = others[++next]) result.push(other);
		result.push(entry);
	}
	return [...result, ...others.slice(next)];
}
