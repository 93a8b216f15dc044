// A beat's connection over TCP or TLS, with the few packets of MQTT that it needs.

import {Buffer} from 'node:buffer';
import {connect as connectTcp, isIP, type LookupFunction, type Socket} from 'node:net';
import {networkInterfaces} from 'node:os';
import {connect as connectTls, createSecureContext, type SecureContext} from 'node:tls';
import {formatClientId} from '../../api/client-id.js';
import {limits} from '../../api/limits.js';
import type {BeatConnection, BeatConnectionEvents, BeatDial} from './beat-dialler.js';
import type {Clock} from '../time/clock.js';
import {connackBytes, connackCode, connectFrame, disconnectFrame, pingFrame, publishFrame} from './mqtt-frames.js';
import {createLookup} from '../links/remembered-lookup.js';

export type BeatSocketOptions = {
	readonly node: string;
	readonly password: string;
	readonly boot: string;
	/** PEM of the cluster's authority. */
	readonly ca?: string | undefined;
	readonly clock: Clock;
};

/** What waits in a socket that takes nothing: some minutes of beats. */
const stuckBytes = 65_536;

/** Dials `mqtt://host:port` and `mqtts://host:port`; anything else is as good as refused. */
export function beatSockets(options: BeatSocketOptions): {readonly dial: BeatDial; readonly isAway: () => boolean} {
	const lookup = createLookup();
	let last: LastWay | undefined;
	// Made once: it costs more than the rest of an attempt.
	const secureContext = createSecureContext(options.ca === undefined ? {} : {ca: options.ca});
	const parts = {...options, lookup, secureContext, onReady: (own: string | undefined) => void (last = {own, others: ownAddresses()})};
	return {
		dial(url, lane, on) {
			if (URL.canParse(url)) return new BeatSocket(new URL(url), lane, parts, on);
			const cancel = options.clock.after(0, on.closed);
			return {say: () => undefined, close: cancel, abandon: cancel};
		},
		isAway: () => last !== undefined && isAway(last, ownAddresses()),
	};
}

/** The address that the last connection came from, and all that the host had then. */
export type LastWay = {readonly own: string | undefined; readonly others: readonly string[]};

/** The address of the last connection is on no network that is up, and no other one has come: that is what a host with a new address has. */
export const isAway = ({own, others}: LastWay, now: readonly string[]): boolean =>
	own !== undefined && !now.includes(own) && now.every(each => others.includes(each));

/** Those on a network that is up: without a carrier there are none. */
const ownAddresses = (): readonly string[] => Object.values(networkInterfaces()).flatMap(each => (each ?? []).map(({address}) => address));

type SocketParts = BeatSocketOptions & {
	readonly lookup: LookupFunction;
	readonly secureContext: SecureContext;
	readonly onReady: (address: string | undefined) => void;
};

class BeatSocket implements BeatConnection {
	readonly #parts: SocketParts;
	readonly #lane: string;
	readonly #on: BeatConnectionEvents;
	readonly #host: string;
	readonly #tcp: Socket;
	/** What is above it, with TLS. */
	#socket: Socket;
	#ready = false;
	#open = true;
	#answer: Buffer = Buffer.alloc(0);

	constructor({protocol, hostname, port}: URL, lane: string, parts: SocketParts, on: BeatConnectionEvents) {
		this.#parts = parts;
		this.#lane = lane;
		this.#on = on;
		this.#host = hostname.replace(/^\[|\]$/g, '');
		this.#tcp = connectTcp({host: this.#host, port: Number(port), lookup: parts.lookup, noDelay: true});
		this.#socket = this.#tcp;
		this.#watch(this.#tcp);
		this.#tcp.once('connect', () => this.#begin(protocol === 'mqtts:'));
	}

	say(topic: string, payload: string): void {
		if (this.#socket.writableLength > stuckBytes) this.#socket.destroy();
		else this.#socket.write(Buffer.concat([publishFrame(topic, payload), pingFrame]));
	}

	abandon(): void {
		this.#open = false;
		if (this.#tcp.connecting || this.#tcp.destroyed) this.#tcp.destroy();
		else this.#tcp.resetAndDestroy();
	}

	close(): void {
		this.#open = false;
		this.#socket.end(disconnectFrame);
		this.#tcp.once(
			'close',
			this.#parts.clock.after(limits.linkCloseMs, () => this.#tcp.destroy()),
		);
	}

	#watch(each: Socket): void {
		each.on('error', () => this.#tcp.destroy());
		each.once('close', () => {
			if (!this.#open) return;
			this.#open = false;
			this.#tcp.destroy();
			this.#on.closed();
		});
	}

	#begin(hasTls: boolean): void {
		if (!this.#open) return;
		this.#on.reached();
		if (!hasTls) return this.#logIn();
		const host = this.#host;
		const name = isIP(host) === 0 ? {servername: host} : {}; // An address is no name that TLS could ask for (RFC 6066, 3).
		this.#socket = connectTls({socket: this.#tcp, ALPNProtocols: ['mqtt'], host, ...name, secureContext: this.#parts.secureContext});
		this.#watch(this.#socket);
		this.#socket.once('secureConnect', () => this.#open && this.#logIn());
	}

	#logIn(): void {
		const {node, boot, password} = this.#parts;
		const clientId = formatClientId(node, boot, this.#lane);
		this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk));
		this.#socket.write(connectFrame({clientId, username: node, password, keepAliveSeconds: limits.linkKeepAliveSeconds}));
	}

	#hear(chunk: Buffer): void {
		if (!this.#open) return;
		if (this.#ready) return this.#on.heard();
		this.#answer = Buffer.concat([this.#answer, chunk.subarray(0, connackBytes)]);
		if (this.#answer.length < connackBytes) return;
		if (connackCode(this.#answer) !== 0) return void this.#socket.destroy();
		this.#ready = true;
		this.#parts.onReady(this.#tcp.localAddress);
		this.#on.ready();
	}
}
