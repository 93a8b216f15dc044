// What a node has of sandboxes and runners that were made in advance, as its files and its Engine say it.

import path from 'node:path';
import {foldersIn} from '../../agent/os/folders.js';
import {labels} from '../../agent/docker/engine/names.js';
import {readOwner} from '../../agent/docker/owner.js';
import {readSandbox, type Infra} from '../../agent/docker/sandboxes/sandboxes.js';
import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {until} from '../../bench/rigs/servers/server.js';

/** By the uid of their pods. */
export const infrasIn = (directory: string): ReadonlyMap<string, Infra> =>
	new Map(
		foldersIn(directory).flatMap(uid => {
			const infra = readSandbox(path.join(directory, uid), uid)?.infra;
			return infra === undefined ? [] : [[uid, infra]];
		}),
	);

/** Those that run and that no pod has. */
export async function spareIn({docker}: Dockerd, directory: string): Promise<readonly string[]> {
	const said = [`${labels.owner}=${readOwner(directory) ?? ''}`, `${labels.sandbox}=warm`].flatMap(label => ['--filter', `label=${label}`]);
	const ids = (await docker('ps', '-q', '--no-trunc', ...said)).split('\n').filter(Boolean);
	const taken = new Set([...infrasIn(directory).values()].map(({id}) => id));
	return ids.filter(id => !taken.has(id));
}

export async function untilSpare(dockerd: Dockerd, directory: string, count: number): Promise<readonly string[]> {
	let spare: readonly string[] = [];
	await until(
		`${count} sandboxes are ready`,
		async () => {
			spare = await spareIn(dockerd, directory);
			return spare.length === count;
		},
		60_000,
	);
	return spare;
}

/** Runners that say by their name that no pod has them. */
export async function runnersIn({docker}: Dockerd, directory: string): Promise<readonly string[]> {
	const said = [`label=${labels.owner}=${readOwner(directory) ?? ''}`, `label=${labels.sandbox}=runner`, 'name=troupe_warm-'];
	const ids = await docker('ps', '-q', '--no-trunc', ...said.flatMap(each => ['--filter', each]));
	return ids.split('\n').filter(Boolean);
}

export async function untilRunners(dockerd: Dockerd, directory: string, count: number): Promise<readonly string[]> {
	let ids: readonly string[] = [];
	await until(
		`${count} runners wait`,
		async () => {
			ids = await runnersIn(dockerd, directory);
			return ids.length === count;
		},
		60_000,
	);
	return ids;
}
