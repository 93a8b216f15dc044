// The ConfigMaps and Secrets that a pod names. Both ends of node sync go by it: control to know what a node needs, the node to know
// whom a change concerns.

import {objectKey, parseObjectKey, type ObjectKey} from '../api/keys.js';
import type {PodSpec} from '../api/kinds/pod.js';
import type {ApiObject} from '../api/object.js';

export const configMaps = 'configmaps';
export const secrets = 'secrets';

export const configMapKey = (namespace: string, name: string): ObjectKey => objectKey(configMaps, namespace, name);
export const secretKey = (namespace: string, name: string): ObjectKey => objectKey(secrets, namespace, name);

/** Whether pods can name objects of this key. */
export function isNamed(key: ObjectKey): boolean {
	const {plural} = parseObjectKey(key);
	return plural === configMaps || plural === secrets;
}

/** Their keys, each once. */
export function namedIn(spec: PodSpec, namespace: string): readonly ObjectKey[] {
	const {containers, initContainers = []} = spec;
	const keys = new Set<ObjectKey>(volumesIn(spec, namespace));
	const name = (configMap: string | undefined, secret: string | undefined): void => {
		if (configMap !== undefined) keys.add(configMapKey(namespace, configMap));
		if (secret !== undefined) keys.add(secretKey(namespace, secret));
	};
	for (const {env = [], envFrom = []} of [...containers, ...initContainers]) {
		for (const {configMapRef, secretRef} of envFrom) name(configMapRef?.name, secretRef?.name);
		for (const {valueFrom} of env) name(valueFrom?.configMapKeyRef?.name, valueFrom?.secretKeyRef?.name);
	}
	return [...keys];
}

/** Those that its volumes name, each once. */
export function volumesIn({volumes = []}: PodSpec, namespace: string): readonly ObjectKey[] {
	const keys = volumes.flatMap(({configMap, secret}) => [
		...(configMap === undefined ? [] : [configMapKey(namespace, configMap.name)]),
		...(secret === undefined ? [] : [secretKey(namespace, secret.secretName)]),
	]);
	return [...new Set(keys)];
}

/** Changes exactly when what a program can see of the object does. */
export const namedVersion = ({metadata: {uid, generation}}: ApiObject): string => `${uid}.${generation}`;

/** The term of whatever names an object. */
export const names = (key: ObjectKey): string => `names=${key}`;
