// `troupe uninstall`: stops the cluster and its pods and removes what the home keeps, after asking. Nothing that is not ours.

import {readdirSync, rmdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline/promises';
import type {AppError} from '../../api/errors.js';
import {sweepHolds} from '../../agent/docker/containers/binds.js';
import {removeHomes} from '../../agent/process/sandboxes/homes.js';
import {releaseMemory} from '../../agent/volumes/memory.js';
import {hasCode} from '../../system/files/errno.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {homeOf} from '../files/home.js';
import {foreignEntries, looksLikeHome, ownEntries} from '../files/home-contents.js';
import {stopCluster, stopPods} from '../serving/stop-cluster.js';

export async function run({flags, home, inputs, terminal}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError('uninstall takes no names; --home says which one');
	const found = entriesOf(home);
	if (found === undefined || found.length === 0) {
		terminal.out(`there is nothing in ${home}\n`);
		return 0;
	}
	if (!looksLikeHome(found, entriesOf(homeOf(home).data) ?? []))
		throw failedError(`${home} does not look like the home of a cluster, so nothing in it is touched; --home says which one`);
	if (!flags.on('yes') && !(await agreed(home, terminal))) {
		terminal.out('nothing was removed\n');
		return 1;
	}
	const stopped = await stopCluster(home);
	if (stopped !== undefined) terminal.out(`the ${stopped.noun} is stopped (process ${stopped.pid})\n`);
	const {count, problem} = await stopPods(home);
	if (count > 0) terminal.out(`${count} ${count === 1 ? 'program' : 'programs'} of pods stopped\n`);
	// Whose they are would be known to nobody any more.
	if (problem !== undefined) throw withLastWord(problem, homeOf(home).engine);
	for (const directory of [homeOf(home).runtime, homeOf(home).docker]) await releaseMemory(directory);
	// Also where its Engine was said to be gone for good: what is held is folders of the host.
	await sweepHolds(homeOf(home).docker);
	await removeHomes(homeOf(home).runtime, process.getuid?.() === 0);
	remove(home);
	const left = foreignEntries(entriesOf(home) ?? []);
	terminal.out(left.length === 0 ? `${home} is removed\n` : `all that was ours in ${home} is removed; left there: ${left.join(', ')}\n`);
	return 0;
}

function entriesOf(folder: string): readonly string[] | undefined {
	try {
		return readdirSync(folder);
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return undefined;
		throw failedError(`${folder} cannot be read: ${(error as Error).message}`);
	}
}

async function agreed(home: string, terminal: Invocation['terminal']): Promise<boolean> {
	if (!terminal.interactive) throw usageError('nobody is there to ask; --yes says that it is meant');
	const lines = createInterface({input: terminal.input, output: process.stdout});
	try {
		const answer = await lines.question(`Stop all pods of ${home} and remove everything it keeps? [y/N] `);
		return /^y(es)?$/i.test(answer.trim());
	} finally {
		lines.close();
	}
}

const withLastWord = ({message}: Error, engine: string): AppError =>
	failedError(`${message}. Nothing of the home was removed; where that Engine is gone for good, remove ${engine} first`);

function remove(home: string): void {
	for (const entry of ownEntries(entriesOf(home) ?? [])) rmSync(path.join(home, entry), {recursive: true, force: true});
	if ((entriesOf(home) ?? []).length === 0) rmdirSync(home);
}
