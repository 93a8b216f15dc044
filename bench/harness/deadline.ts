// Nothing in a benchmark is waited for without end.

/** Rejects, naming what was waited for, when it takes longer. May be awaited later, or not at all when something else failed. */
export function within<Value>(ms: number, what: string, promise: Promise<Value>): Promise<Value> {
	return heardLater(raced(ms, what, promise));
}

/** A promise that is awaited after something else: if that fails first, nobody hears of this one. */
export function heardLater<Value>(promise: Promise<Value>): Promise<Value> {
	promise.catch(() => undefined);
	return promise;
}

async function raced<Value>(ms: number, what: string, promise: Promise<Value>): Promise<Value> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`${what}: not within ${ms / 1_000} s`)), ms);
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
