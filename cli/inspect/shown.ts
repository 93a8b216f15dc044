// What verbs share about showing: the form that was asked for, the width of the screen, lines that are drawn again in place.

import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {asText} from '../objects/output.js';
import type {Region} from '../screen/region.js';
import {widthFor, type WidthOf} from '../screen/text-width.js';
import type {LookView} from './look-table.js';
import type {Format, VerbCall} from './verb.js';

export const formatOf = ({flags, shell}: VerbCall): Format | undefined => (flags.text('output') as Format | undefined) ?? shell.format;

/** Columns of the terminal; undefined in a pipe, where lines are as long as they are. */
export const columnsOf = ({terminal}: Pick<VerbCall['shell'], 'terminal'>): number | undefined => terminal.screen?.columns();

/** How it looks where these texts are shown. */
export async function viewOf({shell}: VerbCall, texts: Iterable<string> = []): Promise<LookView & {readonly widthOf: WidthOf}> {
	return {columns: columnsOf(shell), widthOf: await widthFor(texts), colours: shell.terminal.colours, nowMs: systemClock.nowMs()};
}

/** The value whole where a form was asked for, else the text that is drawn of it. */
export async function show(call: VerbCall, value: unknown, draw: () => Promise<string> | string): Promise<void> {
	const format = formatOf(call);
	await call.shell.page(format === undefined ? await draw() : await asText(value, format));
}

/** One of a stream: a line in JSON, a document in YAML. */
export async function showEntry(call: VerbCall, format: Format, value: unknown): Promise<void> {
	call.shell.terminal.out(format === 'json' ? `${JSON.stringify(value)}\n` : `---\n${await asText(value, 'yaml')}`);
}

/** Resolves after so long, or when the signal fires. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
	new Promise(resolve => {
		if (signal.aborted) return resolve();
		const done = (): void => {
			cancel();
			signal.removeEventListener('abort', done);
			resolve();
		};
		const cancel = systemClock.after(ms, done);
		signal.addEventListener('abort', done);
	});

/**
 * Draws again and again until the signal fires: in place on a screen, else one after the other. A failure in between, such as a server that
 * restarts, is shown and tried again; the first is thrown.
 */
export async function repeated(
	{shell: {terminal}, signal}: VerbCall,
	draw: (screen: Region | undefined) => Promise<{readonly lines: readonly string[]; readonly widthOf?: WidthOf}>,
	isPassing: (error: unknown) => string | undefined,
): Promise<void> {
	const {screen} = terminal;
	let last: Awaited<ReturnType<typeof draw>> | undefined;
	try {
		while (!signal.aborted) {
			const beganMs = systemClock.monotonicMs();
			let problem: string | undefined;
			try {
				last = await draw(screen);
			} catch (error) {
				problem = isPassing(error);
				if (last === undefined || problem === undefined) throw error;
			}
			if (signal.aborted && last === undefined) break;
			const lines = [...(problem === undefined ? [] : [terminal.colours.yellow(`… ${problem}; trying again`)]), ...(last?.lines ?? [])];
			if (screen === undefined) terminal.out(lines.map(line => `${line}\n`).join(''));
			else screen.draw(withinRows(lines, screen.rows()), last?.widthOf);
			// What took long already is asked for again soon.
			await pause(Math.max(limits.liveFrameMs, limits.inspectEachMs - (systemClock.monotonicMs() - beganMs)), signal);
		}
	} finally {
		screen?.keep();
	}
}

/** As many lines as the window has room for; the rest is counted. */
function withinRows(lines: readonly string[], rows: number): readonly string[] {
	const room = Math.max(1, rows - 1);
	return lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`];
}
