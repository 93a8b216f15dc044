// A refusal of input: what is wrong, and where. All problems of an input are told at once.

import {limits} from './limits.js';

export type Problem = {
	/** The field, as `spec.containers[0].image`; empty when the whole document is meant. */
	readonly path: string;
	/** Lower case, no full stop: what was found and what would be right. */
	readonly message: string;
	/** The code of kubectl's StatusCause. */
	readonly reason?: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueNotSupported' | 'FieldValueDuplicate' | 'FieldValueForbidden';
};

/** A path as messages show it: keys may be of any length. */
export const shownPath = (path: string): string =>
	path.length > limits.shownPathCharacters ? `${path.slice(0, limits.shownPathCharacters)}…` : path;

export const formatProblem = ({path, message}: Problem): string => (path === '' ? message : `${path}: ${message}`);

/** Whether something was said of this field, or of one around it. */
export const isTold = ({path}: Problem, told: readonly Problem[]): boolean =>
	told.some(({path: at}) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));
