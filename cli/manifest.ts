// Reads manifests: YAML or JSON, several documents a file. Every problem is one line `file:line:column: message`.
//
// Input is untrusted: size, depth and alias expansion are bounded, duplicate keys and unknown tags are errors.

import {isAlias, isMap, isScalar, isSeq, LineCounter, visit, type Document, type Node, type YAMLError} from 'yaml';
import {parseBoundedYaml} from '../api/bounded-yaml.js';
import {cleanJson} from '../api/clean-json.js';
import {limits} from '../api/limits.js';
import {isObject, type JsonObject} from '../api/object.js';
import {joinPath, parsePath} from '../api/path.js';
import {shown} from '../api/shown.js';

/** One object of a manifest, and where its fields are. */
export type ManifestDocument = {
	readonly value: JsonObject;
	/** `file:line:column` of a field; where there is no such field, of the longest part of the path there is. */
	readonly locate: (path: string) => string;
};

export type Manifest = {readonly documents: readonly ManifestDocument[]; readonly problems: readonly string[]};

type Source = {readonly file: string; readonly text: string; readonly lines: LineCounter};

/** Reads the text of one file. Problems and documents come together; with problems, nothing should be done. */
export function parseManifest(file: string, text: string): Manifest {
	if (Buffer.byteLength(text) > limits.manifestBytes)
		return refused(`${file}: has more than ${limits.manifestBytes} bytes; split it into several files`);
	const source: Source = {file, text, lines: new LineCounter()};
	const parsed = parseBoundedYaml(text, source.lines);
	if (!parsed.ok) return refused(`${placeAt(parsed.offset, source)}: is nested deeper than ${limits.objectDepth} levels`);
	return together(parsed.documents.map(document => readDocument(document, source)));
}

const refused = (problem: string): Manifest => ({documents: [], problems: [problem]});

/** Manifests one after another, as one. */
export const together = (manifests: readonly Manifest[]): Manifest => ({
	documents: manifests.flatMap(({documents}) => documents),
	problems: manifests.flatMap(({problems}) => problems),
});

function readDocument(document: Document.Parsed, source: Source): Manifest {
	const wrong = [...document.errors, ...document.warnings];
	if (wrong.length > 0) return {documents: [], problems: wrong.slice(0, limits.problemsShown).map(error => syntaxProblem(error, source))};
	readOctals(document);
	const value = plainValue(document);
	if (value instanceof Error) return refused(`${placeOf(document, [], source)}: ${lowerFirst(value.message)}`);
	if (value === null || value === undefined) return {documents: [], problems: []};
	const cleaned = cleanJson(value);
	if (cleaned.problems.length > 0)
		return {
			documents: [],
			problems: cleaned.problems.map(({path, message}) => `${placeOf(document, keysOf(path), source)}: ${path}: ${message}`),
		};
	return objectsOf(document, cleaned.value, source);
}

/** One object, or the items of a List. */
function objectsOf(document: Document.Parsed, value: unknown, source: Source): Manifest {
	if (!isObject(value)) return refused(`${placeOf(document, [], source)}: must be an object with apiVersion and kind, got ${shown(value)}`);
	if (value['kind'] !== 'List' || !Array.isArray(value['items']))
		return {documents: [manifestDocument(document, value, '', source)], problems: []};
	const items = value['items'] as readonly unknown[];
	return together(
		items.map((item, index) => {
			const path = joinPath('items', index);
			return isObject(item)
				? {documents: [manifestDocument(document, item, path, source)], problems: []}
				: refused(`${placeOf(document, keysOf(path), source)}: ${path}: must be an object, got ${shown(item)}`);
		}),
	);
}

function manifestDocument(document: Document.Parsed, value: JsonObject, base: string, source: Source): ManifestDocument {
	return {value, locate: path => placeOf(document, [...keysOf(base), ...keysOf(path)], source)};
}

const keysOf = (path: string): readonly (string | number)[] => parsePath(path) ?? [];

/** `0644` is a file mode everywhere in Kubernetes (YAML 1.1); YAML 1.2 alone would read six hundred forty-four. */
function readOctals(document: Document.Parsed): void {
	visit(document, {
		Scalar(_key, scalar) {
			if (typeof scalar.value === 'number' && /^0[0-7]+$/.test(scalar.source ?? '')) scalar.value = Number.parseInt(scalar.source ?? '', 8);
		},
	});
}

function plainValue(document: Document.Parsed): unknown {
	try {
		return document.toJS({maxAliasCount: limits.manifestAliases}) as unknown;
	} catch (error) {
		if (error instanceof ReferenceError) return error; // An alias without an anchor, or a bomb.
		throw error;
	}
}

function syntaxProblem(error: YAMLError, source: Source): string {
	const message = error.code === 'DUPLICATE_KEY' ? duplicateKey(source.text.slice(error.pos[0])) : lowerFirst(error.message);
	return `${placeAt(error.pos[0], source)}: ${message}`;
}

const duplicateKey = (from: string): string => `the key ${JSON.stringify(/^["']?([^"':\s]*)/.exec(from)?.[1] ?? '')} is given twice`;

/** `file:line:column` of the field's key or the list's item; of the last one there is on the way. */
function placeOf(document: Document.Parsed, keys: readonly (string | number)[], source: Source): string {
	let node: unknown = document.contents;
	let offset = startOf(node) ?? document.range[0];
	for (const key of keys) {
		const child = childOf(isAlias(node) ? node.resolve(document) : node, key);
		if (child === undefined) break;
		offset = startOf(child.place) ?? offset;
		node = child.value;
	}
	return placeAt(offset, source);
}

function placeAt(offset: number, {file, lines}: Source): string {
	const {line, col} = lines.linePos(offset);
	return `${file}:${line}:${col}`;
}

function childOf(node: unknown, key: string | number): {place: unknown; value: unknown} | undefined {
	if (isMap(node)) {
		const pair = node.items.find(item => String(isScalar(item.key) ? item.key.value : item.key) === String(key));
		return pair === undefined ? undefined : {place: pair.key, value: pair.value};
	}
	const item = isSeq(node) && typeof key === 'number' ? node.items[key] : undefined;
	return item === undefined ? undefined : {place: item, value: item};
}

const startOf = (node: unknown): number | undefined => (node as Partial<Node> | null | undefined)?.range?.[0];
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
