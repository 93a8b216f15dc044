// Pods made from a template, and how many at a time.

import {limits} from '../../../api/limits.js';
import type {Draft} from '../../../api/object.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import type {Failures} from '../objects/controller.js';
import {ownerReferenceTo} from '../objects/owners.js';
import type {Workload} from './census.js';

/** The pod of that name which the workload's template makes; the workload is its controller. */
export function podOf(workload: Workload, name: string): Draft {
	const {metadata, spec} = workload;
	const {labels, annotations} = spec?.template.metadata ?? {};
	return {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {
			name,
			...(metadata.namespace === undefined ? {} : {namespace: metadata.namespace}),
			...(labels === undefined ? {} : {labels}),
			...(annotations === undefined ? {} : {annotations}),
			ownerReferences: [ownerReferenceTo(workload)],
		},
		spec: spec?.template.spec,
	};
}

/** One create of a name is open at a time. */
export const creation = (object: Draft): Effect => ({type: 'create', object, id: creationId(object.metadata.name ?? '')});

export const creationId = (name: string): string => `create/${name}`;

/**
 * How many creates may be asked for now: not more are under way than there are pods already, so that a template which is refused is refused
 * a few times, not a thousand times; after a failure one alone. After slowStartBatch of Kubernetes' controllers.
 */
export function slowStart(missing: number, present: number, coming: number, {rounds}: Failures): number {
	const atOnce = rounds > 0 ? 1 : Math.max(present, limits.firstCreates);
	return Math.max(0, Math.min(missing, atOnce - coming));
}
