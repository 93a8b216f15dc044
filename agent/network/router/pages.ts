// What a client reads where no service answers: text, or a small page for browsers. It says what to do, and nothing of what else there is.

import {STATUS_CODES, type IncomingMessage, type ServerResponse} from 'node:http';
import {shown} from '../../../api/shown.js';
import type {Backend} from './routes.js';
import type {RequestTarget} from './request-path.js';

/** Why the router answers itself. */
export type Refusal = {readonly status: number; readonly words: string};

export const badRequest = (words: string): Refusal => ({status: 400, words});
export const noRoute = ({host, path}: RequestTarget): Refusal => ({
	status: 404,
	words: `no Dns and no Ingress has a route for ${shown(path)} of ${host === '' ? 'a request without a host' : shown(host)}`,
});
export const noEndpoints = (backend: Backend): Refusal => ({
	status: 503,
	words: `${serviceText(backend)} has no ready endpoint that this node reaches`,
});
export const notReached = (backend: Backend): Refusal => ({status: 502, words: `no endpoint of ${serviceText(backend)} could be reached`});
export const brokenAnswer = (backend: Backend): Refusal => ({
	status: 502,
	words: `an endpoint of ${serviceText(backend)} ended or broke the connection instead of answering`,
});
export const noAnswer = (backend: Backend): Refusal => ({
	status: 504,
	words: `an endpoint of ${serviceText(backend)} did not answer in time`,
});

const serviceText = ({namespace, service}: Backend): string => `service ${namespace}/${service}`;

/** `id` is in the access log, too. Nothing of the answer may have been sent. */
export function sendPage(request: IncomingMessage, response: ServerResponse, {status, words}: Refusal, id: string): void {
	const isHtml = /\btext\/html\b/i.test(request.headers.accept ?? '');
	const body = isHtml ? htmlOf(status, words, id) : `${status} ${STATUS_CODES[status] ?? ''}: ${words}\nrequest id: ${id}\n`;
	response.writeHead(status, [
		'Content-Type',
		isHtml ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8',
		'Content-Length',
		String(Buffer.byteLength(body)),
		'Cache-Control',
		'no-store',
		'X-Content-Type-Options',
		'nosniff',
		'X-Request-Id',
		id,
		...(status === 503 ? ['Retry-After', '1'] : []),
		// What is left of a body that nobody reads must not be taken for the next request.
		...(request.complete || !hasBody(request) ? [] : ['Connection', 'close']),
	]);
	response.end(request.method === 'HEAD' ? undefined : body);
}

/** Whether a request says that it has a body. */
export const hasBody = ({headers}: IncomingMessage): boolean =>
	headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0');

const htmlOf = (status: number, words: string, id: string): string => {
	const title = `${status} ${STATUS_CODES[status] ?? ''}`;
	return `<!doctype html>\n<meta charset="utf-8">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${escaped(words)}</p>\n<p><small>request id: ${escaped(id)}</small></p>\n`;
};

const characters: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
const escaped = (text: string): string => text.replace(/[&<>"']/g, character => characters[character] ?? '');

/** For a connection that speaks no HTTP, or not as much as it would have to. */
export const rawPage = (status: number, words: string): string => {
	const body = `${status} ${STATUS_CODES[status] ?? ''}: ${words}\n`;
	const lines = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
		'Content-Type: text/plain; charset=utf-8',
		`Content-Length: ${Buffer.byteLength(body)}`,
		'Connection: close',
	];
	return `${lines.join('\r\n')}\r\n\r\n${body}`;
};
