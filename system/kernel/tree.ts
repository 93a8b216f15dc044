// The actor tree as people look at it.

import type {Address} from '../../api/keys.js';
import type {Cell} from './cell.js';

export type ActorState = 'running' | 'committing' | 'restarting' | 'parked' | 'stopping';

export type TreeNode = {
	readonly name: string;
	readonly address: Address;
	readonly behavior: string;
	readonly state: ActorState;
	/** What it says it is doing. */
	readonly about: string;
	readonly restarts: number;
	/** Messages in its mailbox. */
	readonly waiting: number;
	/** The last crash, if there was one. */
	readonly failure: string | undefined;
	readonly children: readonly TreeNode[];
};

/** The cell and everything below it, `depth` levels deep. */
export function treeOf(cell: Cell, depth = Number.POSITIVE_INFINITY): TreeNode {
	return {
		name: cell.spec.name,
		address: cell.address,
		behavior: cell.spec.behavior,
		state: stateOf(cell),
		about: aboutOf(cell),
		restarts: cell.restarts,
		waiting: cell.mailbox.length,
		failure: cell.failure?.message,
		children: depth <= 0 ? [] : [...cell.children.values()].map(child => treeOf(child, depth - 1)),
	};
}

function stateOf({status, longRests, parked, committing}: Cell): ActorState {
	if (status === 'stopping' || status === 'gone') return 'stopping';
	if (status === 'restarting') return longRests === 0 ? 'restarting' : 'parked';
	if (parked !== undefined) return 'parked';
	return committing ? 'committing' : 'running';
}

function aboutOf({parked, state, behavior}: Cell): string {
	// The last crash of a parked actor is what there is to say, and stands beside.
	return parked !== undefined || state === undefined ? '' : (behavior.describe?.(state) ?? '');
}
