// One tree of actors: turns, steps, commits, crashes and stops of its cells.
//
// A step is pure: behaviour, state and message in, new state and effects out. What changes the object is committed first;
// only then is the new state real and do the effects run. A step that throws changes nothing.

import {failed, failure, type Failure, type Outcome} from '../api/errors.js';
import {address as addressOf, parseAddress, type Address, type ObjectKey} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {ApiObject, Draft} from '../api/object.js';
import type {
	AnyBehavior,
	Command,
	Context,
	DownReason,
	Effect,
	Message,
	Next,
	Pending,
	Random,
	ReplyTo,
	Restart,
	Signal,
} from './behavior.js';
import {Cell, treeOf} from './cell.js';
import type {Clock} from './clock.js';
import {Deadlines} from './deadlines.js';
import type {Executor} from './executor.js';
import {runEffect} from './interpreter.js';
import type {Envelope} from './mailbox.js';
import {emptyIndex, type Change, type Known} from './object-index.js';
import type {SystemObserver} from './observer.js';
import {addRestart, exponentialBackoffMs} from './supervision.js';
import type {TreeNode} from './tree.js';

/** Runs a command at the edge of the process and calls back once. */
export type Perform = (command: Command, done: (outcome: Outcome<unknown>) => void) => void;

/** Where a system keeps its objects; a system without one has no persistent actors. */
export type Persistent = {
	readonly known: Known;
	readonly submit: (submission: {
		readonly key: ObjectKey;
		readonly object: ApiObject | undefined;
		/** What set this going; for the wakes it leads to and the journal. */
		readonly origin: {readonly cause: string; readonly from: Address; readonly type: string};
		readonly done: (outcome: {readonly ok: true; readonly change: Change} | {readonly ok: false; readonly error: Failure}) => void;
	}) => void;
	readonly recordEvent: (key: ObjectKey, event: Extract<Effect, {type: 'event'}>) => void;
};

export type ActorSystemOptions = {
	readonly name: string;
	readonly executor: Executor;
	readonly clock: Clock;
	readonly random: Random;
	readonly behaviors: {readonly [name: string]: AnyBehavior};
	readonly persistent?: Persistent;
	readonly perform?: Perform;
	/** Delivers what is addressed to another system. */
	readonly remote?: (system: string, to: Address, envelope: Envelope) => void;
	/** Addresses for `create`, `update` and `delete`. */
	readonly collectionOf?: (draft: Draft) => Address;
	readonly recordOf?: (key: ObjectKey) => Address;
	readonly observer?: SystemObserver;
	/** The root crashed past its intensity: this system cannot go on. */
	readonly onEscalation?: (error: Failure) => void;
};

/** The path that answers to whoever asks from outside the tree. */
const edgePath = 'edge';

const askKey = (as: string, id: string): string => `${as}|${id}`;

export class ActorSystem {
	readonly name: string;
	readonly options: ActorSystemOptions;
	readonly known: Known;
	readonly counters = {messages: 0, deadLetters: 0, crashes: 0, commits: 0, staleReplies: 0, slowSteps: 0};
	readonly #cells = new Map<Address, Cell>();
	readonly #deadlines: Deadlines;
	readonly #edgeAsks = new Map<string, (outcome: Outcome<unknown>) => void>();
	readonly #performs = new Map<string, ((outcome: Outcome<unknown>) => void)[]>();
	#edgeCounter = 0;
	#root: Cell | undefined;
	#closed = false;

	constructor(options: ActorSystemOptions) {
		this.name = options.name;
		this.options = options;
		this.known = options.persistent?.known ?? emptyIndex;
		this.#deadlines = new Deadlines(options.clock);
	}

