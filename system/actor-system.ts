// One tree of actors: turns, steps, commits, crashes and stops of its cells.
//
// A step is pure: behaviour, state and message in, new state and effects out. What changes the object is committed first;
// only then is the new state real and do the effects run. A step that throws changes nothing.

import {failed, failure, type Failure, type Outcome} from '../api/errors.js';
import {address as addressOf, parseAddress, type Address, type ObjectKey} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {ApiObject, Draft} from '../api/object.js';
import type {AnyBehavior, Context, DownReason, Effect, Message, Next, Random, ReplyTo, Restart, Signal} from './behavior.js';
import {Cell, treeOf} from './cell.js';
import type {Clock} from './clock.js';
import {Deadlines} from './deadlines.js';
import {EdgeAsks} from './edge-asks.js';
import type {Executor} from './executor.js';
import {outcomeType, runEffect} from './interpreter.js';
import type {Envelope} from './mailbox.js';
import {emptyIndex, type Change, type Known} from './object-index.js';
import type {SystemObserver} from './observer.js';
import {Performs, type Perform} from './performs.js';
import {StepContext} from './step-context.js';
import {addRestart, exponentialBackoffMs, restartDelayMs, type BackoffPolicy} from './supervision.js';
import type {TreeNode} from './tree.js';

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

const actorBackoff: BackoffPolicy = {firstMs: limits.actorRestartFirstMs, maxMs: limits.actorBackoffMaxMs, resetMs: limits.actorWellMs};

const askKey = (as: string, id: string): string => `${as}|${id}`;

/** What a cell takes a step for. */
type Step = {
	readonly message: Message;
	readonly from: Address;
	readonly cause: string;
	/** Called when the step is real: committed, its effects still to run. */
	readonly whenReal?: () => void;
};

export class ActorSystem {
	readonly name: string;
	readonly options: ActorSystemOptions;
	readonly known: Known;
	readonly counters = {messages: 0, deadLetters: 0, crashes: 0, commits: 0, staleReplies: 0, slowSteps: 0};
	readonly #cells = new Map<Address, Cell>();
	readonly #deadlines: Deadlines;
	readonly #edgeAsks: EdgeAsks;
	readonly #performs: Performs;
	#root: Cell | undefined;
	#closed = false;

	constructor(options: ActorSystemOptions) {
		this.name = options.name;
		this.options = options;
		this.known = options.persistent?.known ?? emptyIndex;
		this.#deadlines = new Deadlines(options.clock);
		this.#edgeAsks = new EdgeAsks(this.#deadlines);
		this.#performs = new Performs(options.perform);
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
			this.options.remote(parts.system, to, envelope);
		} else if (isReply(envelope.message)) {
			const {id, outcome} = envelope.message;
			if (parts?.path !== edgePath || !this.#edgeAsks.answer(id, envelope.from, outcome)) this.counters.staleReplies++;
		} else {
			this.refuse(to, envelope, 'noActor', failure('ERR_NO_SUCH_ACTOR', {address: to}));
		}
	}

	/** A message that cannot be delivered: a dead letter, and an answer to whoever waits for one. */
	refuse(to: Address, envelope: Envelope, why: string, error: Failure): void {
		const {message, from, cause} = envelope;
		this.counters.deadLetters++;
		this.options.observer?.deadLetter?.({to, from, messageType: message.type, why, error});
		if (message.replyTo !== undefined) this.reply(message.replyTo, {ok: false, error}, to, cause);
	}

	reply(to: ReplyTo, outcome: Outcome<unknown>, from: Address, cause: string): void {
		const message: Message & {id: string; outcome: Outcome<unknown>} = {type: to.as, id: to.id, outcome};
		this.route(to.to, {message, from, cause, outside: false});
	}

	/** A peer system came back as another: what was asked of the old one has an unknown outcome. */
	failAsksOf(system: string): void {
		this.#edgeAsks.fail(system, address => failure('ERR_OUTCOME_UNKNOWN', {address}));
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
		this.#stop(root, {type: 'stopped'});
		whenGone(root, () => {
			this.close();
			done();
		});
	}

