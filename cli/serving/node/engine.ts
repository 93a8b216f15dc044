// The Docker Engine of a node at its start: whether it answers, and what is said of that.

import {limits} from '../../../api/limits.js';
import type {RuntimeClass} from '../../../api/runtime-class.js';
import {EngineError, openEngine} from '../../../agent/docker/engine/engine.js';
import {askVersion, type EngineVersion} from '../../../agent/docker/engine/version.js';
import type {Clock} from '../../../system/time/clock.js';
import type {HostOptions} from '../serving-options.js';

export type EngineFound = EngineVersion | {readonly problem: string};

type Asked = Pick<HostOptions, 'runtime' | 'docker' | 'dockerProblem'>;

/** Asks the Engine for its version; undefined where none is looked for. */
export async function findEngine({docker}: Asked, clock: Clock): Promise<EngineFound | undefined> {
	if (docker === undefined) return undefined;
	try {
		return await askVersion(openEngine(docker.address, clock), limits.engineProbeMs);
	} catch (error) {
		if (error instanceof EngineError) return {problem: error.message};
		throw error;
	}
}

/** Whether one answers. */
export const hasEngine = (found: EngineFound | undefined): found is EngineVersion => found !== undefined && 'version' in found;

/** Of a cluster that begins: Docker where an Engine answers. */
export function firstClass({runtime}: Asked, found: EngineFound | undefined): RuntimeClass {
	if (runtime === 'docker') return 'docker';
	return runtime === 'auto' && hasEngine(found) ? 'docker' : 'process';
}

/** What runs the pods of the node, in a line. */
export function podsText({runtime, docker}: Asked, found: EngineFound | undefined): string {
	const url = docker?.url ?? '';
	const containers = hasEngine(found) ? `containers of ${found.name} ${found.version} (${url})` : '';
	switch (runtime) {
		case 'simulated':
			return 'only pretended';
		case 'process':
			return 'processes of this host';
		case 'docker':
			return containers === '' ? `containers of Docker (${url}), which does not answer yet` : containers;
		case 'auto':
			return containers === '' ? 'processes of this host' : `processes of this host, or ${containers}`;
	}
}

/** What a person is to be told, since it is not as was asked for. */
export function engineNotes({docker, dockerProblem}: Asked, found: EngineFound | undefined): readonly string[] {
	if (dockerProblem !== undefined) return [`${dockerProblem}: pods run as processes`];
	if (docker?.isAsked !== true || found === undefined || hasEngine(found)) return [];
	return [`no Docker Engine answers at ${docker.url} (${found.problem}); pods of class docker wait until one does`];
}
