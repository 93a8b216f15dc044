// Whether an agent is there, as it says itself on its presence topic. The will of a connection that broke may be published after
// the agent has come back, and would stay there, retained: an agent that hears an old word about itself says the new one again.

import {formatPresence, parsePresence, type PresenceState} from '../../api/presence.js';
import {formatTopic} from '../../api/topics.js';
import type {PubSub} from '../links/pubsub.js';

export type AnnouncerOptions = {readonly node: string; readonly boot: string; readonly publish: PubSub['publish']};

export type Announcer = {
	readonly topic: string;
	/** The will of the next connection, which it counts. */
	readonly will: () => {readonly topic: string; readonly payload: string; readonly retain: true};
	/** The connection stands. */
	readonly online: () => void;
	/** This agent is about to stop, and means to come back. */
	readonly restarting: () => void;
	/** What is on the own topic. */
	readonly hear: (payload: string) => void;
};

export function createAnnouncer({node, boot, publish}: AnnouncerOptions): Announcer {
	const topic = formatTopic({type: 'presence', node});
	let connection = 0;
	let said: PresenceState | undefined;
	const payloadOf = (state: PresenceState): string => formatPresence({state, boot, connection});
	const say = (state: PresenceState): void => {
		said = state;
		publish(topic, payloadOf(state), {retain: true});
	};
	return {
		topic,
		will() {
			connection += 1;
			said = undefined;
			return {topic, payload: payloadOf('offline'), retain: true};
		},
		online: () => say('online'),
		restarting: () => say('restarting'),
		hear(payload) {
			const heard = parsePresence(payload);
			// Another boot's word is another agent's business.
			if (said === undefined || heard?.boot !== boot || (heard.state === said && heard.connection === connection)) return;
			say(said);
		},
	};
}
