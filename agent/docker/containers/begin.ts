// The start of a container, step by step: what it is made with, its record, the container, its program.

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {attemptFolder, logFile} from '../../attempts.js';
import {create, inspect, remove, start, type Inspected} from '../engine/calls.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {nameOf} from '../engine/names.js';
import {writeAttempt} from './container-files.js';
import {containerOptions, madeFrom, type ContainerPlace} from './container-options.js';
import {timeOf} from './endings.js';

export type Beginning = {
	readonly engine: Engine;
	readonly bootId: string;
	readonly inLane: <Value>(work: () => Promise<Value>) => Promise<Value>;
};

/**
 * Makes the attempt's container and starts it. Rejects with an EngineError: `late` and `unreachable` leave what there may be; after any other nothing of
 * it is left.
 */
export async function begin(
	{engine, bootId, inLane}: Beginning,
	spec: OpenedSpec,
	place: ContainerPlace,
	folder: string,
): Promise<Inspected> {
	const name = nameOf(madeFrom(spec, place.owner));
	const options = containerOptions(spec, place);
	mkdirSync(attemptFolder(folder, spec.attempt), {recursive: true, mode: 0o700});
	writeAttempt(folder, spec.attempt, {name, bootId, started: undefined});
	// Those that follow it watch it.
	writeFileSync(logFile(folder, spec.attempt), '', {flag: 'a', mode: 0o600});
	try {
		return await inLane(async () => {
			const engineId = await create(engine, options);
			await start(engine, engineId);
			const inspected = await inspect(engine, engineId);
			const startedAtMs = timeOf(inspected.State.StartedAt) ?? 0;
			writeAttempt(folder, spec.attempt, {name, bootId, started: {engineId, startedAtMs}});
			return inspected;
		});
	} catch (error) {
		if (error instanceof EngineError && (error.fault === 'late' || error.fault === 'unreachable')) throw error;
		await undo(engine, name, attemptFolder(folder, spec.attempt));
		throw error;
	}
}

async function undo(engine: Engine, name: string, folder: string): Promise<void> {
	await remove(engine, name);
	rmSync(folder, {recursive: true, force: true});
}
