// Ranges of whole numbers: addresses and ports of policies, brought into the fewest that do not overlap. Pure.

import {ipv4Text, type Subnet} from '../../../api/ipv4.js';

/** From the first to the last, both of it. */
export type Range = {readonly first: number; readonly last: number};

export const rangeOfSubnet = ({first, size}: Subnet): Range => ({first, last: first + size - 1});

/** In order; what overlaps or touches is one. */
export function merged(ranges: readonly Range[]): readonly Range[] {
	const result: {first: number; last: number}[] = [];
	for (const {first, last} of [...ranges].sort((a, b) => a.first - b.first)) {
		const before = result.at(-1);
		if (before === undefined || first > before.last + 1) result.push({first, last});
		else if (last > before.last) before.last = last;
	}
	return result;
}

/** What is left of a range without others. */
export function without(whole: Range, parts: readonly Range[]): readonly Range[] {
	const left: Range[] = [];
	let {first} = whole;
	for (const part of merged(parts)) {
		if (part.last < first || part.first > whole.last) continue;
		if (part.first > first) left.push({first, last: part.first - 1});
		first = part.last + 1;
	}
	return first > whole.last ? left : [...left, {first, last: whole.last}];
}

const textsOf = (ranges: readonly Range[], textOf: (value: number) => string): readonly string[] =>
	ranges.map(({first, last}) => (first === last ? textOf(first) : `${textOf(first)}-${textOf(last)}`));

/** `10.0.0.1`, `10.0.0.1-10.0.0.9`. */
export const addressTexts = (ranges: readonly Range[]): readonly string[] => textsOf(ranges, ipv4Text);

/** `80`, `8000-8010`. */
export const portTexts = (ranges: readonly Range[]): readonly string[] => textsOf(ranges, String);
