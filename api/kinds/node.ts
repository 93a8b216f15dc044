// The kind Node: a host whose agent runs pods. Its shape is re-exported, so one import serves both.

import {nodeColumns} from '../columns/node.js';
import type {KindDefinition} from '../kind.js';
import {controlSystem} from '../keys.js';
import type {Draft} from '../object.js';
import {membersOf, refuse, refuseUnsupported, type Found} from '../rules/report.js';
import {checkTaints} from '../rules/taints.js';
import type {NodeObject, NodeStatus} from '../shapes/node.js';

export type * from '../shapes/node.js';

/** Keeps the address that a manifest of the older dialect gave a node. */
export const nodeIpAnnotation = 'troupe.dev/ip';

export const node: KindDefinition = {
	kind: 'Node',
	group: '',
	version: 'v1',
	plural: 'nodes',
	singular: 'node',
	shortNames: ['no'],
	namespaced: false,
	defaults: draft => ({...draft, spec: draft.spec ?? {}}),
	validate,
	initialStatus,
	columns: nodeColumns,
	selectableFields: {'spec.unschedulable': object => String((object as NodeObject).spec?.unschedulable ?? false)},
};

/** No part of this version acts on them. */
const later = new Set(['podCIDR', 'podCIDRs', 'providerID']);

function validate(found: Found, object: Draft): void {
	const spec = membersOf(object.spec);
	// A node logs in under its name, and its system has it.
	if (object.metadata.name === controlSystem) refuse(found, 'metadata.name', `"${controlSystem}" is the name of the control plane`);
	checkTaints(found, 'spec.taints', spec['taints']);
	refuseUnsupported(found, spec, 'spec', later);
}

function initialStatus({metadata}: Draft): NodeStatus {
	const since = metadata.creationTimestamp;
	return {
		conditions: [
			{
				type: 'Ready',
				status: 'Unknown',
				reason: 'NodeStatusNeverUpdated',
				message: 'the agent of the node was not heard of yet',
				...(since === undefined ? {} : {lastTransitionTime: since}),
			},
		],
	};
}
