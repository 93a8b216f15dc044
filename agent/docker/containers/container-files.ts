// The files of one attempt beside its log: what was asked of the Engine, and how it ended.

import {existsSync, rmSync} from 'node:fs';
import path from 'node:path';
import type {ContainerExit} from '../../../actors/node/runtime/runtime-port.js';
import {attemptFolder, attemptsIn} from '../../attempts.js';
import {foldersIn} from '../../os/folders.js';
import {readRecord, writeRecord} from '../files.js';

/** Written before the container is made, and again once it has started. */
export type AttemptRecord = {
	readonly name: string;
	readonly bootId: string;
	/** Undefined: nobody has heard that it started. */
	readonly started: {readonly engineId: string; readonly startedAtMs: number} | undefined;
	/** Its program waits behind a gate, and has not begun before `started` is written. */
	readonly isGated: boolean;
	/** Its container was made before its pod was known: the Engine has other labels, another start and no environment of it. */
	readonly wasWarm: boolean;
};

const containerFile = (folder: string, attempt: number): string => path.join(attemptFolder(folder, attempt), 'container.json');
/** What the Engine does not know of its environment, for programs beside it; as long as it runs. */
const environmentFile = (folder: string, attempt: number): string => path.join(attemptFolder(folder, attempt), 'environment.json');
const exitFile = (folder: string, attempt: number): string => path.join(attemptFolder(folder, attempt), 'exit.json');

/** Throws errno exceptions, as the next one. */
export const writeAttempt = (folder: string, attempt: number, record: AttemptRecord): void =>
	writeRecord(containerFile(folder, attempt), record);

/** The same of what is for programs beside it: `NAME=VALUE`. */
export const writeEnvironment = (folder: string, attempt: number, env: readonly string[]): void =>
	writeRecord(environmentFile(folder, attempt), {env});

/** Empty where the Engine knows it all. */
export function readEnvironment(folder: string, attempt: number): readonly string[] {
	const {env} = readRecord(environmentFile(folder, attempt));
	return Array.isArray(env) ? env.map(String) : [];
}

export function writeExit(folder: string, attempt: number, exit: ContainerExit): void {
	writeRecord(exitFile(folder, attempt), exit);
	rmSync(environmentFile(folder, attempt), {force: true});
}

export const hasExit = (folder: string, attempt: number): boolean => existsSync(exitFile(folder, attempt));

/** Undefined: it is missing or damaged. */
export function readAttempt(folder: string, attempt: number): AttemptRecord | undefined {
	const {name, bootId, started, isGated, wasWarm} = readRecord(containerFile(folder, attempt));
	const {engineId, startedAtMs} = Object(started) as Record<string, unknown>;
	if (typeof name !== 'string' || typeof bootId !== 'string') return undefined;
	const known = typeof engineId === 'string' && typeof startedAtMs === 'number' ? {engineId, startedAtMs} : undefined;
	return {name, bootId, started: known, isGated: isGated === true, wasWarm: wasWarm === true};
}

/** Ids of the containers of a pod that its labels do not tell: of the attempts of all its containers. */
export const warmIdsIn = (podFolder: string): readonly string[] =>
	foldersIn(podFolder).flatMap(container => {
		const folder = path.join(podFolder, container);
		const records = attemptsIn(folder).map(attempt => readAttempt(folder, attempt));
		return records.flatMap(record => (record?.wasWarm === true && record.started !== undefined ? [record.started.engineId] : []));
	});

/** Undefined: it has not ended, as far as is known. */
export function readExit(folder: string, attempt: number): ContainerExit | undefined {
	const exit = readRecord(exitFile(folder, attempt));
	const {startedAtMs, finishedAtMs, reason, exitCode, signal, lastLines, handle, imageId} = exit;
	if (typeof startedAtMs !== 'number' || typeof finishedAtMs !== 'number' || typeof reason !== 'string') return undefined;
	return {
		attempt,
		exitCode: typeof exitCode === 'number' ? exitCode : undefined,
		signal: typeof signal === 'number' ? signal : undefined,
		startedAtMs,
		finishedAtMs,
		reason,
		...(typeof lastLines === 'string' ? {lastLines} : {}),
		...(typeof handle === 'string' ? {handle} : {}),
		...(typeof imageId === 'string' ? {imageId} : {}),
	};
}
