// What may be tried of a way: a name, a connection, a route. Each is over within `wayTryMs`, and sends nothing but what is written here.

import {Resolver, lookup} from 'node:dns/promises';
import {request} from 'node:http';
import {connect} from 'node:net';
import {limits} from '../../api/limits.js';
import type {WayTried} from '../../api/way-check.js';
import type {Clock} from '../../system/time/clock.js';

export type PlacedTry =
	/** `server`: whom to ask, `HOST:PORT`; undefined: whom the host's own programs ask. */
	| {readonly type: 'name'; readonly name: string; readonly server?: string | undefined}
	| {readonly type: 'tcp'; readonly address: string; readonly port: number}
	| {readonly type: 'route'; readonly address: string; readonly port: number; readonly host: string; readonly path: string};

/** Never rejects. */
export async function carryOut(placed: PlacedTry, clock: Clock): Promise<WayTried> {
	const giveUp = new AbortController();
	const cancel = clock.after(limits.wayTryMs, () => giveUp.abort());
	try {
		return await Promise.race([tried(placed, giveUp.signal), late(giveUp.signal)]);
	} catch (error) {
		return {ok: false, code: (error as NodeJS.ErrnoException).code ?? 'EFAILED'};
	} finally {
		cancel();
		giveUp.abort();
	}
}

const late = (signal: AbortSignal): Promise<WayTried> =>
	new Promise(resolve => signal.addEventListener('abort', () => resolve({ok: false, code: 'ETIMEDOUT'}), {once: true}));

function tried(placed: PlacedTry, signal: AbortSignal): Promise<WayTried> {
	switch (placed.type) {
		case 'name':
			return resolved(placed, signal);
		case 'tcp':
			return connected(placed, signal);
		case 'route':
			return answered(placed, signal);
	}
}

async function resolved(
	{name, server}: {readonly name: string; readonly server?: string | undefined},
	signal: AbortSignal,
): Promise<WayTried> {
	if (server === undefined) return {ok: true, addresses: (await lookup(name, {family: 4, all: true})).map(({address}) => address)};
	const resolver = new Resolver({timeout: limits.wayTryMs, tries: 1});
	resolver.setServers([server]);
	signal.addEventListener('abort', () => resolver.cancel(), {once: true});
	return {ok: true, addresses: await resolver.resolve4(name)};
}

function connected({address, port}: {readonly address: string; readonly port: number}, signal: AbortSignal): Promise<WayTried> {
	return new Promise((resolve, reject) => {
		const socket = connect({host: address, port});
		signal.addEventListener('abort', () => socket.destroy(), {once: true});
		socket.once('connect', () => resolve({ok: true}));
		socket.once('error', reject);
	});
}

type Routed = {readonly address: string; readonly port: number; readonly host: string; readonly path: string};

/** The router's own pages name the request; what a service answers is not read. */
function answered({address, port, host, path}: Routed, signal: AbortSignal): Promise<WayTried> {
	return new Promise((resolve, reject) => {
		const headers = {host, accept: 'text/plain', 'user-agent': 'troupe-net-check'};
		const asked = request({host: address, port, path, headers, agent: false, signal}, answer => {
			const {statusCode: status = 0} = answer;
			const id = answer.headers['x-request-id'];
			if (status < 400 || typeof id !== 'string' || Number(answer.headers['content-length'] ?? Infinity) > limits.wayAnswerBytes) {
				resolve({ok: true, status});
				return void asked.destroy();
			}
			let text = '';
			answer.setEncoding('utf8');
			answer.on('data', (piece: string) => {
				text += piece;
				if (text.length > limits.wayAnswerBytes) asked.destroy();
			});
			answer.once('close', () => {
				const [page] = text.split('\n');
				const isOwn = text.startsWith(`${status} `) && text.endsWith(`\nrequest id: ${id}\n`);
				resolve({ok: true, status, ...(isOwn ? {page} : {})});
			});
		});
		asked.once('error', reject);
		asked.end();
	});
}
