// Sets of indexes as texts of intervals, such as `0,3-5`: what is kept of an Indexed Job however many completions it has.

/** Both ends belong to it. */
export type Interval = readonly [first: number, last: number];

/** In rising order, none touching the next. */
export type Intervals = readonly Interval[];

/** Of a text that `formatIntervals` made; what cannot be read in it is no interval. */
export function parseIntervals(text: string | undefined): Intervals {
	if (text === undefined || text === '') return [];
	return text.split(',').flatMap((part): Interval[] => {
		const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? [];
		return first === undefined ? [] : [[Number(first), Number(last)]];
	});
}

export const formatIntervals = (intervals: Intervals): string =>
	intervals
		.map(([first, last]) => (first === last ? String(first) : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
		.join(',');

/** How many indexes there are in it. */
export const sizeOf = (intervals: Intervals): number => intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);

export function includes(intervals: Intervals, index: number): boolean {
	let low = 0;
	let high = intervals.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((intervals[middle]?.[1] ?? 0) < index) low = middle + 1;
		else high = middle;
	}
	const [first] = intervals[low] ?? [];
	return first !== undefined && first <= index;
}

/** What is in one of them or in both. */
export function union(a: Intervals, b: Intervals): Intervals {
	if (b.length === 0) return a;
	const joined: [number, number][] = [];
	for (const [first, last] of [...a, ...b].sort(([one], [other]) => one - other)) {
		const before = joined.at(-1);
		if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
		else joined.push([first, last]);
	}
	return joined;
}

/** The set with these indexes in it, too. */
export const withIndexes = (intervals: Intervals, indexes: Iterable<number>): Intervals =>
	union(
		intervals,
		[...indexes].map(index => [index, index]),
	);

/** What of the set is below `end`; all of it when there is none. */
export const below = (intervals: Intervals, end = Number.POSITIVE_INFINITY): Intervals =>
	intervals.flatMap(([first, last]): Interval[] => (first < end ? [[first, Math.min(last, end - 1)]] : []));

/** How many indexes two sets have in common. */
export function sizeOfBoth(a: Intervals, b: Intervals): number {
	let size = 0;
	for (let i = 0, j = 0; i < a.length && j < b.length;) {
		const [firstA, lastA] = a[i] ?? [0, -1];
		const [firstB, lastB] = b[j] ?? [0, -1];
		size += Math.max(0, Math.min(lastA, lastB) - Math.max(firstA, firstB) + 1);
		if (lastA < lastB) i++;
		else j++;
	}
	return size;
}

/** The indexes from 0 to below `end` that are not in the set, rising. */
export function* indexesOutside(intervals: Intervals, end: number): Iterable<number> {
	let index = 0;
	for (const [first, last] of [...intervals, [end, end] as const]) {
		for (; index < Math.min(first, end); index++) yield index;
		index = Math.max(index, last + 1);
	}
}
