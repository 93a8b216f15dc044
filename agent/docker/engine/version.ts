// Which Engine answers: Docker's own, or Podman, which speaks as one and differs here and there.

import type {Engine} from './engine.js';

export type EngineVersion = {readonly name: 'Docker' | 'Podman'; readonly version: string};

/** Rejects with an EngineError. */
export const askVersion = (engine: Engine, timeoutMs: number): Promise<EngineVersion> =>
	engine.call('ask for its version', timeoutMs, async docker => versionOf(await docker.version()));

/** By the parts that it says it is made of. */
export function versionOf(said: {readonly Version: string}): EngineVersion {
	const {Components: parts} = said as {Components?: unknown};
	const names = Array.isArray(parts) ? parts.map((part: unknown) => (Object(part) as {Name?: unknown}).Name) : [];
	return {name: names.includes('Podman Engine') ? 'Podman' : 'Docker', version: said.Version};
}
