// The ConfigMaps and Secrets ("config") that a pod names. Both ends of node sync go by it: control to know what a node needs, the node
// to know which pods a change concerns.

import {objectKey, parseObjectKey, type ObjectKey} from '../api/keys.js';
import type {PodSpec} from '../api/kinds/pod.js';
import type {ApiObject} from '../api/object.js';

export const configMaps = 'configmaps';
export const secrets = 'secrets';

export const configMapKey = (namespace: string, name: string): ObjectKey => objectKey(configMaps, namespace, name);
export const secretKey = (namespace: string, name: string): ObjectKey => objectKey(secrets, namespace, name);

/** Whether it is the key of a ConfigMap or Secret. */
export function isConfigKey(key: ObjectKey): boolean {
	const {plural} = parseObjectKey(key);
	return plural === configMaps || plural === secrets;
}

/** The keys of the ConfigMaps and Secrets that a pod names, each once. */
export function configKeysOf(spec: PodSpec, namespace: string): readonly ObjectKey[] {
	const {containers, initContainers = []} = spec;
	const keys = new Set<ObjectKey>(volumeConfigKeysOf(spec, namespace));
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

/** The keys of those that its volumes name, each once. */
export function volumeConfigKeysOf({volumes = []}: PodSpec, namespace: string): readonly ObjectKey[] {
	const keys = volumes.flatMap(({configMap, secret}) => [
		...(configMap === undefined ? [] : [configMapKey(namespace, configMap.name)]),
		...(secret === undefined ? [] : [secretKey(namespace, secret.secretName)]),
	]);
	return [...new Set(keys)];
}

/** Changes exactly when what a program can see of the object does. */
export const configVersion = ({metadata: {uid, generation}}: ApiObject): string => `${uid}.${generation}`;

/** The index term of pods, or assignments, that name a ConfigMap or Secret. */
export const configTerm = (key: ObjectKey): string => `names=${key}`;
