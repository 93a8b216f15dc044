// A node's row as kubectl shows it.

import {conditionOf} from '../conditions.js';
import type {Column} from '../kind.js';
import type {ApiObject} from '../object.js';
import {memoryBytes, memoryText} from '../quantity.js';
import {unreachableTaint} from '../rules/taints.js';
import type {NodeAddress, NodeObject} from '../shapes/node.js';
import {ageColumn, column, nameColumn, none, wideColumn} from './common.js';

const asNode = (object: ApiObject): NodeObject => object as NodeObject;

/** `Ready`, `NotReady` (lost) or `Unknown` (not heard), and whether it is cordoned. */
function nodeStatusText(node: NodeObject): string {
	const ready = conditionOf(node.status?.conditions, 'Ready')?.status;
	const isLost = node.spec?.taints?.some(({key}) => key === unreachableTaint) === true;
	const text = ready === 'True' ? 'Ready' : ready === 'False' || isLost ? 'NotReady' : 'Unknown';
	return node.spec?.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesText(node: NodeObject): string {
	const roles = Object.keys(node.metadata.labels ?? {}).filter(key => key.startsWith(rolePrefix));
	return (
		roles
			.map(key => key.slice(rolePrefix.length))
			.sort()
			.join(',') || none
	);
}

const addressText = (node: NodeObject, type: NodeAddress['type']): string =>
	node.status?.addresses?.find(address => address.type === type)?.address ?? none;

const unknown = '<unknown>';

/** `4 cpu, 8Gi, 110 pods`. */
function allocatableText(node: NodeObject): string {
	const {cpu, memory, pods} = node.status?.allocatable ?? {};
	const bytes = memory === undefined ? undefined : memoryBytes(memory);
	const parts = [
		cpu === undefined ? [] : [`${cpu} cpu`],
		bytes === undefined ? [] : [memoryText(bytes)],
		pods === undefined ? [] : [`${pods} pods`],
	].flat();
	return parts.length === 0 ? unknown : parts.join(', ');
}

const taintsText = (node: NodeObject): string =>
	(node.spec?.taints ?? [])
		.map(({key, value, effect}) => `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`)
		.join(',') || none;

export const nodeColumns: readonly Column[] = [
	nameColumn,
	column('Status', 'Whether it takes and runs pods.', object => nodeStatusText(asNode(object))),
	column('Roles', 'What it is for.', object => rolesText(asNode(object))),
	ageColumn,
	column('Version', 'The version of its agent.', object => asNode(object).status?.nodeInfo?.kubeletVersion ?? ''),
	wideColumn('Internal-IP', 'Its address within the cluster.', object => addressText(asNode(object), 'InternalIP')),
	wideColumn('External-IP', 'Its address outside.', object => addressText(asNode(object), 'ExternalIP')),
	wideColumn('Allocatable', 'What its pods may ask for in all.', object => allocatableText(asNode(object))),
	wideColumn('Taints', 'Whom it keeps away.', object => taintsText(asNode(object))),
	wideColumn('OS-Image', 'Its operating system.', object => asNode(object).status?.nodeInfo?.osImage ?? unknown),
	wideColumn('Kernel-Version', 'Its kernel.', object => asNode(object).status?.nodeInfo?.kernelVersion ?? unknown),
	wideColumn(
		'Container-Runtime',
		'What runs its containers.',
		object => asNode(object).status?.nodeInfo?.containerRuntimeVersion ?? unknown,
	),
];