	/** Drops everything at once, as the death of a process would. */
	close(): void {
		this.#closed = true;
		for (const cell of this.#cells.values()) {
			this.#clear(cell);
			cell.parked?.cancelRetry();
			cell.status = 'gone';
			cell.seat?.leave();
		}
		this.#cells.clear();
		this.#deadlines.clear();
		this.#edgeAsks.fail(undefined, address => failure('ERR_ACTOR_STOPPED', {address}));
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
		if (parent.status !== 'running' || parent.children.has(effect.name)) return;
		const {behavior, input, snapshot, restart = 'transient'} = effect;
		this.#spawn(parent, effect.name, {behavior, input, snapshot, restart}, cause);
	}

	stopChild(parent: Cell, name: string): void {
		const child = parent.children.get(name);
		if (child !== undefined) this.#stop(child, {type: 'stopped'});
	}

	watch(cell: Cell, address: Address): void {
		const watched = this.#cells.get(address);
		if (watched === undefined) {
			this.#signal(cell, {type: 'down', address, reason: {type: 'noProcess'}});
			return;
		}
		watched.watchers.add(cell);
		cell.watching.add(watched);
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
		this.#performs.run(key, command, outcome => {
			if (cell.instance === instance) this.#answer(cell, as, key, outcome, cause);
		});
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
			{message: {type: signal.type}, from: cell.address, cause: `signal ${signal.type}`},
			context => react(cell.state, signal, context) as Next<unknown>,
		);
	}

	#handle(cell: Cell, envelope: Envelope): void {
		const {message} = envelope;
		this.counters.messages++;
		if (message.type === outcomeType && isReply(message)) cell.pending.delete(message.id);
		if (cell.parked !== undefined) {
			if (cell.state === undefined) {
				this.refuse(cell.address, envelope, 'crashed', cell.parked.error);
				return;
			}
			if (cell.behavior.parking?.rests(message) === true) return;
		}
		this.#step(cell, envelope, context => cell.behavior.receive(cell.state, message, context) as Next<unknown>);
	}

	/** Runs one pure function of the behaviour and adopts what it returns; a throw crashes the cell. */
	#step(cell: Cell, step: Step, run: (context: Context) => Next<unknown>): void {
		const {clock, observer} = this.options;
		try {
			const startedMs = clock.monotonicMs();
			const next = run(this.#contextOf(cell, step.cause));
			const tookMs = clock.monotonicMs() - startedMs;
			if (tookMs > limits.slowStepMs) {
				this.counters.slowSteps++;
				observer?.slowStep?.({address: cell.address, messageType: step.message.type, ms: tookMs});
			}
			this.#adopt(cell, next, step);
		} catch (error) {
			this.#stepFailed(cell, step, error);
		}
	}

	/** A bug in a step, be it in the behaviour or in what its effects set going, harms this actor and nobody else. */
	#stepFailed(cell: Cell, {message, from, cause}: Step, error: unknown): void {
		const crashed = crashOf(cell.address, error);
		cell.committing = false; // A commit that was taken throws nothing here.
		this.refuse(cell.address, {message, from, cause, outside: false}, 'crashed', crashed);
		this.#crash(cell, crashed, message.type, stackOf(error));
	}

	/** Makes the outcome of a step real: at once, or after its commit. */
	#adopt(cell: Cell, next: Next<unknown>, step: Step): void {
		const {persistence} = cell.behavior;
		const persistent = this.options.persistent;
		const candidate = persistence?.objectOf(next.state);
		if (persistence === undefined || persistent === undefined || candidate === cell.object) {
			cell.state = next.state;
			this.#finishStep(cell, next, cell.object, step);
			return;
		}
		const key = candidate === undefined ? persistence.key(cell.state ?? next.state) : persistence.key(next.state);
		cell.key = key;
		cell.committing = true;
		const {message, from, cause} = step;
		persistent.submit({
			key,
			object: candidate,
			origin: {cause, from, type: message.type},
			done: outcome => {
				if (this.#closed || cell.status === 'gone') return;
				cell.committing = false;
				// Whatever a bug does here, the pipeline goes on: it has others to answer.
				try {
					if (outcome.ok) this.#committed(cell, next, outcome.change, step);
					else this.#notCommitted(cell, next, outcome.error, step);
				} catch (error) {
					this.#stepFailed(cell, step, error);
				}
				this.#afterCommit(cell);
			},
		});
	}

	#committed(cell: Cell, next: Next<unknown>, change: Change, step: Step): void {
		this.counters.commits++;
		const before = cell.object;
		const committed = change.after?.object;
		cell.object = committed;
		cell.state = committed === undefined ? next.state : (cell.behavior.persistence?.withObject(next.state, committed) as unknown);
		this.#finishStep(cell, committed === undefined ? {...next, stop: true} : next, committed ?? before, step);
		const specChanged = committed !== undefined && before !== undefined && committed.metadata.generation !== before.metadata.generation;
		if (specChanged) this.#unpark(cell);
	}

	/** The candidate is dropped; whoever waited for an answer of this step gets the error. */
	#notCommitted(cell: Cell, next: Next<unknown>, error: Failure, {message, cause}: Step): void {
		for (const effect of next.effects) {
			if (effect.type === 'reply' || effect.type === 'replySelf') this.reply(effect.to, {ok: false, error}, cell.address, cause);
		}
		if (cell.state !== undefined) this.#signal(cell, {type: 'commitFailed', error});
		else if (cell.restart === 'permanent') this.#crash(cell, error, message.type, '');
		else this.#finish(cell, {type: 'crashed', error});
	}

	#afterCommit(cell: Cell): void {
		const then = cell.afterCommit;
		cell.afterCommit = undefined;
		then?.();
		if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
	}

	/** Puts off what must not overlap a commit; what was put off before comes first. */
	#onceCommitted(cell: Cell, then: () => void): void {
		const earlier = cell.afterCommit;
		cell.afterCommit = () => {
			earlier?.();
			then();
		};
	}

	#finishStep(cell: Cell, next: Next<unknown>, self: ApiObject | undefined, {cause, whenReal}: Step): void {
		whenReal?.();
		for (const effect of next.effects) runEffect(this, cell, effect, {cause, self});
		if (next.stop === true && cell.status === 'running') this.#stop(cell, {type: 'normal'});
	}

	#contextOf(cell: Cell, cause: string): Context {
		return new StepContext(cell, cause, this.options.clock.nowMs(), this.options.random, this.known);
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
		const key = cell.object === undefined ? cell.start.snapshot : cell.key;
		const snapshot = key === undefined ? undefined : this.known.get(key);
		const step = (type: string, replyTo?: ReplyTo): Step => ({message: {type, replyTo}, from: cell.address, cause});
		if (snapshot !== undefined && persistence !== undefined) {
			cell.object = snapshot;
			cell.key = key;
			this.#step(cell, step('resume'), context => {
				cell.state = persistence.restore(snapshot, cell.start.input);
				return (resume?.(cell.state, context) ?? {state: cell.state, effects: []}) as Next<unknown>;
			});
		} else {
			// A question that led to the actor is in its input: who asked is told when the first step throws.
			const {input} = cell.start;
			this.#step(cell, step('init', replyToOf(input)), context => init(input, context) as Next<unknown>);
		}
	}

	#crash(cell: Cell, error: Failure, messageType: string, stack: string): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		if (cell.committing) {
			this.#onceCommitted(cell, () => this.#crash(cell, error, messageType, stack));
			return;
		}
		this.counters.crashes++;
		cell.failure = error;
		this.options.observer?.lifecycle?.({type: 'crashed', address: cell.address, error, messageType, stack});
		if (cell.parked !== undefined) {
			this.#park(cell, error, cell.parked.retries + 1);
			return;
		}
		if (cell.restart === 'temporary' || isUnborn(cell)) {
			this.#finish(cell, {type: 'crashed', error});
			return;
		}
		const nowMs = this.options.clock.monotonicMs();
		const {window, exceeded} = addRestart(cell.window, nowMs, {intensity: limits.restartIntensity, windowMs: limits.restartWindowMs});
		const wasWell = nowMs - cell.crashedAtMs >= limits.actorWellMs;
		if (wasWell) cell.rests = 0;
		cell.window = window;
		cell.crashedAtMs = nowMs;
		if (!exceeded && cell.rests === 0) this.#restartLater(cell, restartDelayMs({restarts: window.length}, actorBackoff));
		else if (cell.behavior.parking !== undefined) this.#park(cell, error, 1);
		else if (cell.behavior.pastIntensity === 'backOff') this.#rest(cell, error);
		else this.#escalate(cell, error);
	}

	/** A long rest, longer each time: whoever keeps crashing is tried for ever and never spins. */
	#rest(cell: Cell, error: Failure): void {
		cell.rests++;
		const retryInMs = exponentialBackoffMs(cell.rests, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		this.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		this.#restartLater(cell, retryInMs);
	}

	/** Its mailbox stays. Children are stopped: the new instance starts its own. */
	#restartLater(cell: Cell, delayMs: number): void {
		cell.restarts++;
		cell.status = 'restarting';
		this.#renew(cell);
		cell.state = undefined;
		const {instance} = cell;
		this.#stopChildren(cell, () => {
			if (cell.status !== 'restarting' || cell.instance !== instance) return;
			cell.cancelRestart = this.options.clock.after(delayMs, () => {
				cell.cancelRestart = undefined;
				this.options.observer?.lifecycle?.({type: 'restarted', address: cell.address, restarts: cell.restarts});
				this.#begin(cell, 'restart');
				if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
			});
		});
	}

	/** Another instance: what the old one had under way, and the answers and signals that wait for it, are none of its business. */
	#renew(cell: Cell): void {
		cell.instance++;
		this.#clear(cell);
		cell.mailbox.forget(isReply);
	}

	#park(cell: Cell, error: Failure, retries: number): void {
		const retryInMs = this.#retryLater(cell, error, retries);
		this.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		const {parking, persistence} = cell.behavior;
		if (parking !== undefined && persistence !== undefined && cell.object !== undefined) {
			this.#renew(cell);
			const snapshot = cell.object;
			// A condition that cannot be written must not crash the actor once more: it stays parked without.
			try {
				cell.state = persistence.restore(snapshot, cell.start.input);
				const next = parking.park(cell.state, error, this.#contextOf(cell, 'parked')) as Next<unknown>;
				this.#adopt(cell, next, {message: {type: 'park'}, from: cell.address, cause: 'parked'});
			} catch (parkError) {
				cell.failure = crashOf(cell.address, parkError);
			}
		}
		if (!cell.mailbox.isEmpty) this.#requestTurn(cell);
	}

	/** How long until the next try. */
	#retryLater(cell: Cell, error: Failure, retries: number): number {
		const retryInMs = exponentialBackoffMs(retries, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		cell.parked?.cancelRetry();
		cell.parked = {error, retries, cancelRetry: this.options.clock.after(retryInMs, () => this.#unpark(cell))};
		return retryInMs;
	}

	/** Tries the parked part again; parked it stays until that is committed. */
	#unpark(cell: Cell): void {
		const {parked} = cell;
		const {parking} = cell.behavior;
		if (parked === undefined || parking === undefined || cell.status !== 'running') return;
		if (cell.committing) {
			this.#onceCommitted(cell, () => this.#unpark(cell));
			return;
		}
		this.#retryLater(cell, parked.error, parked.retries);
		const whenReal = (): void => {
			cell.parked?.cancelRetry();
			cell.parked = undefined;
			cell.window = [];
			this.options.observer?.lifecycle?.({type: 'unparked', address: cell.address});
		};
		const step = {message: {type: 'unpark'}, from: cell.address, cause: 'unparked', whenReal};
		this.#step(cell, step, context => parking.unpark(cell.state, context) as Next<unknown>);
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

	/** Stops the cell once its children have ended and its commit is decided, but does not wait longer than its deadline. */
	#stop(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		cell.status = 'stopping';
		cell.cancelRestart?.();
		const end = (): void => this.#finish(cell, reason);
		whenGone(cell, this.#deadlines.after(limits.shutdownMs, end));
		this.#stopChildren(cell, () => {
			if (cell.committing) cell.afterCommit = end;
			else end();
		});
	}

	/** Last started first; each is over before the next is stopped. A loop, because there may be 100,000. */
	#stopChildren(cell: Cell, done: () => void): void {
		const rest = [...cell.children.values()];
		const goOn = (): void => {
			for (let child = rest.pop(); child !== undefined; child = rest.pop()) {
				this.#stop(child, {type: 'stopped'});
				if (isGone(child)) continue;
				whenGone(child, goOn);
				return;
			}
			done();
		};
		goOn();
	}

	#finish(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone') return;
		cell.status = 'stopping';
		for (const child of [...cell.children.values()].reverse()) this.#finish(child, {type: 'stopped'});
		if (reason.type !== 'crashed') this.#runStopSignal(cell);
		cell.status = 'gone';
		cell.instance++;
		this.#clear(cell);
		cell.parked?.cancelRetry();
		if (this.#cells.get(cell.address) === cell) this.#cells.delete(cell.address);
		cell.seat?.leave();
		for (const envelope of cell.mailbox.drain()) this.#refuseStopped(cell, envelope);
		this.#tellDown(cell, reason);
		for (const then of cell.whenGone.splice(0)) then();
	}

	#runStopSignal(cell: Cell): void {
		const react = cell.behavior.signal;
		if (react === undefined || cell.state === undefined) return;
		try {
			const next = react(cell.state, {type: 'stop'}, this.#contextOf(cell, 'stop')) as Next<unknown>;
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
			watcher.watching.delete(cell);
			if (watcher !== parent) this.#signal(watcher, signal);
		}
		cell.watchers.clear();
	}

	#clear(cell: Cell): void {
		for (const cancel of cell.timers.values()) cancel();
		cell.timers.clear();
		for (const ask of cell.asks.values()) ask.cancel();
		cell.asks.clear();
		cell.pending.clear();
		for (const watched of cell.watching) watched.watchers.delete(cell);
		cell.watching.clear();
		cell.cancelRestart?.();
		cell.cancelRestart = undefined;
	}
}

