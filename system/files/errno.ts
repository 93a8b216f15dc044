// Errors of the system by their codes.

/** Whether it is an error of the system (errno(3)) with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
	error instanceof Error && 'code' in error && codes.includes(String(error.code));
