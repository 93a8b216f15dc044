// What a node tells of its network beside its runtime, and what it cannot do of it, as a condition.

import type {RuntimeInfo} from '../../protocol/runtime-info.js';
import type {Network} from './network-port.js';
import type {Runtime} from './runtime-port.js';

/** True of a node on which some of Services, names and routes are not served as they should be. */
export const networkDegraded = 'NetworkDegraded';

/** The runtime, as far as control is told; it tells anew when there are other problems. */
export function withNetwork(runtime: Runtime, network: Network | undefined): Runtime {
	if (network === undefined) return runtime;
	let problems: readonly string[] = [];
	return {
		...runtime,
		info: () => withProblems(withReach({...runtime.info(), network: network.info()}), problems),
		onEvent(listener) {
			runtime.onEvent(listener);
			network.onStatus(status => {
				if (status.problems.join('\n') === problems.join('\n')) return;
				problems = status.problems;
				listener({type: 'infoChanged'});
			});
		},
	};
}

/** True of a node that other hosts do not reach. */
export const networkRelayed = 'NetworkRelayed';

const relayed = {
	type: networkRelayed,
	reason: 'BehindNAT',
	message:
		'other hosts do not reach this one: TCP of Services and routes to and from its pods goes over its connection to the control plane; UDP, and the addresses of its pods themselves, are not reached',
};

const withReach = (info: RuntimeInfo): RuntimeInfo =>
	info.network?.reach === 'relayed' ? {...info, conditions: [...info.conditions, relayed]} : info;

function withProblems(info: RuntimeInfo, problems: readonly string[]): RuntimeInfo {
	if (problems.length === 0) return info;
	const condition = {type: networkDegraded, reason: 'DataPlane', message: problems.join('; ')};
	return {...info, conditions: [...info.conditions, condition]};
}
