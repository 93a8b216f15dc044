// Small edits of a manifest that remember what they did. A part that is not edited keeps its reference.

import {isObject, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import type {Problem} from '../problem.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';

/** A field that stands elsewhere than in the file. */
export type Renamed = {readonly path: string; readonly from: string};

/** The path as the document spells it: the longest renamed part in front is exchanged. */
export function writtenPath(canonical: string, renamed: readonly Renamed[]): string {
	const [longest] = renamed
		.filter(({path}) => canonical === path || (canonical.startsWith(path) && /^[.[]/.test(canonical.slice(path.length))))
		.sort((a, b) => b.path.length - a.path.length);
	return longest === undefined ? canonical : longest.from + canonical.slice(longest.path.length);
}

export type Edits = {
	/** Canonical paths of the fields that were changed. */
	readonly fields: string[];
	readonly renamed: Renamed[];
	readonly problems: Problem[];
};

export const noEdits = (): Edits => ({fields: [], renamed: [], problems: []});

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** The object with one member put through a function, if it has it. */
export function mapMember(object: JsonObject, key: string, path: string, edit: (value: Json, path: string) => Json): JsonObject {
	const value = Object.hasOwn(object, key) ? object[key] : undefined;
	if (value === undefined) return object;
	const edited = edit(value, joinPath(path, key));
	return edited === value ? object : {...object, [key]: edited};
}

/** A list with each object in it put through a function; anything else as it is. */
export function mapItems(list: Json, path: string, edit: (item: JsonObject, path: string) => Json): Json {
	if (!isList(list)) return list;
	const edited = list.map((item, i) => (isObject(item) ? edit(item, joinPath(path, i)) : item));
	return edited.every((item, i) => item === list[i]) ? list : edited;
}

/** An object put through a function; anything else as it is. */
export const ifObject = (value: Json, edit: (object: JsonObject) => Json): Json => (isObject(value) ? edit(value) : value);

/** The object with a member under its canonical name. Both spellings at once are a problem. */
export function renameMember(object: JsonObject, from: string, to: string, path: string, edits: Edits): JsonObject {
	if (!Object.hasOwn(object, from)) return object;
	const {[from]: value, ...rest} = object;
	const at = joinPath(path, to);
	if (Object.hasOwn(object, to)) {
		edits.problems.push({
			path: joinPath(path, from),
			message: `stands beside ${to}, which says the same; leave one out`,
			reason: 'FieldValueDuplicate',
		});
		return object;
	}
	edits.fields.push(at);
	edits.renamed.push({path: at, from: joinPath(path, from)});
	return {...rest, [to]: value};
}

/** Remembers a member that stands elsewhere, or is written otherwise, in the canonical form. */
export function moved(edits: Edits, path: string, from: string): void {
	edits.fields.push(path);
	if (path !== from) edits.renamed.push({path, from});
}

/** Refuses members of a part that is made anew from those it may have: what is not taken over would be lost. */
export function refuseUnknown(object: JsonObject, known: readonly string[], path: string, edits: Edits): void {
	for (const field of Object.keys(object)) {
		if (known.includes(field)) continue;
		edits.problems.push({
			path: joinPath(path, field),
			message: `unknown field ${shown(field)}${didYouMean(field, known)}`,
			reason: 'FieldValueInvalid',
		});
	}
}

/** The object with an annotation, for what has no field of its own. Unchanged where metadata is no such thing: admission says so. */
export function withAnnotation(object: JsonObject, key: string, value: string, from: string, edits: Edits): JsonObject {
	const metadata = object['metadata'] ?? {};
	const annotations = isObject(metadata) ? (metadata['annotations'] ?? {}) : {};
	if (!isObject(metadata) || !isObject(annotations)) return object;
	moved(edits, joinPath('metadata.annotations', key), from);
	return {...object, metadata: {...metadata, annotations: {...annotations, [key]: value}}};
}

/** A number that is written as text, such as a port in quotes; anything else as it is. */
export function numberOf(value: Json, path: string, edits: Edits): Json {
	if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) return value;
	edits.fields.push(path);
	return Number(value);
}

/** A word in capitals that is written in small letters: a protocol. */
export function capitals(value: Json, path: string, words: readonly string[], edits: Edits): Json {
	if (typeof value !== 'string' || words.includes(value) || !words.includes(value.toUpperCase())) return value;
	edits.fields.push(path);
	return value.toUpperCase();
}

export const protocols = ['TCP', 'UDP', 'SCTP'] as const;
