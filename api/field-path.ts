// The fields of a pod that a container may take as environment: the `fieldPath` of a `fieldRef`.

import type {ApiObject} from './object.js';
import type {Pod} from './shapes/pod.js';

export type FieldSource =
	| {readonly type: 'name' | 'namespace' | 'uid' | 'nodeName' | 'podIP' | 'hostIP'}
	| {readonly type: 'label' | 'annotation'; readonly key: string};

const plain: {readonly [path: string]: FieldSource} = {
	'metadata.name': {type: 'name'},
	'metadata.namespace': {type: 'namespace'},
	'metadata.uid': {type: 'uid'},
	'spec.nodeName': {type: 'nodeName'},
	'status.podIP': {type: 'podIP'},
	'status.hostIP': {type: 'hostIP'},
};

/** Kubernetes has them, this version does not. */
export const laterFieldPaths = ['spec.serviceAccountName', 'status.podIPs', 'status.hostIPs', 'metadata.labels', 'metadata.annotations'];

/** All a `fieldPath` may be. */
export const fieldPaths = [...Object.keys(plain), "metadata.labels['KEY']", "metadata.annotations['KEY']"];

const subscript = /^metadata\.(labels|annotations)\['([^']*)'\]$/;

/** What a `fieldPath` means; undefined when it means nothing here. */
export function parseFieldPath(text: string): FieldSource | undefined {
	if (Object.hasOwn(plain, text)) return plain[text];
	const match = subscript.exec(text);
	return match === null ? undefined : {type: match[1] === 'labels' ? 'label' : 'annotation', key: match[2] ?? ''};
}

/** The value of such a field; empty when the pod has none, as in Kubernetes. The addresses come from the pod's status. */
export function fieldValue(source: FieldSource, pod: Pod): string {
	switch (source.type) {
		case 'name':
			return pod.metadata.name;
		case 'namespace':
			return pod.metadata.namespace ?? '';
		case 'uid':
			return pod.metadata.uid;
		case 'nodeName':
			return pod.spec?.nodeName ?? '';
		case 'podIP':
			return pod.status?.podIP ?? '';
		case 'hostIP':
			return pod.status?.hostIP ?? '';
		case 'label':
			return textUnder(pod.metadata.labels, source.key);
		case 'annotation':
			return textUnder(pod.metadata.annotations, source.key);
	}
}

const textUnder = (texts: ApiObject['metadata']['labels'], key: string): string =>
	texts !== undefined && Object.hasOwn(texts, key) ? (texts[key] ?? '') : '';
