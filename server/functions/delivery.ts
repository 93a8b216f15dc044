// What is to be delivered to a function by a program that does not wait for it: a call whose answer is fetched later, a message, a time, a change.

import type {FunctionName} from './call.js';

export type Delivery = {
	readonly function: FunctionName;
	/** What it is counted under: the name of a trigger, or one of these words, which no trigger has. */
	readonly trigger: string;
	/** Deliveries to a function of the same queue are made one after the other, in order; undefined: this one by itself. */
	readonly queue: string | undefined;
	/** The login that has caused it; undefined: none has. */
	readonly by: string | undefined;
	/** With the query; `/` when left out. */
	readonly path?: string | undefined;
	readonly contentType: string;
	/** What the function is told of where it comes from, such as `x-troupe-topic`. */
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
	/** How often it is tried again. */
	readonly retries: number;
	/** The topic that gets what could not be delivered. */
	readonly deadLetterTopic: string | undefined;
	/** Who gets the answer, once there is one. */
	readonly reply: DeliveryReply | undefined;
};

/** Kept, to be fetched; or published. */
export type DeliveryReply = {readonly type: 'kept'} | {readonly type: 'topic'; readonly topic: string; readonly id: string};

/** Names of what is no trigger of the spec. */
export const asyncCalls = '(async)';
export const invokeMessages = '(mqtt)';

export type Deliveries = {
	/**
	 * Resolves with its id once it is committed: from then on it is made, whatever ends. Throws AppError: ERR_BUSY where too much waits,
	 * ERR_TOO_LARGE, ERR_NOT_FOUND where there is no such function, ERR_STORE where it may not be kept.
	 */
	readonly accept: (delivery: Delivery) => Promise<string>;
	/** Throws where there is no room for one of these just now: so that none is committed where another one cannot be. */
	readonly checkRoom: (deliveries: readonly Delivery[]) => void;
};

/** The answer of a function, whole. */
export type FunctionAnswer = {readonly status: number; readonly contentType: string | undefined; readonly body: Buffer};

export type WholeCall = Pick<Delivery, 'by' | 'path' | 'contentType' | 'headers' | 'body'> & {
	readonly id: string;
	/** The only version that may take it, by its word; undefined: the one that the function says. */
	readonly version?: string | undefined;
	readonly answerBytes: number;
	/** Aborted once nobody waits for the answer: what is under way is cut, and its place given up. Undefined: somebody always does. */
	readonly signal?: AbortSignal;
};

/** A call by this server itself. Throws AppError where there is no answer of the function. */
export type CallWhole = (fn: FunctionName, call: WholeCall) => Promise<FunctionAnswer>;
