// When an agent may say that it is ready: once it is in step with control, or when control has not answered for a few seconds. One that is
// refused, since another agent of its node lives, gets its turn or ends; it is not ready before.

import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {createDeferred} from '../../../system/time/deferred.js';

export type Readiness = {
	readonly inStep: () => void;
	/** Another agent of this node has the place. */
	readonly refused: () => void;
	/** Why there is no connection. */
	readonly problem: (text: string) => void;
	/** Resolves with what a person is to be told: nothing when it is in step. */
	readonly known: Promise<readonly string[]>;
};

export function openReadiness(clock: Pick<Clock, 'after'>): Readiness {
	let isRefused = false;
	let why = 'it was not reached yet';
	const known = createDeferred<readonly string[]>();
	const cancel = clock.after(limits.agentReadyMs, () => {
		if (!isRefused) known.resolve([`the control plane does not answer yet (${why}); pods of the cache run`]);
	});
	return {
		inStep() {
			cancel();
			known.resolve([]);
		},
		refused: () => void (isRefused = true),
		problem: text => void (why = text),
		known: known.promise,
	};
}
