// The connection of a beat: one broker after another until one takes it, and again when it is lost or answers no more. Nothing
// goes out on it while the main loop stands still, no ping and no new connection either: it would look like life.

import {Buffer} from 'node:buffer';
import {connect as connectTcp, type Socket} from 'node:net';
import {connect as connectTls} from 'node:tls';
import {formatClientId} from '../api/client-id.js';
import {limits} from '../api/limits.js';
import {isStill, redialOf, startBeat} from './beat.js';
import type {Cancel, Clock} from './clock.js';
import {connackBytes, connackCode, connectFrame, disconnectFrame, pingFrame, publishFrame} from './mqtt-frames.js';

export type BeatLineOptions = {
	/** `mqtt://host:port` or `mqtts://host:port`; asked before each attempt. */
	readonly servers: () => readonly string[];
	readonly node: string;
	readonly password: string;
	readonly boot: string;
	readonly ca?: string | undefined;
	readonly clock: Clock;
	/** How long the main loop has not moved. */
	readonly stillMs: () => number;
	/** The connection stands, or is lost: then others may beat in its place. */
	readonly onLine?: (stands: boolean) => void;
	/** The broker took the connection and then answered no more. */
	readonly onSilent?: () => void;
};

/** What waits in a socket that takes nothing: some minutes of beats. */
const stuckBytes = 65_536;

/** Beats until cancelled. */
export function openBeatLine(options: BeatLineOptions): Cancel {
	const {clock, node, boot, stillMs, onLine, onSilent} = options;
	let line: Line | undefined;
	/** Which server is next, and how many were tried in vain. */
	let aim = 0;
	let failures = 0;
	let cancelNext: Cancel | undefined;

	const attempt = (): void => {
		cancelNext = undefined;
		const servers = options.servers();
		const url = servers[aim % servers.length];
		aim += 1;
		if (url === undefined || !URL.canParse(url) || isStill(stillMs())) return again(limits.movementMs);
		failures += 1;
		const redial = redialOf(failures, Math.ceil(failures / servers.length));
		line = openLine(url, redial.connectMs, options, {
			ready() {
				failures = 0;
				onLine?.(true);
			},
			silent: () => onSilent?.(),
			closed(wasReady) {
				line = undefined;
				if (wasReady) onLine?.(false);
				again(wasReady ? limits.linkReconnectFirstMs : redial.waitMs);
			},
		});
	};
	const again = (delayMs: number): void => {
		cancelNext = clock.after(delayMs, attempt);
	};

	attempt();
	const cancelBeat = startBeat({node, boot, clock, stillMs, publish: (topic, payload) => line?.publish(topic, payload)});
	return () => {
		cancelBeat();
		cancelNext?.();
		line?.close();
	};
}

type Line = {readonly publish: (topic: string, payload: string) => void; readonly close: () => void};
type LineEvents = {readonly ready: () => void; readonly silent: () => void; readonly closed: (wasReady: boolean) => void};

function openLine(url: string, connectMs: number, {clock, node, boot, password, ca, stillMs}: BeatLineOptions, on: LineEvents): Line {
	const {socket, opened} = dial(url, ca);
	let ready = false;
	let open = true;
	let heardMs = clock.monotonicMs();
	let answer: Buffer = Buffer.alloc(0);
	let cancelTimer = clock.after(connectMs, () => socket.destroy());

	/** Asks whether the broker is there, and gives up when it has not answered for long. */
	const ping = (): void => {
		cancelTimer = clock.after(limits.beatPingMs, ping);
		// Nothing was asked meanwhile, so nothing was answered.
		if (isStill(stillMs())) heardMs = clock.monotonicMs();
		else if (clock.monotonicMs() - heardMs < limits.beatSilenceMs) socket.write(pingFrame);
		else {
			on.silent();
			socket.destroy();
		}
	};
	const hear = (chunk: Buffer): void => {
		heardMs = clock.monotonicMs();
		if (ready) return;
		answer = Buffer.concat([answer, chunk.subarray(0, connackBytes)]);
		if (answer.length < connackBytes) return;
		if (connackCode(answer) !== 0) return void socket.destroy();
		ready = true;
		cancelTimer();
		ping();
		on.ready();
	};

	const keepAliveSeconds = limits.linkKeepAliveSeconds;
	socket.once(opened, () => {
		socket.setNoDelay(true);
		socket.write(connectFrame({clientId: formatClientId(node, boot, 'beat'), username: node, password, keepAliveSeconds}));
	});
	socket.on('data', hear);
	socket.on('error', () => socket.destroy());
	socket.once('close', () => {
		const wasReady = ready;
		ready = false;
		cancelTimer();
		if (open) on.closed(wasReady);
	});
	return {
		publish(topic, payload) {
			if (!ready) return;
			if (socket.writableLength > stuckBytes) socket.destroy();
			else socket.write(publishFrame(topic, payload));
		},
		close() {
			open = false;
			socket.end(ready ? disconnectFrame : '');
			cancelTimer();
			cancelTimer = clock.after(limits.linkCloseMs, () => socket.destroy());
		},
	};
}

function dial(url: string, ca: string | undefined): {readonly socket: Socket; readonly opened: 'connect' | 'secureConnect'} {
	const {protocol, hostname, port} = new URL(url);
	const host = hostname.replace(/^\[|\]$/g, '');
	if (protocol !== 'mqtts:') return {socket: connectTcp({host, port: Number(port)}), opened: 'connect'};
	const options = {host, port: Number(port), ALPNProtocols: ['mqtt'], ...(ca === undefined ? {} : {ca})};
	return {socket: connectTls(isAddress(host) ? options : {...options, servername: host}), opened: 'secureConnect'};
}

/** An address is no name that TLS could ask for (RFC 6066, 3). */
const isAddress = (host: string): boolean => host.includes(':') || /^[\d.]+$/.test(host);
