// The start of a container, step by step: what it is made with, its record, the container, its program.

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import {attemptFolder, logFile} from '../../attempts.js';
import {create, inspect, removeNamed, start, type Inspected} from '../engine/calls.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {nameOf} from '../engine/names.js';
import {writeAttempt} from './container-files.js';
import {containerOptions, madeFrom, type ContainerPlace} from './container-options.js';
import {timeOf} from './endings.js';
import {argvOf, gatedOptions, passGate, type Gate} from './gated.js';

export type Beginning = {
	readonly engine: Engine;
	readonly bootId: string;
	readonly inLane: <Value>(work: () => Promise<Value>) => Promise<Value>;
};

/**
 * Makes the attempt's container and starts it. Rejects with an EngineError: `late` and `unreachable` leave what there may be; after any other nothing of
 * it is left. Rejects with an AppError when neither its spec nor its image names a program.
 */
export async function begin(
	{engine, bootId, inLane}: Beginning,
	spec: OpenedSpec,
	place: ContainerPlace,
	folder: string,
	gate?: Gate,
): Promise<Inspected> {
	const name = nameOf(madeFrom(spec, place.owner));
	const options = containerOptions(spec, place);
	mkdirSync(attemptFolder(folder, spec.attempt), {recursive: true, mode: 0o700});
	const record = {name, bootId, started: undefined, isGated: gate !== undefined, wasWarm: false};
	writeAttempt(folder, spec.attempt, record);
	// Those that follow it watch it.
	writeFileSync(logFile(folder, spec.attempt), '', {flag: 'a', mode: 0o600});
	try {
		return await inLane(async () => {
			const argv = gate === undefined ? [] : await argvOf(engine, spec);
			const fifo = path.join(attemptFolder(folder, spec.attempt), 'go');
			await gate?.gates.makeFifo(fifo);
			const engineId = await create(engine, gate === undefined ? options : gatedOptions(options, gate, fifo, argv));
			await start(engine, engineId);
			const inspected = await inspect(engine, engineId);
			const startedAtMs = timeOf(inspected.State.StartedAt) ?? 0;
			const commit = (): void => writeAttempt(folder, spec.attempt, {...record, started: {engineId, startedAtMs}});
			const revoke = (): void => writeAttempt(folder, spec.attempt, record);
			if (gate === undefined) commit();
			else await passGate(gate, inspected, fifo, argv, commit, revoke);
			return inspected;
		});
	} catch (error) {
		if (error instanceof EngineError && (error.fault === 'late' || error.fault === 'unreachable')) throw error;
		await removeNamed(engine, name, place.owner);
		rmSync(attemptFolder(folder, spec.attempt), {recursive: true, force: true});
		// The Engine refuses one without any program; which words it has for that is its own.
		if (error instanceof EngineError && spec.argv.length === 0) await argvOf(engine, spec);
		throw error;
	}
}
