// ConfigMaps and Secrets as control has them, and a node's cache of them.

import type {ConfigMap} from '../../api/kinds/configmap.js';
import type {Secret} from '../../api/kinds/secret.js';
import {objectKey, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import {nodeDesign} from '../../actors/node/design.js';
import type {ConfigCopy} from '../../actors/node/cache/config-copy.js';
import type {ConfigData} from '../../actors/protocol/sync-message.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {before} from './_objects.js';

const metadataOf = (plural: string, name: string, generation: number): ApiObject['metadata'] => ({
	name,
	namespace: 'default',
	uid: `uid-of-${plural}-${name}`,
	resourceVersion: '1',
	generation,
	creationTimestamp: before,
});

export const aConfigMap = (name: string, data: NonNullable<ConfigMap['data']> = {}, generation = 1): ConfigMap => ({
	apiVersion: 'v1',
	kind: 'ConfigMap',
	metadata: metadataOf('configmaps', name, generation),
	data,
});

/** Its values are nothing that opens. */
export const aSecret = (name: string, generation = 1): Secret => ({
	apiVersion: 'v1',
	kind: 'Secret',
	metadata: metadataOf('secrets', name, generation),
	type: 'Opaque',
	data: {password: 'troupe.sealed.v1.AAAA'},
});

export function aCopy(key: ObjectKey, named: ConfigData, version = 'v1'): ConfigCopy {
	const {namespace, name} = parseObjectKey(key);
	const metadata = {name, namespace, uid: key, resourceVersion: '', generation: 1, creationTimestamp: ''};
	return {apiVersion: 'node.troupe.dev/v1', kind: 'NamedObject', metadata, spec: {named, version}};
}

/** A node's cache with these copies, all of version v1. */
export function cacheOf(copies: {readonly [key: ObjectKey]: ConfigData}): ObjectIndex {
	const known = new ObjectIndex(nodeDesign.termsOf);
	for (const [at, [key, named]] of Object.entries(copies).entries()) known.apply(key, at + 1, aCopy(key, named), () => '');
	return known;
}

export const configMapOf = (data: {readonly [key: string]: string}): ConfigData => ({type: 'configMap', data});
export const secretCopy: ConfigData = {type: 'secret'};
export const settingsKey = objectKey('configmaps', 'default', 'settings');
export const dbKey = objectKey('secrets', 'default', 'db');
