// The data plane as its agent has it: found where one runs, else started; replaced where it is of another version or was started with other
// settings. It is no child that ends with the agent.

import {spawn} from 'node:child_process';
import {closeSync, openSync, rmSync, statSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {isolatedStdio} from '../../os/isolated-stdio.js';
import {signalProcess, statOf, type ProcessStat} from '../../os/identity.js';
import {connectFeed, type FeedClient, type FeedNews} from './feed-client.js';
import type {Program} from './messages.js';
import {isThere, makeFeedFolder, readRecord, recordStarted, socketOf} from './record.js';
import type {DataPlaneSettings} from './settings.js';

export type DataPlaneOptions = {
	readonly settings: DataPlaneSettings;
	readonly clock: Clock;
	/** The module that is run; the built one where it is not said. */
	readonly main?: string | undefined;
	readonly onNews: (news: FeedNews) => void;
	/** What the person who runs the agent is to know; it goes on. */
	readonly onWarning: (message: string) => void;
};

export const mainModule = fileURLToPath(new URL('../data-plane/main.js', import.meta.url));

/** Enough that what a request of the router makes is gone when garbage is collected: with 1 MiB a seventh of a busy router's time went into that. */
const flags: readonly string[] = ['--max-semi-space-size=4'];

/** Whether one runs, whatever its version. */
export const isRunning = (folder: string): boolean => readRecord(folder).serving !== undefined;

/** A connection to the data plane that serves, of this version and with these settings. Rejects with why there is none. */
export async function reachDataPlane(options: DataPlaneOptions): Promise<FeedClient> {
	const {folder, identity} = options.settings;
	makeFeedFolder(folder);
	const {serving} = readRecord(folder);
	if (serving === undefined) return startDataPlane(options);
	const client = await adopted(serving, options);
	if (client === undefined) return startDataPlane(options);
	if (client.identity === identity) return client;
	try {
		await client.handOver(programOf(options));
	} catch (error) {
		options.onWarning(
			`the data plane of before goes on (process ${client.pid}), since another one could not take its place: ${textOf(error)}`,
		);
		return client;
	}
	client.close();
	return connected(options);
}

/** Undefined: it does not answer, or not in these words, and is gone now. */
async function adopted(
	serving: ProcessStat,
	{settings: {folder}, clock, onNews, onWarning}: DataPlaneOptions,
): Promise<FeedClient | undefined> {
	try {
		return await connectFeed(socketOf(folder, serving.pid), clock, onNews);
	} catch (error) {
		onWarning(`the data plane (process ${serving.pid}) is replaced: ${textOf(error)}`);
		await killProcess(serving, clock);
		return undefined;
	}
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const programOf = ({settings, main = mainModule}: DataPlaneOptions): Program => ({
	node: process.execPath,
	flags,
	main,
	settings: JSON.stringify(settings),
});

/** To the one that the record names. */
function connected({settings: {folder}, clock, onNews}: DataPlaneOptions): Promise<FeedClient> {
	const {serving} = readRecord(folder);
	if (serving === undefined) return Promise.reject(new Error('it ended at once'));
	return connectFeed(socketOf(folder, serving.pid), clock, onNews);
}

async function startDataPlane(options: DataPlaneOptions): Promise<FeedClient> {
	const {folder} = options.settings;
	const {node, main, settings} = programOf(options);
	const log = openLog(folder);
	const {stdio, close} = isolatedStdio(['ignore', 'pipe', log]);
	const child = spawn(node, [...flags, main, settings], {cwd: '/', env: {}, detached: true, stdio});
	close();
	closeSync(log);
	const stat = child.pid === undefined ? undefined : statOf(child.pid);
	try {
		await new Promise<void>((resolve, reject) => {
			const fail = (why: string): void => reject(new Error(`${why}; its log is ${logFile(folder)}`));
			const cancel = options.clock.after(limits.dataPlaneStartMs, () =>
				fail(`the data plane did not serve within ${limits.dataPlaneStartMs / 1_000} s`),
			);
			child.once('error', error => fail(`the data plane could not be started: ${error.message}`));
			child.once('exit', (code, signal) => {
				cancel();
				fail(`the data plane ended at its start (${signal ?? `code ${code}`})`);
			});
			child.stdout?.once('data', () => {
				cancel();
				resolve();
			});
			// Killed before it wrote itself down it would be found by nobody.
			if (stat !== undefined) recordStarted(folder, stat);
		});
	} catch (error) {
		child.kill('SIGKILL');
		throw error;
	} finally {
		child.stdout?.destroy();
		child.unref();
	}
	return connected(options);
}

const logFile = (folder: string): string => path.join(folder, 'log');

/** What it dies of; what has grown large is begun anew. Throws errno exceptions. */
function openLog(folder: string): number {
	const file = logFile(folder);
	if ((statSync(file, {throwIfNoEntry: false})?.size ?? 0) > limits.dataPlaneLogBytes) rmSync(file);
	return openSync(file, 'a', 0o600);
}

/** All that serve for this folder, and those that begin or finish. */
export function dataPlanesOf(folder: string): readonly ProcessStat[] {
	const {serving, others} = readRecord(folder);
	return serving === undefined ? others : [serving, ...others];
}

/** Ends them: with the pods. The number of those there were. */
export async function endDataPlanes(folder: string, clock: Clock): Promise<number> {
	const all = dataPlanesOf(folder);
	for (const each of all) signalProcess(each, 'SIGTERM');
	await Promise.all(all.map(each => killProcess(each, clock, limits.shutdownMs)));
	return all.length;
}

/** After a time to end by itself, if it is given one. Resolves when it is gone, or cannot be made to go. */
async function killProcess(target: ProcessStat, clock: Clock, graceMs = 0): Promise<void> {
	if (await isGone(target, clock, graceMs)) return;
	signalProcess(target, 'SIGKILL');
	await isGone(target, clock, limits.shutdownMs);
}

/** It may be no child of ours, so nothing tells: we look. */
async function isGone(target: ProcessStat, clock: Clock, withinMs: number): Promise<boolean> {
	const untilMs = clock.monotonicMs() + withinMs;
	while (isThere(target)) {
		if (clock.monotonicMs() >= untilMs) return false;
		await new Promise<void>(resolve => void clock.after(limits.exitPollMs, resolve));
	}
	return true;
}
