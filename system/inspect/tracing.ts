// Traces and watches: what is on, which steps it is told of, and what of each step. While nothing is on, no step has a probe.
//
// A trace tells the steps of the actors that its filter means, and those that follow from them: each such step has a span, and what it sends
// carries that. Its own bugs end what is on, and never touch the actor.

import {Buffer} from 'node:buffer';
import type {Failure} from '../../api/errors.js';
import type {StreamEntry, TraceEntry, WatchEntry} from '../../api/inspect.js';
import {parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Context} from '../kernel/behavior.js';
import type {Cell} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import type {Envelope, Span} from '../kernel/mailbox.js';
import type {DeadLetterReason} from '../kernel/observer.js';
import type {Probe, SeenStep, StepTrigger} from '../kernel/probe.js';
import type {StepCall} from '../kernel/step-call.js';
import type {Cancel} from '../time/clock.js';
import {shownMessage} from './actor-look.js';
import {effectLines} from './effect-text.js';
import type {PlaceFilter} from './place-pattern.js';
import type {IsSecret} from './portable.js';
import {addProbe} from './probes.js';
import type {Recorder, Recording} from './recorder.js';
import {partOf, shownOf} from './shown.js';
import type {Stream} from './streams.js';
import {TracedStep, type Ran} from './traced-step.js';
import {cut} from './tree-look.js';

export type Trace = {
	/** The same in every system. */
	readonly name: string;
	readonly filter: PlaceFilter;
	readonly stream: Stream;
	readonly recorder: Recorder | undefined;
	readonly rate: Rate;
};

export type Watch = {readonly address: Address; readonly at: readonly string[]; readonly stream: Stream; last: unknown};

/** So many a second, and so many at once after a rest. */
export class Rate {
	#left: number = limits.traceStepsAtOnce;
	#atMs: number;

	constructor(nowMs: number) {
		this.#atMs = nowMs;
	}

