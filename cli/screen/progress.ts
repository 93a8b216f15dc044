// How far long work is, on stderr, for a person who looks: one line or a few that change in place, with a spinner and the time it took.
//
// Nothing is shown where stderr is no terminal, nor of work that is done at once. What else is written stands above it, whole.

import {limits} from '../../api/limits.js';
import {systemClock, type Clock} from '../../system/time/clock.js';
import type {Terminal} from './terminal.js';

export type Progress = {
	/** How far it is now: `deleting 100 pods: 37 left`, and what else is worth a line. */
	readonly show: (text: string, ...more: readonly string[]) => void;
	/** Takes it away. A second time does nothing. */
	readonly end: () => void;
};

const asciiFrames = ['|', '/', '-', '\\'];
const unicodeFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const unseen: Progress = {show: () => undefined, end: () => undefined};

/** Begins to show that work goes on, as soon as it took a moment. The caller ends it, or uses `withProgress`. */
export function startProgress({footer}: Pick<Terminal, 'footer'>, text: string, clock: Clock = systemClock): Progress {
	if (footer === undefined) return unseen;
	const frames = footer.unicode ? unicodeFrames : asciiFrames;
	const fromMs = clock.monotonicMs();
	let lines: readonly string[] = [text];
	let at = 0;
	let cancel = clock.after(limits.progressAfterMs, turn);
	process.once('exit', end); // By Ctrl-C, say: the prompt of the shell shall find an empty line.

	function turn(): void {
		at++;
		draw();
		cancel = clock.after(limits.progressFrameMs, turn);
	}
	function draw(): void {
		const [first = '', ...more] = lines;
		footer?.draw([`${frames[at % frames.length] ?? ''} ${first}${elapsedText(clock.monotonicMs() - fromMs)}`, ...more]);
	}
	function end(): void {
		cancel();
		process.off('exit', end);
		footer?.clear();
	}
	return {
		show(first, ...more) {
			lines = [first, ...more];
		},
		end,
	};
}

/** Shows progress while the work goes on, and ends it however the work ends. */
export async function withProgress<Value>(
	terminal: Pick<Terminal, 'footer'>,
	text: string,
	work: (progress: Progress) => Promise<Value>,
): Promise<Value> {
	const progress = startProgress(terminal, text);
	try {
		return await work(progress);
	} finally {
		progress.end();
	}
}

/** ` (12 s)`; nothing in the first second. */
const elapsedText = (ms: number): string => (ms < 1_000 ? '' : ` (${Math.floor(ms / 1_000)} s)`);
