// What a node keeps in memory only, for root: `<directory>/.memory` is a file system of its own, there as long as something is in it.
//
// It is unbindable, so that no private root gets to see what other pods have there, and nothing of theirs is held by it.

import {existsSync, readdirSync, statSync} from 'node:fs';
import {mkdir, readdir, rmdir} from 'node:fs/promises';
import path from 'node:path';
import {limits} from '../../api/limits.js';
import {runTool} from '../os/tools.js';
import {removeTree} from '../os/trees.js';
import type {FileOwner} from './volume-files.js';

/** `isGroup`: what is in it belongs to the group, which may do what the user may. */
export type VolumeOwner = FileOwner & {readonly isGroup: boolean};

export type Memory = {
	/** Absolute, whether it is mounted now or not. */
	readonly folder: string;
	readonly isMounted: () => boolean;
	/** The folder of a volume. Rejects with Errors that say what the system said. */
	readonly makeFolder: (uid: string, name: string) => Promise<string>;
	/** A volume with a file system of its own, of that size; undefined: what the kernel gives. */
	readonly makeVolume: (
		uid: string,
		name: string,
		options: {sizeBytes: number | undefined; owner: VolumeOwner | undefined},
	) => Promise<string>;
	/** All that is there of a pod; and with the last pod everything. */
	readonly remove: (uid: string) => Promise<void>;
};

const memoryName = '.memory';

/**
 * Of a runtime's directory, which has no links in it. `isBindable`: what is in it may be bound elsewhere, by who makes private roots of nothing of the
 * node's.
 */
export function openMemory(directory: string, isBindable = false): Memory {
	const folder = path.join(directory, memoryName);
	let last: Promise<unknown> = Promise.resolve();
	/** One after the other: the last pod that goes must not meet the first that comes. */
	const inTurn = <Value>(run: () => Promise<Value>): Promise<Value> => {
		const current = last.then(run, run);
		last = current.catch(() => undefined);
		return current;
	};

	async function makeFolder(uid: string, name: string): Promise<string> {
		await mkdir(folder, {recursive: true, mode: 0o700});
		if (!isMountPoint(folder)) {
			await mount(
				folder,
				[`size=${limits.secretVolumesBytes}`, 'mode=0700', 'nosuid', 'nodev', 'noexec'],
				[isBindable ? '--make-private' : '--make-unbindable'],
			);
		}
		const volume = path.join(folder, uid, name);
		await mkdir(volume, {recursive: true, mode: 0o700});
		return volume;
	}

	return {
		folder,
		isMounted: () => existsSync(folder) && isMountPoint(folder),
		makeFolder: (uid, name) => inTurn(() => makeFolder(uid, name)),
		makeVolume: (uid, name, {sizeBytes, owner}) =>
			inTurn(async () => {
				const volume = await makeFolder(uid, name);
				if (isMountPoint(volume)) return volume;
				const size = sizeBytes === undefined ? [] : [`size=${Math.max(1, Math.trunc(sizeBytes))}`];
				await mount(volume, [...size, ...ownerOptions(owner), 'nosuid', 'nodev'], ['--make-private']);
				return volume;
			}),
		remove: uid =>
			inTurn(async () => {
				if (!existsSync(folder)) return;
				await removeFolder(path.join(folder, uid));
				if ((await readdir(folder)).length > 0) return;
				if (isMountPoint(folder)) await runTool('umount', ['-l', folder]);
				await rmdir(folder);
			}),
	};
}

const ownerOptions = (owner: VolumeOwner | undefined): readonly string[] => {
	if (owner === undefined) return ['mode=0777'];
	return [owner.isGroup ? 'mode=2777' : 'mode=0777', ...(owner.uid < 0 ? [] : [`uid=${owner.uid}`]), `gid=${owner.gid}`];
};

/** Takes away all that is mounted for a directory, when no agent is there: before the directory itself goes. Rejects with Errors. */
export async function releaseMemory(directory: string): Promise<void> {
	const memory = openMemory(directory);
	if (!existsSync(memory.folder)) return;
	for (const uid of readdirSync(memory.folder)) await memory.remove(uid);
	await memory.remove('none');
}

async function removeFolder(folder: string): Promise<void> {
	if (!existsSync(folder)) return;
	for (const name of await readdir(folder)) {
		if (isMountPoint(path.join(folder, name))) await runTool('umount', ['-l', path.join(folder, name)]);
	}
	await removeTree(folder);
}

/** By the number of its device, which is another one than its parent's. Throws errno exceptions. */
const isMountPoint = (folder: string): boolean => statSync(folder).dev !== statSync(path.dirname(folder)).dev;

const mount = (folder: string, options: readonly string[], more: readonly string[]): Promise<void> =>
	runTool('mount', ['-t', 'tmpfs', '-o', options.join(','), ...more, 'troupe', folder]);
