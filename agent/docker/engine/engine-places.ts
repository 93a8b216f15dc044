// Where an Engine has what is its own: its sockets, its images and containers, what it runs them with. Who has one of these has the host.

import {limits} from '../../../api/limits.js';
import type {Engine} from './engine.js';
import type {EngineAddress} from './engine-url.js';

export type EnginePlaces = {
	/** Asks the Engine. Rejects with an EngineError. */
	readonly learn: (engine: Engine) => Promise<void>;
	readonly all: () => readonly string[];
};

/** Where Docker, and containerd below it, are when nothing else is said. Where they keep what runs they do not tell. */
const usual = ['/run/docker', '/run/docker.sock', '/var/lib/docker', '/run/containerd', '/var/lib/containerd'];

export function openEnginePlaces(address: EngineAddress): EnginePlaces {
	const known = new Set('socketPath' in address ? [...usual, address.socketPath] : usual);
	return {
		async learn(engine) {
			const said: unknown = await engine.call('ask where it keeps its files', limits.engineAnswerMs, docker => docker.info());
			const {DockerRootDir: root} = Object(said) as {DockerRootDir?: unknown};
			if (typeof root === 'string' && root.startsWith('/') && root !== '/') known.add(root);
		},
		all: () => [...known],
	};
}
