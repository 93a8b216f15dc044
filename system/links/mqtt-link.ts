// The connection of a system that reaches the others through a broker, over TCP, TLS or WebSocket: one lane, and topics beyond
// it. Only this file imports mqtt.
//
// MQTT is transport, not truth: clean sessions, QoS 0, nothing queued while away and nothing beyond a bound while slow. The
// stream above numbers, acknowledges and sends again. Where there are several brokers (a leader and its standbys) each attempt
// goes to the next; the pauses grow from round to round, each by chance half as much longer or shorter.

import {Socket} from 'node:net';
import mqtt, {type IClientOptions, type MqttClient} from 'mqtt';
import {limits} from '../../api/limits.js';
import {topicMatches} from '../../api/mqtt-filter.js';
import {laneFilters, laneTopic, senderOf, writerOf} from './broker-link.js';
import {decodePacket, encodePacket} from './packet-codec.js';
import {systemClock, type Cancel} from '../time/clock.js';
import {systemRandom, type Random} from '../time/random.js';
import {createHeard} from './heard.js';
import type {Lane, Link, Packet} from './link.js';
import type {PubSub} from './pubsub.js';
import {reconnectWaitMs} from './reconnect-pace.js';

export type Will = {readonly topic: string; readonly payload: string; readonly retain: boolean};

export type MqttLinkOptions = {
	/** `mqtt://host:port`, `mqtts://…`, `ws://host:port/mqtt` or `wss://…`. A list is asked before each attempt: it may have changed. */
	readonly url: string | (() => readonly [string, ...string[]]);
	/** The name of this system. It may be `control` where the broker is another program. */
	readonly self: string;
	/** The login, where that is not the name of the system. */
	readonly login?: string;
	readonly password: string;
	/** Unique per process start, so that a double of this system is refused or seen, and never takes turns with it. */
	readonly clientId: string;
	/** What arrives and leaves as packets here; the default is control. */
	readonly lane?: Lane;
	/** PEM of the authority that signed the broker's certificate. */
	readonly ca?: string;
	/** Whatever certificate it shows is taken. */
	readonly trustAnyone?: boolean;
	/** Published by the broker when this connection breaks. A function is asked before each attempt. */
	readonly will?: Will | (() => Will);
	/** After each (re)connect, once everything is subscribed. */
	readonly onConnected?: () => void;
	readonly onDisconnected?: () => void;
	/** Why it is not connected, in words without secrets; with the CONNACK code where the broker refused. */
	readonly onProblem?: (problem: string, code?: number) => void;
	/** Of the pauses between attempts. */
	readonly random?: Pick<Random, 'next'>;
};

export type MqttLinkCounters = {
	readonly connects: number;
	/** Arrived and was no packet. */
	readonly garbage: number;
	/** Not sent: no connection, too much waiting already, or larger than a packet may be. */
	readonly dropped: number;
};

export type MqttLink = Link &
	Pick<PubSub, 'publish'> & {
		/** Stays so over reconnects. `retained`: the broker had it; else it was published just now. */
		readonly subscribe: (filter: string, listener: TopicListener) => () => void;
		/** As `publish`; `done` is called once when the connection has taken it. Whether it was sent at all: if not, nothing is called. */
		readonly push: (topic: string, payload: Buffer, retain: boolean, done: () => void) => boolean;
		readonly connected: () => boolean;
		/** The broker of this connection, or of the next attempt. */
		readonly url: () => string;
		readonly counters: () => MqttLinkCounters;
		/**
		 * Asks for an answer, and makes another connection, to the next broker, when it did not come within that time; so, too, when there
		 * is none by then. A few times at most: then it is as patient as ever.
		 */
		readonly verify: (withinMs: number) => void;
		/**
		 * Nothing goes out, not even that this system lives, and no connection is made: as on a network that fell apart. When that is over
		 * another connection is made.
		 */
		readonly silence: (isSilent: boolean) => void;
		/** Drops the connection and makes another, to the next broker. */
		readonly reconnect: () => void;
		/** The systems of which anything came since then (monotonic), wills and retained messages aside. */
		readonly heardSince: (atMs: number) => readonly string[];
	};

/** What an MQTT packet has around its payload, the topic aside. */
const headerBytes = 16;

/** `bytes` is the payload as it came: it may be no text. */
export type TopicListener = (topic: string, payload: string, retained: boolean, bytes?: Buffer) => void;

type Subscription = {readonly filter: string; readonly listener: TopicListener};

type State = {
	readonly options: MqttLinkOptions;
	readonly lane: Lane;
	/** The topics of what is sent here. */
	readonly inboxes: readonly string[];
	readonly client: MqttClient;
	readonly counters: {connects: number; garbage: number; dropped: number};
	readonly subscriptions: Set<Subscription>;
	readonly heard: ReturnType<typeof createHeard>;
	listener: ((from: string, packet: Packet) => void) | undefined;
	connected: () => void;
	ready: boolean;
	silent: boolean;
	/** Which server is next, and how many were tried in vain. */
	aim: number;
	failures: number;
	answers: number;
	cancelVerify: Cancel | undefined;
};

