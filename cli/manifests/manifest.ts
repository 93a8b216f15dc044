// Reads manifests: YAML or JSON, several documents a file. Every problem is one line `file:line:column: message`.
//
// Input is untrusted: size, depth and alias expansion are bounded, duplicate keys and unknown tags are errors.

import {isAlias, isMap, isScalar, isSeq, LineCounter, type Document, type Node, type YAMLError} from 'yaml';
import {danglingAlias, parseBoundedYaml} from '../../api/bounded-yaml.js';
import {cleanJson} from '../../api/clean-json.js';
import type {ComposeBuild} from '../../api/compose/build.js';
import {isCompose, isFirstCompose} from '../../api/compose/project.js';
import {nullsKeptIn} from '../../api/dialects/normalise.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {joinPath, parsePath} from '../../api/path.js';
import {shown} from '../../api/shown.js';
import {jsonFault} from '../../api/json-fault.js';
import type {Fault, Place} from './faults.js';

/** One object of a manifest, and where its fields are. */
export type ManifestDocument = {
	readonly value: JsonObject;
	/** Where a field is; where there is no such field, the longest part of the path there is. */
	readonly locate: (path: string) => Place;
	/** Of a compose file that is not converted yet: all of it, nulls too. */
	readonly compose?: JsonObject;
	/** Of an object that a compose file became: its project, and how the file spells the path of a field. */
	readonly project?: string;
	readonly spelled?: (path: string) => string;
	/** Of a workload whose image the file says how to build. */
	readonly build?: (ComposeBuild & {readonly place: Place}) | undefined;
	/** Of a Function or SlurmJob that names the folder of its files, once that was packed; `without` is a path in it that is left out. */
	readonly code?: {readonly named: string; readonly folder: string; readonly digest: string; readonly without?: string};
};

/** A word about a place that is no fault. */
export type Note = {readonly place: Place; readonly message: string};

export type Manifest = {
	readonly documents: readonly ManifestDocument[];
	readonly faults: readonly Fault[];
	readonly notes?: readonly Note[];
};

type Source = {readonly file: string; readonly text: string; readonly lines: LineCounter; readonly keepsNulls: boolean};

/**
 * Reads the text of one file. Faults and documents come together; with faults, nothing should be done. With `keepsNulls` all members that are
 * null are in the documents, else those alone in which the kind of the object lets null say something.
 */
export function parseManifest(file: string, text: string, keepsNulls = false): Manifest {
	if (Buffer.byteLength(text) > limits.manifestBytes)
		return refused({file}, `has more than ${limits.manifestBytes} bytes; split it into several files`);
	const source: Source = {file, text, lines: new LineCounter(), keepsNulls};
	const fault = file.endsWith('.json') ? strictFault(text) : undefined;
	if (fault !== undefined)
		return refused({file, line: fault.line, column: fault.column}, `is no JSON: found ${fault.found} where something else belongs`);
	const parsed = parseBoundedYaml(text, source.lines);
	if (!parsed.ok) return refused(placeAt(parsed.offset, source), parsed.message);
	return together(parsed.documents.map(document => readDocument(document, source)));
}

/** YAML takes commas and words that JSON does not: a file that is called JSON is read as that. An empty one holds nothing. */
const strictFault = (text: string): ReturnType<typeof jsonFault> => (text.trim() === '' ? undefined : jsonFault(text));

const refused = (place: Place, message: string): Manifest => ({documents: [], faults: [{place, message, code: 'ERR_INVALID'}]});

/** Manifests one after another, as one. */
export const together = (manifests: readonly Manifest[]): Manifest => ({
	documents: manifests.flatMap(({documents}) => documents),
	faults: manifests.flatMap(({faults}) => faults),
	notes: manifests.flatMap(({notes = []}) => notes),
});

function readDocument(document: Document.Parsed, source: Source): Manifest {
	const wrong = [...document.errors, ...document.warnings];
	if (wrong.length > 0) return together(wrong.slice(0, limits.problemsShown).map(error => syntaxFault(error, source)));
	const dangling = danglingAlias(document);
	if (dangling !== undefined)
		return refused(placeAt(startOf(dangling) ?? 0, source), `there is no anchor "&${dangling.source}" before this alias`);
	const value = plainValue(document);
	if (value instanceof Error)
		return refused(
			placeOf(document, [], source),
			`its aliases stand for too much; ${limits.manifestAliases} times what is written is allowed`,
		);
	if (value === null || value === undefined) return {documents: [], faults: []};
	const cleaned = cleanJson(value, true);
	if (cleaned.problems.length > 0)
		return together(
			cleaned.problems.map(({path, message}) =>
				refused(placeOf(document, keysOf(path), source), path === '' ? message : `${path}: ${message}`),
			),
		);
	if (!isCompose(value)) return objectsOf(document, cleaned.value, source);
	// A service or a volume of which nothing more is said is null.
	const whole = cleaned.value as JsonObject;
	return {documents: [{...manifestDocument(document, whole, '', source), compose: whole}], faults: []};
}

