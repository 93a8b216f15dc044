// What an agent finds on disk of a container: a shim that lives, or how the last attempt ended.

import {rmSync} from 'node:fs';
import type {ContainerExit} from '../../../actors/node/runtime/runtime-port.js';
import {attemptFolder, attemptsIn, lifelineFile, logFile, stateFile} from '../../attempts.js';
import {openLifeline} from '../attempts/lifelines.js';
import {readStateFile, recordLoss, recordOom, type AttemptState, type StartRecord} from '../attempts/state-file.js';
import {lastLinesOf} from '../../logs/last-lines.js';
import {signalGroup, statOf, type ProcessStat} from '../../os/identity.js';

/** What an agent that has not heard of a container before finds of it. */
export type FoundContainer = {
	/** A shim lives: its lifeline, and its process once there is one. */
	readonly alive: {readonly attempt: number; readonly lifeline: number; readonly started: StartRecord | undefined} | undefined;
	readonly lastExit: ContainerExit | undefined;
	/** -1: there was no attempt. */
	readonly highest: number;
};

/**
 * Looks a container up on disk. An attempt whose shim is gone without a code becomes a loss, its group is killed; one whose
 * program never started is removed. Throws errno exceptions.
 */
export function findContainer(folder: string, bootId: string, wasOomKilled: (attempt: number) => boolean = () => false): FoundContainer {
	const attempts = attemptsIn(folder);
	const highest = attempts[0];
	if (highest === undefined) return {alive: undefined, lastExit: undefined, highest: -1};
	const before = readStateFile(stateFile(folder, highest), highest);
	if (before.exit === undefined && (before.started === undefined || before.started.bootId === bootId)) {
		const lifeline = openLifeline(lifelineFile(folder));
		if (lifeline !== undefined) {
			const [previous] = attempts.slice(1);
			const lastExit = previous === undefined ? undefined : settle(folder, previous, bootId, {wasOomKilled: wasOomKilled(previous)}).exit;
			// Read again: the sign that the program has started may have been taken out of the lifeline just now.
			const {started} = readStateFile(stateFile(folder, highest), highest, statOf);
			return {alive: {attempt: highest, lifeline, started}, lastExit, highest};
		}
	}
	const {started, exit} = settle(folder, highest, bootId, {wasOomKilled: wasOomKilled(highest)});
	if (started !== undefined) return {alive: undefined, lastExit: exit, highest};
	rmSync(attemptFolder(folder, highest), {recursive: true, force: true});
	return findContainer(folder, bootId, wasOomKilled);
}

/** What an agent has heard of an attempt that is not in its files. */
export type HeardOfAttempt = {
	/** Its start: a program that was killed before its shim had written all of that down has its exit code, too. */
	readonly started?: StartRecord | undefined;
	readonly wasOomKilled?: boolean | undefined;
};

/** As the kernel kills for want of memory: the program itself, or what a shell then passes on. */
const killedCode = 137;

/** Ends an attempt whose shim is gone: its code and last words, or else a loss that is written down. Throws errno exceptions. */
export function settle(
	folder: string,
	attempt: number,
	bootId: string,
	{started: seen, wasOomKilled = false}: HeardOfAttempt = {},
): AttemptState {
	const file = stateFile(folder, attempt);
	const lookUp = (): ProcessStat | undefined => seen?.process;
	const state = readStateFile(file, attempt, lookUp);
	if (state.started === undefined) return state;
	if (state.exit === undefined) {
		const rebooted = state.started.bootId !== bootId;
		if (!rebooted) signalGroup(state.started.process, 'SIGKILL');
		recordLoss(file, rebooted ? 'LostOnReboot' : 'Unknown');
	} else if (wasOomKilled && state.exit.exitCode === killedCode && state.exit.reason === 'Error') recordOom(file, state.exit);
	else return withLastLines(state, folder, attempt);
	return withLastLines(readStateFile(file, attempt, lookUp), folder, attempt);
}

function withLastLines({started, exit}: AttemptState, folder: string, attempt: number): AttemptState {
	if (exit === undefined || exit.exitCode === 0) return {started, exit};
	const lastLines = lastLinesOf(logFile(folder, attempt));
	return {started, exit: lastLines === '' ? exit : {...exit, lastLines}};
}
