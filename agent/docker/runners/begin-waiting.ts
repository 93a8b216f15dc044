// The start of an instance in a container whose runner waits: what is left to do to it, its record, its name, and the word to its runner.
//
// What it keeps true: where it fails no program of the pod runs, and the pod can begin in the usual way.

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import type {FunctionInstance} from '../../../api/function-instance.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../../system/time/clock.js';
import {attemptFolder, logFile} from '../../attempts.js';
import {withoutDevices} from '../../devices/variables.js';
import {explained} from '../../os/explained.js';
import type {Beginning} from '../containers/begin.js';
import {writeAttempt, writeEnvironment} from '../containers/container-files.js';
import {containerOptions, madeFrom, type ContainerPlace} from '../containers/container-options.js';
import {startedAt} from '../containers/endings.js';
import {configOf} from '../containers/instance-binds.js';
import {inspect, rename, update, type Inspected} from '../engine/calls.js';
import {EngineError} from '../engine/engine.js';
import {nameOf} from '../engine/names.js';
import {setHostname} from '../gates/hostname.js';
import {canWait, changedLimits, fixedOf, lineOf} from './told.js';
import type {WaitingRunner} from './waiting-runner.js';

export type Waited = {
	readonly runner: WaitingRunner;
	readonly instance: FunctionInstance;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

/**
 * Undefined: the runner cannot become it, or has failed to, and is gone. Rejects with EngineErrors `late` and `unreachable`, which leave what there may
 * be, and with errno exceptions.
 */
export async function beginWaiting(
	{engine, bootId, inLane}: Beginning,
	spec: OpenedSpec,
	place: ContainerPlace,
	folder: string,
	{runner, instance, clock, onWarning}: Waited,
): Promise<Inspected | undefined> {
	const options = containerOptions(spec, place);
	const {hostname} = place.sandbox;
	const changed = changedLimits(runner.options, options);
	const env = {HOSTNAME: hostname, ...Object.fromEntries(withoutDevices(spec).map(({name, value}) => [name, value]))};
	const line = lineOf({env, config: configOf(instance)});
	if (!canWait(spec) || changed === undefined || line === undefined || fixedOf(runner.options) !== fixedOf(options)) return gone(runner);
	const name = nameOf(madeFrom(spec, place.owner));
	const record = {name, bootId, started: undefined, isGated: false, wasWarm: true};
	mkdirSync(attemptFolder(folder, spec.attempt), {recursive: true, mode: 0o700});
	writeAttempt(folder, spec.attempt, record);
	// Those that follow it watch it.
	writeFileSync(logFile(folder, spec.attempt), '', {flag: 'a', mode: 0o600});
	try {
		return await inLane(async () => {
			await Promise.all([
				Object.keys(changed).length === 0 ? undefined : update(engine, runner.id, changed),
				rename(engine, runner.id, name),
				setHostname(runner.pid, hostname),
			]);
			const startedAtMs = clock.nowMs();
			await runner.tell(line);
			const inspected = startedAt(await inspect(engine, runner.id), startedAtMs);
			const environment = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
			writeEnvironment(folder, spec.attempt, environment);
			writeAttempt(folder, spec.attempt, {...record, started: {engineId: runner.id, startedAtMs}});
			return inspected;
		});
	} catch (error) {
		if (error instanceof EngineError && (error.fault === 'late' || error.fault === 'unreachable')) throw error;
		onWarning(`a runner that waited could not become that of pod "${spec.podName}", which begins with one of its own: ${explained(error)}`);
		// It is dead by then, however far it came.
		await runner.remove();
		rmSync(attemptFolder(folder, spec.attempt), {recursive: true, force: true});
		return undefined;
	}
}

/** Nothing has begun in it: nobody waits for its removal. */
function gone(runner: WaitingRunner): undefined {
	// Where the Engine does not do it now, it goes with its pod.
	runner.remove().catch(() => undefined);
	return undefined;
}
