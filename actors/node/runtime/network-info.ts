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
		info: () => withProblems({...runtime.info(), network: network.info()}, problems),
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

function withProblems(info: RuntimeInfo, problems: readonly string[]): RuntimeInfo {
	if (problems.length === 0) return info;
	const condition = {type: networkDegraded, reason: 'DataPlane', message: problems.join('; ')};
	return {...info, conditions: [...info.conditions, condition]};
}
