// One actor as the runtime holds it: a behaviour, its state, a mailbox, a place in the tree.

import type {Failure} from '../../api/errors.js';
import type {Address, ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior, Pending, Restart, Shutdown} from './behavior.js';
import type {Cancel} from '../time/clock.js';
import type {Seat} from './executor.js';
import {Mailbox, type Timer} from './mailbox.js';
import {SparseMap, SparseSet} from './sparse.js';
import type {RestartWindow} from './supervision.js';
import type {ActorState, TreeNode} from './tree.js';

/** An open question of this cell, by `as|id`. */
export type OpenAsk = {
	readonly cancel: Cancel;
	/** The system that owes the answer. */
	readonly system: string;
	readonly address: Address;
	readonly cause: string;
};

export type Parked = {readonly error: Failure; readonly retries: number; readonly cancelRetry: Cancel};

/** How it was asked for; what its first step and every restart begin with. */
export type Start = {
	readonly input: unknown;
	readonly snapshot: string | undefined;
	readonly restart: Restart;
	readonly shutdownMs: Shutdown | undefined;
};

/** Somebody in another system who is to be told of the end of an actor here. */
export type FarWatcher = {readonly system: string; readonly id: number; readonly address: Address};

/** An actor of another system that is watched from here, and by whom. */
export type FarWatch = {readonly system: string; readonly id: number; readonly address: Address; readonly watchers: Set<Cell>};

/** A restart of one actor, or of several together: how many are still to begin, and the wait before it. */
export type Round = {left: number; cancelDelay: Cancel | undefined};

/** Most actors never crash: they share it. */
const noRestarts: RestartWindow = [];

export class Cell {
	readonly name: string;
	readonly address: Address;
	readonly path: string;
	readonly parent: Cell | undefined;
	readonly behaviorName: string;
	readonly behavior: AnyBehavior;
	readonly start: Start;
	readonly mailbox = new Mailbox();
	readonly children = new SparseMap<string, Cell>();
	readonly timers = new SparseMap<string, Timer>();
	readonly asks = new SparseMap<string, OpenAsk>();
	readonly pending = new SparseMap<string, Pending>();
	/** Who is told when it ends, and of whose end it is told. */
	readonly watchers = new SparseSet<Cell | FarWatcher>();
	readonly watching = new SparseSet<Cell | FarWatch>();
	seat: Seat | undefined;
	/** Unknown until `init` ran; only the behaviour knows its shape. */
	state: unknown;
	/** The object as committed; undefined for an actor that keeps none. */
	object: ApiObject | undefined;
	/** Where its object is kept; it stays when the object is removed. */
	key: ObjectKey | undefined;
	status: 'running' | 'restarting' | 'stopping' | 'gone' = 'running';
	committing = false;
	/** What waits for the commit in flight: a stop, a crash of a child, a retry. */
	afterCommit: (() => void) | undefined;
	readonly whenGone = new SparseSet<() => void>();
	/** Another one after each restart, unique in the system. */
	instance: number;
	restarts = 0;
	/** Its own restarts that still count, and those of its children where they are restarted together. */
	window: RestartWindow = noRestarts;
	groupWindow: RestartWindow = noRestarts;
	/** Set while it is being restarted. */
	round: Round | undefined;
	parked: Parked | undefined;
	/** Long rests in a row after crashes past the intensity, and when the last crash was. */
	rests = 0;
	crashedAtMs = 0;
	failure: Failure | undefined;

	constructor(
		place: {readonly name: string; readonly address: Address; readonly path: string; readonly parent: Cell | undefined},
		behaviorName: string,
		behavior: AnyBehavior,
		start: Start,
		instance: number,
	) {
		this.name = place.name;
		this.address = place.address;
		this.path = place.path;
		this.parent = place.parent;
		this.behaviorName = behaviorName;
		this.behavior = behavior;
		this.start = start;
		this.instance = instance;
	}
}

function stateOf(cell: Cell): ActorState {
	if (cell.status === 'stopping' || cell.status === 'gone') return 'stopping';
	if (cell.status === 'restarting') return cell.rests === 0 ? 'restarting' : 'parked';
	if (cell.parked !== undefined) return 'parked';
	return cell.committing ? 'committing' : 'running';
}

function aboutOf(cell: Cell): string {
	if (cell.parked !== undefined) return ''; // Its last crash is what there is to say, and stands beside.
	return cell.state === undefined ? '' : (cell.behavior.describe?.(cell.state) ?? '');
}

/** The cell and everything below it, `depth` levels deep. */
export function treeOf(cell: Cell, depth = Number.POSITIVE_INFINITY): TreeNode {
	return {
		name: cell.name,
		address: cell.address,
		behavior: cell.behaviorName,
		state: stateOf(cell),
		about: aboutOf(cell),
		restarts: cell.restarts,
		waiting: cell.mailbox.length,
		failure: cell.failure?.message,
		children: depth <= 0 ? [] : [...cell.children.values()].map(child => treeOf(child, depth - 1)),
	};
}
