// How long the programs of a pod that ends go on as they are, so that every node that leads to it has heard of its end before it stops taking
// connections. As people of Kubernetes have it by a preStop hook that sleeps.

import {limits} from '../../../api/limits.js';
import type {Known} from '../../../system/index/object-index.js';
import {endpointSlices} from '../../network-references.js';
import type {ConfigCopy} from '../cache/config-copy.js';

/** 0: no Service that this node knows of leads to the pod, or there is no time. Never more than half of the grace. */
export const drainMsOf = (known: Known, namespace: string, uid: string, graceMs: number): number =>
	graceMs > 0 && isServing(known, namespace, uid) ? Math.min(limits.drainMs, graceMs / 2) : 0;

/** An endpoint that is terminating serves until it is not ready. */
function isServing(known: Known, namespace: string, uid: string): boolean {
	for (const copy of known.list(endpointSlices, namespace)) {
		const named = (copy as ConfigCopy).spec?.named;
		if (named?.type !== 'network' || named.object.type !== 'endpoints') continue;
		const found = named.object.endpoints.find(({targetRef}) => targetRef?.uid === uid);
		if (found?.conditions?.serving === true) return true;
	}
	return false;
}
