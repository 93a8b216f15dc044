// Topics beyond the inboxes as control and the agents use them: presence, beats, canaries, what outside tools see. Implemented by
// the embedded broker, by a connection to an external one, and by the virtual world.

export type PubSub = {
	/** At QoS 0. Sends when it can and forgets otherwise; never throws, never blocks. An empty retained payload clears the topic. */
	readonly publish: (topic: string, payload: string, options: {readonly retain: boolean}) => void;
	/** The listener must not throw. `retained`: the broker had it; else it was published just now. Returns what ends it. */
	readonly subscribe: (filter: string, listener: (topic: string, payload: string, retained?: boolean) => void) => () => void;
};
