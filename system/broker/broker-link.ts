// The link of the system that lives in the broker's own process: no socket, the same topics and the same bytes as everyone
// else, so that a peer cannot tell the difference.

import {formatTopic, inboxFilter, isLevel, parseTopic} from '../../api/topics.js';
import type {Link, Packet} from '../link.js';
import {decodePacket, encodePacket} from './packet-codec.js';
import type {Broker} from './ports.js';

export type BrokerLink = Link & {
	/** Packets that were none. */
	readonly garbage: () => number;
};

export function brokerLink(broker: Pick<Broker, 'send' | 'subscribe'>, self: string): BrokerLink {
	let listener: ((from: string, packet: Packet) => void) | undefined;
	let garbage = 0;
	let open = true;
	const unsubscribe = broker.subscribe(inboxFilter(self), (topic, payload) => {
		if (!open) return;
		const packet = decodePacket(payload);
		const from = senderOf(topic);
		if (packet === undefined || from === undefined) garbage += 1;
		else listener?.(from, packet);
	});
	return {
		send(to, packet) {
			const topic = inboxTopic(to, self);
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
export const inboxTopic = (to: string, from: string): string | undefined =>
	isLevel(to) ? formatTopic({type: 'inbox', to, from}) : undefined;

/** Who wrote to an inbox: the broker lets nobody but that login publish there. */
export function senderOf(topic: string): string | undefined {
	const parsed = parseTopic(topic);
	return parsed?.type === 'inbox' ? parsed.from : undefined;
}
