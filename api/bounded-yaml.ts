// YAML from any client: parsed with a bound on its depth that holds while it is parsed.
//
// The package composes documents by recursion, and text such as `[[[[…` of a few kilobytes brings it so near the end of the
// stack that V8 ends the whole process, which nothing can catch. So depth is counted on the flat token stream before.

import {
	Composer,
	isAlias,
	isMap as isMapNode,
	isScalar,
	isSeq,
	Lexer,
	Parser,
	visit,
	YAMLParseError,
	type Alias,
	type Document,
	type LineCounter,
	type YAMLMap,
} from 'yaml';
import {limits} from './limits.js';
import {shown} from './shown.js';

export type BoundedYaml =
	| {readonly ok: true; readonly documents: readonly Document.Parsed[]}
	/** Where it went deeper than `limits.objectDepth`, or had more parts than it may. */
	| {readonly ok: false; readonly offset: number; readonly message: string};

/** The document node, and the scalar at the very end of a path. */
const besidesCollections = 2;

/** Every document of a text; syntax errors are in the documents. Merge keys (`<<`) are followed, as kubectl does. */
export function parseBoundedYaml(text: string, lines: LineCounter, tokensMax: number = limits.yamlTokens): BoundedYaml {
	const parser = new Parser(lines.addNewLine);
	// The package compares each key with all before it; ours are looked up.
	const composer = new Composer({lineCounter: lines, prettyErrors: false, merge: true, strict: true, uniqueKeys: false, logLevel: 'error'});
	const documents: Document.Parsed[] = [];
	lines.addNewLine(0);
	let tokens = 0;
	for (const lexeme of new Lexer().lex(text)) {
		if (++tokens > tokensMax) return {ok: false, offset: parser.offset, message: `has more than ${tokensMax} parts up to here; split it`};
		for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
		if (parser.stack.length > limits.objectDepth + besidesCollections)
			return {ok: false, offset: parser.offset, message: `is nested deeper than ${limits.objectDepth} levels`};
	}
	for (const token of parser.end()) documents.push(...composer.next(token));
	documents.push(...composer.end());
	for (const document of documents) {
		document.errors.push(...doubleKeys(document), ...wrongMerges(document));
		if (document.errors.length === 0) readOctals(document);
	}
	return {ok: true, documents};
}

/** An alias that names nothing that stands before it. */
export function danglingAlias(document: Document.Parsed): Alias | undefined {
	const anchors = new Set<string>();
	let found: Alias | undefined;
	visit(document, {
		Alias(_key, alias) {
			if (anchors.has(alias.source)) return undefined;
			found = alias;
			return visit.BREAK;
		},
		Value(_key, node) {
			if (node.anchor !== undefined) anchors.add(node.anchor);
		},
	});
	return found;
}

/** Keys that a map has twice: their place, and as the end of it the place of the first. */
function doubleKeys(document: Document.Parsed): readonly YAMLParseError[] {
	const found: YAMLParseError[] = [];
	visit(document, {
		Map(_key, map) {
			if (found.length < limits.problemsShown) found.push(...doubleKeysOf(map));
		},
	});
	return found;
}

/** Merge keys of something that is no map: the package throws of these, and does not say where they are. */
function wrongMerges(document: Document.Parsed): readonly YAMLParseError[] {
	const found: YAMLParseError[] = [];
	const anchored = new Map<string, unknown>();
	// An alias that names nothing is told elsewhere.
	const isMap = (node: unknown): boolean => {
		const meant = isAlias(node) && anchored.has(node.source) ? anchored.get(node.source) : node;
		return isMapNode(meant) || isAlias(meant);
	};
	visit(document, {
		Pair(_key, {key, value}) {
			if (!isScalar(key) || key.source !== '<<' || key.type !== 'PLAIN' || found.length >= limits.problemsShown) return;
			if (isMap(value) || (isSeq(value) && value.items.every(isMap))) return;
			const at = key.range?.[0] ?? 0;
			found.push(new YAMLParseError([at, at], 'UNEXPECTED_TOKEN', 'the merge key << takes a map, or a list of maps'));
		},
		Value(_key, node) {
			if (node.anchor !== undefined) anchored.set(node.anchor, node);
		},
	});
	return found;
}

function doubleKeysOf(map: YAMLMap): readonly YAMLParseError[] {
	const first = new Map<string, number>();
	return map.items.flatMap(({key}) => {
		if (!isScalar(key) || key.source === '<<') return [];
		const name = String(key.value);
		const at = key.range?.[0] ?? 0;
		const before = first.get(name);
		if (before === undefined) first.set(name, at);
		return before === undefined ? [] : [new YAMLParseError([at, before], 'DUPLICATE_KEY', `the key ${shown(name)} is given twice`)];
	});
}

/** `0644` is a file mode everywhere in Kubernetes (YAML 1.1); YAML 1.2 alone would read six hundred forty-four. */
function readOctals(document: Document.Parsed): void {
	visit(document, {
		Scalar(_key, scalar) {
			if (typeof scalar.value === 'number' && /^0[0-7]+$/.test(scalar.source ?? '')) scalar.value = Number.parseInt(scalar.source ?? '', 8);
		},
	});
}
