// Finds the few acts without which a failing plan does not fail: delta debugging over the list of acts (Zeller and Hildebrandt 2002).

import type {Act, Plan} from './plan.js';

export type Shrunk = {readonly plan: Plan; readonly runs: number};

/** `fails` runs a plan. At most so many runs. */
export function shrink(plan: Plan, fails: (plan: Plan) => boolean, maxRuns = 400): Shrunk {
	let runs = 0;
	const stillFails = (acts: readonly Act[]): boolean => runs < maxRuns && (runs++, fails({...plan, acts}));
	let acts = minimal(plan.acts, stillFails);
	let smaller = {...plan, acts};
	for (const change of simpler) {
		const simple = change(smaller);
		if (runs < maxRuns && (runs++, fails(simple))) smaller = simple;
	}
	acts = smaller.acts;
	return {plan: {...smaller, acts}, runs};
}

/** What a history can often do without. */
const simpler: readonly ((plan: Plan) => Plan)[] = [
	plan => ({...plan, watcher: false}),
	plan => ({...plan, externalBroker: false}),
	plan => ({...plan, nodes: 1}),
];

function minimal(all: readonly Act[], fails: (acts: readonly Act[]) => boolean): readonly Act[] {
	let acts = all;
	let parts = 2;
	while (acts.length >= 2) {
		const smaller = complements(acts, parts).find(each => fails(each));
		if (smaller !== undefined) {
			acts = smaller;
			parts = Math.max(2, parts - 1);
		} else if (parts < acts.length) parts = Math.min(acts.length, parts * 2);
		else break;
	}
	return acts;
}

/** The list without each of its parts in turn. */
function* pieces(acts: readonly Act[], parts: number): Iterable<readonly Act[]> {
	const size = Math.ceil(acts.length / parts);
	for (let from = 0; from < acts.length; from += size) yield [...acts.slice(0, from), ...acts.slice(from + size)];
}

const complements = (acts: readonly Act[], parts: number): readonly (readonly Act[])[] => [...pieces(acts, parts)];
