// Probes and hooks that go over the network, as the kubelet does them: whatever runs the container, they are the same.
//
// What they keep true: the time is held, an answer comes once, and no socket outlives it.

import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import {limits} from '../api/limits.js';
import {valueOr} from '../api/value-or.js';
import type {ActionResult, ContainerAction} from '../actors/node/runtime/runtime-port.js';
import type {Clock} from '../system/time/clock.js';

type HttpGet = Extract<ContainerAction, {type: 'httpGet'}>;
type TcpSocket = Extract<ContainerAction, {type: 'tcpSocket'}>;
export type NetworkAction = HttpGet | TcpSocket;

type Done = (result: ActionResult) => void;

/** Never fails otherwise than by its result. */
export function runNetworkAction(action: NetworkAction, timeoutMs: number, clock: Clock, done: Done): void {
	let release: () => void = () => undefined;
	let isOver = false;
	const finish = (result: ActionResult): void => {
		if (isOver) return;
		isOver = true;
		cancel();
		release();
		done(result);
	};
	const cancel = clock.after(timeoutMs, () => finish({ok: false, message: `${targetOf(action)}: no answer within ${timeoutMs} ms`}));
	const fail = (error: unknown): void => finish({ok: false, message: `${targetOf(action)}: ${reasonOf(error)}`});
	try {
		release =
			action.type === 'tcpSocket'
				? connect(action, finish, fail)
				: get(action, urlOf(action), limits.actionRedirects, finish, fail, next => (release = next));
		if (isOver) release();
	} catch (error) {
		fail(error);
	}
}

/** What is asked, without what might be secret in a query or a header. */
function targetOf(action: NetworkAction): string {
	if (action.type === 'tcpSocket') return `connect to ${net.isIPv6(action.host) ? `[${action.host}]` : action.host}:${action.port}`;
	return `GET ${action.scheme.toLowerCase()}://${authorityOf(action)}${rooted(action.path).replace(/[?#].*$/s, '')}`.slice(
		0,
		limits.actionOutputBytes,
	);
}

const authorityOf = ({host, port}: HttpGet): string => `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;

const urlOf = (action: HttpGet): URL => new URL(`${action.scheme.toLowerCase()}://${authorityOf(action)}${rooted(action.path)}`);

/** Nothing in a path can make another host of it. */
const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`);

const reasons: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'connection refused',
	ECONNRESET: 'the connection was closed before an answer came',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	ENOTFOUND: 'no such host',
	EPROTO: 'the server does not speak TLS as it should',
	EMFILE: 'the agent has too many files open',
};

function reasonOf(error: unknown): string {
	const {code, message} = error as NodeJS.ErrnoException;
	// Of a wrong header Node tells the name, of its value nothing; OpenSSL's words have more than one line.
	return (code === undefined ? undefined : reasons[code]) ?? (message.split('\n')[0] ?? '').slice(0, limits.actionOutputBytes);
}

type Failed = (error: unknown) => void;

function connect({host, port}: TcpSocket, finish: Done, fail: Failed): () => void {
	const socket = net.connect({host, port});
	socket.once('connect', () => finish({ok: true, message: ''}));
	socket.on('error', fail);
	return () => void socket.destroy();
}

/** `onNext` is told what ends the request that follows a redirect. */
function get(action: HttpGet, url: URL, redirects: number, finish: Done, fail: Failed, onNext: (release: () => void) => void): () => void {
	const isTls = url.protocol === 'https:';
	const request = (isTls ? https : http).request(url, {
		agent: false,
		headers: headersOf(action),
		// A probe asks whether the program answers, not who it is: as the kubelet, which has no authority to check against.
		...(isTls ? {rejectUnauthorized: false} : {}),
	});
	let isLeft = false;
	const failHere: Failed = error => void (isLeft || fail(error));
	request.on('error', failHere);
	request.on('upgrade', (_response, socket) => {
		socket.destroy();
		fail(new Error('the server switched the protocol'));
	});
	request.once('response', response => {
		const {statusCode = 0, headers} = response;
		const next = statusCode >= 300 && statusCode < 400 ? redirectOf(url, headers.location) : undefined;
		response.on('error', failHere);
		if (next?.hostname === url.hostname) {
			isLeft = true;
			request.destroy();
			if (redirects === 0) return fail(new Error(`stopped after ${limits.actionRedirects} redirects`));
			return follow(next);
		}
		// A redirect to another host is not followed: that the program answered so is good enough.
		const result = {ok: statusCode >= 200 && statusCode < 400, message: `${targetOf(action)}: status ${statusCode}`};
		let size = 0;
		response.on('data', (data: Buffer) => void ((size += data.length) > limits.actionBodyBytes && finish(result)));
		response.once('end', () => finish(result));
		response.once('close', () => finish(result));
	});
	request.end();
	return () => void request.destroy();

	function follow(next: URL): void {
		try {
			onNext(get(action, next, redirects - 1, finish, fail, onNext));
		} catch (error) {
			fail(error);
		}
	}
}

function redirectOf(from: URL, location: string | undefined): URL | undefined {
	const next = location === undefined ? undefined : valueOr(undefined, () => new URL(location, from));
	return next?.protocol === 'http:' || next?.protocol === 'https:' ? next : undefined;
}

/** A header that comes twice is sent twice; of several hosts the first counts. */
function headersOf({headers}: HttpGet): Record<string, string | string[]> {
	const all: Record<string, string[]> = {};
	for (const {name, value} of headers) (all[name.toLowerCase()] ??= []).push(value);
	const given = Object.entries(all).map(([name, values]) => [name, values.length === 1 || name === 'host' ? (values[0] ?? '') : values]);
	return {
		'user-agent': 'troupe-probe',
		accept: '*/*',
		connection: 'close',
		...(Object.fromEntries(given) as Record<string, string | string[]>),
	};
}
