// One tree of actors: what comes in from outside, what goes from one to another, and what the interpreter asks for.
//
// `system/kernel/steps.ts` says what becomes of a message, `lifetimes.ts`, `restarts.ts` and `endings.ts` how a cell begins, crashes and ends,
// `death-watch.ts` who is told.

import {failed, failure, type Failure, type Outcome} from '../../api/errors.js';
import {address as addressOf, parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ActorSystemOptions} from './actor-options.js';
import {isReply, type AnyReply, type Effect, type Message, type ReplyTo, type Signal} from './behavior.js';
import {treeOf, type Cell} from './cell.js';
import {DeathWatch} from './death-watch.js';
import {Deadlines} from './deadlines.js';
import {EdgeAsks, edgePath} from './edge-asks.js';
import {leaveRound, whenGone} from './endings.js';
import {Lifetimes} from './lifetimes.js';
import type {Envelope, Timer} from './mailbox.js';
import {emptyIndex, type Known} from '../index/object-index.js';
import type {DeadLetterReason} from './observer.js';
import {Performs} from './performs.js';
import {Steps} from './steps.js';
import type {TreeNode} from './tree.js';
import {isForRuntime} from './watch-message.js';

const askKey = (as: string, id: string): string => `${as}|${id}`;

export class ActorSystem {
	readonly name: string;
	readonly options: ActorSystemOptions;
	readonly known: Known;
	readonly counters = {messages: 0, deadLetters: 0, crashes: 0, commits: 0, staleReplies: 0, slowSteps: 0};
	readonly #cells = new Map<Address, Cell>();
	readonly #deadlines: Deadlines;
	readonly #edgeAsks: EdgeAsks;
	readonly #performs: Performs;
	readonly #deathWatch: DeathWatch;
	readonly #lifetimes: Lifetimes;
	#root: Cell | undefined;
	#closed = false;

