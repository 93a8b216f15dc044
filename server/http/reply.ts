// Answers that fit in one piece.

import type {ServerResponse} from 'node:http';
import type {Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {statusOf, type About} from './status.js';

export const jsonType = 'application/json';

/** Sends a text and ends the answer. */
export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
	if (response.headersSent || response.destroyed) return;
	response.writeHead(status, {
		'content-type': type,
		'content-length': Buffer.byteLength(text),
		'cache-control': 'no-cache, private',
		'x-content-type-options': 'nosniff',
	});
	response.end(text);
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
	sendText(response, status, jsonType, `${JSON.stringify(body)}\n`);

/** Sends a failure as a Status document. What the client has not sent yet is not waited for. */
export function sendFailure(response: ServerResponse, failure: Failure, about: About = {}): void {
	if (response.headersSent || response.destroyed) return;
	const status = statusOf(failure, about);
	if (!response.req.complete) response.setHeader('connection', 'close');
	response.req.resume();
	// kubectl tries again by itself when it is told when.
	if (['ERR_BUSY', 'ERR_TOO_MANY_CONNECTIONS', 'ERR_ACTOR_STOPPED', 'ERR_STANDBY'].includes(failure.code))
		response.setHeader('retry-after', '1');
	if (failure.code === 'ERR_UNAUTHORIZED') response.setHeader('www-authenticate', 'Bearer realm="troupe"');
	sendJson(response, status.code, status);
}

/** Notes that kubectl prints as `Warning: ...` (RFC 9110's warn-text). */
export function addWarnings(response: ServerResponse, notes: readonly string[]): void {
	for (const note of notes.slice(0, limits.warnings)) {
		const text = note
			.slice(0, limits.warningCharacters)
			.replace(/[^\x20-\x7e]/g, '?')
			.replace(/[\\"]/g, '\\$&');
		response.appendHeader('warning', `299 - "${text}"`);
	}
}
