// The link of a system that reaches the others through a broker, over TCP, TLS or WebSocket. Only this file imports mqtt.
//
// MQTT is transport, not truth: clean sessions, QoS 0, nothing queued while away and nothing beyond a bound while slow. The
// stream above numbers, acknowledges and sends again.

import {Socket} from 'node:net';
import mqtt, {type IClientOptions, type MqttClient} from 'mqtt';
import {limits} from '../api/limits.js';
import {inboxFilter} from '../api/topics.js';
import {inboxTopic, senderOf} from './broker/broker-link.js';
import {decodePacket, encodePacket} from './broker/packet-codec.js';
import type {Link, Packet} from './link.js';

export type MqttLinkOptions = {
	/** `mqtt://host:port`, `mqtts://…`, `ws://host:port/mqtt` or `wss://…`. */
	readonly url: string;
	/** The name of this system; also the login. */
	readonly self: string;
	readonly password: string;
	/** Unique per process start, so that a double of this system is refused or seen, and never takes turns with it. */
	readonly clientId: string;
	/** PEM of the authority that signed the broker's certificate. */
	readonly ca?: string;
	/** Published by the broker when this connection breaks. */
	readonly will?: {readonly topic: string; readonly payload: string; readonly retain: boolean};
	/** After each (re)connect, once the inbox is subscribed. */
	readonly onConnected?: () => void;
	readonly onDisconnected?: () => void;
	/** Why it is not connected, in words without secrets. */
	readonly onProblem?: (problem: string) => void;
};

export type MqttLinkCounters = {
	readonly connects: number;
	/** Arrived and was no packet. */
	readonly garbage: number;
	/** Not sent: no connection, too much waiting already, or larger than a packet may be. */
	readonly dropped: number;
};

export type MqttLink = Link & {
	readonly connected: () => boolean;
	readonly counters: () => MqttLinkCounters;
	/** Other topics of this system: presence, beat, metrics. Lost like a packet when there is no connection. */
	readonly publish: (topic: string, payload: string, options: {readonly retain: boolean}) => void;
};

/** What an MQTT packet has around its payload, the topic aside. */
const headerBytes = 16;

/** Connects, and goes on doing so with growing pauses, until closed. Throws on a URL that is none of the four. */
export function connectMqttLink(options: MqttLinkOptions): MqttLink {
	const {self} = options;
	const client = mqtt.connect(options.url, connectOptions(options));
	const counters = {connects: 0, garbage: 0, dropped: 0};
	let listener: ((from: string, packet: Packet) => void) | undefined;
	let ready = false;

	const fits = (topic: string, payload: Buffer): boolean =>
		payload.length + Buffer.byteLength(topic) + headerBytes <= limits.packetBytes &&
		client.stream.writableLength <= limits.clientBufferBytes;
	const publish = (topic: string | undefined, payload: Buffer, retain: boolean): void => {
		if (ready && topic !== undefined && fits(topic, payload)) client.publish(topic, payload, {qos: 0, retain});
		else counters.dropped += 1;
	};

	client.on('connect', () => {
		counters.connects += 1;
		setNoDelay(client);
		client.options.reconnectPeriod = limits.linkReconnectFirstMs;
		client.subscribe(inboxFilter(self), {qos: 0}, error => {
			if (error !== null) return options.onProblem?.(`the inbox of "${self}" could not be subscribed: ${error.message}`);
			ready = true;
			options.onConnected?.();
		});
	});
	// Said before the attempt; the pause counts for the next one.
	client.on('reconnect', () => {
		client.options.reconnectPeriod = Math.min((client.options.reconnectPeriod ?? 0) * 2, limits.linkReconnectMaxMs);
	});
	client.on('close', () => {
		if (ready) options.onDisconnected?.();
		ready = false;
	});
	client.on('error', error => options.onProblem?.(error.message));
	client.on('message', (topic, payload) => {
		const packet = decodePacket(payload);
		const from = senderOf(topic);
		if (packet === undefined || from === undefined) counters.garbage += 1;
		else listener?.(from, packet);
	});

	return {
		send: (to, packet) => publish(inboxTopic(to, self), encodePacket(packet), false),
		publish: (topic, payload, {retain}) => publish(topic, Buffer.from(payload), retain),
		onPacket(newListener) {
			listener = newListener;
		},
		async close() {
			ready = false;
			listener = undefined;
			await client.endAsync();
		},
		connected: () => ready,
		counters: () => ({...counters}),
	};
}

const connectOptions = ({self, password, clientId, ca, will}: MqttLinkOptions): IClientOptions => ({
	protocolVersion: 4,
	clean: true,
	clientId,
	username: self,
	password,
	keepalive: limits.linkKeepAliveSeconds,
	connectTimeout: limits.linkConnectMs,
	reconnectPeriod: limits.linkReconnectFirstMs,
	// A refused login may be one of the moment: a standby answers so until it leads.
	reconnectOnConnackError: true,
	resubscribe: false,
	queueQoSZero: false,
	timerVariant: 'native',
	...(ca === undefined ? {} : {ca}),
	...(will === undefined ? {} : {will: {topic: will.topic, payload: Buffer.from(will.payload), qos: 0, retain: will.retain}}),
});

/** Without it each packet beyond a segment waits 20 to 40 ms for an acknowledgement. WebSockets set it themselves. */
function setNoDelay({stream}: MqttClient): void {
	if (stream instanceof Socket) stream.setNoDelay(true);
}
