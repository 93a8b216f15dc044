// A request of the server itself to some other server over HTTP, bounded in time and bytes.
//
// No redirect is followed, since it may lead anywhere, and no proxy of the environment is used.

import {request as requestHttp, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions} from 'node:http';
import {request as requestHttps} from 'node:https';
import type {LookupFunction} from 'node:net';
import type {Clock} from '../system/time/clock.js';

export type OutgoingRequest = {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: {readonly [name: string]: string | number};
	readonly body?: Buffer;
	/** What tells the address of its host. */
	readonly lookup: LookupFunction;
	readonly mostMs: number;
	/** No more is read. */
	readonly mostBytes: number;
};

export type OutgoingAnswer = {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	readonly bytes: Buffer;
	/** There was no more than that. */
	readonly isWhole: boolean;
};

/** It was not answered in time. */
export class OutgoingLate extends Error {}

/** Rejects with `OutgoingLate`, with what the lookup says, or with what went wrong on the way; the signal ends it. */
export async function outgoingAnswer(clock: Clock, outgoing: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
	const {method, url, headers, body, lookup, mostMs, mostBytes} = outgoing;
	// An agent of its own: the connection ends with the request.
	const options: RequestOptions = {method, headers, agent: false, lookup};
	const request = url.startsWith('https:') ? requestHttps(url, options) : requestHttp(url, options);
	let isLate = false;
	const drop = (): void => void request.destroy(new Error('dropped'));
	signal.addEventListener('abort', drop, {once: true});
	const cancel = clock.after(mostMs, () => {
		isLate = true;
		drop();
	});
	try {
		const answer = await answerTo(request, body);
		return {status: answer.statusCode ?? 0, headers: answer.headers, ...(await beginningOf(answer, mostBytes))};
	} catch (error) {
		throw isLate ? new OutgoingLate(`no answer within ${mostMs / 1_000} s`) : error;
	} finally {
		cancel();
		signal.removeEventListener('abort', drop);
		request.destroy();
	}
}

function answerTo(request: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		request.once('response', resolve);
		request.on('error', reject);
		// Also of an answer that changes the protocol, which nobody has asked for.
		request.once('close', () => reject(new Error('the connection ended before there was an answer')));
		request.end(body);
	});
}

/** No more is read than that. */
async function beginningOf(answer: IncomingMessage, most: number): Promise<{readonly bytes: Buffer; readonly isWhole: boolean}> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of answer as AsyncIterable<Buffer>) {
		chunks.push(chunk);
		bytes += chunk.length;
		if (bytes > most) return {bytes: Buffer.concat(chunks).subarray(0, most), isWhole: false};
	}
	return {bytes: Buffer.concat(chunks), isWhole: true};
}
