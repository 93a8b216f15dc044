// Lines that are drawn again in place.

import {AppError, rowOf} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {pause} from './pause.js';
import type {Region} from './region.js';
import type {Terminal} from './terminal.js';
import type {WidthOf} from './text-width.js';

/**
 * Draws again and again until the signal fires: in place on a screen, else one after the other. A failure in between, such as a server that
 * restarts, is shown and tried again; the first is thrown.
 */
export async function repeated(
	{
		terminal,
		signal,
		everyMs = limits.inspectEachMs,
	}: {readonly terminal: Terminal; readonly signal: AbortSignal; readonly everyMs?: number},
	draw: (screen: Region | undefined) => Promise<{readonly lines: readonly string[]; readonly widthOf?: WidthOf}>,
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
				problem = passing(error);
				if (last === undefined || problem === undefined) throw error;
			}
			if (signal.aborted && last === undefined) break;
			const lines = [...(problem === undefined ? [] : [terminal.colours.yellow(`… ${problem}; trying again`)]), ...(last?.lines ?? [])];
			if (screen === undefined) terminal.out(lines.map(line => `${line}\n`).join(''));
			else screen.draw(withinRows(lines, screen.rows()), last?.widthOf);
			// What took long already is asked for again soon.
			await pause(Math.max(limits.liveFrameMs, everyMs - (systemClock.monotonicMs() - beganMs)), signal);
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

/** What asking again can mend. */
const passing = (error: unknown): string | undefined =>
	error instanceof AppError && (rowOf(error.code).retryable || error.code === 'ERR_NOT_REACHABLE') ? error.message : undefined;
