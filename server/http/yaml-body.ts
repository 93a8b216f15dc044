// One YAML document of a request body. The parser is loaded when the first one comes: clients that send JSON never pay for it.

import {limits} from '../../api/limits.js';
import {refusal} from './outcome.js';

/** The value of a text with one document, which errors call the `subject`; `ERR_BAD_REQUEST` with line and column otherwise. Shows nothing of the text. */
export async function parseYaml(text: string, subject = 'the body'): Promise<unknown> {
	const [{LineCounter}, {danglingAlias, parseBoundedYaml}] = await Promise.all([import('yaml'), import('../../api/bounded-yaml.js')]);
	const lines = new LineCounter();
	const placeOf = (offset: number): string => {
		const {line, col} = lines.linePos(offset);
		return `line ${line}, column ${col}`;
	};
	const parsed = parseBoundedYaml(text, lines, limits.bodyYamlTokens);
	if (!parsed.ok) throw refusal(`${subject} ${parsed.message}: ${placeOf(parsed.offset)}`);
	const [document] = parsed.documents;
	if (document === undefined || parsed.documents.length !== 1)
		throw refusal(`one YAML document is wanted, found ${parsed.documents.length}`);
	// A warning is of a tag that is not known: what it stands for could only be guessed.
	const [error] = [...document.errors, ...document.warnings];
	if (error !== undefined) throw refusal(`${subject} is no YAML: ${placeOf(error.pos[0])} (${error.code})`);
	const dangling = danglingAlias(document);
	if (dangling !== undefined) throw refusal(`${subject} has an alias of nothing before it: ${placeOf(dangling.range?.[0] ?? 0)}`);
	try {
		return document.toJS({maxAliasCount: limits.manifestAliases}) as unknown;
	} catch (cause) {
		if (!(cause instanceof ReferenceError)) throw cause;
		// A bomb: the parser counts what aliases stand for.
		throw refusal(`the aliases of ${subject} stand for too much; ${limits.manifestAliases} times what is written is allowed`, cause);
	}
}
