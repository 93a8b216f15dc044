// The link of the system that lives in the broker's own process: no socket, the same topics and the same bytes as everyone
// else, so that a peer cannot tell the difference.

import {controlSystem} from '../../api/keys.js';
import {bulkFilter, formatTopic, inboxFilter, isLevel, parseTopic, userAnswersFilter, userFilters} from '../../api/topics.js';
import {formatUserSystem, parseUserSystem, type UserSystem} from '../../api/user-system.js';
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
	subscribe: (filter, listener) => broker.subscribe(filter, (topic, payload) => listener(topic, payload.toString(), false)),
});

export function brokerLink(broker: Pick<Broker, 'send' | 'subscribe'>, self: string, lane: Lane = 'control'): BrokerLink {
	let listener: ((from: string, packet: Packet) => void) | undefined;
	let garbage = 0;
	let open = true;
	const take = (topic: string, payload: Buffer): void => {
		if (!open) return;
		const packet = decodePacket(payload);
		const from = senderOf(topic);
		if (packet === undefined || from === undefined) garbage += 1;
		else listener?.(from, packet);
	};
	const subscriptions = laneFilters(self, lane).map(filter => broker.subscribe(filter, take));
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
			for (const unsubscribe of subscriptions) unsubscribe();
			return Promise.resolve();
		},
		garbage: () => garbage,
	};
}

/**
 * Where packets to a system go; undefined for a text that no system can be called, and where no packets go: a user's system talks to
 * those of its login and to control, and to none of them where it must be quick.
 */
export function laneTopic(to: string, from: string, lane: Lane): string | undefined {
	const [receiver, sender] = [parseUserSystem(to), parseUserSystem(from)];
	if (receiver !== undefined || sender !== undefined) return lane === 'bulk' ? userTopic({to, receiver}, {from, sender}) : undefined;
	return isLevel(to) ? formatTopic({type: lane === 'bulk' ? 'bulk' : 'inbox', to, from}) : undefined;
}

type Receiver = {readonly to: string; readonly receiver: UserSystem | undefined};
type Sender = {readonly from: string; readonly sender: UserSystem | undefined};

function userTopic({to, receiver}: Receiver, {from, sender}: Sender): string | undefined {
	if (receiver !== undefined && sender !== undefined)
		return receiver.login === sender.login
			? formatTopic({type: 'userInbox', login: sender.login, to: receiver.name, from: sender.name})
			: undefined;
	if (receiver !== undefined && from === controlSystem) return formatTopic({type: 'userControl', ...receiver, way: 'from-control'});
	if (sender !== undefined && to === controlSystem) return formatTopic({type: 'userControl', ...sender, way: 'to-control'});
	return undefined;
}

/** Where packets for a system arrive. */
export function laneFilters(self: string, lane: Lane): readonly string[] {
	const user = parseUserSystem(self);
	if (user !== undefined) return lane === 'bulk' ? userFilters(user.login, user.name) : [];
	if (lane === 'control') return [inboxFilter(self)];
	return self === controlSystem ? [bulkFilter(self), userAnswersFilter] : [bulkFilter(self)];
}

/** Who wrote to an inbox: the broker lets no login but that one publish there. */
export function senderOf(topic: string): string | undefined {
	const parsed = parseTopic(topic);
	switch (parsed?.type) {
		case 'inbox':
		case 'bulk':
			return parsed.from;
		case 'userInbox':
			return formatUserSystem({name: parsed.from, login: parsed.login});
		case 'userControl':
			return parsed.way === 'from-control' ? controlSystem : formatUserSystem(parsed);
		default:
			return undefined;
	}
}

/** The system that must be there, since the topic is written by it alone; a presence may be its will. Of users' systems that is not judged. */
export function writerOf(topic: string): string | undefined {
	const parsed = parseTopic(topic);
	if (parsed?.type === 'beat') return parsed.node;
	return parsed?.type === 'inbox' || parsed?.type === 'bulk' ? parsed.from : undefined;
}
