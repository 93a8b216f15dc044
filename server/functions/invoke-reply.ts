// What the caller of a function by MQTT is answered: `{"id", "status", "answer"}`, or `{"id", "error"}`.

import {isUtf8} from 'node:buffer';
import {failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';
import type {FunctionAnswer} from './delivery.js';

/** JSON as it came, other text as a text; what is no text in base64. */
export function answerReply(id: string, {status, contentType, body}: FunctionAnswer): string {
	const text = `{"id":${JSON.stringify(id)},"status":${status},${contentOf(contentType, body)}}`;
	if (Buffer.byteLength(text) <= limits.invokeReplyBytes) return text;
	return errorReply(id, failure('ERR_TOO_LARGE', {message: `the answer is larger than ${limits.invokeReplyBytes} bytes`}));
}

/** There is no answer of the function. */
export const errorReply = (id: string, {code, message}: Failure): string => JSON.stringify({id, error: {code, message}});

function contentOf(contentType: string | undefined, body: Buffer): string {
	if (!isUtf8(body)) return `"answer":"${body.toString('base64')}","encoding":"base64"`;
	const text = body.toString();
	return `"answer":${isJson(contentType) && parsedJson(text) !== undefined ? text : JSON.stringify(text)}`;
}

const isJson = (contentType: string | undefined): boolean => /^application\/([^;]+\+)?json *(;|$)/i.test(contentType ?? '');
