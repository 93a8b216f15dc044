// `watch` and `trace`: what goes on, as it happens, until the time or the count is over, or Ctrl-C.

import {appendFileSync, writeFileSync} from 'node:fs';
import {counted} from '../../../api/counted.js';
import {AppError} from '../../../api/errors.js';
import type {Shown, StreamEnd, StreamEntry, StreamRequest, TraceEntry, WatchEntry} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {suggest} from '../../../api/suggest.js';
import {systemClock, type Cancel} from '../../../system/time/clock.js';
import {failedError, usageError} from '../../command.js';
import {reasonOf} from '../../files/bounded-file.js';
import {durationOf} from '../durations.js';
import type {LookView} from '../look-table.js';
import {childOf, placeShown, root, type Place} from '../places.js';
import {handOf, resolve, resolveActor, systemNames} from '../resolve.js';
import {columnsOf, formatOf, showEntry, viewOf} from '../printing.js';
import {drawState} from '../state-view.js';
import {flattened} from '../tree-view.js';
import {createTraceOrder, type PlacedStep} from '../trace-order.js';
import {drawChange, drawStep} from '../trace-view.js';
import type {Shell, VerbCall, VerbRun} from '../verb.js';
import {placeAndPart} from './look.js';

type Bounds = {readonly forMs?: number; readonly count?: number};

function boundsOf({flags}: VerbCall): Bounds {
	const forMs = durationOf(flags.text('for'), '--for');
	const count = flags.number('count');
	if (count !== undefined && (!Number.isInteger(count) || count < 1))
		throw usageError(`--count must be a whole number from 1 on, got ${count}`);
	return {...(forMs === undefined ? {} : {forMs}), ...(count === undefined ? {} : {count})};
}

/** What is told on stderr, so that a script reads entries alone. */
const note = ({terminal}: Shell, text: string): void => terminal.note(terminal.colours.dim(text));

export const watch: VerbRun = async call => {
	const {shell} = call;
	const {word, at} = placeAndPart(call);
	const place = await resolveActor(word, shell);
	const view = await viewOf(call, ['│→']);
	let before: Shown | undefined;
	let beginMs: number | undefined;
	note(shell, `watching ${placeShown(place)}; Ctrl-C ends it`);
	const tell = (entry: WatchEntry): void => {
		beginMs ??= entry.atMs;
		const lines = drawChange(entry, before, limits.inspectDifferences, {...view, columns: columnsOf(shell), beginMs});
		const text = before === undefined ? drawState(entry.state, {...view, depth: firstDepth}) : lines.map(line => `${line}\n`).join('');
		before = entry.state;
		shell.terminal.out(text);
	};
	await followed(call, {verb: 'watch', place, ...(at.length === 0 ? {} : {at}), ...boundsOf(call)}, entries => {
		for (const entry of entries) if (entry.type === 'state') tell(entry);
	});
};

/** Of the state as it is when the watch begins. */
const firstDepth = 2;

export const trace: VerbRun = async call => {
	const {shell, inputs, flags} = call;
	const behaviors = flags.texts('kind');
	const places = await tracedPlaces(inputs, behaviors, shell);
	const printer = new TracePrinter(shell, await viewOf(call, ['│']));
	const recording = recordingOf(call);
	const filter = {places, ...(behaviors.length === 0 ? {} : {behaviors})};
	const request = {verb: 'trace', filter, ...boundsOf(call), ...(recording === undefined ? {} : {record: true})} as const;
	let isEmpty = true;
	const seen = (entry: StreamEntry): void => {
		isEmpty &&= entry.type !== 'step';
		recording?.add(entry);
	};
	note(shell, `tracing ${[...places.map(placeShown), ...behaviors].join(', ')}; Ctrl-C ends it`);
	try {
		await followed(call, request, entries => printer.take(entries), seen);
		if (!isEmpty) return;
		note(shell, `nothing matched: no ${whatOf(places, behaviors)} took a message meanwhile`);
		note(shell, await widening(places, behaviors, shell));
	} finally {
		recording?.end();
		printer.end();
	}
};

