// Actors of a system, looked at directly.

import type {ActorTree} from '../../../api/inspect.js';
import {address as addressOf, type Address} from '../../../api/keys.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Cell} from '../../../system/kernel/cell.js';
import {lookAt} from '../../../system/kernel/look.js';

/** The root and everything below it, `depth` levels deep. */
export const treeOf = (system: ActorSystem, depth?: number): ActorTree | undefined => nodeAt(system, addressOf(system.name, ''), depth);

/** An actor and everything below it. */
export function nodeAt({kernel}: ActorSystem, address: Address, depth = Number.POSITIVE_INFINITY): ActorTree | undefined {
	const cell = kernel.cells.get(address);
	return cell === undefined ? undefined : lookBelow(cell, kernel.options.clock.monotonicMs(), depth);
}

function lookBelow(cell: Cell, monotonicMs: number, depth: number): ActorTree {
	const children = depth <= 0 ? [] : [...cell.children.values()];
	return {...lookAt(cell, monotonicMs), children: children.map(child => lookBelow(child, monotonicMs, depth - 1))};
}
