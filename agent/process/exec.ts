// Programs beside those of containers: for people who open a session, and for probes and hooks.

import {spawn} from 'node:child_process';
import {statSync} from 'node:fs';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ActionResult, ContainerAction, ContainerId, ExecRequest} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import {runNetworkAction} from '../actions.js';
import type {Handlers} from '../handlers.js';
import {notRunning} from '../refusals.js';
import {logFile} from './attempts.js';
import {spawnBeside, type Beside, type Spawned, type TerminalSize} from './beside.js';
import type {ContainerGroups} from './container-groups.js';
import type {Container, Containers} from './containers.js';
import {endsWithContainer, enteringOf} from './entering.js';
import {createSessions} from './exec-sessions.js';
import {followProgram, type ExecProgram} from './exec-program.js';
import {explained} from './explained.js';
import {createKilled} from './killed.js';
import type {Host} from './plan.js';
import type {Drop} from './privileges.js';
import type {Stock} from './stock.js';
import {surroundingsOf, terminalBelow, type Surroundings} from './surroundings.js';

type Done<Value> = (outcome: Outcome<Value>) => void;

export type Exec = Pick<Handlers, 'container.act' | 'exec.open' | 'exec.write' | 'exec.read' | 'exec.resize' | 'exec.close'> & {
	/** Ends all there is. */
	readonly end: () => void;
};

export type ExecOptions = {
	readonly containers: Containers;
	readonly groups: ContainerGroups;
	readonly stock: Stock;
	readonly host: Host;
	readonly clock: Clock;
};

/** A program that has begun, with what joins it. */
type Target = {readonly container: Container; readonly surroundings: Surroundings; readonly doors: readonly string[]};

