// Messages as people write them: in the inspector, and where they run actors of their own. Pure.

import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {usageError} from '../command.js';

/** `wake`, or `{"type": "wake", …}`; `where` begins what is said of a text that is neither. Throws ERR_USAGE. */
export function parseMessage(text: string, where = 'the message'): JsonObject & {readonly type: string} {
	if (/^[\w.-]+$/.test(text)) return {type: text};
	let value: Json;
	try {
		value = JSON.parse(text) as Json;
	} catch (error) {
		throw usageError(`${where} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
	}
	if (isObject(value) && typeof value['type'] === 'string') return value as JsonObject & {readonly type: string};
	throw usageError(`${where} must be an object with a type, such as {"type": "wake"}, or the type alone; got ${shown(value)}`);
}
