// One tree of actors, as its process sees it: started and stopped, told and asked from outside, joined to other systems.
//
// What goes on inside is told by the parts that share its kernel (`kernel.ts`); here they are put together.

import type {Failure, Outcome} from '../../api/errors.js';
import {address as addressOf, type Address} from '../../api/keys.js';
import type {ActorSystemOptions} from './actor-options.js';
import {isReply, type Message, type ReplyTo} from './behavior.js';
import type {Cell} from './cell.js';
import {DeadLetters} from './dead-letters.js';
import {DeathWatch} from './death-watch.js';
import {Deadlines} from './deadlines.js';
import {deliver, failAsksOf, refuse, route} from './delivery.js';
import {EdgeAsks, edgePath} from './edge-asks.js';
import {dropAll, stop} from './endings.js';
import type {Counters, Kernel} from './kernel.js';
import {withSpan, type Envelope, type Span} from './mailbox.js';
import {emptyIndex} from '../index/object-index.js';
import type {DeadLetterReason} from './observer.js';
import {unpark} from './parking.js';
import {Performs} from './performs.js';
import {crash, crashOutright, ended} from './restarts.js';
import {spawn} from './spawn.js';
import {isForRuntime} from './watch-message.js';

export class ActorSystem {
	readonly name: string;
	readonly options: ActorSystemOptions;
	readonly counters: Readonly<Counters>;
	/** For what looks into the system and changes what goes on there: `system/inspect/`. */
	readonly kernel: Kernel;
	#root: Cell | undefined;

	constructor(options: ActorSystemOptions) {
		const kernel = createKernel(options);
		this.name = options.name;
		this.options = options;
		this.counters = kernel.counters;
		this.kernel = kernel;
	}

	/** Starts the tree. The root is permanent; when it fails for good the whole tree is stopped, and then the system escalates. */
	start(behavior: string, input: unknown): void {
		this.#root = spawn(this.kernel, undefined, {name: '', behavior, input, restart: 'permanent'}, 'start');
	}

	/** Sends a message from outside the tree. */
	tell(to: Address, message: Message, cause: string): void {
		route(this.kernel, to, {message, from: addressOf(this.name, edgePath), cause, outside: true});
	}

	/** Asks from outside the tree. The callback is called exactly once. The reply address by which the actor answers. */
	ask(
		to: Address,
		message: Message,
		{deadlineMs, cause}: {deadlineMs: number; cause: string},
		done: (outcome: Outcome<unknown>) => void,
	): ReplyTo {
		const id = this.kernel.edgeAsks.open(to, deadlineMs, done);
		const replyTo: ReplyTo = {to: addressOf(this.name, edgePath), as: 'edge', id};
		this.tell(to, {...message, replyTo}, cause);
		return replyTo;
	}

	/** Wakes an actor if there is one; a wake of none is nothing lost. `span`: of the traced step that led to it. */
	wake(to: Address, message: Message, cause: string, span?: Span): void {
		const cell = this.kernel.cells.get(to);
		if (cell !== undefined && cell.status !== 'stopping')
			deliver(this.kernel, cell, withSpan({message, from: to, cause, outside: false}, span));
	}

	/** What the bus brought, from the peer that is named; false when it made no sense. */
	receive(peer: string, to: Address, envelope: Envelope): boolean {
		if (isForRuntime(envelope.message)) return this.kernel.deathWatch.take(peer, to, envelope);
		// An answer is bounded by its question.
		route(this.kernel, to, isReply(envelope.message) ? {...envelope, outside: false} : envelope);
		return true;
	}

	/** What the bus does not take: a dead letter, and an answer if it was a question. */
	refuse(to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure): void {
		refuse(this.kernel, to, envelope, why, error);
	}

	/**
	 * A peer system came back as another, as far as these and those actors go: what was asked of the old one has an unknown outcome, actors
	 * here that watched there are told, and none there watches any more.
	 */
	peerRestarted(system: string, isMeant: (from: Address, to: Address) => boolean = () => true): void {
		failAsksOf(this.kernel, system, isMeant);
		this.kernel.deathWatch.peerRestarted(system, isMeant);
	}

	/** Addresses of all living actors. */
	addresses(): Iterable<Address> {
		return this.kernel.cells.keys();
	}

	get size(): number {
		return this.kernel.cells.size;
	}

	/** Stops the tree, leaves first, last started first. */
	stop(done: () => void): void {
		const root = this.#root;
		if (root === undefined) {
			done();
			return;
		}
		stop(this.kernel, root, {type: 'stopped'});
		root.whenGone(() => {
			this.close();
			done();
		});
	}

	/** Drops everything at once, as the death of a process would. */
	close(code: 'ERR_ACTOR_STOPPED' | 'ERR_OUTCOME_UNKNOWN' = 'ERR_ACTOR_STOPPED'): void {
		dropAll(this.kernel, code);
	}

	/** Makes the actor at this address throw away its state and start again, as a crash would. */
	crash(address: Address, error: Failure): boolean {
		const cell = this.kernel.cells.get(address);
		if (cell === undefined || cell.committing || cell.status !== 'running') return false;
		crashOutright(this.kernel, cell, error, 'kill');
		return true;
	}
}

function createKernel(options: ActorSystemOptions): Kernel {
	const cells = new Map<Address, Cell>();
	const deadlines = new Deadlines(options.clock);
	const kernel: Kernel = {
		options,
		known: options.persistent?.known ?? emptyIndex,
		counters: {messages: 0, deadLetters: 0, crashes: 0, commits: 0, staleReplies: 0, slowSteps: 0},
		cells,
		unsettled: new Map(),
		deadlines,
		edgeAsks: new EdgeAsks(deadlines),
		performs: new Performs(deadlines, options.perform),
		deathWatch: new DeathWatch(options, cells),
		deadLetters: new DeadLetters(),
		instances: 0,
		isClosed: false,
		probe: undefined,
		span: undefined,
		spawn: (parent, child, cause) => void spawn(kernel, parent, child, cause),
		stop: (cell, reason) => stop(kernel, cell, reason),
		crash: (cell, error, messageType, stack) => crash(kernel, cell, error, messageType, stack),
		ended: cell => ended(kernel, cell),
		unpark: cell => unpark(kernel, cell),
	};
	return kernel;
}
