// What a step may look at. Lists are made only when they are asked for.

import type {Address} from '../../api/keys.js';
import type {Context, Pending} from './behavior.js';
import type {Random} from '../time/random.js';
import type {Cell} from './cell.js';
import type {Clock} from '../time/clock.js';
import type {Known} from '../index/object-index.js';
import type {Kernel} from './kernel.js';

export class StepContext implements Context {
	readonly #cell: Cell;
	readonly cause: string;
	readonly nowMs: number;
	readonly #clock: Clock;
	readonly random: Random;
	readonly known: Known;

	constructor({options: {clock, random}, known}: Kernel, cell: Cell, cause: string) {
		this.#cell = cell;
		this.cause = cause;
		this.#clock = clock;
		this.nowMs = clock.nowMs();
		this.random = random;
		this.known = known;
	}

	get self(): Address {
		return this.#cell.address;
	}

	/** Hardly any step looks at it. */
	get monotonicMs(): number {
		return this.#clock.monotonicMs();
	}

	get children(): readonly string[] {
		return [...this.#cell.children.keys()];
	}

	/** A property, so that it can be taken out of the context like the others. */
	readonly hasChild = (name: string): boolean => this.#cell.children.has(name);

	get pending(): ReadonlyMap<string, Pending> {
		return this.#cell.pending;
	}
}
