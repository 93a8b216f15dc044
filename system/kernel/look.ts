// One actor as a look shows it.

import type {ActorLook, ActorState, Fault} from '../../api/inspect.js';
import type {ActiveFault, Cell} from './cell.js';

/** One cell, as it is at that monotonic time. */
export function lookAt(cell: Cell, monotonicMs: number): ActorLook {
	const {failure, held, crashedAtMs, faults} = cell;
	const trouble = troubleOf(cell);
	return {
		name: cell.spec.name,
		address: cell.address,
		behavior: cell.spec.behavior,
		state: stateOf(cell),
		about: aboutOf(cell),
		...(trouble === undefined ? {} : {trouble}),
		restarts: cell.restarts,
		waiting: cell.mailbox.length,
		handled: cell.handled,
		stepMs: cell.stepMicros / 1_000,
		...(failure === undefined ? {} : {failure: failure.message, failedAgoMs: Math.max(0, Math.round(monotonicMs - crashedAtMs))}),
		...(held === undefined || held.isSlowed === true ? {} : {pausedForMs: Math.max(0, Math.round(held.untilMs - monotonicMs))}),
		...(faults === undefined ? {} : {faults: faults.map(each => faultText(each, monotonicMs))}),
		childCount: cell.children.size,
	};
}

export function stateOf({status, longRests, parked, held, committing}: Cell): ActorState {
	if (status === 'stopping' || status === 'gone') return 'stopping';
	if (status === 'restarting') return longRests === 0 ? 'restarting' : 'parked';
	if (parked !== undefined) return 'parked';
	if (held !== undefined && held.isSlowed !== true) return 'paused';
	return committing ? 'committing' : 'running';
}

/** `slow by 200 ms, 8 s left, by admin`. */
export function faultText({fault, untilMs, by}: ActiveFault, monotonicMs: number): string {
	const left = `${wordsOf(fault)}, ${Math.ceil(Math.max(0, untilMs - monotonicMs) / 1_000)} s left`;
	return by === undefined ? left : `${left}, by ${by}`;
}

function wordsOf(fault: Fault): string {
	switch (fault.type) {
		case 'crash':
			return 'its next step crashes';
		case 'slow':
			return `slow by ${fault.ms < 1_000 ? `${fault.ms} ms` : `${fault.ms / 1_000} s`}`;
		case 'drop':
			return fault.share >= 1 ? 'loses every message' : `loses ${Math.round(fault.share * 100)} % of its messages`;
		case 'partition':
			return 'cut off from all other systems';
		case 'pause':
			return 'paused';
	}
}

/** What the actor says keeps it from what it is for. One that is parked says nothing: its last crash does. */
export function troubleOf({parked, state, behavior}: Cell): string | undefined {
	if (parked !== undefined || state === undefined || behavior.trouble === undefined) return undefined;
	try {
		const trouble: unknown = behavior.trouble(state);
		return typeof trouble === 'string' ? trouble : undefined;
	} catch {
		return '(its trouble throws)';
	}
}

/** An actor that has a bug is looked at, too: one in `describe` must not hide it. */
function aboutOf({parked, state, behavior}: Cell): string {
	// The last crash of a parked actor is what there is to say, and stands beside.
	if (parked !== undefined || state === undefined || behavior.describe === undefined) return '';
	try {
		return String(behavior.describe(state));
	} catch {
		return '(its describe throws)';
	}
}
