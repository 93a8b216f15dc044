// What comes in virtual time: the earliest first, and of one time in the order in which it was added. A binary heap.

export type TimeLine<Value> = {
	readonly add: (atMs: number, value: Value) => void;
	/** Takes the earliest. */
	readonly next: () => {readonly atMs: number; readonly value: Value} | undefined;
};

type Entry<Value> = {readonly atMs: number; readonly turn: number; readonly value: Value};

const isBefore = (a: Entry<unknown> | undefined, b: Entry<unknown> | undefined): boolean =>
	a !== undefined && b !== undefined && (a.atMs === b.atMs ? a.turn < b.turn : a.atMs < b.atMs);

export function timeLine<Value>(): TimeLine<Value> {
	const heap: Entry<Value>[] = [];
	let turns = 0;
	return {
		add(atMs, value) {
			heap.push({atMs, turn: turns++, value});
			rise(heap);
		},
		next() {
			const [first] = heap;
			const last = heap.pop();
			if (heap.length > 0 && last !== undefined) {
				heap[0] = last;
				sink(heap);
			}
			return first;
		},
	};
}

function swap<Value>(heap: Entry<Value>[], a: number, b: number): void {
	const [first, second] = [heap[a], heap[b]];
	if (first === undefined || second === undefined) return;
	heap[a] = second;
	heap[b] = first;
}

function rise<Value>(heap: Entry<Value>[]): void {
	let at = heap.length - 1;
	while (at > 0) {
		const above = (at - 1) >> 1;
		if (!isBefore(heap[at], heap[above])) return;
		swap(heap, at, above);
		at = above;
	}
}

function sink<Value>(heap: Entry<Value>[]): void {
	let at = 0;
	for (;;) {
		const [left, right] = [2 * at + 1, 2 * at + 2];
		const lower = isBefore(heap[right], heap[left]) ? right : left;
		if (!isBefore(heap[lower], heap[at])) return;
		swap(heap, at, lower);
		at = lower;
	}
}
