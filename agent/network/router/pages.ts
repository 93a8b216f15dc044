// What a client reads where no service answers: text, or a small page for browsers. It says what to do, and nothing of what else there is.

import {STATUS_CODES, type IncomingMessage, type ServerResponse} from 'node:http';
import {shown} from '../../../api/shown.js';
import {isFunction, type Backend, type FunctionBackend, type RoutedBackend} from './routes.js';
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
export const brokenAnswer = (backend: RoutedBackend): Refusal => ({
	status: 502,
	words: `${oneOf(backend)} ended or broke the connection instead of answering`,
});
export const noAnswer = (backend: RoutedBackend): Refusal => ({status: 504, words: `${oneOf(backend)} did not answer in time`});
export const noServer = (backend: FunctionBackend): Refusal => ({
	status: 503,
	words: `no server answers that calls ${functionText(backend)}, and no instance of it on this node takes a call`,
});
export const tooManyCalls: Refusal = {status: 503, words: 'this node has as many calls of functions under way as it may'};

/** Of a server that has an answer of its own, in words that tell nothing of what is behind it. */
export function notCalled(backend: FunctionBackend, status: number): Refusal {
	const name = functionText(backend);
	switch (status) {
		case 404:
			return {status, words: `there is no ${name}`};
		case 405:
			return {status, words: `${name} is called by GET, POST, PUT, PATCH and DELETE`};
		case 413:
			return {status, words: `the body is larger than ${name} takes`};
		case 429:
			return {status, words: `${name} has as many calls waiting as it may`};
		case 431:
			return {status, words: 'the header of the request is too large for a function'};
		case 502:
			return brokenAnswer(backend);
		case 504:
			return noAnswer(backend);
		case 503:
			return {status, words: `${name} has no instance that takes the call`};
		default:
			return {status: 503, words: `the servers do not call ${name} for this node`};
	}
}

const oneOf = (backend: RoutedBackend): string =>
	isFunction(backend) ? `an instance of ${functionText(backend)}` : `an endpoint of ${serviceText(backend)}`;

const functionText = ({namespace, function: name}: FunctionBackend): string => `function ${namespace}/${name}`;

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
		...(status === 503 || status === 429 ? ['Retry-After', '1'] : []),
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
