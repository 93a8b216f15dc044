// The terms under which the index files nodes.

import {fnv1a} from '../../../api/fnv.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Filing} from '../../../system/index/object-index.js';

/** All nodes, and the sum of a number for each that is another one when its labels or taints are: so it is told whether any of many changed. */
export const nodesSeen = 'seen';

export const nodeTerms = ({metadata: {name, labels}, spec}: NodeObject): readonly Filing[] => [
	nodesSeen,
	{term: nodesSeen, amount: fnv1a(JSON.stringify([name, labels, spec?.taints]))},
];
