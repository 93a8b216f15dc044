// This server itself as a caller of a function: all of the body is there, and all of the answer is kept.

import type {IncomingMessage} from 'node:http';
import {AppError} from '../../api/errors.js';
import type {Caller} from './caller.js';
import type {FunctionAnswer, WholeCall} from './delivery.js';

/** `answer` is there once the call has ended well. */
export function wholeCaller({id, by, contentType, headers, path = '/', body, answerBytes, signal}: WholeCall): {
	readonly caller: Caller;
	readonly answer: () => FunctionAnswer;
} {
	let answer: FunctionAnswer | undefined;
	return {
		caller: {
			id,
			door: `delivery ${by ?? 'of the cluster'}`,
			method: 'POST',
			path,
			headers: {...headers, 'content-type': contentType, host: 'function', 'x-request-id': id},
			beginning: body,
			rest: undefined,
			async take(message) {
				answer = {
					status: message.statusCode ?? 502,
					contentType: message.headers['content-type'],
					body: await bodyOf(message, answerBytes),
				};
			},
			hasBegun: () => false,
			isGone: () => signal?.aborted === true,
			cut: () => undefined,
			whenOver(callback) {
				const gone = (): void => callback(false);
				signal?.addEventListener('abort', gone, {once: true});
				return () => signal?.removeEventListener('abort', gone);
			},
		},
		answer() {
			if (answer === undefined) throw new AppError('ERR_INTERNAL', {message: 'the call ended without an answer'});
			return answer;
		},
	};
}

async function bodyOf(message: IncomingMessage, most: number): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of message as AsyncIterable<Buffer>) {
		bytes += chunk.length;
		if (bytes > most) {
			message.destroy();
			throw new AppError('ERR_TOO_LARGE', {
				message: `the answer of the function is larger than ${most} bytes, which is all that is kept of one`,
			});
		}
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
