// A request at a door, as a caller of a function. Both ways are streams; of the body only its beginning is kept, as long as it may be sent again.

import type {IncomingMessage, OutgoingHttpHeaders, ServerResponse} from 'node:http';
import {connectionFields, namedByConnection} from '../../api/connection-fields.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Identity} from '../../api/roles.js';
import {answeredHeader, clientAuthorization} from '../../api/routed-call.js';
import {systemRandom} from '../../system/time/random.js';
import {ClientGone} from '../http/body.js';
import type {Caller} from './caller.js';

/** A request at a door. */
export type IncomingCall = {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly method: string;
	/** Who calls. */
	readonly identity: Pick<Identity, 'name'>;
};

/** Once the beginning of the body is there; `path` is what the function sees. Throws AppError for a body that is too large. */
export const httpCaller = (incoming: IncomingCall, path: string): Promise<Caller> =>
	callerOf(incoming, path, {headersOf: requestHeaders, onAnswer: () => undefined});

/** The same of a request that a router has passed on: the function sees what its client has sent, and what is the answer of it is marked. */
export const routedCaller = (incoming: IncomingCall, path: string): Promise<Caller> =>
	callerOf(incoming, path, {
		headersOf: routedHeaders,
		onAnswer: () => void incoming.response.setHeader(answeredHeader, 'yes'),
	});

type CallerParts = {
	readonly headersOf: (request: IncomingMessage, id: string) => OutgoingHttpHeaders;
	/** Before it is passed on. */
	readonly onAnswer: () => void;
};

async function callerOf({request, response, method, identity}: IncomingCall, path: string, parts: CallerParts): Promise<Caller> {
	const {beginning, isWhole} = await beginningOf(request);
	const id = systemRandom.uuid();
	return {
		id,
		door: `http ${identity.name}`,
		method,
		path,
		headers: parts.headersOf(request, id),
		beginning,
		rest: isWhole ? undefined : request,
		take(answer) {
			parts.onAnswer();
			return passOn(answer, response);
		},
		hasBegun: () => response.headersSent,
		isGone: () => response.destroyed,
		cut: () => void response.destroy(),
		whenOver(callback) {
			const over = (): void => callback(response.writableFinished);
			response.once('close', over);
			return () => void response.off('close', over);
		},
	};
}

/** A small body is read to its end before anything waits for it. */
async function beginningOf(request: IncomingMessage): Promise<{readonly beginning: Buffer; readonly isWhole: boolean}> {
	if (Number(request.headers['content-length'] ?? 0) > limits.functionBodyBytes)
		throw new AppError('ERR_TOO_LARGE', {message: `the body is larger than ${limits.functionBodyBytes} bytes`});
	const chunks: Buffer[] = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		const done = (isWhole: boolean): void => {
			request.pause();
			request.off('data', take).off('end', whole).off('close', broken).off('error', broken);
			resolve({beginning: Buffer.concat(chunks), isWhole});
		};
		const take = (chunk: Buffer): void => {
			chunks.push(chunk);
			bytes += chunk.length;
			if (bytes > limits.functionKeptBodyBytes) done(false);
		};
		const whole = (): void => done(true);
		const broken = (): void => reject(new ClientGone('the client closed the connection'));
		request.on('data', take).on('end', whole).on('close', broken).on('error', broken);
	});
}

async function passOn(answer: IncomingMessage, response: ServerResponse): Promise<void> {
	response.writeHead(answer.statusCode ?? 502, passedOn(answer));
	// Of an answer that streams the head may be all that there is for long.
	if (answer.headers['content-length'] === undefined) response.flushHeaders();
	await new Promise<void>((resolve, reject) => {
		answer.once('error', reject);
		response.once('finish', resolve);
		response.once('close', resolve);
		answer.pipe(response);
	});
}

/** Whose token it is, is nothing for the function; a body that its sender wanted to be asked for is wanted. */
const ofCaller = new Set(['authorization', 'expect', 'host', 'x-forwarded-for', 'x-real-ip']);

function requestHeaders(request: IncomingMessage, id: string): OutgoingHttpHeaders {
	const {headers, socket} = request;
	return {
		...passedOn(request, name => !ofCaller.has(name)),
		...(headers['transfer-encoding'] === undefined ? {} : {'transfer-encoding': 'chunked'}),
		host: 'function',
		'x-request-id': headers['x-request-id'] ?? id,
		'x-forwarded-for': socket.remoteAddress ?? '',
	};
}

/** What the router says of the client stays; in the place of the node's own login comes what its client has sent. */
const ofNode = new Set(['authorization', 'expect', clientAuthorization]);

function routedHeaders(request: IncomingMessage, id: string): OutgoingHttpHeaders {
	const {headers} = request;
	const authorization = headers[clientAuthorization];
	return {
		...passedOn(request, name => !ofNode.has(name)),
		...(headers['transfer-encoding'] === undefined ? {} : {'transfer-encoding': 'chunked'}),
		...(authorization === undefined ? {} : {authorization: String(authorization)}),
		'x-request-id': headers['x-request-id'] ?? id,
	};
}

function passedOn({headers, rawHeaders}: IncomingMessage, isMeant: (name: string) => boolean = () => true): OutgoingHttpHeaders {
	const dropped = namedByConnection(rawHeaders);
	const isKept = (name: string): boolean =>
		!connectionFields.has(name) && name !== 'trailer' && dropped?.has(name) !== true && isMeant(name);
	return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}
