// The fields of a pod that a container may take as environment: the `fieldPath` of a `fieldRef`.

import type {Labels} from './object.js';

export type FieldSource =
	| {readonly type: 'name' | 'namespace' | 'uid' | 'nodeName' | 'serviceAccountName' | 'podIP' | 'hostIP'}
	| {readonly type: 'label' | 'annotation'; readonly key: string};

const plain: {readonly [path: string]: FieldSource} = {
	'metadata.name': {type: 'name'},
	'metadata.namespace': {type: 'namespace'},
	'metadata.uid': {type: 'uid'},
	'spec.nodeName': {type: 'nodeName'},
	'spec.serviceAccountName': {type: 'serviceAccountName'},
	'status.podIP': {type: 'podIP'},
	'status.hostIP': {type: 'hostIP'},
	// A pod and a host have one address each.
	'status.podIPs': {type: 'podIP'},
	'status.hostIPs': {type: 'hostIP'},
};

/** Kubernetes has them in volumes only; this version does not. */
export const laterFieldPaths = ['metadata.labels', 'metadata.annotations'];

/** All a `fieldPath` may be. */
export const fieldPaths = [...Object.keys(plain), "metadata.labels['KEY']", "metadata.annotations['KEY']"];

const subscript = /^metadata\.(labels|annotations)\['([^']*)'\]$/;

/** What a `fieldPath` means; undefined when it means nothing here. */
export function parseFieldPath(text: string): FieldSource | undefined {
	if (Object.hasOwn(plain, text)) return plain[text];
	const match = subscript.exec(text);
	return match === null ? undefined : {type: match[1] === 'labels' ? 'label' : 'annotation', key: match[2] ?? ''};
}

/** What a container may be told of its pod. */
export type PodFields = {
	readonly name: string;
	readonly namespace: string;
	readonly uid: string;
	readonly nodeName: string;
	readonly podIP: string;
	readonly hostIP: string;
	readonly labels: Labels;
	readonly annotations: Labels;
};

/** Without accounts of its own every pod runs as the one that Kubernetes would give it. */
const serviceAccountName = 'default';

/** The value of such a field; empty for a label or annotation that the pod does not have, as in Kubernetes. */
export function fieldValue(source: FieldSource, fields: PodFields): string {
	switch (source.type) {
		case 'label':
			return textUnder(fields.labels, source.key);
		case 'annotation':
			return textUnder(fields.annotations, source.key);
		case 'serviceAccountName':
			return serviceAccountName;
		default:
			return fields[source.type];
	}
}

/** `constructor` is a fine name for a label. */
const textUnder = (texts: Labels, key: string): string => (Object.hasOwn(texts, key) ? (texts[key] ?? '') : '');
