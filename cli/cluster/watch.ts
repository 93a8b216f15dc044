// A watch of the API: JSON lines become events until the server ends the stream.

import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {errorOfAnswer, isStatus} from './status-error.js';
import type {Client, Request} from '../client.js';

export type WatchEvent = {readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown};

/** Events as they come; bookmarks are left out. Throws AppError for an ERROR event, such as a version that is too old. */
export async function* watch(client: Client, request: Request): AsyncGenerator<WatchEvent> {
	const bytes = await client.stream({...request, query: {...request.query, watch: true}});
	for await (const line of linesOf(bytes)) {
		if (line.trim() === '') continue;
		const event = JSON.parse(line) as {readonly type: string; readonly object: unknown};
		if (event.type === 'ERROR') throw errorOfAnswer(isStatus(event.object) ? (event.object.code ?? 500) : 500, event.object);
		if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED') yield {type: event.type, object: event.object};
	}
}

/** Splits at line ends; a line may not outgrow the largest answer there is. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	let rest = '';
	for await (const chunk of bytes) {
		const lines = (rest + decoder.decode(chunk, {stream: true})).split('\n');
		rest = lines.pop() ?? '';
		if (rest.length > limits.packetBytes * 2) throw new AppError('ERR_INTERNAL', {message: 'the server sent a line without end'});
		yield* lines;
	}
	if (rest !== '') yield rest;
}
