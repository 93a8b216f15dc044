// One ConfigMap, Secret or claim that pods of this node name, or one object of the network, as the node's cache keeps it: of a Secret no more than
// its version.

import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {timestampOf, type ApiObject} from '../../../api/object.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next, type ReplyTo} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {besides, configPath, networkPath, volumeUsagePath} from '../../addresses.js';
import {claims, secrets} from '../../config-references.js';
import {isCertificateKey, isNetworkKey} from '../../network-references.js';
import type {ConfigData} from '../../protocol/sync-message.js';

export type ConfigCopy = ApiObject<{readonly named: ConfigData; readonly version: string}>;

/** What this node has of a ConfigMap or Secret; undefined: nothing. */
export const cachedConfig = (known: Known, key: ObjectKey): ConfigCopy['spec'] => (known.get(key) as ConfigCopy | undefined)?.spec;

/** What control says of it; null: this node needs it no more, or it is not there. */
export type KeepConfig = {
	readonly type: 'keepConfig';
	readonly key: ObjectKey;
	readonly version: string;
	readonly named: ConfigData | null;
	readonly replyTo?: ReplyTo | undefined;
};

export type ConfigCopyState = {readonly key: ObjectKey; readonly copy: ConfigCopy | undefined};

export const configCopy: Behavior<KeepConfig, ConfigCopyState, KeepConfig> = {
	kind: 'ConfigCopy',
	init: (message, context) => keep({key: message.key, copy: undefined}, message, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'keepConfig':
				return keep(state, message, context);
		}
	},
	persistence: {
		key: ({key}) => key,
		objectOf: ({copy}) => copy,
		withObject: (state, object) => ({...state, copy: object as ConfigCopy}),
		restore: object => ({key: object.metadata.uid, copy: object as ConfigCopy}),
	},
	pastIntensity: 'backOff',
};

function keep(state: ConfigCopyState, {key, version, named, replyTo}: KeepConfig, {self, nowMs}: Context): Next<ConfigCopyState> {
	const taken = reply(replyTo, {ok: true, value: null});
	if (named === null) return next({...state, copy: undefined}, [...taken, ...forgotten(key, self), ...changeTold(key, self)]);
	return next({...state, copy: copyOf(key, version, named, nowMs)}, [...taken, ...changeTold(key, self)]);
}

/** The edge may forget its values. */
const forgotten = (key: ObjectKey, self: string): readonly Effect[] =>
	parseObjectKey(key).plural === secrets || isCertificateKey(key) ? [tell(besides(self, configPath), {type: 'retainSecrets'})] : [];

/** Which volumes are counted follows from the claims that are named, and what serves traffic is to have each change. */
function changeTold(key: ObjectKey, self: string): readonly Effect[] {
	if (isNetworkKey(key)) return [tell(besides(self, networkPath), {type: 'networkChanged', key})];
	return parseObjectKey(key).plural === claims ? [tell(besides(self, volumeUsagePath), {type: 'look'})] : [];
}

/** As it is kept. The words of its form are in caches of earlier versions. */
export function copyOf(key: ObjectKey, version: string, named: ConfigData, nowMs: number): ConfigCopy {
	const {namespace, name} = parseObjectKey(key);
	const metadata = {name, namespace, uid: key, resourceVersion: '', generation: 1, creationTimestamp: timestampOf(nowMs)};
	return {apiVersion: 'node.troupe.dev/v1', kind: 'NamedObject', metadata, spec: {named, version}};
}
