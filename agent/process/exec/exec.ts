// Programs beside those of containers: for people who open a session, and for probes and hooks.

import {failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ExecRequest} from '../../../actors/node/runtime/runtime-port.js';
import {systemRandom} from '../../../system/time/random.js';
import {sessionHandlers, type Sessions} from '../../exec-sessions.js';
import type {Done, Handlers} from '../../handlers.js';
import {explained, systemFailure} from '../../os/explained.js';
import {createExecActions} from './exec-actions.js';
import {launch, whenBegun, type ExecOptions, type Joining, type Target} from './join.js';
import {createKilled} from './killed.js';
import {resizeTerminal} from './terminal-size.js';
import {sizeOf} from '../../terminal-size.js';

export type Exec = {
	readonly handlers: Pick<Handlers, 'container.act' | 'exec.open'> & ReturnType<typeof sessionHandlers>;
	/** Ends all there is. */
	readonly end: () => void;
};

/** All sessions end with this. */
export function createExec(options: ExecOptions, sessions: Sessions): Exec {
	const joining: Joining = {...options, killed: createKilled()};
	const actions = createExecActions(joining);
	return {
		handlers: {
			'container.act': ({id, action, timeoutMs}, done) => actions.act(id, action, Math.max(0, timeoutMs), done),
			'exec.open': ({request}, done) => open(joining, sessions, request, done),
			...sessionHandlers(sessions),
		},
		end() {
			sessions.closeAll();
			actions.end();
		},
	};
}

function open(joining: Joining, sessions: Sessions, request: ExecRequest, done: Done<{readonly session: string}>): void {
	const {id, argv, tty} = request;
	if (argv.length === 0 || argv.some(word => word.includes('\0'))) {
		return done(failed('ERR_BAD_REQUEST', {message: 'command must name a program, and must not hold NUL characters'}));
	}
	if (tty && joining.host.terminal === undefined) {
		return done(failed('ERR_RUNTIME', {message: 'this node has no script(1) of util-linux that works, so it gives no terminals (tty)'}));
	}
	if (sessions.count() >= limits.execSessions) return done(failed('ERR_BUSY', {address: 'exec', waiting: sessions.count()}));
	whenBegun(joining, id, found => {
		if (!found.ok) return done(found);
		const refusal = joining.killed.refusal(found.value.container);
		if (refusal !== undefined) return done(failed('ERR_RUNTIME', {message: refusal}));
		try {
			done(succeeded({session: begin(joining, sessions, request, found.value)}));
		} catch (error) {
			done(systemFailure(error));
		}
	});
}

/** Starts the program of a session. Throws as `launch` does. */
function begin(joining: Joining, sessions: Sessions, {argv, tty, stdin, rows, columns}: ExecRequest, target: Target): string {
	const {containers, host, clock} = joining;
	const id = systemRandom.uuid();
	const terminal = tty && host.terminal !== undefined ? {...sizeOf({rows, columns}), script: host.terminal.script} : undefined;
	const wanted = {argv, stdin: stdin || tty, terminal};
	const {child, pipes, program} = launch(joining, target, wanted, {
		onOutput: (stream, data) => feed.output(stream, data),
		onEnd(exitCode) {
			forget();
			feed.end(exitCode);
		},
		onError(error) {
			forget();
			feed.output('stderr', Buffer.from(`exec: ${explained(error)}\n`));
			feed.end(126);
		},
	});
	// What a container leaves behind when it ends is killed with it; its sessions end when they are read to their end.
	const forget = containers.whenEnded(target.container, () => program.kill());
	const feed = sessions.add({
		id,
		program,
		stdin: stdin ? pipes.stdin : undefined,
		resize:
			terminal === undefined
				? undefined
				: (r, c, answer) => resizeTerminal({clock, path: host.path}, child.pid, {rows: r, columns: c}, answer),
		onGone: forget,
	});
	return id;
}
