// A record of a delivery or of an answer: a line of JSON that says what it is, then the bytes, in base64. A start of the control plane keeps the line.

import {isObject, type JsonObject} from '../../api/object.js';
import {parsedJson} from '../../api/value-or.js';

export const keptText = (head: JsonObject, body: Uint8Array): string => `${JSON.stringify(head)}\n${Buffer.from(body).toString('base64')}`;

/** Undefined where it is none. */
export function headOf(text: string): JsonObject | undefined {
	const [line = ''] = text.split('\n', 1);
	const head = parsedJson(line);
	return isObject(head) ? head : undefined;
}

export const bytesOf = (text: string): Buffer => Buffer.from(text.slice(text.indexOf('\n') + 1), 'base64');
