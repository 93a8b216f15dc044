// Objects the tests of this folder start from.

import type {ApiObject, JsonObject} from '../../api/object.js';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kindByPlural} from '../../api/catalogue.js';
import type {Container, PodSpec} from '../../api/kinds/pod.js';

export const aContainer = (fields: Partial<Container> = {}): Container => ({name: 'main', image: 'node:20', command: ['node'], ...fields});

/** A manifest of a pod. */
export const aPod = (spec: Partial<PodSpec> = {}, metadata: JsonObject = {}) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'web', ...metadata},
	spec: {containers: [aContainer()], ...spec},
});

/** A pod with one container that has these fields, of whatever type. */
export const aPodWith = (fields: {readonly [field: string]: unknown}) => ({
	...aPod(),
	spec: {containers: [{...aContainer(), ...fields}]},
});

export const aReplicaSet = (spec: {readonly [field: string]: unknown} = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name: 'web'},
	spec: {
		replicas: 3,
		selector: {matchLabels: {app: 'web'}},
		template: {metadata: {labels: {app: 'web'}}, spec: {containers: [aContainer()]}},
		...spec,
	},
});

/** The object as the cluster would keep it. */
export function committed(manifest: unknown, status?: unknown): ApiObject {
	const admitted = admitCreate(manifest);
	if (!admitted.ok) throw new Error(admitted.error.message);
	const {metadata, ...rest} = admitted.value;
	const full = {
		uid: 'u-1',
		resourceVersion: '7',
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
		...metadata,
		name: metadata.name ?? '',
	};
	return {...rest, metadata: full, ...(status === undefined ? {} : {status})};
}

/** Every problem of a refused manifest, or of what an object is changed into, as people read them. */
export function problemsOf(manifest: unknown, old?: ApiObject): string[] {
	const admitted = old === undefined ? admitCreate(manifest) : admitUpdate(manifest, old);
	return admitted.ok ? [] : admitted.error.message.split('\n');
}

/** What a listing shows of an object, but for its age. */
export const cells = (plural: string, object: ApiObject): readonly unknown[] =>
	kindByPlural(plural)?.columns.flatMap(({name, cell}) => (name === 'Age' ? [] : [cell(object, 0)])) ?? [];
