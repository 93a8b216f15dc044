// The kind Node: a host whose agent runs pods. Its shape is re-exported, so one import serves both.

import {nodeColumns} from '../columns/node.js';
import type {KindDefinition} from '../kind.js';
import {controlSystem} from '../keys.js';
import {deepEqual} from '../equal.js';
import type {ApiObject, Draft} from '../object.js';
import {forbid, isEmpty, membersOf, refuse, refuseUnsupported, type Found} from '../rules/report.js';
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
	defaults: (draft, old) => withSubnet(draft, old as NodeObject | undefined),
	validate,
	initialStatus,
	columns: nodeColumns,
	selectableFields: {'spec.unschedulable': object => String((object as NodeObject).spec?.unschedulable ?? false)},
};

/** No part of this version acts on them. */
const later = new Set(['providerID']);

function validate(found: Found, object: Draft, old?: ApiObject): void {
	const spec = membersOf(object.spec);
	// A node logs in under its name, and its system has it.
	if (object.metadata.name === controlSystem) refuse(found, 'metadata.name', `"${controlSystem}" is the name of the control plane`);
	checkTaints(found, 'spec.taints', spec['taints']);
	refuseUnsupported(found, spec, 'spec', later);
	checkSubnet(found, object, old as NodeObject | undefined);
}

/** The cluster gives it out, and the node's routes go by it: a manifest may repeat it. */
function checkSubnet(found: Found, {spec}: Draft, old: NodeObject | undefined): void {
	for (const field of ['podCIDR', 'podCIDRs'] as const) {
		const said = membersOf(spec)[field];
		if (!isEmpty(said) && !deepEqual(said, old?.spec?.[field]))
			forbid(found, `spec.${field}`, 'is given out by the cluster and cannot be set');
	}
}

/** What a manifest leaves out of it stays. */
function withSubnet(draft: Draft, old: NodeObject | undefined): Draft {
	const {podCIDR, podCIDRs} = old?.spec ?? {};
	const kept = {...(podCIDR === undefined ? {} : {podCIDR}), ...(podCIDRs === undefined ? {} : {podCIDRs})};
	return {...draft, spec: {...kept, ...(draft.spec as object | undefined)}};
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
