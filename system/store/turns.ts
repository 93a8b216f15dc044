// One piece of asynchronous work at a time, in the order in which it was asked for.

/** Gives a function that starts its work when all work before it has ended. The work must not reject. */
export function takingTurns(): <Value>(work: () => Promise<Value>) => Promise<Value> {
	let last: Promise<unknown> = Promise.resolve();
	return work => {
		const result = last.then(work);
		last = result;
		return result;
	};
}
