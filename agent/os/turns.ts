// Work that must not overlap: by name one piece after the other, or no more than so many at a time.

export type Turns = {
	/** Runs after all that was asked for under the same name before. */
	readonly run: <Value>(name: string, work: () => Promise<Value>) => Promise<Value>;
	/** Whether something is under way, or waits, under that name. */
	readonly isBusy: (name: string) => boolean;
};

export function createTurns(): Turns {
	const last = new Map<string, Promise<unknown>>();
	return {
		run(name, work) {
			const current = (last.get(name) ?? Promise.resolve()).then(work, work);
			const settled = current
				.catch(() => undefined)
				.then(() => {
					if (last.get(name) === settled) last.delete(name);
				});
			last.set(name, settled);
			return current;
		},
		isBusy: name => last.has(name),
	};
}

/** Runs so many at a time; the others wait in the order in which they came. */
export function createLanes(count: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
	const waiting: (() => void)[] = [];
	let running = 0;
	return async work => {
		if (running >= count) await new Promise<void>(resolve => waiting.push(resolve));
		else running++;
		try {
			return await work();
		} finally {
			// Handed on: whoever comes meanwhile does not get in between.
			const next = waiting.shift();
			if (next === undefined) running--;
			else next();
		}
	};
}