	/** Starts the tree. The root is permanent; when it fails for good the system escalates. */
	start(behavior: string, input: unknown): void {
		this.#root = this.#spawn(undefined, '', {behavior, input, snapshot: undefined, restart: 'permanent'}, 'start');
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
		const id = String(++this.#edgeCounter);
		const cancel = this.#deadlines.after(deadlineMs, () => this.#answerEdge(id, failed('ERR_TIMEOUT', {address: to, deadlineMs})));
		this.#edgeAsks.set(id, outcome => {
			cancel();
			done(outcome);
		});
		const replyTo: ReplyTo = {to: addressOf(this.name, edgePath), as: 'edge', id};
		this.tell(to, {...message, replyTo}, cause);
	}

	/** Wakes an actor if there is one; a wake of nobody is nothing lost. */
	wake(to: Address, message: Message, cause: string): void {
		const cell = this.#cells.get(to);
		if (cell !== undefined) this.#deliver(cell, {message, from: to, cause, outside: false});
	}

	/** Delivers to an actor of this system, or hands over to the bus. */
	route(to: Address, envelope: Envelope): void {
		const cell = this.#cells.get(to);
		if (cell !== undefined) {
			this.#deliver(cell, envelope);
			return;
		}
		const parts = parseAddress(to);
		if (parts !== undefined && parts.system !== this.name && this.options.remote !== undefined) {
			this.options.remote(parts.system, to, envelope);
		} else if (parts?.path === edgePath && isReply(envelope.message)) {
			this.#answerEdge(envelope.message.id, envelope.message.outcome);
		} else {
			this.refuse(to, envelope, 'noActor', failure('ERR_NO_SUCH_ACTOR', {address: to}));
		}
	}

	/** A message that cannot be delivered: a dead letter, and an answer to whoever waits for one. */
	refuse(to: Address, envelope: Envelope, why: string, error: Failure): void {
		const {message, from, cause} = envelope;
		this.counters.deadLetters++;
		this.options.observer?.deadLetter?.({to, from, messageType: message.type, why});
		if (message.replyTo !== undefined) this.reply(message.replyTo, {ok: false, error}, to, cause);
	}

	reply(to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string): void {
		const message: Message & {id: string; outcome: Outcome<unknown>} = {type: to.as, id: to.id, outcome};
		this.route(to.to, {message, from, cause, outside: false});
	}

	/** A peer system came back as another: what was asked of the old one has an unknown outcome. */
	failAsksOf(system: string): void {
		for (const cell of this.#cells.values()) {
			for (const [key, ask] of [...cell.asks]) {
				if (ask.system !== system) continue;
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
		this.#stop(root, {type: 'stopped'}, () => {
			this.close();
			done();
		});
	}

	/** Drops everything at once, as the death of a process would. */
	close(): void {
		this.#closed = true;
		for (const cell of this.#cells.values()) {
			this.#clear(cell);
			cell.status = 'gone';
			cell.seat?.leave();
		}
		this.#cells.clear();
		this.#deadlines.clear();
		for (const id of [...this.#edgeAsks.keys()]) this.#answerEdge(id, failed('ERR_ACTOR_STOPPED', {address: this.name}));
		this.#performs.clear();
	}

	/** Makes the actor at this address throw away its state and start again, as a crash would. */
	crash(address: Address, error: Failure): boolean {
		const cell = this.#cells.get(address);
		if (cell === undefined || cell.committing || cell.status !== 'running') return false;
		this.#crash(cell, error, 'kill', '');
		return true;
	}

	// ---- used by the interpreter -------------------------------------------------------------------------------------

	spawnChild(parent: Cell, effect: Extract<Effect, {type: 'spawn'}>, cause: string): void {
		if (parent.status === 'stopping' || parent.status === 'gone' || parent.children.has(effect.name)) return;
		const {behavior, input, snapshot, restart = 'transient'} = effect;
		this.#spawn(parent, effect.name, {behavior, input, snapshot, restart}, cause);
	}

	stopChild(parent: Cell, name: string): void {
		const child = parent.children.get(name);
		if (child !== undefined) this.#stop(child, {type: 'stopped'}, () => undefined);
	}

	watch(cell: Cell, address: Address): void {
		const watched = this.#cells.get(address);
		if (watched !== undefined) watched.watchers.add(cell.address);
		else this.#signal(cell, {type: 'down', address, reason: {type: 'noProcess'}});
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
		const deliver = (outcome: Outcome<unknown>): void => {
			if (cell.instance === instance) this.#answer(cell, as, key, outcome, cause);
		};
		const running = this.#performs.get(key);
		if (running !== undefined) {
			running.push(deliver);
			return;
		}
		const listeners = [deliver];
		this.#performs.set(key, listeners);
		const run = this.options.perform;
		const done = (outcome: Outcome<unknown>): void => {
			if (this.#performs.get(key) === listeners) this.#performs.delete(key);
			for (const listener of listeners) listener(outcome);
		};
		if (run === undefined) done(failed('ERR_INTERNAL', {message: `nothing performs "${command.type}" here`}));
		else run(command, done);
	}

	wakeAt(cell: Cell, effect: Extract<Effect, {type: 'wakeAt'}>, cause: string): void {
		cell.timers.get(effect.name)?.();
		const {instance} = cell;
		const cancel = this.options.clock.after(effect.atMs - this.options.clock.nowMs(), () => {
			cell.timers.delete(effect.name);
			if (cell.instance === instance) this.#deliver(cell, {message: effect.message, from: cell.address, cause, outside: false});
		});
		cell.timers.set(effect.name, cancel);
	}

	// ---- delivery ----------------------------------------------------------------------------------------------------

	#answerEdge(id: string, outcome: Outcome<unknown>): void {
		const answer = this.#edgeAsks.get(id);
		if (answer === undefined) {
			this.counters.staleReplies++;
			return;
		}
		this.#edgeAsks.delete(id);
		answer(outcome);
	}

	#answer(cell: Cell, as: string, id: string, outcome: Outcome<unknown>, cause: string): void {
		if (cell.status === 'gone' || !cell.asks.has(askKey(as, id))) return;
		const message: Message & {id: string; outcome: Outcome<unknown>} = {type: as, id, outcome};
		this.#deliver(cell, {message, from: cell.address, cause, outside: false});
	}

	#deliver(cell: Cell, envelope: Envelope): void {
		const {message} = envelope;
		if (cell.status === 'stopping' || cell.status === 'gone') {
			this.refuse(cell.address, envelope, 'stopped', failure('ERR_ACTOR_STOPPED', {address: cell.address}));
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
		cell.mailbox.put(envelope, cell.behavior.coalesce?.(message));
		this.#requestTurn(cell);
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

	// ---- turns and steps -----------------------------------------------------------------------------------------------

	#turn(cell: Cell): boolean {
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
		this.#step(
			cell,
			{type: signal.type},
			cell.address,
			`signal ${signal.type}`,
			context => react(cell.state, signal, context) as Next<unknown>,
		);
	}

	#handle(cell: Cell, envelope: Envelope): void {
		const {message, from, cause} = envelope;
		this.counters.messages++;
		if (cell.parked !== undefined) {
			if (cell.state === undefined) {
				this.refuse(cell.address, envelope, 'crashed', cell.parked.error);
				return;
			}
			if (cell.behavior.parking?.rests(message) === true) return;
		}
		if (isReply(message) && cell.pending.size > 0) cell.pending.delete(message.id);
		this.#step(cell, message, from, cause, context => cell.behavior.receive(cell.state, message, context) as Next<unknown>);
	}

	/** Runs one pure function of the behaviour and adopts what it returns; a throw crashes the cell. */
	#step(cell: Cell, message: Message, from: Address, cause: string, run: (context: Context) => Next<unknown>): void {
		const {clock} = this.options;
		const startedMs = clock.monotonicMs();
		let next: Next<unknown>;
		try {
			next = run(this.#contextOf(cell));
		} catch (error) {
			const crashed = crashOf(cell.address, error);
			this.refuse(cell.address, {message, from, cause, outside: false}, 'crashed', crashed);
			this.#crash(cell, crashed, message.type, stackOf(error));
			return;
		}
		const tookMs = clock.monotonicMs() - startedMs;
		if (tookMs > limits.slowStepMs) {
			this.counters.slowSteps++;
			this.options.observer?.slowStep?.({address: cell.address, messageType: message.type, ms: tookMs});
		}
		this.#adopt(cell, next, {cause, from, type: message.type});
	}

	/** Makes the outcome of a step real: at once, or after its commit. */
	#adopt(cell: Cell, next: Next<unknown>, origin: {cause: string; from: Address; type: string}): void {
		const {persistence} = cell.behavior;
		const persistent = this.options.persistent;
		const candidate = persistence?.objectOf(next.state);
		if (persistence === undefined || persistent === undefined || candidate === cell.object) {
			cell.state = next.state;
			this.#finishStep(cell, next, cell.object, origin.cause);
			return;
		}
		const key = candidate === undefined ? persistence.key(cell.state ?? next.state) : persistence.key(next.state);
		cell.key = key;
		cell.committing = true;
		persistent.submit({
			key,
			object: candidate,
			origin,
			done: outcome => {
				if (this.#closed || cell.status === 'gone') return;
				cell.committing = false;
				if (outcome.ok) this.#committed(cell, next, outcome.change, origin.cause);
				else this.#notCommitted(cell, next, outcome.error, origin.cause);
				this.#afterCommit(cell);
			},
		});
	}

	#committed(cell: Cell, next: Next<unknown>, change: Change, cause: string): void {
		this.counters.commits++;
		const before = cell.object;
		const committed = change.after?.object;
		cell.object = committed;
		cell.state = committed === undefined ? next.state : (cell.behavior.persistence?.withObject(next.state, committed) as unknown);
		const specChanged = committed !== undefined && before !== undefined && committed.metadata.generation !== before.metadata.generation;
		if (cell.parked !== undefined && specChanged) this.#unparkSoon(cell, 0);
		this.#finishStep(cell, committed === undefined ? {...next, stop: true} : next, committed ?? before, cause);
	}

	/** The candidate is dropped; whoever waited for an answer of this step gets the error. */
	#notCommitted(cell: Cell, next: Next<unknown>, error: Failure, cause: string): void {
		for (const effect of next.effects) {
			if (effect.type === 'reply' || effect.type === 'replySelf') this.reply(effect.to, {ok: false, error}, cell.address, cause);
		}
		if (cell.state === undefined) {
			this.#finish(cell, {type: 'crashed', error});
			return;
		}
		this.#signal(cell, {type: 'commitFailed', error});
	}

	#afterCommit(cell: Cell): void {
		const resume = cell.afterCommit;
		cell.afterCommit = undefined;
		if (resume !== undefined) resume();
		else if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
	}

	#finishStep(cell: Cell, next: Next<unknown>, self: ApiObject | undefined, cause: string): void {
		for (const effect of next.effects) runEffect(this, cell, effect, {cause, self});
		if (next.stop === true && cell.status === 'running') this.#stop(cell, {type: 'normal'}, () => undefined);
	}

	#contextOf(cell: Cell): Context {
		return new StepContext(cell, this.options.clock.nowMs(), this.options.random, this.known);
	}

	// ---- start, crash, restart, parking ------------------------------------------------------------------------------

	#spawn(
		parent: Cell | undefined,
		name: string,
		child: {behavior: string; input: unknown; snapshot: string | undefined; restart: Restart},
		cause: string,
	): Cell {
		const behavior = this.options.behaviors[child.behavior];
		if (behavior === undefined) throw new Error(`no behavior is called "${child.behavior}"`);
		const path = parent === undefined || parent.path === '' ? name : `${parent.path}/${name}`;
		const address = addressOf(this.name, path);
		const cell = new Cell(
			{name, address, path, parent},
			child.behavior,
			behavior,
			{input: child.input, snapshot: child.snapshot},
			child.restart,
		);
		this.#cells.set(address, cell);
		parent?.children.set(name, cell);
		cell.seat = this.options.executor.seat(() => this.#turn(cell));
		this.#begin(cell, cause);
		return cell;
	}

	/** `init` for a new actor, `resume` for one that has a snapshot or had one. */
	#begin(cell: Cell, cause: string): void {
		cell.status = 'running';
		const {persistence, resume, init} = cell.behavior;
		const key =
			cell.object === undefined ? cell.start.snapshot : (persistence?.key(persistence.restore(cell.object, cell.start.input)) as ObjectKey);
		const snapshot = key === undefined ? undefined : this.known.get(key);
		const message = {type: snapshot === undefined ? 'init' : 'resume'};
		if (snapshot !== undefined && persistence !== undefined) {
			cell.object = snapshot;
			cell.key = key;
			this.#step(cell, message, cell.address, cause, context => {
				cell.state = persistence.restore(snapshot, cell.start.input);
				return (resume?.(cell.state, context) ?? {state: cell.state, effects: []}) as Next<unknown>;
			});
		} else {
			this.#step(cell, message, cell.address, cause, context => init(cell.start.input, context) as Next<unknown>);
		}
	}

	#crash(cell: Cell, error: Failure, messageType: string, stack: string): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		this.counters.crashes++;
		cell.failure = error;
		this.options.observer?.lifecycle?.({type: 'crashed', address: cell.address, error, messageType, stack});
		if (cell.parked !== undefined) {
			this.#park(cell, error, cell.parked.retries + 1);
			return;
		}
		const isNew = cell.state === undefined && cell.object === undefined && cell.behavior.persistence !== undefined;
		if (cell.restart === 'temporary' || isNew) {
			this.#finish(cell, {type: 'crashed', error});
			return;
		}
		const {window, exceeded} = addRestart(cell.window, this.options.clock.monotonicMs(), {
			intensity: limits.restartIntensity,
			windowMs: limits.restartWindowMs,
		});
		cell.window = window;
		if (!exceeded) this.#restartLater(cell, window.length);
		else if (cell.behavior.parking !== undefined) this.#park(cell, error, 1);
		else this.#escalate(cell, error);
	}

	#restartLater(cell: Cell, inARow: number): void {
		cell.restarts++;
		cell.status = 'restarting';
		const delayMs = inARow <= 1 ? 0 : exponentialBackoffMs(inARow - 1, limits.actorRestartFirstMs, limits.actorBackoffMaxMs);
		this.#reset(cell, () => {
			cell.cancelRestart = this.options.clock.after(delayMs, () => {
				cell.cancelRestart = undefined;
				if (cell.status !== 'restarting') return;
				this.options.observer?.lifecycle?.({type: 'restarted', address: cell.address, restarts: cell.restarts});
				this.#begin(cell, 'restart');
				if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
			});
		});
	}

	/** Forgets what the instance had under way; its mailbox stays. Children are stopped: the new instance starts its own. */
	#reset(cell: Cell, done: () => void): void {
		cell.instance++;
		this.#clear(cell);
		this.#stopChildren(cell, done);
	}

	#park(cell: Cell, error: Failure, retries: number): void {
		const retryInMs = exponentialBackoffMs(retries, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		cell.parked?.cancelRetry();
		cell.parked = {error, retries, cancelRetry: this.options.clock.after(retryInMs, () => this.#unparkSoon(cell, retries))};
		this.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		const {parking, persistence} = cell.behavior;
		if (parking === undefined || persistence === undefined || cell.object === undefined) return;
		cell.instance++;
		this.#clear(cell);
		const snapshot = cell.object;
		// A condition that cannot be written must not crash the actor once more: it stays parked without.
		try {
			cell.state = persistence.restore(snapshot, cell.start.input);
			const next = parking.park(cell.state, error, this.#contextOf(cell)) as Next<unknown>;
			this.#adopt(cell, next, {cause: 'parked', from: cell.address, type: 'park'});
		} catch (parkError) {
			cell.failure = crashOf(cell.address, parkError);
		}
		if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
	}

	/** Tries the parked part again, as a message of its own so that it never overlaps a step. */
	#unparkSoon(cell: Cell, retries: number): void {
		const {parked} = cell;
		if (parked === undefined || cell.status !== 'running') return;
		if (cell.committing) {
			cell.parked = {...parked, cancelRetry: this.options.clock.after(limits.actorRestartFirstMs, () => this.#unparkSoon(cell, retries))};
			return;
		}
		parked.cancelRetry();
		const {parking} = cell.behavior;
		if (parking === undefined) return;
		this.#step(cell, {type: 'unpark'}, cell.address, 'unparked', context => {
			const next = parking.unpark(cell.state, context) as Next<unknown>;
			cell.parked = undefined;
			cell.window = [];
			this.options.observer?.lifecycle?.({type: 'unparked', address: cell.address});
			return next;
		});
	}

	/** What a supervisor cannot mend is its own failure; at the top it is the system's. */
	#escalate(cell: Cell, error: Failure): void {
		this.options.observer?.lifecycle?.({type: 'escalated', address: cell.address, error});
		const {parent} = cell;
		if (parent === undefined) {
			this.options.onEscalation?.(error);
			return;
		}
		this.#finish(cell, {type: 'crashed', error});
		this.#crash(parent, error, 'escalated', '');
	}

	// ---- stop --------------------------------------------------------------------------------------------------------

	#stop(cell: Cell, reason: DownReason, done: () => void): void {
		if (cell.status === 'gone' || cell.status === 'stopping') {
			done();
			return;
		}
		cell.status = 'stopping';
		cell.cancelRestart?.();
		let ended = false;
		const end = (): void => {
			if (ended) return;
			ended = true;
			cancelDeadline();
			this.#finish(cell, reason);
			done();
		};
		const cancelDeadline = this.#deadlines.after(limits.shutdownMs, end);
		this.#stopChildren(cell, () => {
			if (cell.committing) cell.afterCommit = end;
			else end();
		});
	}

	/** Last started first; each is over before the next is stopped. */
	#stopChildren(cell: Cell, done: () => void): void {
		const youngest = [...cell.children.values()].at(-1);
		if (youngest === undefined) {
			done();
			return;
		}
		this.#stop(youngest, {type: 'stopped'}, () => {
			cell.children.delete(youngest.name);
			this.#stopChildren(cell, done);
		});
	}

	#finish(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone') return;
		for (const child of [...cell.children.values()].reverse()) this.#finish(child, {type: 'stopped'});
		if (reason.type !== 'crashed') this.#runStopSignal(cell);
		cell.status = 'gone';
		cell.instance++;
		this.#clear(cell);
		cell.parked?.cancelRetry();
		if (this.#cells.get(cell.address) === cell) this.#cells.delete(cell.address);
		cell.seat?.leave();
		for (const envelope of cell.mailbox.drain()) {
			if (isReply(envelope.message)) continue;
			this.refuse(cell.address, envelope, 'stopped', failure('ERR_ACTOR_STOPPED', {address: cell.address}));
		}
		this.#tellDown(cell, reason);
	}

	#runStopSignal(cell: Cell): void {
		const react = cell.behavior.signal;
		if (react === undefined || cell.state === undefined) return;
		try {
			const next = react(cell.state, {type: 'stop'}, this.#contextOf(cell)) as Next<unknown>;
			for (const effect of next.effects) runEffect(this, cell, effect, {cause: 'stop', self: cell.object});
		} catch (error) {
			cell.failure = crashOf(cell.address, error);
			this.options.observer?.lifecycle?.({
				type: 'crashed',
				address: cell.address,
				error: cell.failure,
				messageType: 'stop',
				stack: stackOf(error),
			});
		}
	}

	#tellDown(cell: Cell, reason: DownReason): void {
		const signal: Signal = {type: 'down', address: cell.address, reason};
		const {parent} = cell;
		if (parent?.children.get(cell.name) === cell) parent.children.delete(cell.name);
		if (parent !== undefined && parent.status === 'running') {
			if (cell.restart === 'permanent' && reason.type === 'normal')
				this.#crash(parent, failure('ERR_INTERNAL', {message: `"${cell.address}" ended`}), 'down', '');
			else this.#signal(parent, signal);
		}
		for (const watcher of cell.watchers) {
			const watching = this.#cells.get(watcher);
			if (watching !== undefined && watching !== parent) this.#signal(watching, signal);
		}
	}

	#clear(cell: Cell): void {
		for (const cancel of cell.timers.values()) cancel();
		cell.timers.clear();
		for (const ask of cell.asks.values()) ask.cancel();
		cell.asks.clear();
		cell.pending.clear();
		cell.cancelRestart?.();
		cell.cancelRestart = undefined;
	}
}

/** What a step may look at. Lists are made only when they are asked for. */
class StepContext implements Context {
	readonly #cell: Cell;
	readonly nowMs: number;
	readonly random: Random;
	readonly known: Known;

	constructor(cell: Cell, nowMs: number, random: Random, known: Known) {
		this.#cell = cell;
		this.nowMs = nowMs;
		this.random = random;
		this.known = known;
	}

	get self(): Address {
		return this.#cell.address;
	}

	get children(): readonly string[] {
		return [...this.#cell.children.keys()];
	}

	hasChild(name: string): boolean {
		return this.#cell.children.has(name);
	}

	get pending(): ReadonlyMap<string, Pending> {
		return this.#cell.pending;
	}
}

type AnyReply = Message & {readonly id: string; readonly outcome: Outcome<unknown>};

const isReply = (message: Message): message is AnyReply => 'outcome' in message && 'id' in message;

const splitAskKey = (key: string): [string, string] => {
	const bar = key.indexOf('|');
	return [key.slice(0, bar), key.slice(bar + 1)];
};

const crashOf = (address: Address, error: unknown): Failure =>
	failure('ERR_ACTOR_CRASHED', {address, message: error instanceof Error ? error.message : String(error)});

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');
