// One YAML document of a request body. The parser is loaded when the first one comes: clients that send JSON never pay for it.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';

/** The value of a text with one document; `ERR_BAD_REQUEST` with line and column otherwise. Shows nothing of the text. */
export async function parseYaml(text: string): Promise<unknown> {
	const [{LineCounter}, {parseBoundedYaml}] = await Promise.all([import('yaml'), import('../../api/bounded-yaml.js')]);
	const lines = new LineCounter();
	const placeOf = (offset: number): string => {
		const {line, col} = lines.linePos(offset);
		return `line ${line}, column ${col}`;
	};
	const parsed = parseBoundedYaml(text, lines);
	if (!parsed.ok) throw refusal(`the body is nested deeper than ${limits.objectDepth} levels: ${placeOf(parsed.offset)}`);
	const [document] = parsed.documents;
	if (document === undefined || parsed.documents.length !== 1)
		throw refusal(`one YAML document is wanted, found ${parsed.documents.length}`);
	const [error] = document.errors;
	if (error !== undefined) throw refusal(`the body is no YAML: ${placeOf(error.pos[0])} (${error.code})`);
	try {
		return document.toJS() as unknown;
	} catch (cause) {
		// Aliases that name nothing, and bombs of them, are found out here only; the parser counts them.
		throw refusal('the body is no YAML that can be read: an alias names nothing, or too much', cause);
	}
}

const refusal = (message: string, cause?: unknown): AppError => new AppError('ERR_BAD_REQUEST', {message}, cause);
