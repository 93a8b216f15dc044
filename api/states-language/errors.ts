// Errors of the States Language: the names that are reserved, and which of them a retrier or a catcher takes.

/** What a state reports when it fails. */
export type StateError = {readonly Error: string; readonly Cause: string};

/** A value, or the error that the state reports in its place. */
export type Outcome<Value> = {readonly ok: true; readonly value: Value} | {readonly ok: false; readonly error: StateError};

/** All names that begin with `States.`. */
export const reservedErrors = [
	'States.ALL',
	'States.BranchFailed',
	'States.DataLimitExceeded',
	'States.ExceedToleratedFailureThreshold',
	'States.HeartbeatTimeout',
	'States.IntrinsicFailure',
	'States.ItemReaderFailed',
	'States.NoChoiceMatched',
	'States.ParameterPathFailure',
	'States.Permissions',
	'States.ResultPathMatchFailure',
	'States.ResultWriterFailed',
	'States.Runtime',
	'States.TaskFailed',
	'States.Timeout',
] as const;

export type ReservedError = (typeof reservedErrors)[number];

export const succeeded = <Value>(value: Value): Outcome<Value> => ({ok: true, value});

export const failed = (name: ReservedError, cause: string): {readonly ok: false; readonly error: StateError} => ({
	ok: false,
	error: {Error: name, Cause: cause},
});

/** Ends an evaluation within this library with an error of the language; `outcomeOf` makes a value of it again. */
export class EvaluationError extends Error {
	readonly error: StateError;

	constructor(name: ReservedError, cause: string) {
		super(cause);
		this.error = {Error: name, Cause: cause};
	}
}

/** What is evaluated, or the error of the language that it ended with. Other errors are bugs, and thrown on. */
export function outcomeOf<Value>(evaluate: () => Value): Outcome<Value> {
	try {
		return succeeded(evaluate());
	} catch (error) {
		if (error instanceof EvaluationError) return {ok: false, error: error.error};
		throw error;
	}
}

/** What kind of state reports the error: some names stand for errors of one kind alone. */
export type Reporter = 'Task' | 'Parallel' | 'Map';

/** Whether one of the names of an `ErrorEquals` takes the error. `States.Runtime` ends the run, whatever is written. */
export function isTaken(names: readonly string[], {Error: name}: StateError, reporter: Reporter): boolean {
	if (name === 'States.Runtime') return false;
	return names.some(each => each === name || standsFor(each, name, reporter));
}

function standsFor(written: string, name: string, reporter: Reporter): boolean {
	switch (written) {
		case 'States.ALL':
			return name !== 'States.DataLimitExceeded';
		case 'States.Timeout':
			return name === 'States.HeartbeatTimeout';
		case 'States.TaskFailed':
			return name !== 'States.Timeout' && name !== 'States.HeartbeatTimeout' && name !== 'States.DataLimitExceeded';
		case 'States.BranchFailed':
			return reporter === 'Parallel';
		default:
			return false;
	}
}
