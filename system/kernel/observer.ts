// What the runtime tells about itself. Every event is data; an observer logs it, counts it, or publishes it.

import {failure, type Failure} from '../../api/errors.js';
import type {Address} from '../../api/keys.js';

export type LifecycleEvent =
	| {readonly type: 'crashed'; readonly address: Address; readonly error: Failure; readonly messageType: string; readonly stack: string}
	| {readonly type: 'restarted'; readonly address: Address; readonly restarts: number}
	| {readonly type: 'parked'; readonly address: Address; readonly error: Failure; readonly retryInMs: number}
	| {readonly type: 'unparked'; readonly address: Address}
	| {readonly type: 'escalated'; readonly address: Address; readonly error: Failure};

/**
 * No actor has that address; the actor was ending; its mailbox was full; it crashed on this very message; it does not know such a message; a
 * fault that is played lost it.
 */
export type DeadLetterReason = 'noActor' | 'stopped' | 'busy' | 'crashed' | 'notUnderstood' | 'dropped';

export type DeadLetter = {
	readonly to: Address;
	readonly from: Address;
	readonly messageType: string;
	/** What set it going, worded where the chain began. */
	readonly cause: string;
	readonly why: DeadLetterReason;
	readonly error: Failure;
};

export type SystemObserver = {
	readonly lifecycle?: (event: LifecycleEvent) => void;
	readonly deadLetter?: (letter: DeadLetter) => void;
	readonly slowStep?: (step: {readonly address: Address; readonly messageType: string; readonly ms: number}) => void;
};

/** What is told of a bug. */
export const crashOf = (address: Address, error: unknown): Failure =>
	failure('ERR_ACTOR_CRASHED', {address, message: error instanceof Error ? error.message : String(error)});

export const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');
