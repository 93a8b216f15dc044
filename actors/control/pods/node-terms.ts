// The terms under which the index files nodes.

import {fnv1a} from '../../../api/fnv.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Filing} from '../../../system/index/object-index.js';

/** All nodes, and the sum of a number for each that is another one when its labels or taints are: so it is told whether any of many changed. */
export const nodesSeen = 'seen';

/** Nodes that serve traffic: all that is theirs to know goes to them. */
export const servesNetwork = 'network';

export const nodeTerms = ({metadata: {name, labels}, spec, status}: NodeObject): readonly Filing[] => [
	nodesSeen,
	{term: nodesSeen, amount: fnv1a(JSON.stringify([name, labels, spec?.taints]))},
	...(status?.network === undefined ? [] : [servesNetwork]),
];
