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
	/** Adds up to `coldStartMs`. */
	readonly coldPhases: ColdPhases;
	/** How many were answered or failed in each step of the last 15 minutes, oldest first; left out where it was not called yet. */
	readonly recent?: readonly number[];
};

/**
 * What calls waited for an instance, by how far the one that took them was: in whole milliseconds, by the clock of the server that leads. What was over when
 * a call began takes none of its time.
 */
export type ColdPhases = {
	/** Until the instance had a node. */
	readonly placeMs: number;
	/** From there until its program ran: its code was fetched, its sandbox made, its process begun. Also starts that failed before that one. */
	readonly startMs: number;
	/** From there until it was ready; 0 where its node told of both at once: then all of it is in `startMs`. */
	readonly readyMs: number;
	/** From there until the call was given its slot. All that a call waited whose instance was ready before it began, or before this server led. */
	readonly slotMs: number;
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
