// What a server tells of the calls of functions: `GET /troupe/v1/functions`, in one namespace with `?namespace=`.

export const functionFiguresPath = '/troupe/v1/functions';

/** Of one function, since the server that leads began to lead. */
export type CallCounts = {
	/** Under way at an instance. */
	readonly calls: number;
	/** They wait for an instance. */
	readonly held: number;
	readonly answered: number;
	/** Answered with a status of 500 or more, or without an answer of the function. */
	readonly failed: number;
	/** Calls that found no ready instance and were given one; and what they waited for it, all together. */
	readonly coldStarts: number;
	readonly coldStartMs: number;
};

export type FunctionFigures = CallCounts & {
	readonly namespace: string;
	readonly name: string;
	/** Instances that its calls need, and those that take calls. */
	readonly desired: number;
	readonly ready: number;
};

export type FunctionsAnswer = {
	/** When the counting began. */
	readonly sinceMs: number;
	/** Sorted by namespace and name. */
	readonly functions: readonly FunctionFigures[];
};