/** Prints steps, causes before what they led to. What waits for its cause is printed without it when it has waited long enough. */
class TracePrinter {
	readonly #shell: Shell;
	readonly #view: LookView;
	readonly #order = createTraceOrder(limits.inspectTracePatienceMs);
	/** When the first step was. */
	#beginMs: number | undefined;
	/** Where the step on the line before happened. */
	#above: string | undefined;
	#cancel = (): void => undefined;

	constructor(shell: Shell, view: LookView) {
		this.#shell = shell;
		this.#view = view;
	}

	take(entries: readonly StreamEntry[]): void {
		this.#takeSteps(entries.filter(entry => entry.type === 'step'));
		for (const entry of entries) if (entry.type === 'system') note(this.#shell, `${entry.system}: ${entry.problem}`);
	}

	/** Prints what still waits. */
	end(): void {
		this.#cancel();
		this.#print(this.#order.rest());
	}

	#takeSteps(steps: readonly TraceEntry[]): void {
		this.#print(this.#order.take(steps, systemClock.monotonicMs()));
		this.#cancel();
		const dueMs = this.#order.dueMs();
		if (dueMs === undefined) return;
		this.#cancel = systemClock.after(Math.max(0, dueMs - systemClock.monotonicMs()), () => this.#takeSteps([]));
	}

	#print(placed: readonly PlacedStep[]): void {
		const {terminal} = this.#shell;
		for (const one of placed) {
			this.#beginMs ??= one.step.atMs;
			const lines = drawStep(one, this.#above, {...this.#view, columns: columnsOf(this.#shell), beginMs: this.#beginMs});
			this.#above = one.step.address;
			terminal.out(lines.map(line => `${line}\n`).join(''));
		}
	}
}

const whatOf = (places: readonly Place[], behaviors: readonly string[]): string =>
	[
		behaviors.length === 0 ? 'actor' : `actor of kind ${behaviors.join(' or ')}`,
		places.length === 0 ? '' : `at or below ${places.map(placeShown).join(', ')}`,
	]
		.filter(part => part !== '')
		.join(' ');

/** How a trace that saw nothing could see more: kinds are matched as actors have them, not as objects are called. */
async function widening(places: readonly Place[], behaviors: readonly string[], {session}: Shell): Promise<string> {
	if (behaviors.length === 0) return '--for makes it longer, the place above or a * wider; top shows who is busy';
	const trees = await session.askAll({verb: 'tree', place: root, depth: 3}).catch(() => []);
	const kinds = [...new Set(trees.flatMap(one => ('value' in one ? flattened(one.value).map(({behavior}) => behavior) : [])))];
	const near = behaviors.filter(name => !kinds.includes(name)).flatMap(name => suggest(name, kinds) ?? []);
	if (near.length > 0) return `did you mean --kind ${near.join(', ')}?`;
	return `--for makes it longer${places.length === 0 ? '' : ', the place above or a * wider'}; kinds are as top shows them`;
}

type TraceFile = {readonly add: (entry: StreamEntry) => void; readonly end: () => void};

/** `--record`: the entries go to a file, a line each, for `replay`. Others may not read it: states are in it. */
function recordingOf({flags, shell}: VerbCall): TraceFile | undefined {
	const file = flags.text('record');
	if (file === undefined) return undefined;
	let count = 0;
	const write = (how: () => void): void => {
		try {
			how();
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw failedError(`${file} is there already: name a file that is not`);
			throw failedError(`${file} cannot be written: ${reasonOf(error)}`);
		}
	};
	write(() => writeFileSync(file, '', {mode: 0o600, flag: 'wx'}));
	return {
		add(entry) {
			if (entry.type !== 'step') return;
			if (entry.recorded !== undefined) count++;
			write(() => appendFileSync(file, `${JSON.stringify(entry)}\n`));
		},
		end() {
			if (count === 0) return note(shell, `no step that could be played again is in ${file}`);
			shell.memory.recorded = file;
			note(shell, `${counted(count, 'step')} to play again in ${file}: replay ${file}`);
		},
	};
}

