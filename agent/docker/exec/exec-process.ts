// The process of a program of exec, as this host knows it: an Engine has no call that ends one.
//
// What it keeps true: nothing is signalled but a process that is in the container's control group and that the Engine has named as the program's.

import {readFileSync} from 'node:fs';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {signalProcess, statOf, type ProcessStat} from '../../os/identity.js';
import {EngineError, type Docker, type Engine} from '../engine/engine.js';

export type ExecInfo = Awaited<ReturnType<ReturnType<Docker['getExec']>['inspect']>>;

/** Rejects with an EngineError. */
export const inspectExec = (engine: Engine, execId: string, timeoutMs: number): Promise<ExecInfo> =>
	engine.call('look at a program of exec', timeoutMs, docker => docker.getExec(execId).inspect());

export type ExecProcess = {
	/** Finds it out as soon as the program has begun, so that it can be killed without the Engine. Never rejects. */
	readonly learn: () => Promise<void>;
	/** SIGKILL to it and its group, as soon as it is known; resolves when that was sent, or there is nothing to send it to. Never rejects. */
	readonly kill: () => Promise<void>;
};

export function createExecProcess(engine: Engine, clock: Clock, execId: string, engineId: string): ExecProcess {
	let learning: Promise<ProcessStat | undefined> | undefined;
	const known = (): Promise<ProcessStat | undefined> => (learning ??= processOf(engine, clock, execId, engineId));
	return {
		learn: async () => void (await known()),
		async kill() {
			const found = await known();
			if (found !== undefined) killGroup(found);
		},
	};
}

/** Undefined: it is over, or none of this host's, or the Engine has not told in `execKillMs`. Never rejects. */
async function processOf(engine: Engine, clock: Clock, execId: string, engineId: string): Promise<ProcessStat | undefined> {
	const untilMs = clock.monotonicMs() + limits.execKillMs;
	for (let waitMs: number = limits.beginLookMs; clock.monotonicMs() < untilMs; waitMs = Math.min(2 * waitMs, limits.execEndMs)) {
		try {
			const {Running, Pid} = await inspectExec(engine, execId, limits.engineStreamMs);
			if (Pid > 0) return Running ? processIn(Pid, engineId) : undefined;
			if (!Running) return undefined;
		} catch (error) {
			if (!(error instanceof EngineError) || error.fault === 'notFound') return undefined;
		}
		await new Promise<void>(resolve => clock.after(waitMs, resolve));
	}
	return undefined;
}

/** The pid may be another's by now, and an Engine elsewhere has other processes: the control group names the container. */
function processIn(pid: number, engineId: string): ProcessStat | undefined {
	const found = statOf(pid);
	const groups = valueOr('', () => readFileSync(`/proc/${pid}/cgroup`, 'latin1'));
	return groups.includes(engineId) ? found : undefined;
}

/** The Engine starts a program as the leader of a session and so of a group. */
function killGroup(found: ProcessStat): void {
	if (statOf(found.pid)?.startTime === found.startTime && found.group === found.pid)
		valueOr(false, () => process.kill(-found.pid, 'SIGKILL'));
	else signalProcess(found, 'SIGKILL');
}
