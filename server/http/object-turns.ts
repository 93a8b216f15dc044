// Writes that are made of what was read before: those of one object take turns, so that none overtakes another that came before it, however many
// come at once.

import {AppError} from '../../api/errors.js';
import {objectAddress, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Backend} from './exchange.js';

type Queue = {
	/** The end of the last one's turn. */
	end: Promise<void>;
	/** Those that are not answered. */
	count: number;
};

/** Of each control plane, by object. */
const queues = new WeakMap<Backend['control'], Map<ObjectKey, Queue>>();

/**
 * Works when all that came before for this object is done. Who has waited for as long as an answer may take gets ERR_TIMEOUT, who comes to too
 * many others ERR_BUSY.
 */
export async function inTurn<Value>({control, clock}: Backend, key: ObjectKey, work: () => Promise<Value>): Promise<Value> {
	const ofControl = queues.get(control) ?? new Map<ObjectKey, Queue>();
	queues.set(control, ofControl);
	const queue = ofControl.get(key) ?? {end: Promise.resolve(), count: 0};
	if (queue.count >= limits.objectTurns) throw new AppError('ERR_BUSY', {address: objectAddress(key), waiting: queue.count});
	ofControl.set(key, queue);
	queue.count++;
	const sinceMs = clock.monotonicMs();
	const result = queue.end.then(() => {
		if (clock.monotonicMs() - sinceMs <= limits.askDeadlineMs) return work();
		throw new AppError('ERR_TIMEOUT', {address: objectAddress(key), deadlineMs: limits.askDeadlineMs});
	});
	queue.end = result.then(
		() => undefined,
		() => undefined,
	);
	try {
		return await result;
	} finally {
		if (--queue.count === 0) ofControl.delete(key);
	}
}
