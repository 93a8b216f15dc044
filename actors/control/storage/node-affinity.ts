// On which nodes a volume can be used.

import {hostnameLabel} from '../../../api/local-storage.js';
import type {PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {Labels} from '../../../api/object.js';
import {matchesTerm} from '../pods/node-affinity.js';

/** By the hostname a volume means the name of a node, whatever the node's label says. */
export function isUsableOn({spec}: PersistentVolume, node: string, labels: Labels): boolean {
	const terms = spec?.nodeAffinity?.required.nodeSelectorTerms;
	return terms === undefined || terms.some(term => matchesTerm(term, {name: node, labels: {...labels, [hostnameLabel]: node}}));
}
