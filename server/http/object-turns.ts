// Writes that are made of what was read before: those of one object take turns, so that none overtakes another that came before it, however many
// come at once.

import {AppError} from '../../api/errors.js';
import {objectAddress, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Backend} from './exchange.js';

/** Of each control plane, by object: the end of the last one's turn. */
const ends = new WeakMap<Backend['control'], Map<ObjectKey, Promise<void>>>();

/** Works when all that came before for this object is done. Who has waited for as long as an answer may take gets ERR_TIMEOUT. */
export async function inTurn<Value>({control, clock}: Backend, key: ObjectKey, work: () => Promise<Value>): Promise<Value> {
	const ofControl = ends.get(control) ?? new Map<ObjectKey, Promise<void>>();
	ends.set(control, ofControl);
	const sinceMs = clock.monotonicMs();
	const result = (ofControl.get(key) ?? Promise.resolve()).then(() => {
		if (clock.monotonicMs() - sinceMs <= limits.askDeadlineMs) return work();
		throw new AppError('ERR_TIMEOUT', {address: objectAddress(key), deadlineMs: limits.askDeadlineMs});
	});
	const end = result.then(
		() => undefined,
		() => undefined,
	);
	ofControl.set(key, end);
	try {
		return await result;
	} finally {
		if (ofControl.get(key) === end) ofControl.delete(key);
	}
}
