// Turns and steps of cells. A step is pure: behaviour, state and message in, new state and effects out. What changes the object is
// committed first; only then is the new state real and do the effects run. A step that throws changes nothing.

import {failure, type Failure, type Outcome} from '../../api/errors.js';
import type {Address, ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {ActorSystemOptions} from './actor-options.js';
import {isReply, type Context, type DownReason, type Message, type Next, type ReplyTo, type Signal} from './behavior.js';
import type {Cell, Parked} from './cell.js';
import {outcomeType, runEffect, type Kernel} from './interpreter.js';
import type {Envelope} from './mailbox.js';
import type {Change, Known} from '../index/object-index.js';
import type {DeadLetterReason} from './observer.js';
import {StepContext} from './step-context.js';

/** What a cell takes a step for. */
export type Step = {
	readonly message: Message;
	readonly from: Address;
	readonly cause: string;
	/** Called when the step is real: committed, its effects still to run. */
	readonly whenReal?: () => void;
};

/** What steps need of the system around them. */
export type StepsHost = {
	readonly options: Pick<ActorSystemOptions, 'clock' | 'random' | 'observer' | 'persistent'>;
	readonly known: Known;
	readonly counters: {messages: number; commits: number; slowSteps: number};
	readonly kernel: Kernel;
	readonly isClosed: () => boolean;
	readonly refuse: (to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure) => void;
	readonly reply: (to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string) => void;
	readonly signal: (cell: Cell, signal: Signal) => void;
	readonly requestTurn: (cell: Cell) => void;
	readonly crash: (cell: Cell, error: Failure, messageType: string, stack: string) => void;
	readonly unpark: (cell: Cell) => void;
	/** It asked for its own end. */
	readonly ended: (cell: Cell) => void;
	readonly finish: (cell: Cell, reason: DownReason) => void;
};

type CommitOutcome = {readonly ok: true; readonly change: Change} | {readonly ok: false; readonly error: Failure};

export class Steps {
	readonly #host: StepsHost;

	constructor(host: StepsHost) {
		this.#host = host;
	}

	/** Handles what waits, up to a bound; whether more waits. */
	turn(cell: Cell): boolean {
		for (let handled = 0; handled < limits.cellBatchMessages; handled++) {
			if (cell.committing || cell.status !== 'running') return false;
			const signal = cell.mailbox.takeSignal();
			if (signal !== undefined) {
				this.#handleSignal(cell, signal);
				continue;
			}
			const envelope = cell.mailbox.take();
			if (envelope === undefined) return false;
			this.#handle(cell, envelope);
		}
		return !cell.mailbox.isEmpty;
	}

	#handleSignal(cell: Cell, signal: Signal): void {
		const react = cell.behavior.signal;
		if (react === undefined || cell.state === undefined) return;
		this.step(
			cell,
			{message: {type: signal.type}, from: cell.address, cause: `signal ${signal.type}`},
			context => react(cell.state, signal, context) as Next<unknown>,
		);
	}

	#handle(cell: Cell, envelope: Envelope): void {
		const {message, timer} = envelope;
		if (timer !== undefined) {
			if (cell.timers.get(timer.name) !== timer) return; // Cancelled or replaced after it fell due.
			cell.timers.delete(timer.name);
		}
		this.#host.counters.messages++;
		if (message.type === outcomeType && isReply(message)) cell.pending.delete(message.id);
		if (cell.parked !== undefined && this.#rests(cell, cell.parked, envelope)) return;
		this.step(cell, envelope, context => cell.behavior.receive(cell.state, message, context) as Next<unknown>);
	}

	/** Whether the message is not for `receive`, since the actor is parked. */
	#rests(cell: Cell, {error}: Parked, envelope: Envelope): boolean {
		const {parking} = cell.behavior;
		const {message} = envelope;
		if (cell.state === undefined) {
			if (cell.object !== undefined && parking?.forces?.(cell.object, message) === true) this.#removeUnread(cell, envelope);
			else this.#host.refuse(cell.address, envelope, 'crashed', error);
			return true;
		}
		if (parking?.rests(message) !== true) return false;
		const {meanwhile} = parking;
		if (meanwhile !== undefined) this.step(cell, envelope, context => meanwhile(cell.state, context) as Next<unknown>);
		return true;
	}

	/** Removes an object of which no state can be made: there is no step to ask. */
	#removeUnread(cell: Cell, {message, from, cause}: Envelope): void {
		const {object, key} = cell;
		if (object === undefined || key === undefined) return;
		this.#commit(cell, key, undefined, {message, from, cause}, outcome => {
			if (message.replyTo !== undefined)
				this.#host.reply(message.replyTo, outcome.ok ? {ok: true, value: object} : outcome, cell.address, cause);
			if (outcome.ok) this.#host.finish(cell, {type: 'normal'});
		});
	}

	/** Runs one pure function of the behaviour and adopts what it returns; a throw crashes the cell. */
	step(cell: Cell, step: Step, run: (context: Context) => Next<unknown>): void {
		const {clock, observer} = this.#host.options;
		try {
			const startedMs = clock.monotonicMs();
			const next = run(this.contextOf(cell, step.cause));
			const tookMs = clock.monotonicMs() - startedMs;
			if (tookMs > limits.slowStepMs) {
				this.#host.counters.slowSteps++;
				observer?.slowStep?.({address: cell.address, messageType: step.message.type, ms: tookMs});
			}
			this.adopt(cell, next, step);
		} catch (error) {
			this.#stepFailed(cell, step, error);
		}
	}

	/** A bug in a step, be it in the behaviour or in what its effects set going, harms this actor and nobody else. */
	#stepFailed(cell: Cell, {message, from, cause}: Step, error: unknown): void {
		const crashed = crashOf(cell.address, error);
		cell.committing = false; // A commit that was taken throws nothing here.
		this.#host.refuse(cell.address, {message, from, cause, outside: false}, 'crashed', crashed);
		this.#host.crash(cell, crashed, message.type, stackOf(error));
	}

	/** Makes the outcome of a step real: at once, or after its commit. */
	adopt(cell: Cell, next: Next<unknown>, step: Step): void {
		const {persistence} = cell.behavior;
		const persistent = this.#host.options.persistent;
		const candidate = persistence?.objectOf(next.state);
		if (persistence === undefined || persistent === undefined || candidate === cell.object) {
			cell.state = next.state;
			this.#finishStep(cell, next, cell.object, step);
			return;
		}
		const key = candidate === undefined ? persistence.key(cell.state ?? next.state) : persistence.key(next.state);
		this.#commit(cell, key, candidate, step, outcome => {
			if (outcome.ok) this.#committed(cell, next, outcome.change, step);
			else this.#notCommitted(cell, next, outcome.error, step);
		});
	}

	/** Until the commit is decided the cell takes no further message. */
	#commit(cell: Cell, key: ObjectKey, object: ApiObject | undefined, step: Step, done: (outcome: CommitOutcome) => void): void {
		const {instance} = cell;
		const {message, from, cause} = step;
		cell.key = key;
		cell.committing = true;
		this.#host.options.persistent?.submit({
			key,
			object,
			origin: {cause, from, type: message.type},
			done: outcome => {
				if (this.#host.isClosed()) return;
				cell.committing = false;
				// Whatever a bug does here, the pipeline goes on: it has others to answer.
				try {
					if (cell.instance !== instance) this.#committedLate(cell, outcome);
					else if (cell.status !== 'gone') done(outcome);
				} catch (error) {
					this.#stepFailed(cell, step, error);
				}
				this.afterCommit(cell);
			},
		});
	}

	/** The instance was killed meanwhile; the next one begins with what became of its commit. */
	#committedLate(cell: Cell, outcome: CommitOutcome): void {
		if (!outcome.ok || cell.status === 'gone') return;
		const {after} = outcome.change;
		if (after === undefined) this.#host.finish(cell, {type: 'normal'});
		else cell.object = after.object;
	}

	#committed(cell: Cell, next: Next<unknown>, change: Change, step: Step): void {
		this.#host.counters.commits++;
		const before = cell.object;
		const committed = change.after?.object;
		cell.object = committed;
		cell.state = committed === undefined ? next.state : (cell.behavior.persistence?.withObject(next.state, committed) as unknown);
		this.#finishStep(cell, committed === undefined ? {...next, stop: true} : next, committed ?? before, step);
		const specChanged = committed !== undefined && before !== undefined && committed.metadata.generation !== before.metadata.generation;
		if (specChanged) this.#host.unpark(cell);
	}

	/** The candidate is dropped; whoever waited for an answer of this step gets the error. */
	#notCommitted(cell: Cell, next: Next<unknown>, error: Failure, {message, cause}: Step): void {
		for (const effect of next.effects) {
			if (effect.type === 'reply' || effect.type === 'replySelf') this.#host.reply(effect.to, {ok: false, error}, cell.address, cause);
		}
		if (cell.state !== undefined) this.#host.signal(cell, {type: 'commitFailed', error});
		else if (cell.start.restart === 'permanent') this.#host.crash(cell, error, message.type, '');
		else this.#host.finish(cell, {type: 'crashed', error});
	}

	/** What waited for the commit has its turn. */
	afterCommit(cell: Cell): void {
		const then = cell.afterCommit;
		cell.afterCommit = undefined;
		then?.();
		if (!cell.mailbox.isEmpty) this.#host.requestTurn(cell);
	}

	#finishStep(cell: Cell, next: Next<unknown>, self: ApiObject | undefined, {cause, whenReal}: Step): void {
		whenReal?.();
		const {instance} = cell;
		for (const effect of next.effects) {
			runEffect(this.#host.kernel, cell, effect, {cause, self});
			// One of them was its end: the rest is no business of the next instance, should there be one.
			if (cell.instance !== instance || cell.status === 'gone') return;
		}
		if (next.stop === true) this.#host.ended(cell);
	}

	/** What a step may look at. */
	contextOf(cell: Cell, cause: string): Context {
		return new StepContext(cell, cause, this.#host.options.clock, this.#host.options.random, this.#host.known);
	}
}

/** What is told of a bug. */
export const crashOf = (address: Address, error: unknown): Failure =>
	failure('ERR_ACTOR_CRASHED', {address, message: error instanceof Error ? error.message : String(error)});

export const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');
