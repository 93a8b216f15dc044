// A parked actor rests what it does by itself and still answers; it is tried again with a back-off, and at once after its spec changed.

import type {Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ActorSystemOptions} from './actor-options.js';
import type {Context, Next} from './behavior.js';
import type {Cell} from './cell.js';
import {onceCommitted, type Endings} from './endings.js';
import {crashOf, type Step} from './steps.js';
import {exponentialBackoffMs} from './supervision.js';

/** What parking needs of the system around it. */
export type ParkingHost = {
	readonly options: Pick<ActorSystemOptions, 'clock' | 'observer' | 'persistent'>;
	readonly endings: Endings;
	readonly step: (cell: Cell, step: Step, run: (context: Context) => Next<unknown>) => void;
	readonly adopt: (cell: Cell, next: Next<unknown>, step: Step) => void;
	readonly contextOf: (cell: Cell, cause: string) => Context;
	readonly requestTurn: (cell: Cell) => void;
};

export class ParkingLot {
	readonly #host: ParkingHost;

	constructor(host: ParkingHost) {
		this.#host = host;
	}

	/** From its snapshot, in whatever state it was. */
	park(cell: Cell, error: Failure, retries: number): void {
		const retryInMs = this.#retryLater(cell, error, retries);
		this.#host.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		const {parking, persistence} = cell.behavior;
		const snapshot = cell.object;
		if (parking !== undefined && persistence !== undefined && snapshot !== undefined) {
			this.#host.endings.renew(cell);
			cell.state = undefined;
			// A condition that cannot be written must not crash the actor once more: it stays parked without.
			try {
				cell.state = persistence.restore(snapshot, cell.start.input);
				const next = parking.park(cell.state, error, this.#host.contextOf(cell, 'parked')) as Next<unknown>;
				this.#host.adopt(cell, next, {message: {type: 'park'}, from: cell.address, cause: 'parked'});
			} catch (parkError) {
				cell.failure = crashOf(cell.address, parkError);
				if (cell.state === undefined && retries === 1) this.#tellUnreadable(cell, cell.failure);
			}
		}
		if (!cell.mailbox.isEmpty) this.#host.requestTurn(cell);
	}

	/** Nothing of its own can say it. */
	#tellUnreadable({key}: Cell, {message}: Failure): void {
		if (key === undefined) return;
		const event = {type: 'event', event: 'Warning', reason: 'ActorFailed', message: `it cannot be taken up again: ${message}`} as const;
		this.#host.options.persistent?.recordEvent(key, event);
	}

	/** How long until the next try. */
	#retryLater(cell: Cell, error: Failure, retries: number): number {
		const retryInMs = exponentialBackoffMs(retries, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		cell.parked?.cancelRetry();
		cell.parked = {error, retries, cancelRetry: this.#host.options.clock.after(retryInMs, () => this.unpark(cell))};
		return retryInMs;
	}

	/** Tries the parked part again; parked it stays until that is committed. */
	unpark(cell: Cell): void {
		const {parked} = cell;
		const {parking} = cell.behavior;
		if (parked === undefined || parking === undefined || cell.status !== 'running') return;
		if (cell.committing) {
			onceCommitted(cell, () => this.unpark(cell));
			return;
		}
		if (cell.state === undefined) {
			this.park(cell, parked.error, parked.retries + 1); // Perhaps its snapshot can be read now.
			return;
		}
		this.#retryLater(cell, parked.error, parked.retries);
		const whenReal = (): void => {
			cell.parked?.cancelRetry();
			cell.parked = undefined;
			cell.window = [];
			this.#host.options.observer?.lifecycle?.({type: 'unparked', address: cell.address});
		};
		const step = {message: {type: 'unpark'}, from: cell.address, cause: 'unparked', whenReal};
		this.#host.step(cell, step, context => parking.unpark(cell.state, context) as Next<unknown>);
	}
}
