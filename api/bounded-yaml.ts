// YAML from anybody: parsed with a bound on its depth that holds while it is parsed.
//
// The package composes documents by recursion, and text such as `[[[[…` of a few kilobytes brings it so near the end of the
// stack that V8 ends the whole process, which nothing can catch. So depth is counted on the flat token stream before.

import {Composer, Lexer, Parser, type Document, type LineCounter} from 'yaml';
import {limits} from './limits.js';

export type BoundedYaml =
	| {readonly ok: true; readonly documents: readonly Document.Parsed[]}
	/** Where it went deeper than `limits.objectDepth`. */
	| {readonly ok: false; readonly offset: number};

/** The document node, and the scalar at the very end of a path. */
const besidesCollections = 2;

/** Every document of a text; syntax errors are in the documents. Merge keys (`<<`) are followed, as kubectl does. */
export function parseBoundedYaml(text: string, lines: LineCounter): BoundedYaml {
	const parser = new Parser(lines.addNewLine);
	const composer = new Composer({lineCounter: lines, prettyErrors: false, merge: true, strict: true});
	const documents: Document.Parsed[] = [];
	lines.addNewLine(0);
	for (const lexeme of new Lexer().lex(text)) {
		for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
		if (parser.stack.length > limits.objectDepth + besidesCollections) return {ok: false, offset: parser.offset};
	}
	for (const token of parser.end()) documents.push(...composer.next(token));
	documents.push(...composer.end());
	return {ok: true, documents};
}
