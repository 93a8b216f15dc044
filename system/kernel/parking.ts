// A parked actor rests what it does by itself and still answers; it is tried again with a back-off, and at once after its spec changed.

import type {Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Cell} from './cell.js';
import {renew} from './endings.js';
import {seen} from './following.js';
import type {Kernel} from './kernel.js';
import {crashOf} from './observer.js';
import {restoredBy, runOn, unchanged, type StepCall} from './step-call.js';
import {StepContext} from './step-context.js';
import {adopt, step} from './steps.js';
import {exponentialBackoffMs} from './restart-policy.js';

/** From its snapshot, in whatever state it was. */
export function park(kernel: Kernel, cell: Cell, error: Failure, retries: number): void {
	const {address, behavior, object: snapshot} = cell;
	const {parking, persistence} = behavior;
	const retryInMs = retryLater(kernel, cell, error, retries);
	kernel.options.observer?.lifecycle?.({type: 'parked', address, error, retryInMs});
	if (parking !== undefined && persistence !== undefined && snapshot !== undefined) {
		renew(kernel, cell);
		cell.state = undefined;
		// A condition that cannot be written must not crash the actor once more: it stays parked without.
		const call: StepCall = {type: 'park', object: snapshot, input: cell.spec.input, error};
		const trigger = seen(kernel, cell, {message: {type: 'park'}, from: address, cause: 'parked'}, call);
		try {
			cell.state = restoredBy(behavior, call);
			const context = new StepContext(kernel, cell, 'parked');
			const seenContext = trigger.seen === undefined ? context : trigger.seen.context(context);
			const next = runOn(behavior, cell.state, call, seenContext) ?? unchanged(cell.state);
			trigger.seen?.ran(next, 0);
			adopt(kernel, cell, next, trigger);
		} catch (parkError) {
			cell.failure = crashOf(address, parkError);
			trigger.seen?.crashed(cell.failure);
			if (cell.state === undefined && retries === 1) tellUnreadable(kernel, cell, cell.failure);
		}
	}
	cell.requestTurn();
}

/** Nothing of its own can say it. */
function tellUnreadable({options}: Kernel, {key}: Cell, {message}: Failure): void {
	if (key === undefined) return;
	const event = {type: 'event', event: 'Warning', reason: 'ActorFailed', message: `it cannot be taken up again: ${message}`} as const;
	options.persistent?.recordEvent(key, event);
}

/** How long until the next try. */
function retryLater(kernel: Kernel, cell: Cell, error: Failure, retries: number): number {
	const retryInMs = exponentialBackoffMs(retries, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
	cell.parked?.cancelRetry();
	cell.parked = {error, retries, cancelRetry: kernel.options.clock.after(retryInMs, () => unpark(kernel, cell))};
	return retryInMs;
}

/** Tries the parked part again; parked it stays until that is committed. */
export function unpark(kernel: Kernel, cell: Cell): void {
	const {parked, address} = cell;
	const {parking} = cell.behavior;
	if (parked === undefined || parking === undefined || cell.status !== 'running') return;
	if (cell.committing) {
		cell.onceCommitted(() => unpark(kernel, cell));
		return;
	}
	if (cell.state === undefined) {
		park(kernel, cell, parked.error, parked.retries + 1); // Perhaps its snapshot can be read now.
		return;
	}
	retryLater(kernel, cell, parked.error, parked.retries);
	const whenReal = (): void => {
		cell.parked?.cancelRetry();
		cell.parked = undefined;
		cell.window = [];
		kernel.options.observer?.lifecycle?.({type: 'unparked', address});
	};
	const trigger = {message: {type: 'unpark'}, from: address, cause: 'unparked', whenReal};
	step(kernel, cell, trigger, {type: 'unpark'});
}
