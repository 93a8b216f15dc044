// The images that an Engine has.

import {buildLabel} from '../../../api/image-news.js';
import {limits} from '../../../api/limits.js';
import type {ListedImage} from '../../../actors/node/runtime/runtime-port.js';
import type {Engine} from '../engine/engine.js';

/** Newest first, at most `imagesListed`. Rejects with an EngineError. */
export async function listImages(engine: Engine): Promise<readonly ListedImage[]> {
	const images = await engine.call('list images', limits.imageLookMs, docker => docker.listImages());
	const used = await usedImages(engine);
	const listed = images.map(({Id: id, RepoTags, RepoDigests, Size: bytes, Created, Labels}) => ({
		id,
		names: namesOf(RepoTags, RepoDigests),
		bytes,
		createdAtMs: 1_000 * Created,
		inUse: used.has(bareId(id)),
		build: (Labels as Readonly<Record<string, string>> | null | undefined)?.[buildLabel],
	}));
	return listed.sort((one, other) => other.createdAtMs - one.createdAtMs).slice(0, limits.imagesListed);
}

/** The bare ids of images that containers are made of, also of those that do not run. Rejects with an EngineError. */
export async function usedImages(engine: Engine): Promise<ReadonlySet<string>> {
	const containers = await engine.call('list containers', limits.imageLookMs, docker => docker.listContainers({all: true}));
	return new Set(containers.map(({ImageID}) => bareId(ImageID)));
}

/** Some Engines leave out the algorithm in some places. */
export const bareId = (id: string): string => id.replace(/^sha256:/, '');

/** The Engine writes `<none>` for what is missing, and nothing at all in newer versions. */
const namesOf = (tags: readonly string[] | null | undefined, digests: readonly string[] | null | undefined): readonly string[] =>
	[...(tags ?? []), ...(digests ?? [])].filter(name => !name.includes('<none>')).slice(0, limits.imageNames);
