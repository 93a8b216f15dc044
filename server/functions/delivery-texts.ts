// What is published of a delivery: the answer to who asked for one, and what could not be delivered.

import type {Failure} from '../../api/errors.js';
import {parsedJson} from '../../api/value-or.js';
import type {Kept} from './delivery-record.js';
import type {FunctionAnswer} from './delivery.js';

type Ending = {readonly answer?: FunctionAnswer | undefined; readonly error?: Failure | undefined};

/** `{id, status, answer}`, or `{id, error: {code, message}}` where the function has not answered. An answer that is JSON is there as such. */
export function replyText(id: string, {answer, error}: Ending): string {
	if (answer === undefined) return JSON.stringify({id, error: error === undefined ? undefined : toldError(error)});
	const text = answer.body.toString('utf8');
	const value = parsedJson(text);
	return JSON.stringify({id, status: answer.status, answer: value === undefined ? text : value});
}

/** The body is a text where it is one in UTF-8, else it is in base64. */
export function deadLetterText(delivery: Kept, body: Buffer, error: Failure): string {
	const {id, function: fn, trigger, headers, contentType, atMs, tries} = delivery;
	const text = body.toString('utf8');
	const isText = Buffer.from(text).equals(body);
	return JSON.stringify({
		id,
		function: `${fn.namespace}/${fn.name}`,
		trigger,
		acceptedAt: new Date(atMs).toISOString(),
		tries: tries + 1,
		error: toldError(error),
		headers,
		contentType,
		...(isText ? {body: text} : {bodyBase64: body.toString('base64')}),
	});
}

const toldError = ({code, message}: Failure): {readonly code: string; readonly message: string} => ({code, message});
