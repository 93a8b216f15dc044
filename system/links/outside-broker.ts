// The broker where actors and tools meet, when it is another program (`--broker`): control is one of its clients, on two connections.
// The first carries what must be quick, the second what is large and the topics of outside tools.
//
// What waits for a slow broker is bounded, the latest per retained topic. While there is no connection nothing waits: on each new one
// the listeners are told, and a sweep compares what the broker retains with what is true.

import {controlSystem} from '../../api/keys.js';
import {formatClientId} from '../../api/client-id.js';
import {limits} from '../../api/limits.js';
import type {Broker} from '../broker/ports.js';
import {Outbox} from '../broker/outbox.js';
import type {Links} from './link.js';
import {connectMqttLink, type MqttLink, type MqttLinkOptions, type TopicListener} from './mqtt-link.js';
import type {OutsideUrl} from './outside-url.js';
import type {PubSub} from './pubsub.js';

export type OutsideBrokerOptions = {
	readonly server: OutsideUrl;
	/** Random per term, so that two terms never take each other's connections over. */
	readonly boot: string;
	/** PEM of the authority that signed the broker's certificate. */
	readonly ca?: string;
	/** Why it is not connected, in words without secrets. */
	readonly onProblem?: (problem: string, code?: number) => void;
};

export type OutsideCounters = {
	/** Replaced by a newer one of the same topic while it waited; dropped since too much waited, or there was no connection. */
	readonly replaced: number;
	readonly dropped: number;
};

export type OutsideBroker = Pick<Broker, 'publish'> & {
	readonly links: Required<Links>;
	/** Presence, beats, canaries: on the quick connection. */
	readonly pubsub: PubSub;
	/** Systems of which anything came at that time (monotonic) or later: of a broker elsewhere one sees messages, not packets. */
	readonly heardSince: (atMs: number) => readonly string[];
	/** What the broker has and what is published, on the connection of `publish`. */
	readonly subscribe: (filter: string, listener: TopicListener) => () => void;
	/** Calls back at each new connection of `publish`, and now if there is one; what is returned ends that. */
	readonly onEachConnection: (listener: () => void) => () => void;
	/** Calls back once when nothing waits to be published; at once if so already, never after the connection ended. */
	readonly whenIdle: (callback: () => void) => void;
	readonly connected: () => boolean;
	readonly counters: () => OutsideCounters;
	/** Forgets what waits and says goodbye. */
	readonly close: () => Promise<void>;
};

export function openOutsideBroker(options: OutsideBrokerOptions): OutsideBroker {
	const counters = {replaced: 0, dropped: 0};
	const listeners = new Set<() => void>();
	let outbox: Outbox | undefined;
	let onIdle: (() => void) | undefined;

	const control = connectMqttLink(linkOptions(options, 'control'));
	const bulk: MqttLink = connectMqttLink({
		...linkOptions(options, 'bulk'),
		onConnected() {
			// What was under way on an older connection is lost with it.
			outbox = newOutbox(bulk, counters, () => {
				const callback = onIdle;
				onIdle = undefined;
				callback?.();
			});
			for (const listener of listeners) listener();
		},
		onDisconnected: forget,
	});

	return {
		links: {control, bulk},
		pubsub: {publish: control.publish, subscribe: control.subscribe},
		publish(topic, payload, {retain}) {
			const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
			if (outbox === undefined) counters.dropped += 1;
			else outbox.publish(topic, bytes, retain);
		},
		heardSince: atMs => [...new Set([...control.heardSince(atMs), ...bulk.heardSince(atMs)])],
		subscribe: bulk.subscribe,
		onEachConnection(listener) {
			listeners.add(listener);
			if (bulk.connected()) listener();
			return () => listeners.delete(listener);
		},
		whenIdle(callback) {
			if (outbox === undefined) return;
			if (outbox.waiting() === 0) callback();
			else onIdle = callback;
		},
		connected: () => control.connected() && bulk.connected(),
		counters: () => ({...counters}),
		async close() {
			listeners.clear();
			forget();
			await Promise.all([control.close(), bulk.close()]);
		},
	};

	function forget(): void {
		outbox?.clear();
		outbox = undefined;
		onIdle = undefined;
	}
}

/** For one connection. `onIdle` hears when nothing waits any more. */
const newOutbox = (bulk: MqttLink, counters: {replaced: number; dropped: number}, onIdle: () => void): Outbox =>
	new Outbox({
		windowMessages: limits.brokerPublishWindow,
		windowBytes: limits.brokerPublishWindowBytes,
		waitingMessages: limits.brokerOutboxMessages,
		waitingBytes: limits.brokerOutboxBytes,
		emit(topic, payload, done, latestOnly) {
			if (bulk.push(topic, payload, latestOnly, done)) return;
			counters.dropped += 1;
			done();
		},
		onReplaced: () => (counters.replaced += 1),
		onDropped: () => (counters.dropped += 1),
		onIdle,
	});

const linkOptions = ({server, boot, ca, onProblem}: OutsideBrokerOptions, lane: 'control' | 'bulk'): MqttLinkOptions => ({
	url: server.url,
	self: controlSystem,
	password: server.password,
	clientId: formatClientId(controlSystem, boot, lane),
	lane,
	...(ca === undefined ? {} : {ca}),
	...(onProblem === undefined ? {} : {onProblem}),
});
