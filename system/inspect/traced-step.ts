// One step that is traced or watched, from its beginning to what is told of it.

import type {Failure} from '../../api/errors.js';
import type {TraceEntry} from '../../api/inspect.js';
import type {Json} from '../../api/object.js';
import type {Context, Next} from '../kernel/behavior.js';
import type {Span} from '../kernel/mailbox.js';
import type {SeenStep} from '../kernel/probe.js';
import type {Recording} from './recorder.js';

/** What is known of a step when it is told. */
export type Ran = {
	readonly atMs: number;
	readonly waitedMs: number;
	readonly tookMs: number;
	readonly next: Next<unknown> | undefined;
	readonly recordings: readonly Json[];
};

export type TracedStepOptions = {
	readonly span: Span | undefined;
	readonly record: (context: Context) => readonly Recording[];
	readonly told: (outcome: TraceEntry['outcome'], ran: Ran, error: Failure | undefined) => void;
	readonly real: () => void;
	readonly atMs: number;
	readonly waitedMs: number;
	readonly guarded: (run: () => void) => void;
};

/** One step, from its beginning to its entry. */
export class TracedStep implements SeenStep {
	readonly span: Span | undefined;
	readonly #options: TracedStepOptions;
	#recordings: readonly Recording[] = [];
	#ran: Pick<Ran, 'tookMs' | 'next' | 'recordings'> = {tookMs: 0, next: undefined, recordings: []};
	#isTold = false;

	constructor(options: TracedStepOptions) {
		this.span = options.span;
		this.#options = options;
	}

	context(context: Context): Context {
		let seen = context;
		this.#options.guarded(() => {
			this.#recordings = this.#options.record(context);
			seen = this.#recordings.at(-1)?.context ?? context;
		});
		return seen;
	}

	ran(next: Next<unknown>, tookMs: number): void {
		this.#options.guarded(() => {
			this.#ran = {tookMs, next, recordings: this.#recordings.map(recording => recording.done(next) as unknown as Json)};
		});
	}

	real(wasCommitted: boolean): void {
		this.#tell(wasCommitted ? 'committed' : 'done');
		this.#options.guarded(() => this.#options.real());
	}

	notCommitted(error: Failure): void {
		this.#tell('notCommitted', error);
	}

	notUnderstood(error: Failure): void {
		this.#tell('notUnderstood', error);
	}

	/** One of its effects may have thrown, after the step was told: then that is told, too. */
	crashed(error: Failure): void {
		this.#options.guarded(() => {
			if (this.#ran.next !== undefined) return;
			const {message = error.message} = error.details;
			const thrown = new Error(typeof message === 'string' ? message : error.message);
			this.#ran = {...this.#ran, recordings: this.#recordings.map(recording => recording.threw(thrown) as unknown as Json)};
		});
		this.#isTold = false;
		this.#tell('crashed', error);
	}

	#tell(outcome: TraceEntry['outcome'], error?: Failure): void {
		if (this.#isTold) return;
		this.#isTold = true;
		const {atMs, waitedMs, told, guarded} = this.#options;
		guarded(() => told(outcome, {atMs, waitedMs, ...this.#ran}, error));
	}
}
