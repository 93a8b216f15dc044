// How messages reach actors, and how each question comes to one answer: the actor's, a refusal, or a time-out.

import {failed, failure, type Failure, type Outcome} from '../../api/errors.js';
import {address as addressOf, parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {isReply, type AnyReply, type ReplyTo} from './behavior.js';
import type {Cell} from './cell.js';
import {edgePath} from './edge-asks.js';
import type {Kernel} from './kernel.js';
import {withSpan, type Envelope, type Span} from './mailbox.js';
import type {DeadLetterReason} from './observer.js';

/** Whether this system may still answer, and have anything done outside of it. */
export const mayAct = ({options}: Kernel): boolean => options.mayAct?.() ?? true;

/** Delivers to an actor of this system, or hands over to the bus. */
export function route(kernel: Kernel, to: Address, sent: Envelope): void {
	const {cells, counters, edgeAsks, options} = kernel;
	const envelope = withSpan(sent, kernel.span);
	const {message, from} = envelope;
	const cell = cells.get(to);
	if (cell !== undefined) {
		// No other system can answer for the one that was asked.
		const isStale = isReply(message) && cell.asks.get(askKey(message.type, message.id))?.system !== parseAddress(from)?.system;
		if (isStale) counters.staleReplies++;
		else deliver(kernel, cell, envelope);
		return;
	}
	const parts = parseAddress(to);
	if (parts !== undefined && parts.system !== options.name && options.remote !== undefined) {
		if (mayAct(kernel)) options.remote(parts.system, to, envelope);
	} else if (isReply(message)) {
		const isTaken = parts?.path === edgePath && edgeAsks.answer(message.id, from, answerable(kernel, message.outcome, from));
		if (!isTaken) counters.staleReplies++;
	} else {
		refuse(kernel, to, envelope, 'noActor', failure('ERR_NO_SUCH_ACTOR', {address: to}));
	}
}

/** Once the leader's term is over nothing is vouched for but that the store did not take a write. */
function answerable(kernel: Kernel, outcome: Outcome<unknown>, address: Address): Outcome<unknown> {
	if (mayAct(kernel) || (!outcome.ok && outcome.error.code === 'ERR_STORE')) return outcome;
	return failed('ERR_OUTCOME_UNKNOWN', {address});
}

/** Puts a message into the mailbox of the actor, unless that is full or the actor ends. */
export function deliver(kernel: Kernel, cell: Cell, envelope: Envelope): void {
	const {message} = envelope;
	if (cell.status === 'stopping' || cell.status === 'gone') {
		refuseStopped(kernel, cell, envelope);
		return;
	}
	const {probe} = kernel;
	const arrived = probe === undefined ? envelope : probe.arrives(cell, envelope);
	if (arrived === undefined) {
		// Also an answer: its question stays open until its time is over.
		deadLetter(kernel, cell.address, envelope, 'dropped', failure('ERR_NOT_REACHABLE', {message: `lost on the way to "${cell.address}"`}));
		return;
	}
	if (isReply(message)) {
		const key = askKey(message.type, message.id);
		const open = cell.asks.get(key);
		if (open === undefined) {
			kernel.counters.staleReplies++;
			return;
		}
		open.cancel();
		cell.asks.delete(key);
	}
	if (envelope.outside && cell.mailbox.outside >= limits.mailboxMessages) {
		const busy = failure('ERR_BUSY', {address: cell.address, waiting: cell.mailbox.outside});
		refuse(kernel, cell.address, envelope, 'busy', busy);
		return;
	}
	// A question is never replaced by a newer one: the asker waits for its answer.
	cell.mailbox.put(arrived, message.replyTo === undefined ? cell.behavior.coalesce?.(message) : undefined);
	cell.requestTurn();
}

/** A message that cannot be delivered: a dead letter, and an answer if it was a question. */
export function refuse(kernel: Kernel, to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure): void {
	const {message, cause} = envelope;
	if (kernel.deathWatch.refused(message)) return;
	deadLetter(kernel, to, envelope, why, error);
	if (message.replyTo !== undefined) reply(kernel, message.replyTo, {ok: false, error}, to, cause);
}

function deadLetter(kernel: Kernel, to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure): void {
	const {counters, deadLetters, options, probe} = kernel;
	const {message, from, cause} = envelope;
	const letter = {to, from, cause, messageType: message.type, why, error};
	counters.deadLetters++;
	deadLetters.add(letter, options.clock.nowMs());
	options.observer?.deadLetter?.(letter);
	probe?.refused(to, envelope, why, error);
}

/** Answers, and what an actor sends to itself (timers, wakes), end with it and are no loss. */
export function refuseStopped(kernel: Kernel, cell: Cell, envelope: Envelope): void {
	const {message, from} = envelope;
	if (isReply(message)) kernel.counters.staleReplies++;
	else if (from !== cell.address || message.replyTo !== undefined)
		refuse(kernel, cell.address, envelope, 'stopped', failure('ERR_ACTOR_STOPPED', {address: cell.address}));
}

export function reply(kernel: Kernel, to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string): void {
	route(kernel, to.to, {message: answerTo(to, outcome), from, cause, outside: false});
}

/** What names a question among those of its asker. */
export type Question = Pick<ReplyTo, 'as' | 'id'>;

/** Opens a question of a cell; false when the same one is open already. */
export function openAsk(kernel: Kernel, cell: Cell, to: Address, question: Question, deadlineMs: number, cause: string): boolean {
	const {as, id} = question;
	const key = askKey(as, id);
	if (cell.asks.has(key)) return false;
	const {span} = kernel;
	const cancel = kernel.deadlines.after(deadlineMs, () =>
		answer(kernel, cell, question, failed('ERR_TIMEOUT', {address: to, deadlineMs}), cause, span),
	);
	cell.asks.set(key, {as, id, cancel, system: parseAddress(to)?.system ?? '', address: to, cause});
	return true;
}

/** Answers an open question of a cell in the place of the one that was asked. `span`: of the step that asked. */
export function answer(kernel: Kernel, cell: Cell, question: Question, outcome: Outcome<unknown>, cause: string, span?: Span): void {
	if (cell.isGone || !cell.asks.has(askKey(question.as, question.id))) return;
	deliver(kernel, cell, withSpan({message: answerTo(question, outcome), from: cell.address, cause, outside: false}, span));
}

/** That system does not answer any more what was asked by these of those: what became of it is unknown. */
export function failAsksOf(kernel: Kernel, system: string, isMeant: (from: Address, to: Address) => boolean): void {
	const edge = addressOf(kernel.options.name, edgePath);
	kernel.edgeAsks.fail(
		to => parseAddress(to)?.system === system && isMeant(edge, to),
		address => failure('ERR_OUTCOME_UNKNOWN', {address}),
	);
	for (const cell of kernel.cells.values()) {
		for (const ask of [...cell.asks.values()]) {
			if (ask.system !== system || !isMeant(cell.address, ask.address)) continue;
			answer(kernel, cell, ask, failed('ERR_OUTCOME_UNKNOWN', {address: ask.address}), ask.cause);
		}
	}
}

const askKey = (as: string, id: string): string => `${as}|${id}`;

const answerTo = ({as, id}: Question, outcome: Outcome<unknown>): AnyReply => ({type: as, id, outcome});