	constructor(options: ActorSystemOptions) {
		this.name = options.name;
		this.options = options;
		this.known = options.persistent?.known ?? emptyIndex;
		this.#deadlines = new Deadlines(options.clock);
		this.#edgeAsks = new EdgeAsks(this.#deadlines);
		this.#performs = new Performs(this.#deadlines, options.perform);
		this.#deathWatch = new DeathWatch({
			options,
			clock: options.clock,
			cells: this.#cells,
			signal: (cell, signal) => this.#signal(cell, signal),
		});
		const common = {
			options,
			known: this.known,
			counters: this.counters,
			kernel: this,
			signal: (cell: Cell, signal: Signal) => this.#signal(cell, signal),
			requestTurn: (cell: Cell) => this.#requestTurn(cell),
		};
		const steps = new Steps({
			...common,
			isClosed: () => this.#closed,
			refuse: (to, envelope, why, error) => this.refuse(to, envelope, why, error),
			reply: (to, outcome, from, cause) => this.reply(to, outcome, from, cause),
			crash: (cell, error, messageType, stack) => lifetimes.restarts.crash(cell, error, messageType, stack),
			unpark: cell => lifetimes.restarts.parking.unpark(cell),
			ended: cell => lifetimes.restarts.ended(cell),
			finish: (cell, reason) => lifetimes.endings.finish(cell, reason),
		});
		const lifetimes = new Lifetimes({
			...common,
			cells: this.#cells,
			deadlines: this.#deadlines,
			deathWatch: this.#deathWatch,
			turn: cell => steps.turn(cell),
			step: (cell, step, run) => steps.step(cell, step, run),
			adopt: (cell, next, step) => steps.adopt(cell, next, step),
			afterCommit: cell => steps.afterCommit(cell),
			contextOf: (cell, cause) => steps.contextOf(cell, cause),
			refuseStopped: (cell, envelope) => this.#refuseStopped(cell, envelope),
			escalated: error => this.#escalated(error),
		});
		this.#lifetimes = lifetimes;
	}

	/** Starts the tree. The root is permanent; when it fails for good the whole tree is stopped, and then the system escalates. */
	start(behavior: string, input: unknown): void {
		this.#root = this.#lifetimes.spawn(undefined, {name: '', behavior, input, restart: 'permanent'}, 'start');
	}

	/** Sends a message from outside the tree. */
	tell(to: Address, message: Message, cause: string): void {
		this.route(to, {message, from: addressOf(this.name, edgePath), cause, outside: true});
	}

	/** Asks from outside the tree. The callback is called exactly once. */
	ask(
		to: Address,
		message: Message,
		{deadlineMs, cause}: {deadlineMs: number; cause: string},
		done: (outcome: Outcome<unknown>) => void,
	): void {
		const id = this.#edgeAsks.open(to, deadlineMs, done);
		const replyTo: ReplyTo = {to: addressOf(this.name, edgePath), as: 'edge', id};
		this.tell(to, {...message, replyTo}, cause);
	}

	/** Wakes an actor if there is one; a wake of nobody is nothing lost. */
	wake(to: Address, message: Message, cause: string): void {
		const cell = this.#cells.get(to);
		if (cell !== undefined && cell.status !== 'stopping') this.#deliver(cell, {message, from: to, cause, outside: false});
	}

	/** Delivers to an actor of this system, or hands over to the bus. */
	route(to: Address, envelope: Envelope): void {
		const cell = this.#cells.get(to);
		if (cell !== undefined) {
			if (isReply(envelope.message) && !isAnswerOf(cell, envelope.message, envelope.from)) this.counters.staleReplies++;
			else this.#deliver(cell, envelope);
			return;
		}
		const parts = parseAddress(to);
		if (parts !== undefined && parts.system !== this.name && this.options.remote !== undefined) {
			if (this.#mayAct()) this.options.remote(parts.system, to, envelope);
		} else if (isReply(envelope.message)) {
			const {id, outcome} = envelope.message;
			if (parts?.path !== edgePath || !this.#edgeAsks.answer(id, envelope.from, this.#answerable(outcome, envelope.from)))
				this.counters.staleReplies++;
		} else {
			this.refuse(to, envelope, 'noActor', failure('ERR_NO_SUCH_ACTOR', {address: to}));
		}
	}

	/** What the bus brought, from the peer that is named; false when it made no sense. */
	receive(peer: string, to: Address, envelope: Envelope): boolean {
		if (isForRuntime(envelope.message)) return this.#deathWatch.take(peer, to, envelope.message);
		// An answer is bounded by its question.
		this.route(to, isReply(envelope.message) ? {...envelope, outside: false} : envelope);
		return true;
	}

	/** A message that cannot be delivered: a dead letter, and an answer to whoever waits for one. */
	refuse(to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure): void {
		const {message, from, cause} = envelope;
		if (this.#deathWatch.refused(message)) return;
		this.counters.deadLetters++;
		this.options.observer?.deadLetter?.({to, from, cause, messageType: message.type, why, error});
		if (message.replyTo !== undefined) this.reply(message.replyTo, {ok: false, error}, to, cause);
	}

	reply(to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string): void {
		const message: Message & {id: string; outcome: Outcome<unknown>} = {type: to.as, id: to.id, outcome};
		this.route(to.to, {message, from, cause, outside: false});
	}

	/**
	 * A peer system came back as another, as far as these and those actors go: what was asked of the old one has an unknown outcome, who
	 * watched there is told, and nobody there watches any more.
	 */
	peerRestarted(system: string, isMeant: (from: Address, to: Address) => boolean = () => true): void {
		this.#failAsksOf(system, isMeant);
		this.#deathWatch.peerRestarted(system, isMeant);
	}

	#failAsksOf(system: string, isMeant: (from: Address, to: Address) => boolean): void {
		const edge = addressOf(this.name, edgePath);
		this.#edgeAsks.fail(
			to => parseAddress(to)?.system === system && isMeant(edge, to),
			address => failure('ERR_OUTCOME_UNKNOWN', {address}),
		);
		for (const cell of this.#cells.values()) {
			for (const [key, ask] of [...cell.asks]) {
				if (ask.system !== system || !isMeant(cell.address, ask.address)) continue;
				const [as = '', id = ''] = splitAskKey(key);
				this.#answer(cell, as, id, failed('ERR_OUTCOME_UNKNOWN', {address: ask.address}), ask.cause);
			}
		}
	}

	tree(depth?: number): TreeNode | undefined {
		return this.#root === undefined ? undefined : treeOf(this.#root, depth);
	}

	nodeAt(address: Address): TreeNode | undefined {
		const cell = this.#cells.get(address);
		return cell === undefined ? undefined : treeOf(cell);
	}

	/** Addresses of all living actors. */
	addresses(): Iterable<Address> {
		return this.#cells.keys();
	}

	get size(): number {
		return this.#cells.size;
	}

	/** Stops the tree, leaves first, last started first. */
	stop(done: () => void): void {
		const root = this.#root;
		if (root === undefined) {
			done();
			return;
		}
		this.#lifetimes.endings.stop(root, {type: 'stopped'});
		whenGone(root, () => {
			this.close();
			done();
		});
	}

	/** Drops everything at once, as the death of a process would. */
	close(code: 'ERR_ACTOR_STOPPED' | 'ERR_OUTCOME_UNKNOWN' = 'ERR_ACTOR_STOPPED'): void {
		this.#closed = true;
		for (const cell of this.#cells.values()) {
			this.#lifetimes.endings.clear(cell);
			leaveRound(cell);
			cell.parked?.cancelRetry();
			cell.status = 'gone';
			cell.seat?.leave();
		}
		this.#cells.clear();
		this.#deadlines.clear();
		this.#edgeAsks.fail(
			() => true,
			address => failure(code, {address}),
		);
		this.#performs.clear();
		this.#deathWatch.close();
	}

	/** Nothing of it goes on half alive: what was asked meanwhile has its answers, and whoever owns it begins anew or ends. */
	#escalated(error: Failure): void {
		this.close();
		this.options.onEscalation?.(error);
	}

	/** Makes the actor at this address throw away its state and start again, as a crash would. */
	crash(address: Address, error: Failure): boolean {
		const cell = this.#cells.get(address);
		if (cell === undefined || cell.committing || cell.status !== 'running') return false;
		this.#lifetimes.restarts.crash(cell, error, 'kill', '');
		return true;
	}

	// ---- used by the interpreter -------------------------------------------------------------------------------------

	spawnChild(parent: Cell, effect: Extract<Effect, {type: 'spawn'}>, cause: string): void {
		if (parent.status !== 'running' || parent.children.has(effect.name)) return;
		this.#lifetimes.spawn(parent, effect, cause);
	}

	stopChild(parent: Cell, name: string): void {
		const child = parent.children.get(name);
		if (child !== undefined) this.#lifetimes.endings.stop(child, {type: 'stopped'});
	}

	watch(cell: Cell, address: Address): void {
		this.#deathWatch.watch(cell, address);
	}

	unwatch(cell: Cell, address: Address): void {
		this.#deathWatch.unwatch(cell, address);
	}

	declareGone(system: string): void {
		this.#failAsksOf(system, () => true);
		this.#deathWatch.peerGone(system);
	}

	/** Opens a question of a cell; false when the same one is open already. */
	openAsk(cell: Cell, to: Address, as: string, id: string, deadlineMs: number, cause: string): boolean {
		const key = askKey(as, id);
		if (cell.asks.has(key)) return false;
		const cancel = this.#deadlines.after(deadlineMs, () =>
			this.#answer(cell, as, id, failed('ERR_TIMEOUT', {address: to, deadlineMs}), cause),
		);
		cell.asks.set(key, {cancel, system: parseAddress(to)?.system ?? '', address: to, cause});
		return true;
	}

	/** Runs a command, or joins the run of the same key. */
	perform(cell: Cell, effect: Extract<Effect, {type: 'perform'}>, cause: string): void {
		const {key, as, command, deadlineMs = limits.performDeadlineMs} = effect;
		if (!this.openAsk(cell, `edge:${command.type}`, as, key, deadlineMs, cause)) return;
		const {instance} = cell;
		if (!this.#mayAct()) return;
		this.#performs.run(key, command, deadlineMs, outcome => {
			if (cell.instance === instance) this.#answer(cell, as, key, outcome, cause);
		});
	}

	/** The message of a timer that is replaced or cancelled does not come, even where it waits in the mailbox already. */
	wakeAt(cell: Cell, {name, atMs, atMostMs = Number.POSITIVE_INFINITY, message}: Extract<Effect, {type: 'wakeAt'}>, cause: string): void {
		cell.timers.get(name)?.cancel();
		const delayMs = Math.min(atMs - this.options.clock.nowMs(), atMostMs);
		const cancel = this.options.clock.after(delayMs, () =>
			this.#deliver(cell, {message, from: cell.address, cause, outside: false, timer}),
		);
		const timer: Timer = {name, cancel};
		cell.timers.set(name, timer);
	}

	cancelWake(cell: Cell, name: string): void {
		cell.timers.get(name)?.cancel();
		cell.timers.delete(name);
	}

	// ---- delivery ----------------------------------------------------------------------------------------------------

	#mayAct(): boolean {
		return this.options.mayAct?.() ?? true;
	}

	/** Once the leader's term is over nothing is vouched for but that the store did not take a write. */
	#answerable(outcome: Outcome<unknown>, address: Address): Outcome<unknown> {
		if (this.#mayAct() || (!outcome.ok && outcome.error.code === 'ERR_STORE')) return outcome;
		return failed('ERR_OUTCOME_UNKNOWN', {address});
	}

	#answer(cell: Cell, as: string, id: string, outcome: Outcome<unknown>, cause: string): void {
		if (cell.status === 'gone' || !cell.asks.has(askKey(as, id))) return;
		const message: Message & {id: string; outcome: Outcome<unknown>} = {type: as, id, outcome};
		this.#deliver(cell, {message, from: cell.address, cause, outside: false});
	}

	#deliver(cell: Cell, envelope: Envelope): void {
		const {message} = envelope;
		if (cell.status === 'stopping' || cell.status === 'gone') {
			this.#refuseStopped(cell, envelope);
			return;
		}
		if (isReply(message)) {
			const key = askKey(message.type, message.id);
			const open = cell.asks.get(key);
			if (open === undefined) {
				this.counters.staleReplies++;
				return;
			}
			open.cancel();
			cell.asks.delete(key);
		}
		if (envelope.outside && cell.mailbox.outside >= limits.mailboxMessages) {
			this.refuse(cell.address, envelope, 'busy', failure('ERR_BUSY', {address: cell.address, waiting: cell.mailbox.outside}));
			return;
		}
		// A question is never replaced by a newer one: somebody waits for its answer.
		cell.mailbox.put(envelope, message.replyTo === undefined ? cell.behavior.coalesce?.(message) : undefined);
		this.#requestTurn(cell);
	}

	/** Answers, and what an actor sends to itself (timers, wakes), end with it and are nobody's loss. */
	#refuseStopped(cell: Cell, envelope: Envelope): void {
		const {message, from} = envelope;
		if (isReply(message)) this.counters.staleReplies++;
		else if (from !== cell.address || message.replyTo !== undefined)
			this.refuse(cell.address, envelope, 'stopped', failure('ERR_ACTOR_STOPPED', {address: cell.address}));
	}

	#signal(cell: Cell, signal: Signal): void {
		if (cell.status === 'gone') return;
		cell.mailbox.signal(signal);
		this.#requestTurn(cell);
	}

	#requestTurn(cell: Cell): void {
		if (cell.committing || cell.status === 'restarting') return;
		cell.seat?.request();
	}
}

/** Whether the actor waits for this, and from that system: no other can answer for it. */
const isAnswerOf = (cell: Cell, {type, id}: AnyReply, from: Address): boolean =>
	cell.asks.get(askKey(type, id))?.system === parseAddress(from)?.system;

const splitAskKey = (key: string): [string, string] => {
	const bar = key.indexOf('|');
	return [key.slice(0, bar), key.slice(bar + 1)];
};
