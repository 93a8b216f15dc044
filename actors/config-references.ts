// The ConfigMaps, Secrets and claims ("config") that a pod names, and the volumes that a node is to remove. Both ends of node sync go by it: control to know what a node needs, the node
// to know which pods a change concerns.

import {objectKey, parseObjectKey, type ObjectKey} from '../api/keys.js';
import type {PodSpec} from '../api/kinds/pod.js';
import type {ApiObject} from '../api/object.js';

export const configMaps = 'configmaps';
export const secrets = 'secrets';

export const configMapKey = (namespace: string, name: string): ObjectKey => objectKey(configMaps, namespace, name);
export const claims = 'persistentvolumeclaims';
export const volumes = 'persistentvolumes';

/** All of which a node keeps copies. */
export const configPlurals: readonly string[] = [configMaps, secrets, claims, volumes];

export const claimKey = (namespace: string, name: string): ObjectKey => objectKey(claims, namespace, name);
export const volumeKey = (name: string): ObjectKey => objectKey(volumes, undefined, name);

export const secretKey = (namespace: string, name: string): ObjectKey => objectKey(secrets, namespace, name);

/** Whether a node may have a copy of what has this key, its pods aside. */
export const isConfigKey = (key: ObjectKey): boolean => configPlurals.includes(parseObjectKey(key).plural);

/** The keys of the ConfigMaps, Secrets and claims that a pod names, each once. */
export function configKeysOf(spec: PodSpec, namespace: string): readonly ObjectKey[] {
	const {containers, initContainers = [], imagePullSecrets = []} = spec;
	const keys = new Set<ObjectKey>(volumeConfigKeysOf(spec, namespace));
	const name = (configMap: string | undefined, secret: string | undefined): void => {
		if (configMap !== undefined) keys.add(configMapKey(namespace, configMap));
		if (secret !== undefined) keys.add(secretKey(namespace, secret));
	};
	for (const {name: secret} of imagePullSecrets) name(undefined, secret);
	for (const {env = [], envFrom = []} of [...containers, ...initContainers]) {
		for (const {configMapRef, secretRef} of envFrom) name(configMapRef?.name, secretRef?.name);
		for (const {valueFrom} of env) name(valueFrom?.configMapKeyRef?.name, valueFrom?.secretKeyRef?.name);
	}
	return [...keys];
}

/** The keys of those that its volumes name, each once. */
export function volumeConfigKeysOf(spec: PodSpec, namespace: string): readonly ObjectKey[] {
	const keys = (spec.volumes ?? []).flatMap(({configMap, secret, persistentVolumeClaim}) => [
		...(persistentVolumeClaim === undefined ? [] : [claimKey(namespace, persistentVolumeClaim.claimName)]),
		...(configMap === undefined ? [] : [configMapKey(namespace, configMap.name)]),
		...(secret === undefined ? [] : [secretKey(namespace, secret.secretName)]),
	]);
	return [...new Set(keys)];
}

/** The names of the claims of a pod, each once. */
export const claimNamesOf = ({volumes: all = []}: PodSpec): readonly string[] => [
	...new Set(all.flatMap(({persistentVolumeClaim}) => persistentVolumeClaim?.claimName ?? [])),
];

/** Changes exactly when what a program can see of the object does. */
export const configVersion = ({metadata: {uid, generation}}: ApiObject): string => `${uid}.${generation}`;

/** The index term of pods, or assignments, that name a ConfigMap, a Secret or a claim. */
export const configTerm = (key: ObjectKey): string => `names=${key}`;