/** Connects, and goes on doing so with growing pauses, until closed. Throws on a URL that is none of the four. */
export function connectMqttLink(options: MqttLinkOptions): MqttLink {
	const {self, lane = 'control'} = options;
	const state: State = {
		options,
		lane,
		inboxes: laneFilters(self, lane),
		client: mqtt.connect(serversOf(options)[0], connectOptions(options)),
		counters: {connects: 0, garbage: 0, dropped: 0},
		subscriptions: new Set(),
		heard: createHeard(systemClock),
		listener: undefined,
		connected: () => undefined,
		ready: false,
		silent: false,
		aim: 0,
		failures: 0,
		answers: 0,
		cancelVerify: undefined,
	};
	listen(state);
	return linkOf(state);
}

function listen(state: State): void {
	const {client, options} = state;
	client.on('connect', () => begin(state));
	// Said before the attempt; the pause counts for the next one.
	client.on('reconnect', () => {
		aimNext(state);
		// One that was due when this link was told to be silent.
		if (state.silent) queueMicrotask(() => client.stream.destroy());
	});
	client.on('close', () => {
		if (state.ready) options.onDisconnected?.();
		state.ready = false;
	});
	// Anything else may come on a connection that brings nothing the other way.
	client.on('packetreceive', ({cmd}) => {
		if (cmd === 'pingresp') state.answers += 1;
	});
	client.on('error', error => options.onProblem?.(error.message, connackCode(error)));
	client.on('message', (topic, payload, {retain}) => hear(state, topic, payload, retain));
}

/** Subscribes to everything; then it is ready. */
function begin(state: State): void {
	const {client, options, inboxes, subscriptions} = state;
	state.counters.connects += 1;
	state.answers += 1;
	setNoDelay(client);
	const {stream} = client;
	const filters = [...new Set([...inboxes, ...[...subscriptions].map(({filter}) => filter)])];
	client.subscribe(filters, {qos: 0}, error => {
		if (error !== null) {
			options.onProblem?.(`what is for "${options.self}" could not be subscribed: ${error.message}`);
			// Without it this connection is of no use: another one may be, after the pause that failures have.
			stream.destroy();
			return;
		}
		state.failures = 0;
		pace(state);
		state.ready = true;
		state.connected();
		options.onConnected?.();
	});
}

function aimedAt({aim, options}: State): string {
	const servers = serversOf(options);
	return servers[aim % servers.length] ?? servers[0];
}

/** The next attempt goes to the next server; the pauses grow from round to round. */
function aimNext(state: State): void {
	const {client, options} = state;
	state.aim += 1;
	state.failures += 1;
	const url = aimedAt(state);
	if (isBrokerUrl(url)) aimAt(client, url);
	else options.onProblem?.(`${JSON.stringify(url)} is no address of a broker`);
	Object.assign(client.options, willPart(willOf(options)));
	pace(state);
}

/** The pause before the next attempt, should the one that is made now, or stands, fail. */
function pace({client, options, failures, silent}: State): void {
	if (!silent) client.options.reconnectPeriod = waitOf(options, failures);
}

/** In whole milliseconds: timers have no others. */
const waitOf = (options: MqttLinkOptions, failures: number): number =>
	Math.round(reconnectWaitMs(Math.floor(failures / serversOf(options).length), options.random ?? systemRandom));

function hear({inboxes, counters, subscriptions, heard, listener}: State, topic: string, payload: Buffer, retain: boolean): void {
	if (!retain) heard.note(writerOf(topic));
	if (inboxes.some(inbox => topicMatches(inbox, topic))) {
		const packet = decodePacket(payload);
		const from = senderOf(topic);
		if (packet === undefined || from === undefined) counters.garbage += 1;
		else listener?.(from, packet);
	}
	for (const each of subscriptions) if (topicMatches(each.filter, topic)) each.listener(topic, payload.toString(), retain, payload);
}

function linkOf(state: State): MqttLink {
	const {client, options, subscriptions, inboxes, counters} = state;
	return {
		send: (to, packet) => publish(state, laneTopic(to, options.self, state.lane), encodePacket(packet), false),
		publish: (topic, payload, {retain}) => publish(state, topic, Buffer.from(payload), retain),
		push(topic, payload, retain, done) {
			const isSent = state.ready && fits(state, topic, payload);
			if (isSent) client.publish(topic, payload, {qos: 0, retain}, () => done());
			else counters.dropped += 1;
			return isSent;
		},
		subscribe(filter, onMessage) {
			const subscription = {filter, listener: onMessage};
			if (state.ready && !isSubscribed(state, filter)) client.subscribe(filter, {qos: 0}, subscribed(options));
			subscriptions.add(subscription);
			return () => {
				subscriptions.delete(subscription);
				if (state.ready && !inboxes.includes(filter) && !isSubscribed(state, filter)) client.unsubscribe(filter);
			};
		},
		onPacket(newListener) {
			state.listener = newListener;
		},
		onConnected(newListener) {
			state.connected = newListener;
		},
		reconnect: () => reconnect(state),
		silence(isSilent) {
			if (state.silent === isSilent) return;
			state.silent = isSilent;
			if (!isSilent) return reconnect(state);
			client.options.reconnectPeriod = 0;
			client.stream.cork();
		},
		async close() {
			state.cancelVerify?.();
			state.ready = false;
			state.listener = undefined;
			subscriptions.clear();
			// A broker that takes nothing any more is not waited for.
			const cancel = systemClock.after(limits.linkCloseMs, () => client.stream.destroy());
			await client.endAsync();
			cancel();
			// One that was still connecting is not ended by that, and would keep the process.
			client.stream.destroy();
		},
		verify(withinMs) {
			if (state.cancelVerify === undefined && !state.silent) verify(state, withinMs);
		},
		connected: () => state.ready,
		url: () => aimedAt(state),
		counters: () => ({...counters}),
		heardSince: state.heard.since,
	};
}

