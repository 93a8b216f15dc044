// The images that an Engine has.

import {limits} from '../../../api/limits.js';
import type {ListedImage} from '../../../actors/node/runtime/runtime-port.js';
import type {Engine} from '../engine/engine.js';

/** All but layers without a name that are only parts of others, newest first; at most `imagesListed`. Rejects with an EngineError. */
export async function listImages(engine: Engine): Promise<readonly ListedImage[]> {
	const [images, containers] = await Promise.all([
		engine.call('list images', limits.imageLookMs, docker => docker.listImages()),
		engine.call('list containers', limits.imageLookMs, docker => docker.listContainers({all: true})),
	]);
	const used = new Set(containers.map(({ImageID}) => ImageID));
	const listed = images.map(({Id: id, RepoTags, RepoDigests, Size: bytes, Created}) => ({
		id,
		names: namesOf(RepoTags, RepoDigests),
		bytes,
		createdAtMs: 1_000 * Created,
		inUse: used.has(id),
	}));
	return listed.sort((one, other) => other.createdAtMs - one.createdAtMs).slice(0, limits.imagesListed);
}

/** The Engine writes `<none>` for what is missing, and nothing at all in newer versions. */
const namesOf = (tags: readonly string[] | null | undefined, digests: readonly string[] | null | undefined): readonly string[] =>
	[...(tags ?? []), ...(digests ?? [])].filter(name => !name.includes('<none>')).slice(0, limits.imageNames);
