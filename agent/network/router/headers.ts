// The header of a request as a service gets it, and of an answer as the client gets it: rebuilt field by field, since what concerns one connection
// has no meaning on another, and what says where a message ends is said once.

import {connectionFields, keptFields, namedByConnection} from '../../../api/connection-fields.js';
import {isLoopback} from '../../../api/loopback.js';

/** Names and values, one after the other, as Node has them. */
export type RawHeaders = readonly string[];

/** Of a client: who asks is said by the router. */
const ofForwarding = new Set(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-real-ip']);

export type Forwarding = {
	readonly client: string;
	readonly protocol: 'http' | 'https';
	/** As the client named it. */
	readonly authority: string;
	/** Where the router listens. */
	readonly port: number;
};

export type Framing = {
	/** The connection is to be kept for others. */
	readonly isKept: boolean;
	/** The body comes in chunks; undefined: as Content-Length says, or there is none. */
	readonly isChunked: boolean;
	/** The protocol that the connection changes to. */
	readonly upgrade: string | undefined;
};

/**
 * What a proxy on this host said before is kept: from loopback the fields of forwarding are taken as they are, and the client is added. From anywhere
 * else they are the client's own words, and left out.
 */
export function requestHeaders(raw: RawHeaders, forwarding: Forwarding, framing: Framing): string[] {
	const {client, protocol, authority, port} = forwarding;
	const isTrusted = isLoopback(client);
	const dropped = namedByConnection(raw);
	const headers = ['Host', authority];
	let [before, seenProtocol, seenHost, seenPort, realIp] = ['', '', '', '', ''];
	for (let i = 0; i < raw.length; i += 2) {
		const [field = '', value = ''] = [raw[i], raw[i + 1]];
		const name = field.toLowerCase();
		if (ofForwarding.has(name)) {
			if (!isTrusted) continue;
			if (name === 'x-forwarded-for') before += before === '' ? value : `, ${value}`;
			else if (name === 'x-forwarded-proto') seenProtocol = value;
			else if (name === 'x-forwarded-host') seenHost = value;
			else if (name === 'x-forwarded-port') seenPort = value;
			else realIp = value;
		} else if (name === 'trailer' && !framing.isChunked) continue;
		else if (name !== 'host' && !connectionFields.has(name) && dropped?.has(name) !== true) headers.push(field, value);
	}
	headers.push('X-Forwarded-For', before === '' ? client : `${before}, ${client}`);
	headers.push('X-Forwarded-Proto', seenProtocol === '' ? protocol : seenProtocol);
	headers.push('X-Forwarded-Host', seenHost === '' ? authority : seenHost);
	headers.push('X-Forwarded-Port', seenPort === '' ? String(port) : seenPort);
	headers.push('X-Real-IP', realIp === '' ? client : realIp);
	if (framing.isChunked) headers.push('Transfer-Encoding', 'chunked');
	if (framing.upgrade === undefined) headers.push('Connection', framing.isKept ? 'keep-alive' : 'close');
	else headers.push('Connection', 'Upgrade', 'Upgrade', framing.upgrade);
	return headers;
}

/** Node says itself how the body ends where no Content-Length does, and whether the connection stays. Trailers need chunks. */
export function answerHeaders(raw: RawHeaders, isChunked: boolean): string[] {
	const dropped = namedByConnection(raw);
	const headers: string[] = [];
	for (let i = 0; i < raw.length; i += 2) {
		const [field = '', value = ''] = [raw[i], raw[i + 1]];
		const name = field.toLowerCase();
		if (name === 'trailer' && !isChunked) continue;
		if (!connectionFields.has(name) && dropped?.has(name) !== true) headers.push(field, value);
	}
	return headers;
}

/** Without those of which this is so; the name is in lower case. */
export const headersWithout = (raw: RawHeaders, isLeftOut: (name: string) => boolean): RawHeaders =>
	raw.filter((_, i) => !isLeftOut((raw[i - (i % 2)] ?? '').toLowerCase()));

/** Who merges trailers into the header would believe these (RFC 9110 section 6.5.1). */
const neverTrailers = new Set([...connectionFields, ...ofForwarding, ...keptFields, 'trailer', 'expect', 'forwarded', 'set-cookie']);

/** Of a request or an answer: as pairs, without fields that only a header may have. */
export function trailersOf(raw: RawHeaders): [name: string, value: string][] {
	const pairs = Array.from({length: raw.length / 2}, (_, i): [string, string] => [raw[2 * i] ?? '', raw[2 * i + 1] ?? '']);
	return pairs.filter(([name]) => !neverTrailers.has(name.toLowerCase()));
}
