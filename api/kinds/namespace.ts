// The kind Namespace: a room for names.

import {ageColumn, column, nameColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, Labels} from '../object.js';
import {checkDnsLabel, isDnsSubdomain} from '../rules/names.js';
import {forbid, itemsOf, membersOf, type Found} from '../rules/report.js';
import {shown} from '../shown.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/namespace.js';

export type NamespaceSpec = ShapeOf<typeof spec>;
export type NamespaceStatus = ShapeOf<typeof status>;
export type Namespace = ApiObject<NamespaceSpec, NamespaceStatus>;

/** Where an object is when it does not say. */
export const defaultNamespace = 'default';

/** By which selectors find a namespace by its name, as in Kubernetes: each has it. */
const nameLabel = 'kubernetes.io/metadata.name';

/** Its labels; namespaces that an older version stored may lack that one. */
export const labelsOfNamespace = (name: string, labels: Labels | undefined): Labels => ({...labels, [nameLabel]: name});

function withNameLabel(draft: Draft): Draft {
	const {name, labels} = draft.metadata;
	return name === undefined ? draft : {...draft, metadata: {...draft.metadata, labels: labelsOfNamespace(name, labels)}};
}

const phaseOf = (object: ApiObject): string => (object as Namespace).status?.phase ?? 'Active';

export const namespace: KindDefinition = {
	kind: 'Namespace',
	group: '',
	version: 'v1',
	plural: 'namespaces',
	singular: 'namespace',
	shortNames: ['ns'],
	namespaced: false,
	defaults: draft => withNameLabel({...draft, spec: draft.spec ?? {}}),
	validate,
	initialStatus: (): NamespaceStatus => ({phase: 'Active'}),
	refuseDeletion: ({metadata}) =>
		metadata.name === defaultNamespace ? `namespaces "${defaultNamespace}" is forbidden: this namespace may not be deleted` : undefined,
	columns: [nameColumn, column('Status', 'Active, or on its way out.', phaseOf), ageColumn],
	selectableFields: {'status.phase': phaseOf},
};

function validate(found: Found, object: Draft): void {
	const {name} = membersOf(object.metadata);
	if (typeof name === 'string' && isDnsSubdomain(name)) checkDnsLabel(found, 'metadata.name', name);
	itemsOf(membersOf(object.spec)['finalizers']).forEach((finalizer, i) => {
		if (finalizer === 'kubernetes' || typeof finalizer !== 'string') return;
		forbid(found, `spec.finalizers[${i}]`, `${shown(finalizer)} is not supported yet; metadata.finalizers are`);
	});
}
