// What may end in another way when it is asked for again, since it says nothing of what was asked for.

import {AppError, failure, rowOf, type Failure} from '../api/errors.js';

/** The control plane is busy, starts, cannot be reached, or cannot write. */
export const mayPass = ({code}: Failure): boolean => rowOf(code).retryable || code === 'ERR_NO_SUCH_ACTOR' || code === 'ERR_ACTOR_CRASHED';

/** The same of what a client of MQTT sends again where it is not taken. A bug may be one of the moment, too: what is committed nowhere is not taken. */
export const mayBeTakenLater = (why: Failure): boolean => mayPass(why) || why.code === 'ERR_INTERNAL';

export const failureOf = (error: unknown): Failure =>
	error instanceof AppError ? error.failure : failure('ERR_INTERNAL', {message: error instanceof Error ? error.message : String(error)});
