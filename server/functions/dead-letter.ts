// What is published of a delivery that was given up.

import type {Failure} from '../../api/errors.js';
import type {Kept} from './delivery-record.js';

/** The body is a text where it is one in UTF-8, else it is in base64. */
export function deadLetterText(delivery: Kept, body: Buffer, {code, message}: Failure): string {
	const {id, function: fn, trigger, headers, contentType, atMs, tries} = delivery;
	const text = body.toString('utf8');
	const isText = Buffer.from(text).equals(body);
	return JSON.stringify({
		id,
		function: `${fn.namespace}/${fn.name}`,
		trigger,
		acceptedAt: new Date(atMs).toISOString(),
		tries: tries + 1,
		error: {code, message},
		headers,
		contentType,
		...(isText ? {body: text} : {bodyBase64: body.toString('base64')}),
	});
}
