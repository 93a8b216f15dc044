// Errors of the system by their codes.

/** Whether it is an error of the system (errno(3)) with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
	error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** For the catch of a promise: `otherwise` for an error with one of these codes; throws any other again. */
export const orFor =
	<Other>(otherwise: Other, ...codes: readonly string[]) =>
	(error: unknown): Other => {
		if (hasCode(error, ...codes)) return otherwise;
		throw error;
	};

/** What is read; `otherwise` where that throws an error with one of these codes. Throws any other. */
export function valueOrFor<Value, Other>(otherwise: Other, codes: readonly string[], read: () => Value): Value | Other {
	try {
		return read();
	} catch (error) {
		return orFor(otherwise, ...codes)(error);
	}
}
