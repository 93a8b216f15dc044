// What a function is called with.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {usageError, type Invocation} from '../command.js';
import {readBounded, reasonOf} from '../files/bounded-file.js';
import {shellWord} from '../files/shell-word.js';

/** JSON as it was written, or `-` for stdin. Throws ERR_USAGE for what is none. */
export async function paramsOf(text: string, input: Invocation['terminal']['input']): Promise<Uint8Array> {
	const what = text === '-' ? 'stdin' : shellWord(text);
	try {
		const bytes = text === '-' ? await readBounded(input, limits.functionBodyBytes) : Buffer.from(text);
		JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(bytes));
		return bytes;
	} catch (error) {
		throw usageError(error instanceof AppError ? `${what} ${error.message}` : `${what} is no JSON: ${reasonOf(error)}`);
	}
}
