// The size of the terminal that a program of exec has got, which its user may change while it runs.

import {spawn} from 'node:child_process';
import {succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Done} from '../../handlers.js';
import {systemFailure} from '../../os/explained.js';
import {statOf} from '../../os/identity.js';
import {childrenNow} from '../../os/process-tree.js';
import {sizeOf, type TerminalSize} from '../../terminal-size.js';

/** What stands between the leader of a group of ours and its terminal: nsenter and script. */
const aboveTerminal = 3;

/** Who leads the terminal that a program below this leader of a group has made: the first on the way down that is in another group. */
export function terminalBelow(leader: number): number | undefined {
	let below = firstChild(leader);
	for (let depth = 1; depth < aboveTerminal && below !== undefined && statOf(below)?.group === leader; depth++) below = firstChild(below);
	return below;
}

const firstChild = (pid: number): number | undefined => childrenNow(pid)[0];

/** What stty(1) is spawned with. */
export type Resize = {readonly clock: Clock; readonly path: string};

/**
 * Sets the size of the terminal below a leader of a group, once there is one; stty(1) can do that to any terminal, and the kernel tells the
 * programs in it. A terminal that does not come in time, or is over, is no failure.
 */
export function resizeTerminal(
	{clock, path}: Resize,
	leader: number | undefined,
	wanted: TerminalSize,
	done: Done<null>,
	leftMs: number = limits.beginMs,
): void {
	const child = leader === undefined ? undefined : terminalBelow(leader);
	if (child === undefined) {
		// Not there yet, or over.
		if (leftMs <= 0) return done(succeeded(null));
		clock.after(limits.beginLookMs, () => resizeTerminal({clock, path}, leader, wanted, done, leftMs - limits.beginLookMs));
		return;
	}
	const {rows, columns} = sizeOf(wanted);
	let answer: Done<null> | undefined = done;
	const finish: Done<null> = outcome => {
		cancel();
		answer?.(outcome);
		answer = undefined;
	};
	const words = ['-F', `/proc/${child}/fd/0`, 'rows', String(rows), 'cols', String(columns)];
	const stty = spawn('stty', words, {stdio: 'ignore', cwd: '/', env: {PATH: path}})
		.once('error', error => finish(systemFailure(error)))
		.once('exit', () => finish(succeeded(null)));
	// The program may have put something in the place of its terminal that never answers.
	const cancel = clock.after(limits.beginMs, () => {
		stty.kill('SIGKILL');
		finish(succeeded(null));
	});
}
