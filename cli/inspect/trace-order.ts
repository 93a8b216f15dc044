// Steps of a trace in an order in which causes come before what they led to, with how deep each lies. Pure.
//
// Portions of several systems arrive as they come: a step may be there before the one that caused it. It waits a moment for that.

import type {TraceEntry} from '../../api/inspect.js';

export type PlacedStep = {
	readonly step: TraceEntry;
	/** Steps that led to it, as far as they were traced. */
	readonly depth: number;
	/** Where the step happened that sent the message; undefined where that was not traced. */
	readonly parent: string | undefined;
};

type TraceOrder = {
	/** What can be told now, the newly arrived steps among it. `nowMs` is monotonic. */
	readonly take: (steps: readonly TraceEntry[], nowMs: number) => readonly PlacedStep[];
	/** All that still waits. */
	readonly rest: () => readonly PlacedStep[];
	/** When a step that waits has waited long enough; undefined where none does. */
	readonly dueMs: () => number | undefined;
};

type Waiting = {readonly step: TraceEntry; readonly sinceMs: number};

/** `patienceMs`: how long a step waits for its cause. */
export function createTraceOrder(patienceMs: number): TraceOrder {
	const told = new Map<string, {readonly depth: number; readonly address: string}>();
	let waiting: readonly Waiting[] = [];

	function place({step}: Waiting): PlacedStep {
		const parent = step.parent === undefined ? undefined : told.get(step.parent);
		const depth = parent === undefined ? 0 : parent.depth + 1;
		told.set(step.span, {depth, address: step.address});
		return {step, depth, parent: parent?.address};
	}
	/** What can be told, each with all that followed from it: so it stays together, whatever went on beside it. */
	function tell(isOverdue: (one: Waiting) => boolean): readonly PlacedStep[] {
		const bySpan = new Set(waiting.map(({step}) => step.span));
		const isBegin = ({step: {parent}}: Waiting): boolean => parent === undefined || told.has(parent);
		const causes = new Map<string, Waiting[]>();
		for (const one of waiting) {
			const {parent} = one.step;
			if (parent !== undefined && bySpan.has(parent)) causes.set(parent, [...(causes.get(parent) ?? []), one]);
		}
		const placed: PlacedStep[] = [];
		const tellWhole = (one: Waiting): void => {
			if (told.has(one.step.span)) return;
			placed.push(place(one));
			for (const next of causes.get(one.step.span) ?? []) tellWhole(next);
		};
		for (const one of waiting) if (isBegin(one)) tellWhole(one);
		for (const one of waiting) if (isOverdue(one)) tellWhole(one);
		waiting = waiting.filter(({step}) => !told.has(step.span));
		return placed;
	}
	return {
		take(steps, nowMs) {
			waiting = [...waiting, ...steps.map(step => ({step, sinceMs: nowMs}))].sort((a, b) => a.step.atMs - b.step.atMs);
			return tell(({sinceMs}) => nowMs - sinceMs >= patienceMs);
		},
		rest: () => tell(() => true),
		dueMs: () => (waiting.length === 0 ? undefined : Math.min(...waiting.map(({sinceMs}) => sinceMs)) + patienceMs),
	};
}
