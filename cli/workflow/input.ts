// What a run is given, or a task is answered with, as it stands on a command line.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {usageError, type Invocation} from '../command.js';
import {readFileAt, reasonOf} from '../files/bounded-file.js';
import {paramsOf} from '../function/params.js';

/** JSON as it is written, of a file as `@FILE`, or of stdin as `-`; {} where nothing is said. Throws ERR_USAGE. */
export async function inputOf(text: string | undefined, stdin: Invocation['terminal']['input']): Promise<Json> {
	if (text === undefined) return {};
	if (!text.startsWith('@')) return JSON.parse(new TextDecoder().decode(await paramsOf(text, stdin))) as Json;
	const file = text.slice(1);
	try {
		return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(await readFileAt(file, limits.functionBodyBytes))) as Json;
	} catch (error) {
		throw usageError(error instanceof SyntaxError ? `${file} is no JSON: ${error.message}` : `${file}: ${reasonOf(error)}`);
	}
}
