// Starting a program beside that of a container, once that has begun: what was only just spawned is another program's process still.

import {statSync} from 'node:fs';
import {succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ContainerId} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {ExecProgram} from '../../exec-sessions.js';
import type {CallsEnd} from '../../functions/when-listens.js';
import type {Done} from '../../handlers.js';
import {notRunning} from '../../refusals.js';
import {logFile} from '../../attempts.js';
import type {StartRecord} from '../attempts/state-file.js';
import type {Stock} from '../attempts/stock.js';
import type {ContainerGroups} from '../cgroups/container-groups.js';
import type {Container, Containers} from '../containers/containers.js';
import type {Host} from '../host/host.js';
import type {Drop} from '../users/privileges.js';
import {spawnBeside, type Beside, type Spawned} from './beside.js';
import {endsWithContainer, enteringOf} from './entering.js';
import {followProgram, type ProgramListener} from './exec-program.js';
import type {Killed} from './killed.js';
import {runningProgramOf, type RunningProgram} from './running-program.js';

export type ExecOptions = {
	readonly containers: Containers;
	readonly groups: ContainerGroups;
	readonly stock: Stock;
	readonly host: Host;
	readonly clock: Clock;
	/** Where a pod takes calls, if it is an instance of a function that runs. */
	readonly callsEndOf: (uid: string) => Outcome<CallsEnd>;
	/** The words before a program that is to be in the network of a pod. */
	readonly enterNetwork: (uid: string) => readonly string[];
};

/** What joining needs, and what it has killed. */
export type Joining = ExecOptions & {readonly killed: Killed};

/** A program that has begun, with what joins it. */
export type Target = {readonly container: Container; readonly program: RunningProgram; readonly procsFiles: readonly string[]};

/** Answers with the program of a container once it has begun; `notRunning` where there is none, or it does not begin in time. */
export function whenBegun(joining: Joining, id: ContainerId, done: Done<Target>, leftMs: number = limits.beginMs): Cancel {
	const {containers, groups, clock} = joining;
	const container = containers.find(id);
	const {live} = container;
	if (live?.started === undefined) {
		done(notRunning(id));
		return () => undefined;
	}
	const program = runningProgramIn(container, live.attempt, live.started);
	if (program === undefined || leftMs <= 0) {
		done(notRunning(id));
		return () => undefined;
	}
	if (program === 'beginning') {
		let cancel = clock.after(limits.beginLookMs, () => (cancel = whenBegun(joining, id, done, leftMs - limits.beginLookMs)));
		return () => cancel();
	}
	done(succeeded({container, program, procsFiles: groups.procsFilesOfRunning(id, live.attempt)}));
	return () => undefined;
}

/** Undefined as well where the log by which its user is known is gone. */
function runningProgramIn({folder}: Container, attempt: number, {process, beginning}: StartRecord): ReturnType<typeof runningProgramOf> {
	try {
		return runningProgramOf(process.pid, beginning ?? dropOfLog(logFile(folder, attempt)));
	} catch {
		return undefined;
	}
}

/** Throws an Error where its user cannot be had, and errno exceptions. */
export function launch(
	{host, stock, clock, killed, enterNetwork}: Joining,
	{container, program, procsFiles}: Target,
	wanted: Pick<Beside, 'argv' | 'stdin' | 'terminal'>,
	listener: Omit<ProgramListener, 'onKill'>,
): Spawned & {readonly program: ExecProgram} {
	const isAlone = procsFiles.length === 0 && !endsWithContainer(program.pid);
	const entering = enteringOf(host, program.pid, program.drop, enterNetwork(container.id.uid));
	const spawned = spawnBeside({...wanted, procsFiles, entering}, program, host, stock);
	const onKill = (leader: number): void => killed.note(container, leader);
	return {...spawned, program: followProgram(spawned, clock, isAlone, {...listener, onKill})};
}

/**
 * What an earlier version has started and not written down who as: its log belongs to that user, whom no program can change. Its further
 * groups are not known.
 */
function dropOfLog(file: string): Drop {
	const {uid, gid} = statSync(file);
	return {user: {uid, gid}, groups: [], mayGain: false};
}
