// How cells begin: put into the tree, given their first step, and begun anew from their snapshot or their input.

import {address as addressOf, type Address} from '../../api/keys.js';
import type {ActorSystemOptions} from './actor-options.js';
import type {Context, Effect, Next, ReplyTo} from './behavior.js';
import {Cell} from './cell.js';
import {Endings, onceCommitted, type EndingsHost} from './endings.js';
import type {Known} from '../index/object-index.js';
import {Restarts, type RestartsHost} from './restarts.js';
import type {Step} from './steps.js';

/** What lifetimes need of the system around them. */
export type LifetimesHost = Omit<EndingsHost, 'newInstance'> &
	Omit<RestartsHost, 'endings' | 'begin'> & {
		readonly options: Pick<ActorSystemOptions, 'name' | 'behaviors' | 'executor'>;
		readonly known: Known;
		readonly turn: (cell: Cell) => boolean;
		readonly step: (cell: Cell, step: Step, run: (context: Context) => Next<unknown>) => void;
		readonly afterCommit: (cell: Cell) => void;
	};

/** What to start under which name. */
export type Child = Omit<Extract<Effect, {type: 'spawn'}>, 'type'>;

export class Lifetimes {
	readonly #host: LifetimesHost;
	readonly endings: Endings;
	readonly restarts: Restarts;
	#instances = 0;

	constructor(host: LifetimesHost) {
		this.#host = host;
		this.endings = new Endings({...host, newInstance: () => ++this.#instances});
		this.restarts = new Restarts({...host, endings: this.endings, begin: (cell, cause) => this.#begin(cell, cause)});
	}

	/** Puts a cell into the tree and gives it its first step. */
	spawn(parent: Cell | undefined, child: Child, cause: string): Cell {
		const {name, input, snapshot, restart = 'transient', shutdownMs} = child;
		const {options, cells} = this.#host;
		const behavior = options.behaviors[child.behavior];
		if (behavior === undefined) throw new Error(`no behavior is called "${child.behavior}"`);
		const path = parent === undefined || parent.path === '' ? name : `${parent.path}/${name}`;
		const address: Address = addressOf(options.name, path);
		const start = {input, snapshot, restart, shutdownMs};
		const cell = new Cell({name, address, path, parent}, child.behavior, behavior, start, ++this.#instances);
		cells.set(address, cell);
		parent?.children.set(name, cell);
		cell.seat = options.executor.seat(() => this.#host.turn(cell));
		const former = this.endings.unsettled(address);
		if (former === undefined) this.#begin(cell, cause);
		else this.#beginAfter(former, cell, cause);
		return cell;
	}

	/** The former actor of this name was killed in the middle of a commit: that counts as the new one's, so that two never write one object. */
	#beginAfter(former: Cell, cell: Cell, cause: string): void {
		const {instance} = cell;
		cell.committing = true;
		onceCommitted(former, () => {
			cell.committing = false;
			if (cell.status === 'running' && cell.instance === instance) this.#begin(cell, cause);
			this.#host.afterCommit(cell);
		});
	}

	/** `init` for a new actor, `resume` for one that has a snapshot or had one. */
	#begin(cell: Cell, cause: string): void {
		cell.status = 'running';
		const {persistence, resume, init} = cell.behavior;
		const key = cell.object === undefined ? cell.start.snapshot : cell.key;
		const snapshot = key === undefined ? undefined : this.#host.known.get(key);
		const step = (type: string, replyTo?: ReplyTo): Step => ({message: {type, replyTo}, from: cell.address, cause});
		if (snapshot !== undefined && persistence !== undefined) {
			cell.object = snapshot;
			cell.key = key;
			this.#host.step(cell, step('resume'), context => {
				cell.state = persistence.restore(snapshot, cell.start.input);
				return (resume?.(cell.state, context) ?? {state: cell.state, effects: []}) as Next<unknown>;
			});
		} else if (cell.object !== undefined) {
			this.endings.stop(cell, {type: 'normal'}); // The commit that was under way has removed it.
		} else {
			// A question that led to the actor is in its input: who asked is told when the first step throws.
			const {input} = cell.start;
			this.#host.step(cell, step('init', replyToOf(input)), context => init(input, context) as Next<unknown>);
		}
	}
}

const replyToOf = (input: unknown): ReplyTo | undefined =>
	typeof input === 'object' && input !== null ? (input as {replyTo?: ReplyTo}).replyTo : undefined;