export function createExec({containers, groups, stock, host, clock}: ExecOptions): Exec {
	const sessions = createSessions(clock);
	const underWay = {network: 0, programs: 0};
	/** Programs of probes and hooks. */
	const acting = new Set<() => void>();
	const killed = createKilled();

	/** Once the program of a container has begun: what was only just spawned is another program's process still. */
	function whenBegun(id: ContainerId, leftMs: number, done: Done<Target>): Cancel {
		const container = containers.find(id);
		const {live} = container;
		if (live?.started === undefined) {
			done(notRunning(id));
			return () => undefined;
		}
		const {started} = live;
		const surroundings = surroundingsOf(started.process.pid, started.beginning ?? dropOfLog(logFile(container.folder, live.attempt)));
		if (surroundings === undefined || leftMs <= 0) {
			done(notRunning(id));
			return () => undefined;
		}
		if (surroundings === 'beginning') {
			let cancel = clock.after(limits.beginLookMs, () => (cancel = whenBegun(id, leftMs - limits.beginLookMs, done)));
			return () => cancel();
		}
		done(succeeded({container, surroundings, doors: groups.doorsOfRunning(id, live.attempt)}));
		return () => undefined;
	}

	function act(id: ContainerId, action: ContainerAction, timeoutMs: number, done: Done<ActionResult>): void {
		if (containers.find(id).live?.started === undefined) return done(notRunning(id));
		if (action.type === 'exec') return runProgram(id, action.argv, timeoutMs, done);
		if (underWay.network >= limits.networkActions)
			return done(failed('ERR_BUSY', {address: 'probes and hooks', waiting: underWay.network}));
		underWay.network++;
		runNetworkAction(action, timeoutMs, clock, result => {
			underWay.network--;
			done(succeeded(result));
		});
	}

	function runProgram(id: ContainerId, argv: readonly string[], timeoutMs: number, done: Done<ActionResult>): void {
		if (underWay.programs >= limits.execActions) return done(failed('ERR_BUSY', {address: 'probes and hooks', waiting: underWay.programs}));
		underWay.programs++;
		let tail = Buffer.alloc(0);
		let program: ExecProgram | undefined;
		let isOver = false;
		const finish = (outcome: Outcome<ActionResult>): void => {
			if (isOver) return;
			isOver = true;
			underWay.programs--;
			acting.delete(stop);
			cancel();
			stopWaiting();
			forget();
			program?.kill();
			program?.drop();
			done(outcome);
		};
		const stop = (): void => finish(notRunning(id));
		acting.add(stop);
		let forget: Cancel = () => undefined;
		let stopWaiting: Cancel = () => undefined;
		const cancel = clock.after(timeoutMs, () =>
			finish(succeeded({ok: false, message: withTail(`command ${quoted(argv)} took longer than ${timeoutMs} ms`, tail)})),
		);
		stopWaiting = whenBegun(id, limits.beginMs, found => {
			if (isOver) return;
			if (!found.ok) return finish(found);
			const refusal = killed.refusal(found.value.container);
			if (refusal !== undefined) return finish(succeeded({ok: false, message: refusal}));
			forget = containers.whenEnded(found.value.container, stop);
			try {
				program = launch(
					found.value,
					{argv, stdin: false, terminal: undefined},
					{
						onOutput(_stream, data) {
							tail = Buffer.concat([tail, data]).subarray(-limits.actionOutputBytes);
						},
						onEnd: code => finish(succeeded({ok: code === 0, message: code === 0 ? textOf(tail) : withTail(`exit ${code}`, tail)})),
						onError: error => finish(failed('ERR_RUNTIME', {message: explained(error)})),
					},
				).program;
			} catch (error) {
				finish(failed('ERR_RUNTIME', {message: explained(error)}));
			}
		});
		if (isOver) stopWaiting();
	}

	function launch(
		{container, surroundings, doors}: Target,
		wanted: Pick<Beside, 'argv' | 'stdin' | 'terminal'>,
		listener: Parameters<typeof followProgram>[3],
	): Spawned & {readonly program: ExecProgram} {
		const isAlone = doors.length === 0 && !endsWithContainer(surroundings.pid);
		const entering = enteringOf(host, surroundings.pid, surroundings.drop);
		const {child, pipes} = spawnBeside({...wanted, doors, entering}, surroundings, host, stock);
		const onKill = (leader: number): void => killed.note(container, leader);
		return {child, pipes, program: followProgram({child, pipes}, clock, isAlone, {...listener, onKill})};
	}

	function open(request: ExecRequest, done: Done<{readonly session: string}>): void {
		const {id, argv, tty} = request;
		if (argv.length === 0 || argv.some(word => word.includes('\0'))) {
			return done(failed('ERR_BAD_REQUEST', {message: 'command must name a program, and must not hold NUL characters'}));
		}
		if (tty && host.terminal === undefined) {
			return done(failed('ERR_RUNTIME', {message: 'this node has no script(1) of util-linux that works, so it gives no terminals (tty)'}));
		}
		if (sessions.count() >= limits.execSessions) return done(failed('ERR_BUSY', {address: 'exec', waiting: sessions.count()}));
		whenBegun(id, limits.beginMs, found => {
			if (!found.ok) return done(found);
			const refusal = killed.refusal(found.value.container);
			if (refusal !== undefined) return done(failed('ERR_RUNTIME', {message: refusal}));
			try {
				done(succeeded({session: begin(request, found.value)}));
			} catch (error) {
				done(failed('ERR_RUNTIME', {message: explained(error)}));
			}
		});
	}

	function begin({argv, tty, stdin, rows, columns}: ExecRequest, target: Target): string {
		const id = systemRandom.uuid();
		const terminal = tty && host.terminal !== undefined ? {...sizeOf({rows, columns}), script: host.terminal.script} : undefined;
		const {child, pipes, program} = launch(
			target,
			{argv, stdin: stdin || tty, terminal},
			{
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
			},
		);
		// What a container leaves behind when it ends is killed with it; its sessions end when they are read to their end.
		const forget = containers.whenEnded(target.container, () => program.kill());
		const feed = sessions.add({
			id,
			program,
			stdin: stdin ? pipes.stdin : undefined,
			resize: terminal === undefined ? undefined : (r, c, answer) => resize(child.pid, {rows: r, columns: c}, limits.beginMs, answer),
			onGone: forget,
		});
		return id;
	}

	/** stty(1) sets the size of any terminal, and the kernel tells the programs in it. */
	function resize(pid: number | undefined, wanted: TerminalSize, leftMs: number, done: Done<null>): void {
		const child = pid === undefined ? undefined : terminalBelow(pid);
		if (child === undefined) {
			// Not there yet, or over.
			if (leftMs <= 0) return done(succeeded(null));
			clock.after(limits.beginLookMs, () => resize(pid, wanted, leftMs - limits.beginLookMs, done));
			return;
		}
		const {rows, columns} = sizeOf(wanted);
		let answer: Done<null> | undefined = done;
		const finish = (outcome: Outcome<null>): void => {
			cancel();
			answer?.(outcome);
			answer = undefined;
		};
		const words = ['-F', `/proc/${child}/fd/0`, 'rows', String(rows), 'cols', String(columns)];
		const stty = spawn('stty', words, {stdio: 'ignore', cwd: '/', env: {PATH: host.path}})
			.once('error', error => finish(failed('ERR_RUNTIME', {message: explained(error)})))
			.once('exit', () => finish(succeeded(null)));
		// The program may have put something in the place of its terminal that never answers.
		const cancel = clock.after(limits.beginMs, () => {
			stty.kill('SIGKILL');
			finish(succeeded(null));
		});
	}

	return {
		'container.act': ({id, action, timeoutMs}, done) => act(id, action, Math.max(0, timeoutMs), done),
		'exec.open': ({request}, done) => open(request, done),
		'exec.write': ({session, data, isLast}, done) => sessions.write(session, Buffer.from(data, 'base64'), isLast, done),
		'exec.read': ({session, maxBytes, waitMs}, done) => sessions.read(session, maxBytes, waitMs, done),
		'exec.resize': ({session, rows, columns}, done) => sessions.resize(session, rows, columns, done),
		'exec.close'({session}, done) {
			sessions.close(session);
			done(succeeded(null));
		},
		end() {
			sessions.closeAll();
			for (const stop of [...acting]) stop();
		},
	};
}

/**
 * What an earlier version has started and not written down who as: its log belongs to that user, whom no program can change. Its further
 * groups are not known.
 */
function dropOfLog(file: string): Drop {
	const {uid, gid} = statSync(file);
	return {user: {uid, gid}, groups: [], mayGain: false};
}

/** What fits a terminal, as wide as they once were otherwise: the kernel counts in 16 bits, and 0 means that nobody knows. */
function sizeOf({rows, columns}: TerminalSize): TerminalSize {
	const fits = (value: number): boolean => Number.isSafeInteger(value) && value > 0 && value < 65_536;
	return {rows: fits(rows) ? rows : 24, columns: fits(columns) ? columns : 80};
}

const textOf = (tail: Buffer): string =>
	tail
		.toString('utf8')
		.replace(/^\uFFFD+/, '')
		.trim();

const withTail = (text: string, tail: Buffer): string => (tail.length === 0 ? text : `${text}: ${textOf(tail)}`);

const quoted = (argv: readonly string[]): string => JSON.stringify(argv.join(' ')).slice(0, limits.shownCharacters);
