// Turns: of all that is to be done so much is under way at a time, the rest waits and comes in the order in which it was asked for.

export type Turns = {
	/** What it gives, once it was its turn. Rejects with the reason of the signal as soon as that is aborted, whatever becomes of it. */
	readonly take: <Value>(signal: AbortSignal, act: () => Promise<Value>) => Promise<Value>;
	/** Of those that are under way and those that wait. */
	readonly counts: () => {readonly underWay: number; readonly waiting: number};
};

export function createTurns(most: number): Turns {
	const waiting = new Set<() => void>();
	let underWay = 0;
	const leave = (): void => {
		const [next] = waiting;
		if (next === undefined) return void underWay--;
		// Its place goes to the next one: nobody gets in between.
		waiting.delete(next);
		next();
	};
	return {
		async take(signal, act) {
			signal.throwIfAborted();
			if (underWay < most) underWay++;
			else await untilIts(waiting, signal);
			try {
				return await unlessAborted(signal, act);
			} finally {
				leave();
			}
		},
		counts: () => ({underWay, waiting: waiting.size}),
	};
}

/** Who is gone is taken out at once: no place is given to it any more. */
function untilIts(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const comes = (): void => {
			signal.removeEventListener('abort', gone);
			resolve();
		};
		const gone = (): void => {
			waiting.delete(comes);
			reject(signal.reason as Error);
		};
		signal.addEventListener('abort', gone, {once: true});
		waiting.add(comes);
	});
}

/** What it gives. Rejects with the reason of the signal as soon as that is aborted; what it gives then is dropped. */
export async function unlessAborted<Value>(signal: AbortSignal, act: () => Promise<Value>): Promise<Value> {
	signal.throwIfAborted();
	let forget = (): void => undefined;
	const aborted = new Promise<never>((_, reject) => {
		const tell = (): void => reject(signal.reason as Error);
		signal.addEventListener('abort', tell, {once: true});
		forget = () => signal.removeEventListener('abort', tell);
	});
	try {
		return await Promise.race([act(), aborted]);
	} finally {
		forget();
	}
}
