// An agent's own door for a scraper on its host: `/metrics` over plain http on loopback, for who shows the token. There is none unless it is asked for.
//
// Nothing is read but the head of a request; an answer is made once at a time, however many ask.

import {createHash, timingSafeEqual} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import http from 'node:http';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {AppError} from '../api/errors.js';
import type {HostPort} from '../api/host-port.js';
import {limits} from '../api/limits.js';
import {metricsPath, metricsType} from '../api/metrics.js';
import {writeFileAtomic} from '../system/files/atomic-file.js';
import {hasCode} from '../system/files/errno.js';

export type MetricsDoor = {readonly port: number; readonly close: () => Promise<void>};

/** Opens it. Throws an AppError where the place cannot be had. */
export async function openMetricsDoor(place: HostPort, token: string, scrape: () => Promise<string>): Promise<MetricsDoor> {
	const wanted = hashOf(token);
	let making: Promise<string> | undefined;
	const shared = (): Promise<string> => (making ??= scrape().finally(() => (making = undefined)));
	const server = http.createServer(
		{headersTimeout: limits.httpHeadersMs, requestTimeout: limits.httpRequestMs, connectionsCheckingInterval: limits.httpCheckMs},
		(request, response) => void answer(request, response, wanted, shared),
	);
	server.maxConnections = limits.metricsConnections;
	server.keepAliveTimeout = limits.httpKeepAliveMs;
	server.timeout = limits.httpStallMs;
	await new Promise<void>((resolve, reject) => {
		server.once('error', error => reject(new AppError('ERR_NOT_REACHABLE', {message: `--metrics: ${error.message}`}, error)));
		server.listen({host: place.host, port: place.port}, resolve);
	});
	return {
		port: (server.address() as AddressInfo).port,
		close: () =>
			new Promise(resolve => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

async function answer(request: IncomingMessage, response: ServerResponse, wanted: Buffer, scrape: () => Promise<string>): Promise<void> {
	request.on('error', () => undefined);
	response.on('error', () => undefined);
	// A body is never read.
	if (!request.complete && (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined))
		response.shouldKeepAlive = false;
	const [, shown = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
	if (!timingSafeEqual(hashOf(shown), wanted)) {
		response.setHeader('www-authenticate', 'Bearer realm="troupe"');
		return send(response, 401, plain, 'a token must be shown, as in: Authorization: Bearer TOKEN\n');
	}
	if ((request.url ?? '').split('?', 1)[0] !== metricsPath)
		return send(response, 404, plain, `there is ${metricsPath} here and nothing else\n`);
	if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, plain, 'only GET\n');
	try {
		send(response, 200, metricsType, await scrape());
	} catch {
		send(response, 503, plain, 'the figures cannot be collected now\n');
	}
}

const plain = 'text/plain; charset=utf-8';

function send(response: ServerResponse, status: number, type: string, text: string): void {
	response.writeHead(status, {
		'content-type': type,
		'content-length': Buffer.byteLength(text),
		'cache-control': 'no-store',
		'x-content-type-options': 'nosniff',
	});
	response.end(text);
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The token in the file; where there is no such file, one that is made and written there. Throws an AppError where it holds none. */
export async function metricsTokenIn(file: string, make: (() => string) | undefined): Promise<string> {
	try {
		const token = (await readFile(file, 'utf8')).trim();
		if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
		throw new AppError('ERR_USAGE', {message: `${file} must hold a token: one line of 16 to 512 characters without blanks`});
	} catch (error) {
		if (error instanceof AppError) throw error;
		if (make === undefined || !hasCode(error, 'ENOENT'))
			throw new AppError('ERR_USAGE', {message: `${file} cannot be read: ${(error as Error).message}`}, error);
		const token = make();
		await writeFileAtomic(file, `${token}\n`, 0o600);
		return token;
	}
}