const fits = ({client}: State, topic: string, payload: Buffer): boolean =>
	payload.length + Buffer.byteLength(topic) + headerBytes <= limits.packetBytes && client.stream.writableLength <= limits.clientBufferBytes;

function publish(state: State, topic: string | undefined, payload: Buffer, retain: boolean): void {
	if (state.ready && topic !== undefined && fits(state, topic, payload)) state.client.publish(topic, payload, {qos: 0, retain});
	else state.counters.dropped += 1;
}

function verify(state: State, withinMs: number, round = 0): void {
	const before = state.answers;
	if (state.ready) state.client.sendPing();
	state.cancelVerify = systemClock.after(withinMs, () => {
		state.cancelVerify = undefined;
		if (state.ready && state.answers !== before) return;
		reconnect(state);
		if (round < limits.linkVerifications) verify(state, limits.beatConnectMs * 2 ** round, round + 1);
	});
}

function reconnect(state: State): void {
	const {client, silent} = state;
	if (silent) return;
	state.failures = 0;
	pace(state);
	// One that is gone already waits, perhaps for long.
	if (client.stream.destroyed) client.reconnect();
	else client.stream.destroy();
}

const isSubscribed = ({subscriptions}: State, filter: string): boolean => [...subscriptions].some(each => each.filter === filter);

const serversOf = ({url}: MqttLinkOptions): readonly [string, ...string[]] => (typeof url === 'string' ? [url] : url());

const willOf = ({will}: MqttLinkOptions): Will | undefined => (typeof will === 'function' ? will() : will);

const connectOptions = (options: MqttLinkOptions): IClientOptions => ({
	protocolVersion: 4,
	clean: true,
	clientId: options.clientId,
	username: options.login ?? options.self,
	password: options.password,
	keepalive: limits.linkKeepAliveSeconds,
	connectTimeout: limits.linkConnectMs,
	reconnectPeriod: waitOf(options, 0),
	// A refused login may be one of the moment: a standby answers so until it leads.
	reconnectOnConnackError: true,
	resubscribe: false,
	queueQoSZero: false,
	timerVariant: 'native',
	...alpnOf(serversOf(options)[0]),
	...(options.ca === undefined ? {} : {ca: options.ca}),
	...(options.trustAnyone === true ? {rejectUnauthorized: false} : {}),
	...willPart(willOf(options)),
});

/** One TLS port speaks both MQTT and HTTPS: the protocol is named while shaking hands. */
const alpnOf = (url: string): IClientOptions => (url.startsWith('mqtts:') ? {ALPNProtocols: ['mqtt']} : {});

const willPart = (will: Will | undefined): Pick<IClientOptions, 'will'> =>
	will === undefined ? {} : {will: {topic: will.topic, payload: Buffer.from(will.payload), qos: 0, retain: will.retain}};

/** What servers tell of each other is no reason to fall over. */
const isBrokerUrl = (url: string): boolean => /^(mqtt|ws)s?:\/\//.test(url) && URL.canParse(url);

/** The next attempt goes there. */
function aimAt({options}: MqttClient, url: string): void {
	const {protocol, hostname, port, pathname} = new URL(url);
	const host = hostname.replace(/^\[|\]$/g, '');
	delete options.port;
	delete (options as {servername?: string}).servername;
	Object.assign(options, {protocol: protocol.slice(0, -1), host, hostname: host, ...(port === '' ? {} : {port: Number(port)})});
	if (protocol.startsWith('ws')) options.path = pathname;
}

const subscribed =
	({onProblem}: MqttLinkOptions) =>
	(error: Error | null): void => {
		if (error !== null) onProblem?.(`a topic could not be subscribed: ${error.message}`);
	};

const connackCode = (error: Error & {readonly code?: unknown}): number | undefined =>
	typeof error.code === 'number' ? error.code : undefined;

/** Without it each packet beyond a segment waits 20 to 40 ms for an acknowledgement. WebSockets set it themselves. */
function setNoDelay({stream}: MqttClient): void {
	if (stream instanceof Socket) stream.setNoDelay(true);
}
