// What a runner is told when it starts: its only argument, as JSON. The runners of all languages take the same.

export type RunnerConfig = {
	/** The folder of the function. */
	readonly dir: string;
	/** A relative path is one of where it begins, of any length up to there: it is there when the runner listens. */
	readonly listen: {readonly path: string} | {readonly host: string; readonly port: number};
	/** What one call may take, from its head to the end of its answer. */
	readonly timeoutMs: number;
	readonly bodyBytes: number;
	/** Of an answer that is not streamed. */
	readonly answerBytes: number;
	/** Calls under way at most. */
	readonly concurrency: number;
	/** Where it writes `ready` and a line end once it listens. */
	readonly readyFd?: number;
	/** Whether the end of its input is the end of whoever has started it, and so its own, with all its group. */
	readonly endsWithInput?: boolean;
};