/** One object, or the items of a List. */
function objectsOf(document: Document.Parsed, value: unknown, source: Source): Manifest {
	if (!isObject(value)) return refused(placeOf(document, [], source), `must be an object with apiVersion and kind, got ${shown(value)}`);
	if (isFirstCompose(value))
		return refused(
			placeOf(document, [], source),
			'is a compose file of version 1: write what it has below "services:", indented, and it is read',
		);
	if (value['kind'] !== 'List' || !Array.isArray(value['items']))
		return {documents: [manifestDocument(document, objectOf(value, source), '', source)], faults: []};
	const items = value['items'] as readonly unknown[];
	return together(
		items.map((item, index) => {
			const path = joinPath('items', index);
			return isObject(item)
				? {documents: [manifestDocument(document, objectOf(item, source), path, source)], faults: []}
				: refused(placeOf(document, keysOf(path), source), `${path}: must be an object, got ${shown(item)}`);
		}),
	);
}

/** The object with those of its nulls that say something. */
const objectOf = (value: JsonObject, {keepsNulls}: Source): JsonObject =>
	keepsNulls ? value : (cleanJson(value, nullsKeptIn(value)).value as JsonObject);

function manifestDocument(document: Document.Parsed, value: JsonObject, base: string, source: Source): ManifestDocument {
	return {value, locate: path => placeOf(document, [...keysOf(base), ...keysOf(path)], source)};
}

const keysOf = (path: string): readonly (string | number)[] => parsePath(path) ?? [];

function plainValue(document: Document.Parsed): unknown {
	try {
		return document.toJS({maxAliasCount: limits.manifestAliases}) as unknown;
	} catch (error) {
		if (error instanceof ReferenceError) return error; // A bomb of aliases.
		throw error;
	}
}

function syntaxFault(error: YAMLError, source: Source): Manifest {
	const place = placeAt(error.pos[0], source);
	if (error.code !== 'DUPLICATE_KEY') return refused(place, lowerFirst(error.message));
	const {line, col} = source.lines.linePos(error.pos[1]);
	return refused(place, `${error.message}, first in line ${line}, column ${col}`);
}

/** Of the field's key or the list's item; of the last one there is on the way. */
function placeOf(document: Document.Parsed, keys: readonly (string | number)[], source: Source): Place {
	let node: unknown = document.contents;
	let offset = startOf(node) ?? document.range[0];
	for (const key of keys) {
		const child = childOf(isAlias(node) ? node.resolve(document) : node, key, document);
		if (child === undefined) break;
		offset = startOf(child.place) ?? offset;
		node = child.value;
	}
	return placeAt(offset, source);
}

function placeAt(offset: number, {file, lines}: Source): Place {
	const {line, col} = lines.linePos(offset);
	return {file, line, column: col};
}

type Child = {readonly place: unknown; readonly value: unknown};

/** Merge keys in merge keys that are followed. */
const mergesFollowed = 8;

function childOf(node: unknown, key: string | number, document: Document.Parsed, left = mergesFollowed): Child | undefined {
	if (!isMap(node)) {
		const item = isSeq(node) && typeof key === 'number' ? node.items[key] : undefined;
		return item === undefined ? undefined : {place: item, value: item};
	}
	const pair = node.items.find(item => String(isScalar(item.key) ? item.key.value : item.key) === String(key));
	if (pair !== undefined) return {place: pair.key, value: pair.value};
	const merged = left === 0 ? undefined : node.items.find(item => isScalar(item.key) && item.key.source === '<<')?.value;
	for (const source of isSeq(merged) ? merged.items : [merged]) {
		const found = childOf(isAlias(source) ? source.resolve(document) : source, key, document, left - 1);
		if (found !== undefined) return found;
	}
	return undefined;
}

const startOf = (node: unknown): number | undefined => (node as Partial<Node> | null | undefined)?.range?.[0];
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
