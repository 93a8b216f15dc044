// Work for many clients, in turns that leave time for everybody else: however many ask at once, I/O is looked at in between.

/** Who comes first: what nodes ask for is done before what tools, and connections without a login, ask for. */
export type Rank = 'node' | 'tool';

export type Pace = (work: () => void, rank?: Rank) => void;

/**
 * Runs what it is given in order of rank, then of asking, each rank for at most so long in one turn of the process; at least one piece
 * of each. What a piece leaves for the same tick is done before the next one, and counts. Who comes when nothing waits is served at once.
 */
export function createPace(monotonicMs: () => number, turnMs: Readonly<Record<Rank, number>>): Pace {
	const queues: Readonly<Record<Rank, (() => void)[]>> = {node: [], tool: []};
	let isBusy = false;

	const serve = (rank: Rank, then: () => void): void => {
		const queue = queues[rank];
		const endMs = monotonicMs() + turnMs[rank];
		const next = (left: number, isFirst: boolean): void => {
			const work = left > 0 && (isFirst || monotonicMs() < endMs) ? queue.shift() : undefined;
			if (work === undefined) return then();
			work();
			process.nextTick(next, left - 1, false);
		};
		next(queue.length, true);
	};

	const turn = (): void => {
		isBusy = queues.node.length + queues.tool.length > 0;
		if (!isBusy) return;
		setImmediate(turn);
		serve('node', () => serve('tool', () => undefined));
	};

	return (work, rank = 'tool') => {
		if (isBusy) {
			queues[rank].push(work);
			return;
		}
		isBusy = true;
		setImmediate(turn);
		work();
	};
}
