// A recorded trace from a file: its lines become records, which are played again with the behaviours of this package or of a user's own.

import {parseAddress} from '../../api/keys.js';
import type {Json} from '../../api/object.js';
import {isObject} from '../../api/object.js';
import {replay, type Behaviors, type PlayedStep, type SkippedStep} from '../../system/inspect/replay.js';
import type {StepRecord} from '../../system/inspect/step-record.js';
import {failedError} from '../command.js';

export type ReplayedStep = (PlayedStep | SkippedStep) & {
	/** From 1 on, as people count. */
	readonly number: number;
};

/** The records in the lines of a trace, as they happened; what was not recorded is left out. Throws an AppError that names the line. */
export function recordsOf(text: string): readonly StepRecord[] {
	const found: {readonly record: StepRecord; readonly atMs: number}[] = [];
	const newestMs = new Map<string, number>();
	for (const [at, line] of text.split('\n').entries()) {
		if (line.trim() === '') continue;
		const value = jsonOf(line);
		if (value === undefined) throw failedError(`line ${at + 1} is no JSON; the file is what trace --record wrote, an entry a line`);
		const record = isObject(value) && isObject(value['recorded']) ? value['recorded'] : value;
		if (isRecord(record)) {
			const step = record as unknown as StepRecord;
			found.push({record: step, atMs: atMsOf(value, step, newestMs)});
		} else if (!isObject(value) || typeof value['type'] !== 'string') throw failedError(`line ${at + 1} is no entry of a trace`);
	}
	if (found.length === 0) throw failedError('no step of it was recorded: trace --record FILE does');
	return found.sort((a, b) => a.atMs - b.atMs).map(({record}) => record);
}

/** When it was. The file has its steps as they arrived, a portion of each system after the other; those of one system are in order. */
function atMsOf(entry: Json, {address}: StepRecord, newestMs: Map<string, number>): number {
	const system = parseAddress(address)?.system ?? '';
	const told = isObject(entry) && typeof entry['atMs'] === 'number' ? entry['atMs'] : 0;
	const atMs = Math.max(told, newestMs.get(system) ?? 0);
	newestMs.set(system, atMs);
	return atMs;
}

function jsonOf(line: string): Json | undefined {
	try {
		return JSON.parse(line) as Json;
	} catch {
		return undefined;
	}
}

/** As far as a replay relies on it before it begins. */
function isRecord(value: Json): boolean {
	if (!isObject(value) || typeof value['address'] !== 'string' || typeof value['behavior'] !== 'string') return false;
	const {notReplayable, call, context, after, effects, cause, since = []} = value;
	if (typeof notReplayable === 'string') return true;
	return isObject(call) && isObject(context) && typeof cause === 'string' && [after, effects, since].every(each => Array.isArray(each));
}

/** Throws an AppError where a record is damaged. */
export function replayed(records: readonly StepRecord[], behaviors: Behaviors): readonly ReplayedStep[] {
	const steps: ReplayedStep[] = [];
	try {
		for (const step of replay(records, behaviors)) steps.push({...step, number: steps.length + 1});
	} catch (error) {
		throw failedError(`record ${steps.length + 1} is damaged: ${error instanceof Error ? error.message : String(error)}`);
	}
	return steps;
}

/** Of control and of nodes: the code of this very package. */
export async function ownBehaviors(): Promise<Behaviors> {
	const [control, node, user] = await Promise.all([
		import('../../actors/control/design.js'),
		import('../../actors/node/design.js'),
		import('../actor-run/run-root.js'),
	]);
	return {...node.nodeDesign.behaviors, ...control.controlDesign.behaviors, [user.runRoot.kind]: user.runRoot};
}
