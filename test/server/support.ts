// Things the tests of this folder share: a directory of their own, plain requests, and certificates in memory.

import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import type {IncomingMessage, OutgoingHttpHeaders, RequestOptions} from 'node:http';
import https from 'node:https';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {Kept, Vault} from '../../server/vault.js';

/** A directory that is removed with the test. */
export async function directory(t: ExecutionContext): Promise<string> {
	const made = await mkdtemp(path.join(tmpdir(), 'troupe-server-'));
	t.teardown(() => rm(made, {recursive: true, force: true}));
	return made;
}

/** A store of sealed values in memory. */
export function keptInMemory(): Kept & {readonly values: Map<string, string>} {
	const values = new Map<string, string>();
	return {
		values,
		get: name => values.get(name),
		put(name, value) {
			values.set(name, value);
			return Promise.resolve();
		},
	};
}

/** A vault that seals nothing: for what only needs a place. */
export const plainVault = (): Vault => keptInMemory();

/** Those of a cluster and of one of its servers. */
export const vaults = () => ({cluster: plainVault(), own: plainVault()});

export type Answer = {
	readonly status: number;
	readonly headers: IncomingMessage['headers'];
	readonly text: string;
};

export type Ask = Omit<RequestOptions, 'headers'> & {
	readonly headers?: OutgoingHttpHeaders;
	readonly body?: string | Buffer;
	readonly ca?: string;
	readonly rejectUnauthorized?: boolean;
};

/** One request and its whole answer. */
export function ask(url: string, {body, headers, ...options}: Ask = {}): Promise<Answer> {
	// Node sends the body of a DELETE without its length, which is no message.
	const length = body === undefined ? {} : {'content-length': Buffer.byteLength(body)};
	const client = url.startsWith('https:') ? https : http;
	return new Promise((resolve, reject) => {
		const request = client.request(url, {agent: false, ...options, headers: {...headers, ...length}}, response => {
			const chunks: Buffer[] = [];
			response.on('data', (chunk: Buffer) => chunks.push(chunk));
			response.on('error', reject);
			response.on('end', () =>
				resolve({status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8')}),
			);
		});
		request.on('error', reject);
		request.end(body);
	});
}
