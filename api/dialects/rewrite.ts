// Small edits of a manifest that remember what they did. A part that is not edited keeps its reference.

import {isObject, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import type {Problem} from '../problem.js';

/** A field that stands elsewhere than in the file. */
export type Renamed = {readonly path: string; readonly from: string};

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
