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

/** Of what is delivered to a function under one trigger. */
export type DeliveryCounts = {
	/** Its name; `(async)` of calls whose answer is fetched later, `(mqtt)` of messages to its own topic. */
	readonly trigger: string;
	readonly accepted: number;
	/** They wait, or are under way. */
	readonly waiting: number;
	readonly delivered: number;
	/** Tries after the first one. */
	readonly retried: number;
	/** Given up. */
	readonly failed: number;
};

export type FunctionFigures = CallCounts & {
	readonly namespace: string;
	readonly name: string;
	/** Instances that its calls need, and those that take calls. */
	readonly desired: number;
	readonly ready: number;
	/** Sorted by trigger; those of which there was anything. */
	readonly triggers: readonly DeliveryCounts[];
};

export type FunctionsAnswer = {
	/** When the counting began. */
	readonly sinceMs: number;
	/** Sorted by namespace and name. */
	readonly functions: readonly FunctionFigures[];
};
