// So many at a time, the others in the order in which they came.

export class Turns {
	readonly #most: number;
	/** Once aborted, nobody gets a turn any more. */
	readonly #signal: AbortSignal;
	readonly #queue: (() => void)[] = [];
	#working = 0;

	constructor(most: number, signal: AbortSignal) {
		this.#most = most;
		this.#signal = signal;
	}

	/** Works when it is its turn. After a failure the turn is not given on: nothing more is begun in its place. */
	async run<Result>(work: () => Promise<Result>): Promise<Result> {
		await new Promise<void>(begin => {
			this.#queue.push(begin);
			this.#next();
		});
		const result = await work();
		this.#working--;
		this.#next();
		return result;
	}

	#next(): void {
		while (this.#working < this.#most && !this.#signal.aborted) {
			const begin = this.#queue.shift();
			if (begin === undefined) return;
			this.#working++;
			begin();
		}
	}
}
