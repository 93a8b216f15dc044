// The link of the system that lives in the broker's own process: no socket, the same topics and the same bytes as everyone
// else, so that a peer cannot tell the difference.

import {bulkFilter, formatTopic, inboxFilter, isLevel, parseTopic} from '../../api/topics.js';
import type {Lane, Link, Links, Packet} from './link.js';
import type {PubSub} from './pubsub.js';
import {decodePacket, encodePacket} from './packet-codec.js';
import type {Broker} from '../broker/ports.js';

export type BrokerLink = Link & {
	/** Packets that were none. */
	readonly garbage: () => number;
};

/** Both lanes of a system: there is no connection that could be held up. */
export const brokerLinks = (broker: Pick<Broker, 'send' | 'subscribe'>, self: string): Required<Links> => ({
	control: brokerLink(broker, self),
	bulk: brokerLink(broker, self, 'bulk'),
});

/** Topics beyond the inboxes, for the systems of the broker's own process. */
export const brokerPubSub = (broker: Pick<Broker, 'publish' | 'subscribe'>): PubSub => ({
	publish: broker.publish,
	subscribe: (filter, listener) => broker.subscribe(filter, (topic, payload) => listener(topic, payload.toString())),
});

export function brokerLink(broker: Pick<Broker, 'send' | 'subscribe'>, self: string, lane: Lane = 'control'): BrokerLink {
	let listener: ((from: string, packet: Packet) => void) | undefined;
	let garbage = 0;
	let open = true;
	const unsubscribe = broker.subscribe(laneFilter(self, lane), (topic, payload) => {
		if (!open) return;
		const packet = decodePacket(payload);
		const from = senderOf(topic);
		if (packet === undefined || from === undefined) garbage += 1;
		else listener?.(from, packet);
	});
	return {
		send(to, packet) {
			const topic = laneTopic(to, self, lane);
			if (topic === undefined) return;
			const bytes = encodePacket(packet);
			// A receiver in this process would otherwise run inside `send`.
			queueMicrotask(() => {
				if (open) broker.send(topic, bytes);
			});
		},
		onPacket(newListener) {
			listener = newListener;
		},
		close() {
			open = false;
			unsubscribe();
			return Promise.resolve();
		},
		garbage: () => garbage,
	};
}

/** Where packets to a system go; undefined for a text that no system can be called. */
export const laneTopic = (to: string, from: string, lane: Lane): string | undefined =>
	isLevel(to) ? formatTopic({type: lane === 'bulk' ? 'bulk' : 'inbox', to, from}) : undefined;

/** Where packets for a system arrive. */
export const laneFilter = (self: string, lane: Lane): string => (lane === 'bulk' ? bulkFilter(self) : inboxFilter(self));

/** Who wrote to an inbox: the broker lets no login but that one publish there. */
export function senderOf(topic: string): string | undefined {
	const parsed = parseTopic(topic);
	return parsed?.type === 'inbox' || parsed?.type === 'bulk' ? parsed.from : undefined;
}

/** The system that must be there, since the topic is written by it alone; a presence may be its will. */
export function writerOf(topic: string): string | undefined {
	const parsed = parseTopic(topic);
	if (parsed?.type === 'beat') return parsed.node;
	return parsed?.type === 'inbox' || parsed?.type === 'bulk' ? parsed.from : undefined;
}
