// Between outcomes, which are values, and the exceptions of the edge.

import {AppError, type Outcome} from '../../api/errors.js';

/** The value of an outcome; its failure is thrown, for the door to word. */
export function valueOf<Value>(outcome: Outcome<Value>): Value {
	if (outcome.ok) return outcome.value;
	throw AppError.of(outcome.error);
}

/** What the client asked for is wrong. */
export const refusal = (message: string, cause?: unknown): AppError => new AppError('ERR_BAD_REQUEST', {message}, cause);
