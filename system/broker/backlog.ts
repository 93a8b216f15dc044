// What waits for all clients together, in bytes: beyond its bound the one for whom most waits is cut, nodes aside.

/** A connection that something may wait for. */
export type Waiting = {
	readonly pendingBytes: number;
	readonly cut: (reason: 'overflow') => void;
};

export type Backlog = {
	/** So much more waits somewhere, or less. */
	readonly change: (bytes: number) => void;
	readonly bytes: () => number;
};

/** `candidates` are those that may be cut. */
export function createBacklog(most: number, candidates: () => Iterable<Waiting>): Backlog {
	let all = 0;
	return {
		change(bytes) {
			all += bytes;
			if (bytes <= 0 || all <= most) return;
			let largest: Waiting | undefined;
			for (const each of candidates()) if (each.pendingBytes > (largest?.pendingBytes ?? 0)) largest = each;
			largest?.cut('overflow');
		},
		bytes: () => all,
	};
}
