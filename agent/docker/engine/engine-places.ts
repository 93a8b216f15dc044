// Where an Engine has what is its own: its sockets, its images and containers, what it runs them with. Who has one of these has the host.

import type {EngineAddress} from './engine-url.js';

export type EnginePlaces = {
	/** What the Engine has answered when it was asked how it is: where it keeps its files. */
	readonly learn: (info: unknown) => void;
	readonly all: () => readonly string[];
};

/** Where Docker, and containerd below it, are when nothing else is said. Where they keep what runs they do not tell. */
const usual = ['/run/docker', '/run/docker.sock', '/var/lib/docker', '/run/containerd', '/var/lib/containerd'];

export function openEnginePlaces(address: EngineAddress): EnginePlaces {
	const known = new Set('socketPath' in address ? [...usual, address.socketPath] : usual);
	return {
		learn(info) {
			const {DockerRootDir: root} = Object(info) as {DockerRootDir?: unknown};
			if (typeof root === 'string' && root.startsWith('/') && root !== '/') known.add(root);
		},
		all: () => [...known],
	};
}
