// How a task ends, as the language has it: its result, or an error whose name and cause are bounded.

import type {TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {bounded} from '../../actors/workflows/work.js';
import {withinBounds} from '../../api/states-language/data-bounds.js';
import {outcomeOf} from '../../api/states-language/errors.js';
import {parsedJson} from '../../api/value-or.js';
import type {Json} from '../../api/object.js';

export const taskFailed = (name: string, cause: string): TaskOutcome => ({type: 'failed', error: bounded({Error: name, Cause: cause})});

/**
 * With a name that comes from a function or another run. What begins with `States.` says something of the run itself, such as that it has no
 * time left, and of them alone that it failed.
 */
export function taskFailedElsewhere(name: string, cause: string): TaskOutcome {
	if (name === '' || name === 'States.TaskFailed') return taskFailed('States.TaskFailed', cause);
	return name.startsWith('States.') ? taskFailed('States.TaskFailed', `${name}: ${cause}`) : taskFailed(name, cause);
}

/** States.DataLimitExceeded where it is more than the data of a state may be. */
export function taskSucceeded(output: Json): TaskOutcome {
	const fits = outcomeOf(() => withinBounds(output, 'the answer'));
	return fits.ok ? {type: 'succeeded', output: fits.value} : {type: 'failed', error: fits.error};
}

/** An answer as data: JSON, or else its text; of nothing null. */
export function taskAnswered(body: Uint8Array): TaskOutcome {
	const text = textOfAnswer(body);
	return taskSucceeded(text === '' ? null : jsonOr(text));
}

export const textOfAnswer = (body: Uint8Array): string => new TextDecoder().decode(body);

function jsonOr(text: string): Json {
	const value = parsedJson(text);
	return value === undefined ? text : (value as Json);
}
