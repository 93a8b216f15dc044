// Makes room where images fill the disk of the Engine, as the kubelet does: above a high mark, down to a low one, what was used longest ago
// first. Only images that came by this agent and that nothing uses; a name that people gave to one keeps it.

import {statfs} from 'node:fs/promises';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {bareId, usedImages} from './list.js';
import {parseImageReference} from './image-reference.js';
import type {Remembered} from './remembered.js';

/** Of the disk on which the Engine keeps images; undefined: it is not to be seen from here. */
export type DiskUse = (folder: string) => Promise<{readonly usedBytes: number; readonly totalBytes: number} | undefined>;

export type GarbageOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	readonly remembered: Remembered;
	readonly diskUse?: DiskUse;
};

/** What is on a disk as `df` counts it: what only root may fill is no room. */
export const diskUse: DiskUse = async folder => {
	const {blocks, bfree, bavail, bsize} = await statfs(folder);
	const used = blocks - bfree;
	return {usedBytes: used * bsize, totalBytes: (used + bavail) * bsize};
};

/** Removes what is too much; the ids of what went. Rejects with an EngineError when the Engine does not answer. */
export async function collectGarbage(options: GarbageOptions): Promise<readonly string[]> {
	const {engine, remembered} = options;
	const {DockerRootDir} = (await engine.call('ask about the Engine', limits.imageLookMs, docker => docker.info())) as {
		DockerRootDir?: unknown;
	};
	if (typeof DockerRootDir !== 'string') return [];
	const isAbove = (percent: number): Promise<boolean> => isFuller(options.diskUse ?? diskUse, DockerRootDir, percent);
	const removed: string[] = [];
	if (await isAbove(limits.imageDiskHighPercent)) {
		for (const image of await candidates(options)) {
			if (!(await isAbove(limits.imageDiskLowPercent))) break;
			if (!(await removeImage(engine, image))) continue;
			remembered.forget(image.id);
			removed.push(image.id);
		}
	}
	await remembered.save();
	return removed;
}

/** A folder that is not on this host is another host's Engine's: nothing is known of its disk. */
async function isFuller(disk: DiskUse, folder: string, percent: number): Promise<boolean> {
	const found = await disk(folder).catch(() => undefined);
	return found !== undefined && found.totalBytes > 0 && 100 * found.usedBytes > percent * found.totalBytes;
}

type Candidate = {readonly id: string; readonly tags: readonly string[]; readonly usedAtMs: number};

/** What was used longest ago first; what an Engine does not have any more is forgotten. */
async function candidates({engine, clock, remembered}: GarbageOptions): Promise<readonly Candidate[]> {
	const ours = await remembered.all();
	const images = await engine.call('list images', limits.imageLookMs, docker => docker.listImages());
	const used = await usedImages(engine);
	const tagsOf = new Map(images.map(({Id, RepoTags}) => [Id, ((RepoTags as readonly string[] | null) ?? []).filter(isName)]));
	const before = clock.nowMs() - limits.imageKeptMs;
	const found: Candidate[] = [];
	for (const [id, {names, usedAtMs}] of [...ours]) {
		const tags = tagsOf.get(id);
		if (tags === undefined) remembered.forget(id);
		else if (used.has(bareId(id))) remembered.use(id);
		else if (usedAtMs < before && tags.every(tag => names.includes(canonical(tag)))) found.push({id, tags, usedAtMs});
	}
	return found.sort((one, other) => one.usedAtMs - other.usedAtMs);
}

const isName = (name: string): boolean => !name.includes('<none>');

const canonical = (tag: string): string => parseImageReference(tag)?.name ?? tag;

/** By its names first: an id with several is refused. False: something has begun to use it, or is made of it. */
async function removeImage(engine: Engine, {id, tags}: Candidate): Promise<boolean> {
	try {
		for (const name of [...tags, id]) await removeName(engine, name);
		return true;
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'conflict') return false;
		throw error;
	}
}

async function removeName(engine: Engine, name: string): Promise<void> {
	try {
		await engine.call('remove the image', limits.imageRemoveMs, docker => docker.getImage(name).remove());
	} catch (error) {
		// The last name took the image with it.
		if (!(error instanceof EngineError && error.fault === 'notFound')) throw error;
	}
}