const replyToOf = (input: unknown): ReplyTo | undefined =>
	typeof input === 'object' && input !== null ? (input as {replyTo?: ReplyTo}).replyTo : undefined;

type AnyReply = Message & {readonly id: string; readonly outcome: Outcome<unknown>};

const isGone = (cell: Cell): boolean => cell.status === 'gone';

/** Has no state to go on from: whoever wanted it is told, and may want it again. */
const isUnborn = ({state, object, restart, restarts, behavior}: Cell): boolean =>
	state === undefined && object === undefined && restarts === 0 && restart !== 'permanent' && behavior.persistence !== undefined;

function whenGone(cell: Cell, then: () => void): void {
	if (isGone(cell)) then();
	else cell.whenGone.push(then);
}

const isReply = (message: Message): message is AnyReply => 'outcome' in message && 'id' in message;

/** Whether the actor waits for this, and from that system: no other can answer for it. */
const isAnswerOf = (cell: Cell, {type, id}: AnyReply, from: Address): boolean =>
	cell.asks.get(askKey(type, id))?.system === parseAddress(from)?.system;

const splitAskKey = (key: string): [string, string] => {
	const bar = key.indexOf('|');
	return [key.slice(0, bar), key.slice(bar + 1)];
};

const crashOf = (address: Address, error: unknown): Failure =>
	failure('ERR_ACTOR_CRASHED', {address, message: error instanceof Error ? error.message : String(error)});

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');
