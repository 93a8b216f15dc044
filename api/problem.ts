// A refusal of input: what is wrong, and where. All problems of an input are told at once.

export type Problem = {
	/** The field, as `spec.containers[0].image`; empty when the whole document is meant. */
	readonly path: string;
	/** Lower case, no full stop: what was found and what would be right. */
	readonly message: string;
	/** The code of kubectl's StatusCause. */
	readonly reason?: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueNotSupported' | 'FieldValueDuplicate' | 'FieldValueForbidden';
};

export const formatProblem = ({path, message}: Problem): string => (path === '' ? message : `${path}: ${message}`);
