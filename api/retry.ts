// What the API answers to `POST .../pods/NAME/retry`.

export type RetryAnswer = {
	/** Those that waited and are started now. */
	readonly containers: readonly string[];
};
