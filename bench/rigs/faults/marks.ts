// What was seen, and when: marks of one round, and of all rounds the steps in their order.

import {median, type Row} from '../../harness/table.js';

export type Mark = {readonly what: string; readonly atMs: number};

export type Marks = {
	readonly note: (what: string, atMs?: number) => void;
	/** What was noted since the last time. */
	readonly take: () => readonly Mark[];
};

export function createMarks(): Marks {
	let noted: Mark[] = [];
	return {
		note: (what, atMs = performance.now()) => void noted.push({what, atMs}),
		take() {
			const taken = noted;
			noted = [];
			return taken;
		},
	};
}

/** The steps of a fault in the order of their median times: when each came first in its round, counted from the fault. */
export function stepsOf(title: string, rounds: readonly (readonly Mark[])[]): readonly Row[] {
	const names = [...new Set(rounds.flatMap(round => round.map(({what}) => what)))];
	return names.map(name => stepOf(title, name, rounds)).toSorted((a, b) => median(a.values) - median(b.values));
}

function stepOf(title: string, name: string, rounds: readonly (readonly Mark[])[]): Row {
	const times = rounds.map(round => round.filter(({what}) => what === name).map(({atMs}) => atMs)).filter(each => each.length > 0);
	const most = Math.max(...times.map(({length}) => length));
	const last = Math.round(median(times.map(each => Math.max(...each))));
	const note = most > 1 ? `${Math.min(...times.map(({length}) => length))} to ${most} in a round, the last after ${last}` : '';
	return {what: `${title}: ${name}`, values: times.map(each => Math.min(...each)), unit: 'ms', ...(note === '' ? {} : {note})};
}
