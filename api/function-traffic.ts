// Which version of a function takes a call: by a header, or by chance and weight.

import type {spec} from './schemas/function.js';
import type {ShapeOf} from './schemas/parts.js';

export type Share = NonNullable<ShapeOf<typeof spec>['traffic']>[number];

type Headers = {readonly [name: string]: string | number | readonly string[] | undefined};

/** `chance` from 0 up to 1. Undefined: the newest one. */
export function revisionFor(traffic: readonly Share[] | undefined, headers: Headers, chance: number): number | undefined {
	if (traffic === undefined) return undefined;
	const matching = traffic.find(({match}) => match !== undefined && holds(match.header, headers));
	if (matching !== undefined) return matching.revision;
	const sum = traffic.reduce((total, share) => total + shareOf(share), 0);
	let left = chance * sum;
	return traffic.find(share => shareOf(share) > 0 && (left -= shareOf(share)) < 0)?.revision;
}

/** Its part of the sum of all. */
export const shareOf = ({weight, match}: Share): number => weight ?? (match === undefined ? 1 : 0);

function holds({name, exact, prefix}: NonNullable<Share['match']>['header'], headers: Headers): boolean {
	const value = headers[name.toLowerCase()];
	if (value === undefined) return false;
	const text = typeof value === 'object' ? value.join(', ') : String(value);
	return exact === undefined ? text.startsWith(prefix ?? '') : text === exact;
}
