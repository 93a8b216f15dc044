// The hops of a way, as they are judged and shown. Pure.

import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';

export type Hop = {
	/** `from`, `node`, `endpoints` and so on. */
	readonly hop: string;
	/** `skipped`: it could not be looked at, or is of no account here. */
	readonly state: 'ok' | 'failed' | 'skipped';
	/** For people. */
	readonly seen: string;
	/** What to do; of a hop that failed. */
	readonly todo?: string;
};

export const fine = (hop: string, seen: string): Hop => ({hop, state: 'ok', seen});
export const skipped = (hop: string, seen: string): Hop => ({hop, state: 'skipped', seen});
export const broken = (hop: string, seen: string, todo: string): Hop => ({hop, state: 'failed', seen, todo});

/** Up to the first that failed. */
export function untilFailed(hops: readonly Hop[]): readonly Hop[] {
	const at = hops.findIndex(({state}) => state === 'failed');
	return at < 0 ? hops : hops.slice(0, at + 1);
}

export const hasFailed = (hops: readonly Hop[]): boolean => hops.some(({state}) => state === 'failed');

const nameWidth = 10;

/** A line for each, and one for what to do. */
export function drawHops(hops: readonly Hop[], colours: Colours): string {
	const signs = {ok: colours.green('ok     '), failed: colours.red('failed '), skipped: colours.yellow('skipped')};
	return hops
		.flatMap(({hop, state, seen, todo}) => [
			`${signs[state]}  ${hop.padEnd(nameWidth)}  ${inOneLine(seen)}`,
			...(todo === undefined ? [] : [`${' '.repeat(nameWidth + 11)}→ ${inOneLine(todo)}`]),
		])
		.map(line => `${line}\n`)
		.join('');
}
