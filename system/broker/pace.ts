// Work for many clients, in turns that leave time for everybody else: however many ask at once, I/O is looked at in between.

export type Pace = (work: () => void) => void;

/**
 * Runs what it is given in order, for at most so long in one turn of the process; at least one piece in each. Who comes when nothing
 * waits is served at once.
 */
export function createPace(monotonicMs: () => number, turnMs: number): Pace {
	let queue: (() => void)[] = [];
	let busy = false;

	const turn = (): void => {
		const endMs = monotonicMs() + turnMs;
		const pieces = queue;
		queue = [];
		let done = 0;
		while (done < pieces.length && (done === 0 || monotonicMs() < endMs)) {
			pieces[done]?.();
			done += 1;
		}
		if (done < pieces.length) queue = [...pieces.slice(done), ...queue];
		busy = done > 0;
		if (busy) setImmediate(turn);
	};

	return work => {
		if (busy) {
			queue.push(work);
			return;
		}
		busy = true;
		setImmediate(turn);
		work();
	};
}
