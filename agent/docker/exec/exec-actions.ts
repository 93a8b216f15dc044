// Programs of probes and hooks, which run for a bounded time beside that of the container.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ActionResult} from '../../../actors/node/runtime/runtime-port.js';
import {ended, outputTail, tookLonger} from '../../action-words.js';
import type {Done} from '../../handlers.js';
import {systemFailure} from '../../os/explained.js';
import {startProgram, type Beside, type StartedProgram, type Wanted} from './exec-program.js';

export type ActionProgram = Pick<Wanted, 'engineId' | 'argv' | 'env'> & {readonly timeoutMs: number};

/**
 * Answers once, at the latest `execLookMs` after the program's time. That it took too long is a result only where the Engine says that it runs: one
 * that does not answer is no reason to take the container for ill. Returns what ends it with this outcome.
 */
export function runActionProgram(
	beside: Beside,
	{engineId, argv, env, timeoutMs}: ActionProgram,
	done: Done<ActionResult>,
): (outcome: Outcome<ActionResult>) => void {
	const stopping = new AbortController();
	let tail: Buffer = Buffer.alloc(0);
	let program: StartedProgram | undefined;
	let isOver = false;

	function finish(outcome: Outcome<ActionResult>): void {
		if (isOver) return;
		isOver = true;
		cancel();
		stopping.abort();
		program?.kill();
		program?.drop();
		done(outcome);
	}

	async function judge(): Promise<Outcome<ActionResult>> {
		if (program === undefined) {
			return failed('ERR_RUNTIME', {message: `Docker's Engine has not begun the program of a probe or hook within ${timeoutMs} ms`});
		}
		try {
			await program.isRunning(limits.execLookMs);
			return succeeded(tookLonger(argv, timeoutMs, tail));
		} catch (error) {
			return systemFailure(error);
		}
	}

	const cancel = beside.clock.after(timeoutMs, () => void judge().then(finish));
	const listener = {
		onOutput: (_stream: unknown, data: Buffer) => void (tail = outputTail(tail, data)),
		onEnd: (code: number) => finish(succeeded(ended(code, tail))),
	};
	startProgram(beside, {engineId, argv, env, stdin: false, terminal: undefined}, stopping.signal).then(
		started => {
			program = started;
			started.listen(listener);
			if (!isOver) return;
			started.kill();
			started.drop();
		},
		(error: unknown) => finish(systemFailure(error)),
	);
	return finish;
}
