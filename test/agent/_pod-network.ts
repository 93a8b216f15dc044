// A pod network that makes nothing: every pod has the same address, and what a test says of it.

import type {PodNetwork} from '../../agent/pod-network/pod-network.js';

const nothing = (): Promise<void> => Promise.resolve();

export const aPodNetwork = <Own extends Partial<PodNetwork>>(own: Own): PodNetwork & Own => ({
	isRouted: true,
	resolver: () => '169.254.1.1',
	hostIP: undefined,
	adopt: () => undefined,
	begin: nothing,
	take: () => Promise.resolve('10.244.3.7'),
	free: () => undefined,
	ensure: nothing,
	remove: nothing,
	enter: () => ['nsenter'],
	fileOf: () => '/run/netns/none',
	learn: () => undefined,
	enforce: () => undefined,
	has: () => true,
	links: () => new Map(),
	overlay: 'none',
	isUsed: () => true,
	forwards: () => false,
	onProblem: () => undefined,
	close: () => undefined,
	...own,
});
