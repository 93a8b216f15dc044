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
	let ownAddress: string | undefined;
	// Made once: it costs more than the rest of an attempt.
	const secureContext = createSecureContext(options.ca === undefined ? {} : {ca: options.ca});
	const parts = {...options, lookup, secureContext, onReady: (address: string | undefined) => void (ownAddress = address)};
	return {
		dial(url, lane, on) {
			if (URL.canParse(url)) return openSocket(new URL(url), lane, parts, on);
			const cancel = options.clock.after(0, on.closed);
			return {say: () => undefined, close: cancel, abandon: cancel};
		},
		/** The address that the last connection came from is on no network that is up. */
		isAway: () => ownAddress !== undefined && !ownAddresses().includes(ownAddress),
	};
}

/** Those on a network that is up: without a carrier there are none. */
const ownAddresses = (): readonly string[] => Object.values(networkInterfaces()).flatMap(each => (each ?? []).map(({address}) => address));

type SocketParts = BeatSocketOptions & {
	readonly lookup: LookupFunction;
	readonly secureContext: SecureContext;
	readonly onReady: (address: string | undefined) => void;
};

function openSocket(
	{protocol, hostname, port}: URL,
	lane: string,
	{node, boot, password, clock, lookup, secureContext, onReady}: SocketParts,
	on: BeatConnectionEvents,
): BeatConnection {
	const host = hostname.replace(/^\[|\]$/g, '');
	const tcp = connectTcp({host, port: Number(port), lookup, noDelay: true});
	let socket = tcp;
	let ready = false;
	let open = true;
	let answer: Buffer = Buffer.alloc(0);

	const hear = (chunk: Buffer): void => {
		if (!open) return;
		if (ready) return on.heard();
		answer = Buffer.concat([answer, chunk.subarray(0, connackBytes)]);
		if (answer.length < connackBytes) return;
		if (connackCode(answer) !== 0) return void socket.destroy();
		ready = true;
		onReady(tcp.localAddress);
		on.ready();
	};
	const logIn = (): void => {
		const clientId = formatClientId(node, boot, lane);
		socket.on('data', hear);
		socket.write(connectFrame({clientId, username: node, password, keepAliveSeconds: limits.linkKeepAliveSeconds}));
	};
	const watch = (each: Socket): void => {
		each.on('error', () => tcp.destroy());
		each.once('close', () => {
			if (!open) return;
			open = false;
			tcp.destroy();
			on.closed();
		});
	};
	watch(tcp);
	tcp.once('connect', () => {
		if (!open) return;
		on.reached();
		if (protocol !== 'mqtts:') return logIn();
		const name = isIP(host) === 0 ? {servername: host} : {}; // An address is no name that TLS could ask for (RFC 6066, 3).
		socket = connectTls({socket: tcp, ALPNProtocols: ['mqtt'], host, ...name, secureContext});
		watch(socket);
		socket.once('secureConnect', () => open && logIn());
	});
	return {
		say(topic, payload) {
			if (socket.writableLength > stuckBytes) socket.destroy();
			else socket.write(Buffer.concat([publishFrame(topic, payload), pingFrame]));
		},
		abandon() {
			open = false;
			if (tcp.connecting || tcp.destroyed) tcp.destroy();
			else tcp.resetAndDestroy();
		},
		close() {
			open = false;
			socket.end(disconnectFrame);
			tcp.once(
				'close',
				clock.after(limits.linkCloseMs, () => tcp.destroy()),
			);
		},
	};
}
