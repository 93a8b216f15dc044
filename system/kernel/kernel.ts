// What the parts of one actor system share.
//
// The parts are functions over this: delivery, interpreter, endings, steps, spawn, parking and restarts, each of which imports only those
// before it. Yet actors live in a ring: an effect starts and stops actors, a step that throws is a crash, what has crashed is started
// again, and its start is a step. Where a part needs one that stands above it, it calls the function below that the actor system put here.

import type {Failure} from '../../api/errors.js';
import type {Address} from '../../api/keys.js';
import type {Known} from '../index/object-index.js';
import type {ActorSystemOptions} from './actor-options.js';
import type {ChildSpec, DownReason} from './behavior.js';
import type {Cell} from './cell.js';
import type {DeadLetters} from './dead-letters.js';
import type {DeathWatch} from './death-watch.js';
import type {Deadlines} from './deadlines.js';
import type {EdgeAsks} from './edge-asks.js';
import type {Span} from './mailbox.js';
import type {Performs} from './performs.js';
import type {Probe} from './probe.js';

export type Counters = {
	messages: number;
	deadLetters: number;
	crashes: number;
	commits: number;
	staleReplies: number;
	slowSteps: number;
};

export type Kernel = {
	readonly options: ActorSystemOptions;
	readonly known: Known;
	readonly counters: Counters;
	/** Every living actor. */
	readonly cells: Map<Address, Cell>;
	/** Actors that were killed in the middle of a commit, until that is decided. */
	readonly unsettled: Map<Address, Cell>;
	readonly deadlines: Deadlines;
	readonly edgeAsks: EdgeAsks;
	readonly performs: Performs;
	readonly deathWatch: DeathWatch;
	readonly deadLetters: DeadLetters;
	/** How many instances of actors there were: the number of the newest. */
	instances: number;
	isClosed: boolean;
	/** Set while an inspector looks at what goes on. */
	probe: Probe | undefined;
	/** Of the traced step whose effects run now. */
	span: Span | undefined;

	/** Of spawn, for the interpreter. */
	readonly spawn: (parent: Cell, child: ChildSpec, cause: string) => void;
	/** Of endings, for the interpreter. */
	readonly stop: (cell: Cell, reason: DownReason) => void;
	/** Of restarts, for steps: the actor has crashed. */
	readonly crash: (cell: Cell, error: Failure, messageType: string, stack: string) => void;
	/** Of restarts, for steps: the actor has asked for its own end. */
	readonly ended: (cell: Cell) => void;
	/** Of parking, for steps: the spec has changed, which may have mended what crashed. */
	readonly unpark: (cell: Cell) => void;
};
