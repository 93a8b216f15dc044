// How a host becomes a node: it makes sure who is asked before it says the token, and trades the token for a credential of its own.

import {createHash, X509Certificate} from 'node:crypto';
import {request as httpsRequest} from 'node:https';
import {AppError} from '../api/errors.js';
import {pinOfJoinToken} from '../api/join-token.js';
import {caPath, joinPath, type JoinRequest} from '../api/join.js';
import {limits} from '../api/limits.js';
import {isObject} from '../api/object.js';
import {parsedJson, valueOr} from '../api/value-or.js';
import {systemClock} from '../system/time/clock.js';
import {credentialOf, type Credential} from './credential.js';

export type JoinOptions = {
	/** `https://host:port` each; the next is asked where one is not reachable or stands by. */
	readonly servers: readonly string[];
	readonly token: string;
	readonly node: string;
	/** PEM of the authority, instead of the pin in the token. */
	readonly ca: string | undefined;
};

/** Joins at the first server that leads. Throws AppError; nothing was given away to a server that is not the cluster's. */
export async function join(options: JoinOptions): Promise<Credential> {
	let problem: unknown;
	for (const server of options.servers) {
		try {
			return await joinAt(server, options);
		} catch (error) {
			if (!isElsewhere(error)) throw error;
			problem = error;
		}
	}
	throw problem;
}

/** Whether a server still knows the login; undefined where none can be asked. */
export async function isKnown({servers, credential, ca}: Credential): Promise<boolean | undefined> {
	for (const server of servers) {
		try {
			const {status} = await call(server, '/version', {ca, token: credential});
			if (status !== 503) return status !== 401;
		} catch {
			// The next one may be there.
		}
	}
	return undefined;
}

const isElsewhere = (error: unknown): boolean => error instanceof AppError && error.code === 'ERR_NOT_REACHABLE';

async function joinAt(server: string, {token, node, ca: known}: JoinOptions): Promise<Credential> {
	const ca = known ?? (await pinned(server, token));
	const body: JoinRequest = {node};
	const {status, text} = await call(server, joinPath, {ca, token, body: JSON.stringify(body), givenCa: known !== undefined});
	if (status === 503) throw new AppError('ERR_NOT_REACHABLE', {message: `${server} did not take the host: ${messageOf(text)}`});
	if (status === 401)
		throw new AppError('ERR_FORBIDDEN', {
			message: `${server} does not know this token, or it has expired; troupe token create --join makes another`,
		});
	const credential = credentialOf(parsedJson(text));
	if (status !== 201 || credential === undefined)
		throw new AppError('ERR_FORBIDDEN', {message: `${server} did not take the host: ${messageOf(text)}`});
	return credential;
}

/** The authority as the server shows it, once it is the one that the token names. */
async function pinned(server: string, token: string): Promise<string> {
	const pin = pinOfJoinToken(token);
	if (pin === undefined)
		throw new AppError('ERR_USAGE', {
			message: '--token is no join token; troupe token create --join makes one, or --ca names the certificate',
		});
	const {status, text} = await call(server, caPath, {ca: undefined});
	if (status !== 200)
		throw new AppError('ERR_NOT_REACHABLE', {message: `${server} shows no authority (it answered ${status}); is it a cluster's API?`});
	if (fingerprint(text) !== pin)
		throw new AppError('ERR_FORBIDDEN', {
			message: `${server} belongs to another cluster than the token: its authority is another. The token was not sent`,
		});
	return text;
}

const fingerprint = (pem: string): string | undefined =>
	valueOr(undefined, () => createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url'));

type Call = {
	/** Undefined: any server that answers is heard, and nothing is told. */
	readonly ca: string | undefined;
	readonly token?: string;
	readonly body?: string;
	/** The authority is what a person named. */
	readonly givenCa?: boolean;
};

function call(
	server: string,
	path: string,
	{ca, token, body, givenCa = false}: Call,
): Promise<{readonly status: number; readonly text: string}> {
	return new Promise((resolve, reject) => {
		const fail = (error: Error): void => reject(notReachable(server, error, givenCa));
		const headers = {
			...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
			...(body === undefined ? {} : {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)}),
		};
		const trust = ca === undefined ? {rejectUnauthorized: false} : {ca};
		const url = new URL(path, server);
		const sent = httpsRequest(url, {method: body === undefined ? 'GET' : 'POST', headers, agent: false, ...trust}, answer => {
			let text = '';
			answer.setEncoding('utf8');
			answer.on('data', (chunk: string) => {
				text += chunk;
				if (text.length > limits.joinAnswerBytes) answer.destroy(new Error('the answer is too long'));
			});
			answer.on('error', fail);
			answer.on('end', () => resolve({status: answer.statusCode ?? 0, text}));
		});
		// Of the whole answer: one that drips is none either.
		const late = (): void => {
			fail(new Error(`no answer within ${limits.requestTimeoutMs / 1_000} s`));
			sent.destroy();
		};
		sent.once('close', systemClock.after(limits.requestTimeoutMs, late));
		sent.on('error', fail);
		sent.end(body);
	});
}

function notReachable(server: string, error: Error & {readonly code?: string}, givenCa: boolean): AppError {
	return new AppError('ERR_NOT_REACHABLE', {message: `${server} cannot be joined: ${whyNot(error, givenCa)}`}, error);
}

function whyNot({code = '', message}: Error & {readonly code?: string}, givenCa: boolean): string {
	if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
		return `it shows a certificate that does not fit${givenCa ? ' --ca' : ''} (${code}: ${message})`;
	// What OpenSSL says of it is a line for its authors.
	return /^EPROTO$|^ERR_SSL_/.test(code) ? `what listens there does not speak TLS; is it the server's --api port?` : message;
}

function messageOf(text: string): string {
	const body = parsedJson(text);
	return isObject(body) && typeof body['message'] === 'string' ? body['message'] : 'it gave no reason';
}
