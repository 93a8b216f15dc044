// Whoever calls a function, as the call sees it: what is sent, and who takes the answer.

import type {IncomingMessage, OutgoingHttpHeaders} from 'node:http';
import type {Readable} from 'node:stream';

export type Caller = {
	/** Of this call, and no other one. */
	readonly id: string;
	/** Who calls, and at which door: `http admin`. Kept in the journal of what it causes. */
	readonly door: string;
	readonly method: string;
	/** With the query. */
	readonly path: string;
	readonly headers: OutgoingHttpHeaders;
	/** What comes first of the body; all of it where there is no rest. It may be sent more than once, the rest never is. */
	readonly beginning: Buffer;
	readonly rest: Readable | undefined;
	/** Resolves when all of it was passed on, or the caller is gone. Rejects with what broke the answer; with an AppError for one that it cannot take. */
	readonly take: (answer: IncomingMessage) => Promise<void>;
	/** A part of an answer was passed on. */
	readonly hasBegun: () => boolean;
	/** Nobody waits any more. */
	readonly isGone: () => boolean;
	/** What was passed on is not whole: ends it so that this is seen. */
	readonly cut: () => void;
	/** Calls back once, when the caller has all of the answer or is gone. What comes back takes that back. */
	readonly whenOver: (callback: (isAnswered: boolean) => void) => () => void;
};
