// Under which terms the index files a pod for whoever looks for a node, and for whoever looks at one.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Filing} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {belowDefault, cpuOnNode, memoryOnNode, nominated, occupies, onNode, portOnNode, repelling, unbound} from '../pod-terms.js';
import {needsOf, repels} from './needs.js';

/** Pods that are over take no room. */
export function placeTerms(pod: Pod): readonly Filing[] {
	const {spec, status} = pod;
	const node = spec?.nodeName;
	if (spec === undefined) return [];
	if (node === undefined) {
		if (isDeleting(pod) || isTerminal(pod)) return [];
		return status?.nominatedNodeName === undefined ? [unbound] : [unbound, nominated];
	}
	if (isTerminal(pod)) return [onNode(node)];
	const {ports, cpuMillis, memoryBytes, priority} = needsOf(spec);
	const filings: Filing[] = [onNode(node), occupies(node), ...ports.map(port => portOnNode(node, port))];
	if (cpuMillis > 0) filings.push({term: cpuOnNode(node), amount: cpuMillis});
	if (memoryBytes > 0) filings.push({term: memoryOnNode(node), amount: memoryBytes});
	if (priority < 0) filings.push(belowDefault);
	if (repels(spec)) filings.push(repelling);
	return filings;
}
