// Who leads, where several servers share a store. Implemented by etcd; the virtual world has one in memory; a server with a store of
// its own needs none.

/** A server as the others and the agents know it. */
export type ServerInfo = {
	/** Random per start of the server. */
	readonly id: string;
	/** `https://host:port`, as agents and people reach it. */
	readonly api: string;
};

/** A leader's term. It is over at `untilMs()`, also where the lease's keeper says nothing; each confirmed keep-alive moves that on. */
export type Term = {
	/**
	 * Monotonic time of this host: two thirds of the lease after the last confirmed keep-alive was *sent*. A server that commits, answers or
	 * orders after it may be the second leader.
	 */
	readonly untilMs: () => number;
	/** Gives the term up, so that a standby need not wait for the lease. */
	readonly resign: () => Promise<void>;
};

export type ElectionListener = {
	/** This server leads. */
	readonly elected: (term: Term) => void;
	/** The term is over: the lease was lost, or could not be confirmed in time. Called once per `elected`; then it runs again. */
	readonly lost: (reason: string) => void;
	/** Who leads or which servers there are has changed. */
	readonly changed: () => void;
};

export type Election = {
	/** Announces this server and campaigns until closed, again after each loss. */
	readonly run: (self: ServerInfo, listener: ElectionListener) => void;
	/** Undefined: no server leads, or it is not known; so while the lease's keeper does not answer. */
	readonly leader: () => ServerInfo | undefined;
	/** Whether the lease's keeper answered when it was asked last. */
	readonly answers: () => boolean;
	/** All that are announced, this one among them. */
	readonly servers: () => readonly ServerInfo[];
	/** Resigns, takes back the announcement and forgets everything. */
	readonly close: () => Promise<void>;
};