	takes(count: number, nowMs: number): boolean {
		const since = ((nowMs - this.#atMs) * limits.traceStepsPerSecond) / 1_000;
		this.#left = Math.min(limits.traceStepsAtOnce, this.#left + since);
		this.#atMs = nowMs;
		if (this.#left < count) return false;
		this.#left -= count;
		return true;
	}
}

export class Tracing implements Probe {
	readonly #kernel: Kernel;
	readonly #isSecret: IsSecret;
	/** The inspector's actor: its steps are those of the looking itself. */
	readonly #ownPath: string;
	readonly #traces = new Set<Trace>();
	readonly #watches = new Map<Address, Set<Watch>>();
	#removeProbe: Cancel | undefined;
	#spans = 0;

	constructor(kernel: Kernel, isSecret: IsSecret, ownPath: string) {
		this.#kernel = kernel;
		this.#isSecret = isSecret;
		this.#ownPath = ownPath;
	}

	get traces(): number {
		return this.#traces.size;
	}

	add(trace: Trace): void {
		this.#traces.add(trace);
		this.#look();
	}

	remove(trace: Trace): void {
		this.#traces.delete(trace);
		this.#look();
	}

	/** Tells the state as it is, and then each other one. */
	watch(watch: Watch, cell: Cell): void {
		const watches = this.#watches.get(watch.address) ?? new Set();
		this.#watches.set(watch.address, watches.add(watch));
		watch.last = watch; // No state is this one.
		this.#tellState(watch, cell, {message: {type: 'watch'}, from: cell.address, cause: 'watch'});
		this.#look();
	}

	unwatch(watch: Watch): void {
		const watches = this.#watches.get(watch.address);
		watches?.delete(watch);
		if (watches?.size === 0) this.#watches.delete(watch.address);
		this.#look();
	}

	#look(): void {
		if (this.#traces.size + this.#watches.size > 0) this.#removeProbe ??= addProbe(this.#kernel, this);
		else {
			this.#removeProbe?.();
			this.#removeProbe = undefined;
		}
	}

	/** A bug here must not be the actor's. */
	#guarded<Result>(run: () => Result, otherwise: Result): Result {
		try {
			return run();
		} catch {
			for (const {stream} of this.#traces) stream.end('gone');
			for (const watches of this.#watches.values()) for (const {stream} of watches) stream.end('gone');
			return otherwise;
		}
	}

	// ---- what the kernel tells -------------------------------------------------------------------------------------------------

	arrives(cell: Cell, envelope: Envelope): Envelope {
		if (this.#traces.size === 0) return envelope;
		const isSeen = envelope.span !== undefined || [...this.#traces].some(({filter}) => filter.hasCell(cell));
		return isSeen ? {...envelope, arrivedAtMs: this.#kernel.options.clock.monotonicMs()} : envelope;
	}

	begins(cell: Cell, trigger: StepTrigger, call: StepCall): StepTrigger {
		return this.#guarded(() => {
			const seen = this.#seen(cell, trigger, call);
			return seen === undefined ? trigger : {...trigger, seen};
		}, trigger);
	}

	happens(cell: Cell, what: string, error: Failure | undefined): Span | undefined {
		return this.#guarded(() => this.#tellHappening(cell, what, error), undefined);
	}

	refused(to: Address, envelope: Envelope, why: DeadLetterReason, error: Failure): void {
		if (why === 'crashed' || why === 'notUnderstood') return; // That is an outcome of its step.
		this.#guarded(() => this.#tellLetter(to, envelope, error), undefined);
	}

	#seen(cell: Cell, trigger: StepTrigger, call: StepCall): SeenStep | undefined {
		const watches = this.#watches.get(cell.address);
		const parent = trigger.span ?? this.#kernel.span;
		const traces = this.#tracesOfCell(cell, parent);
		if (traces.length === 0 && watches === undefined) return undefined;
		const {clock} = this.#kernel.options;
		const span = traces.length === 0 ? undefined : this.#spanOf(cell, traces, parent);
		return new TracedStep({
			span,
			record(context: Context) {
				const {address, spec, state} = cell;
				const recordings: Recording[] = [];
				for (const {recorder} of traces) {
					// Each is asked what the one after it is asked.
					const outer = recordings.at(-1)?.context ?? context;
					if (recorder !== undefined)
						recordings.push(recorder.begin({address, behavior: spec.behavior, from: trigger.from, state, call}, outer));
				}
				return recordings;
			},
			told: (outcome, ran, error) => {
				if (span !== undefined) this.#tell(traces, this.#entry(cell, trigger, span, parent, outcome, ran, error), ran.recordings);
			},
			real: () => {
				for (const watch of watches ?? []) this.#tellState(watch, cell, trigger);
			},
			atMs: clock.nowMs(),
			waitedMs: trigger.arrivedAtMs === undefined ? 0 : clock.monotonicMs() - trigger.arrivedAtMs,
			guarded: run => this.#guarded(run, undefined),
		});
	}

	#tracesOfCell(cell: Cell, parent: Span | undefined): readonly Trace[] {
		return cell.path === this.#ownPath ? [] : this.#tracesOf(({filter}) => filter.hasCell(cell), parent);
	}

	/** The traces that tell of a step, because they ask for it or because it follows from one that they told of. */
	#tracesOf(asksFor: (trace: Trace) => boolean, parent: Span | undefined): readonly Trace[] {
		const nowMs = this.#kernel.options.clock.monotonicMs();
		const traces: Trace[] = [];
		for (const trace of this.#traces) {
			const follows = parent !== undefined && parent.hops < limits.traceHops && parent.traces.includes(trace.name);
			if (!follows && !asksFor(trace)) continue;
			if (trace.rate.takes(trace.recorder === undefined ? 1 : limits.traceStepsOfRecord, nowMs)) traces.push(trace);
			else trace.stream.drop();
		}
		return traces;
	}

	#spanOf(cell: Cell, traces: readonly Trace[], parent: Span | undefined): Span {
		const hops = traces.some(({filter}) => filter.hasCell(cell)) ? 0 : (parent?.hops ?? 0) + 1;
		return {id: this.#nextId(), traces: traces.map(({name}) => name), hops};
	}

	#nextId(): string {
		return `${this.#kernel.options.name}:${++this.#spans}`;
	}

	// ---- what is told ----------------------------------------------------------------------------------------------------------

	#entry(
		cell: Cell,
		{message, from, cause}: StepTrigger,
		span: Span,
		parent: Span | undefined,
		outcome: TraceEntry['outcome'],
		{atMs, waitedMs, tookMs, next}: Ran,
		error: Failure | undefined,
	): TraceEntry {
		return {
			type: 'step',
			span: span.id,
			parent: parentOf(span, parent),
			atMs,
			address: cell.address,
			behavior: cell.spec.behavior,
			from: cut(from),
			message: shownMessage(message, this.#isSecret),
			cause: cut(cause),
			waitedMs: rounded(waitedMs),
			tookMs: rounded(tookMs),
			outcome,
			...(error === undefined ? {} : {error: cut(error.message)}),
			effects: next === undefined ? [] : effectLines(next),
		};
	}

	/** As a step that took no time and asked for nothing. */
	#tellHappening(cell: Cell, what: string, error: Failure | undefined): Span | undefined {
		const parent = this.#kernel.span;
		const traces = this.#tracesOfCell(cell, parent);
		if (traces.length === 0) return undefined;
		const span = this.#spanOf(cell, traces, parent);
		const trigger = {message: {type: what}, from: cell.address, cause: what};
		const ran: Ran = {atMs: this.#kernel.options.clock.nowMs(), waitedMs: 0, tookMs: 0, next: undefined, recordings: []};
		this.#tell(traces, this.#entry(cell, trigger, span, parent, error === undefined ? 'done' : 'crashed', ran, error), []);
		return span;
	}

	#tellLetter(to: Address, {message, from, cause, span: parent}: Envelope, {message: error}: Failure): void {
		const path = parseAddress(to)?.path ?? '';
		const traces = this.#tracesOf(({filter}) => filter.hasPath(path), parent ?? this.#kernel.span);
		if (traces.length === 0) return;
		const span = {id: this.#nextId(), traces: traces.map(({name}) => name), hops: 0};
		const entry: TraceEntry = {
			type: 'step',
			span: span.id,
			parent: parentOf(span, parent ?? this.#kernel.span),
			atMs: this.#kernel.options.clock.nowMs(),
			address: cut(to),
			behavior: '',
			from: cut(from),
			message: shownMessage(message, this.#isSecret),
			cause: cut(cause),
			waitedMs: 0,
			tookMs: 0,
			outcome: 'deadLetter',
			error: cut(error),
			effects: [],
		};
		this.#tell(traces, entry, []);
	}

	#tell(traces: readonly Trace[], entry: TraceEntry, records: readonly Json[]): void {
		let at = 0;
		for (const {stream, recorder} of traces) {
			const recorded = recorder === undefined ? undefined : records[at++];
			const told: StreamEntry = recorded === undefined ? entry : {...entry, recorded};
			stream.push(() => told, Buffer.byteLength(JSON.stringify(told)));
		}
	}

	/** States are values: one that waits to be read is not another one by then. */
	#tellState(watch: Watch, cell: Cell, {message, from, cause}: StepTrigger): void {
		const part = partOf(cell.state, watch.at, this.#isSecret);
		const state = part.ok ? part.value : undefined;
		if (Object.is(state, watch.last)) return;
		watch.last = state;
		const entry: Omit<WatchEntry, 'state'> = {
			type: 'state',
			atMs: this.#kernel.options.clock.nowMs(),
			message: cut(message.type),
			from: cut(from),
			cause: cut(cause),
		};
		watch.stream.push(() => ({...entry, state: shownOf(state, {isSecret: this.#isSecret})}));
	}
}

/** Only where one of the same traces told of it. */
const parentOf = ({traces}: Pick<Span, 'traces'>, parent: Span | undefined): string | undefined =>
	parent?.traces.some(name => traces.includes(name)) === true ? parent.id : undefined;

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;
