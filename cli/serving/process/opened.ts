// Systems open and stop with callbacks, so that the virtual world runs them; a process waits for promises.

import {AppError, type Outcome} from '../../../api/errors.js';

/** Rejects with an AppError for a failed outcome. */
export function opened<Value>(open: (done: (outcome: Outcome<Value>) => void) => void): Promise<Value> {
	return new Promise((resolve, reject) => {
		open(outcome => {
			if (outcome.ok) resolve(outcome.value);
			else reject(AppError.of(outcome.error));
		});
	});
}

type System = {readonly stop: (done: () => void) => void; readonly bus: {readonly close: () => Promise<void>}};

/** Stops the tree in good order; the bus goes last, since the tree speaks until its end. */
export async function stopped(system: System): Promise<void> {
	await new Promise<void>(resolve => system.stop(resolve));
	await system.bus.close();
}