/** Places as the filter takes them: patterns as they are, and of a pod its hand, too. */
async function tracedPlaces(words: readonly string[], behaviors: readonly string[], shell: Shell): Promise<readonly Place[]> {
	const given = words.length === 0 ? [undefined] : words;
	const found = await Promise.all(
		given.map(async word => {
			if (word?.includes('*') === true) return [patternOf(word, await systemNames(shell), shell.memory.here)];
			const {place, hand} = await resolve(word, shell);
			if (place === root && words.length === 0 && behaviors.length > 0) return [];
			if (place === root) throw usageError('trace takes a place, or --kind, as in: trace pod/web-1; everything at once is too much');
			const other = hand === undefined ? undefined : await handOf(hand, shell);
			return other === undefined ? [place] : [place, other];
		}),
	);
	return found.flat();
}

/** A pattern is relative to where one stands, but where it begins with a slash or with the name of a system. */
function patternOf(word: string, systems: readonly string[], here: Place): Place {
	if (word.startsWith('/')) return word.slice(1);
	const [first = ''] = word.split('/');
	return systems.includes(first) ? word : childOf(here, word);
}

/**
 * Hands on the entries of each portion, or writes them in the form that was asked for; `seen` is told of each in any case. Says what was left
 * out, and why it ended. When the connection was lost and is there again, it begins anew, for what is left of its time and its number; where its
 * time is over before, it throws ERR_NOT_REACHABLE.
 */
async function followed(
	call: VerbCall,
	request: StreamRequest,
	take: (entries: readonly StreamEntry[]) => void,
	seen?: (entry: StreamEntry) => void,
): Promise<void> {
	const {shell, signal} = call;
	const format = formatOf(call);
	const untilMs = systemClock.monotonicMs() + (request.forMs ?? limits.inspectUsualMs);
	let count = request.count ?? limits.inspectUsualEntries;
	let asked = request;
	for (;;) {
		const patience = patienceUntil(untilMs);
		try {
			for await (const {entries, dropped, ended} of shell.session.stream(asked, AbortSignal.any([signal, patience.signal]))) {
				patience.hear();
				if (seen !== undefined) for (const entry of entries) seen(entry);
				if (format === undefined) take(entries);
				else for (const entry of entries) await showEntry(call, format, entry);
				if (dropped > 0) note(shell, `… ${dropped} left out: too much happened at once`);
				if (ended !== undefined && !signal.aborted) note(shell, endText[ended]);
				count -= entries.filter(({type}) => type !== 'system').length;
			}
			if (signal.aborted || !patience.signal.aborted) return;
			if (patience.wasHeard()) return note(shell, endText.time);
			throw new AppError('ERR_NOT_REACHABLE', {message: `its time is over, and ${shell.session.about} did not answer any more`});
		} catch (error) {
			if (signal.aborted) return;
			const forMs = Math.ceil(untilMs - systemClock.monotonicMs());
			if (!(error instanceof AppError) || error.code !== 'ERR_NOT_REACHABLE' || forMs <= 0) throw error;
			note(shell, `${error.message}; it begins anew`);
			asked = {...request, forMs, count: Math.max(1, count)};
		} finally {
			patience.end();
		}
	}
}

type Patience = {readonly signal: AbortSignal; readonly hear: () => void; readonly wasHeard: () => boolean; readonly end: () => void};

/** Fires at that time (on the clock) where nothing was heard until then, else when the end should have been heard. */
function patienceUntil(untilMs: number): Patience {
	const over = new AbortController();
	const overAt = (atMs: number): Cancel => systemClock.after(Math.max(0, atMs - systemClock.monotonicMs()), () => over.abort());
	let cancel = overAt(untilMs);
	let wasHeard = false;
	return {
		signal: over.signal,
		hear() {
			if (wasHeard) return;
			wasHeard = true;
			cancel();
			cancel = overAt(untilMs + limits.inspectSystemMs);
		},
		wasHeard: () => wasHeard,
		end: () => cancel(),
	};
}

const endText: {readonly [End in StreamEnd]: string} = {
	time: 'ended: its time is over',
	count: 'ended: so many were told',
	closed: 'ended',
	unread: 'ended: it was not read for too long',
	gone: 'ended: the actor, or its system, is gone',
};
