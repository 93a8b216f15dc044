// Rules of how pods are spread over the parts of a cluster.

import {checkPodSelector, checkTopologyKey} from './affinity.js';
import {itemsOf, membersOf, refuseDuplicates, type Found} from './report.js';

/** A part-making label is spread over once in each way. */
export function checkSpread(found: Found, path: string, constraints: unknown): void {
	const ways = itemsOf(constraints).flatMap((item, i) => {
		const {topologyKey, whenUnsatisfiable, labelSelector} = membersOf(item);
		const at = `${path}[${i}]`;
		checkTopologyKey(found, `${at}.topologyKey`, topologyKey);
		checkPodSelector(found, `${at}.labelSelector`, labelSelector);
		return typeof topologyKey === 'string' && typeof whenUnsatisfiable === 'string'
			? [{value: `${topologyKey} with ${whenUnsatisfiable}`, path: at}]
			: [];
	});
	refuseDuplicates(found, ways, (way, first) => `${way} is at ${first} already`);
}
