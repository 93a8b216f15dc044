// Actors as people look at them.

import type {ActorLook, ActorState, ActorTree} from '../../api/inspect.js';
import type {Cell} from './cell.js';

/** The cell and everything below it, `depth` levels deep. */
export function treeOf(cell: Cell, monotonicMs: number, depth = Number.POSITIVE_INFINITY): ActorTree {
	const children = depth <= 0 ? [] : [...cell.children.values()];
	return {...lookAt(cell, monotonicMs), children: children.map(child => treeOf(child, monotonicMs, depth - 1))};
}

/** One cell, as it is at that monotonic time. */
export function lookAt(cell: Cell, monotonicMs: number): ActorLook {
	const {failure, held, crashedAtMs} = cell;
	return {
		name: cell.spec.name,
		address: cell.address,
		behavior: cell.spec.behavior,
		state: stateOf(cell),
		about: aboutOf(cell),
		restarts: cell.restarts,
		waiting: cell.mailbox.length,
		handled: cell.handled,
		stepMs: cell.stepMicros / 1_000,
		...(failure === undefined ? {} : {failure: failure.message, failedAgoMs: Math.max(0, Math.round(monotonicMs - crashedAtMs))}),
		...(held === undefined ? {} : {pausedForMs: Math.max(0, Math.round(held.untilMs - monotonicMs))}),
		childCount: cell.children.size,
	};
}

export function stateOf({status, longRests, parked, held, committing}: Cell): ActorState {
	if (status === 'stopping' || status === 'gone') return 'stopping';
	if (status === 'restarting') return longRests === 0 ? 'restarting' : 'parked';
	if (parked !== undefined) return 'parked';
	if (held !== undefined) return 'paused';
	return committing ? 'committing' : 'running';
}

/** People look at an actor that has a bug, too: one in `describe` must not hide it. */
function aboutOf({parked, state, behavior}: Cell): string {
	// The last crash of a parked actor is what there is to say, and stands beside.
	if (parked !== undefined || state === undefined || behavior.describe === undefined) return '';
	try {
		return String(behavior.describe(state));
	} catch {
		return '(its describe throws)';
	}
}
