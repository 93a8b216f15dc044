// What the broker is given and what it gives. It knows nothing of pods, roles or tokens: who may come in, what each may do
// and where retained documents live are handed in as functions.

import type {Duplex} from 'node:stream';
import type {OpenConnection} from '../../api/client-id.js';
import type {Clock} from '../time/clock.js';
import type {AllowanceBounds} from './allowance.js';
import type {Rank} from './pace.js';
import type {RateBounds} from './publish-rate.js';

/** Who logged in; the layers above put more into it. */
export type Login = {
	readonly name: string;
	/** Another one of the same name is another login: nothing is kept from one to the other. */
	readonly credential?: string | undefined;
};

/** What a login may use. */
export type ClientQuota = {
	/** Who comes first. */
	readonly rank: Rank;
	/** The longest packet. */
	readonly packetBytes: number;
	/** How long a connection may take nothing while bytes wait for it. */
	readonly stallMs: number;
	/** Connections at a time. */
	readonly connections: number;
	/** Of all its connections together; undefined: as much as its turns allow. */
	readonly work: AllowanceBounds | undefined;
	/** What all its connections together may publish to topics that are `metered`; undefined: as much as its work allows. */
	readonly rate?: RateBounds;
};

/** A publish of a client that it may make. */
export type ClientMessage = {
	readonly topic: string;
	/** A part of what came in one read: who keeps it copies it. */
	readonly payload: Buffer;
	readonly qos: 0 | 1 | 2;
};

/** For `connect` the topic is empty. */
export type Verb = 'connect' | 'publish' | 'subscribe' | 'forward';

export type RetainedMessage = {
	readonly topic: string;
	/** Made when it is sent, so that it is never older than a live message before it. Empty: there is none any more. */
	readonly payload: () => Buffer;
};

/** Retained messages that live elsewhere, so that nothing is kept twice. */
export type RetainedSource = {
	/** All that match, and possibly more: what does not match is passed over by the reader, so that no step takes long. */
	readonly match: (filter: string) => Iterable<RetainedMessage>;
	readonly owns: (topic: string) => boolean;
};

/** What is counted; each name says what happened once more. */
export const brokerCounters = [
	'connections',
	'loginsRefused',
	'publishesRefused',
	'subscriptionsRefused',
	/** Connections destroyed, by reason. */
	'cutOversized',
	'cutMalformed',
	'cutOverflow',
	'cutStalled',
	'cutCrowded',
	/** It went on asking for more work than its login's share. */
	'cutGreedy',
	/** A message of QoS 1 or 2 was not taken: its client is to send it again. */
	'cutNotTaken',
	/** Connections of one login beyond what it may have. */
	'loginsCrowded',
	/** Own publishes: a newer one of the topic took the place; dropped since too much waited. */
	'outboxReplaced',
	'outboxDropped',
	'retainedRefused',
	/** Messages of QoS 0 that were not taken. */
	'notTaken',
	'sessionMessagesDropped',
	'errors',
] as const;

export type BrokerCounter = (typeof brokerCounters)[number];

export type BrokerOptions<Identity extends Login> = {
	readonly clock: Clock;
	/** Undefined: not known. The name of an identity is the login: unique, and what `<from>` in a topic is compared with. */
	readonly authenticate: (username: string | undefined, password: string | undefined) => Identity | undefined;
	readonly may: (identity: Identity, verb: Verb, topic: string) => boolean;
	/** Whether a message of a client may be retained under a topic; one that may not is refused. The default is that it may. */
	readonly mayRetain?: (topic: string) => boolean;
	/**
	 * Takes a client's message over beside the subscribers; undefined: it does not want it. One of QoS 1 or 2 is acknowledged once the
	 * promise is settled. Where it rejects the connection is cut, so that the client sends again: there is no other way to say no. One of QoS 0
	 * waits for nothing, and is counted where it was not taken. It must not throw. Retained messages that are sent to a new subscriber, and
	 * what the process itself publishes, do not come here.
	 */
	readonly accept?: (identity: Identity, message: ClientMessage) => Promise<void> | undefined;
	/** Publishes to which topics count against their login's rate, in place of its work. The default is none. */
	readonly metered?: (topic: string) => boolean;
	readonly retainedSource: RetainedSource;
	/**
	 * Which of a login's other connections end when this one comes in; undefined: it is refused. The default ends none: a login may
	 * have as many as it likes.
	 */
	readonly endedBy?: <Connection extends OpenConnection>(
		identity: Identity,
		clientId: string,
		others: readonly Connection[],
	) => readonly Connection[] | undefined;
	/** The default is that of nodes. */
	readonly quotaOf?: (identity: Identity) => ClientQuota;
	/** Told of everything that is counted; `about` names the connection and never holds a secret. Of connections that are cut the login, too. */
	readonly onCounter?: (counter: BrokerCounter, about: string, login?: string) => void;
};

export type Broker = {
	/** Takes over a connection of any sort: a socket, a TLS socket, a WebSocket's stream. `onLogin` is told when it has logged in. */
	readonly attach: (stream: Duplex, describe: string, onLogin?: () => void) => void;
	/** Opens a plain TCP door; port 0 picks a free one. Rejects when the port cannot be had. */
	readonly listen: (host: string, port: number) => Promise<{readonly port: number}>;
	/**
	 * Publishes at QoS 0. Never blocks: beyond the window the latest per retained topic waits, others in order, and at the
	 * limit the oldest is dropped and counted. An empty retained payload clears the topic.
	 */
	readonly publish: (topic: string, payload: Buffer | string, options: {readonly retain: boolean}) => void;
	/** As `publish`, past the window: for streams that have a window of their own. */
	readonly send: (topic: string, payload: Buffer | string) => void;
	/** A subscriber inside the process; it is called in the turn of the publisher and must not throw. */
	readonly subscribe: (filter: string, listener: (topic: string, payload: Buffer) => void) => () => void;
	readonly counters: () => Readonly<Record<BrokerCounter, number>>;
	/** Logins of which anything came at that time (monotonic) or later, on any connection. */
	readonly heardSince: (atMs: number) => readonly string[];
	/** Whether a client that is connected has subscribed to what the filter matches, or to some of it. */
	readonly isWanted: (filter: string) => boolean;
	/** Logins that are connected, each once, sorted. */
	readonly connected: () => readonly string[];
	/** Cuts the connections of a login and forgets what is kept for it; how many there were. Whether it is let in again is not decided here. */
	readonly cut: (login: string) => number;
	/** Cuts every connection and closes every door. */
	readonly close: () => Promise<void>;
};
