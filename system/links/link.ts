// What the stream between two systems runs over. A link may lose, repeat and reorder packets; it never changes one.
// Implemented by memory (one process), MQTT (hosts) and the virtual world; one contract suite holds for all.

import type {Address} from '../../api/keys.js';
import type {Json} from '../../api/object.js';

/** One packet of the stream protocol; see `stream.ts`. */
export type Packet = {
	/** The sender's boot: random per process start. */
	readonly boot: string;
	/** The receiver's boot as the sender knows it; undefined until it was heard. */
	readonly peerBoot?: string;
	/** The number of the body, counted from 1 per pair of boots; 0 for a bare acknowledgement. */
	readonly sequence: number;
	/** Everything up to this number has been taken. */
	readonly acknowledged: number;
	/** A question that only a living incarnation of the receiver can answer, with `echo`. */
	readonly probe?: string;
	readonly echo?: string;
	readonly body?: Json;
};

/** Each a stream and a connection of its own, so that what is large never holds up what must be quick. */
export type Lane = 'control' | 'bulk';

/** Which lane messages between two actors take: always the same one, so that they arrive in order. */
export type LaneOf = (from: Address, to: Address) => Lane;

/** The links of one system, by lane; where there is no bulk link everything takes the other. */
export type Links = {readonly control: Link; readonly bulk?: Link};

export type Link = {
	/** Sends when it can and forgets otherwise; never throws, never blocks. */
	readonly send: (to: string, packet: Packet) => void;
	/** One listener; `from` is proven by the link (the login at the broker). */
	readonly onPacket: (listener: (from: string, packet: Packet) => void) => void;
	/** Of a link that can be lost. One listener, told each time when it is there again: what was sent meanwhile may have been forgotten. */
	readonly onConnected?: (listener: () => void) => void;
	/** Looks whether it still carries anything, and makes another connection when no answer came within so long. */
	readonly verify?: (withinMs: number) => void;
	readonly close: () => Promise<void>;
};
