// One ConfigMap or Secret that pods of this node name, as the node's cache keeps it. Of a Secret that is no more than a version.

import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {timestampOf, type ApiObject} from '../../../api/object.js';
import {next, reply, tell, type Behavior, type Context, type Next, type ReplyTo} from '../../../system/kernel/behavior.js';
import {besides, namedPath} from '../../addresses.js';
import type {NamedObject} from '../../sync-message.js';

export type NamedCopy = ApiObject<{readonly named: NamedObject; readonly version: string}>;

/** What control says of it; null: no pod of this node names it any more, or it is not there. */
export type KeepNamed = {
	readonly type: 'keepNamed';
	readonly key: ObjectKey;
	readonly version: string;
	readonly named: NamedObject | null;
	readonly replyTo?: ReplyTo | undefined;
};

export type NamedState = {readonly key: ObjectKey; readonly copy: NamedCopy | undefined};

export const namedObject: Behavior<KeepNamed, NamedState, KeepNamed> = {
	kind: 'NamedObject',
	init: (message, context) => keep({key: message.key, copy: undefined}, message, context),
	receive: keep,
	persistence: {
		key: ({key}) => key,
		objectOf: ({copy}) => copy,
		withObject: (state, object) => ({...state, copy: object as NamedCopy}),
		restore: object => ({key: object.metadata.uid, copy: object as NamedCopy}),
	},
	pastIntensity: 'backOff',
	describe: ({copy}) => copy?.spec?.version ?? '',
};

function keep(state: NamedState, {key, version, named, replyTo}: KeepNamed, {self, nowMs}: Context): Next<NamedState> {
	const taken = reply(replyTo, {ok: true, value: null});
	// Whoever kept its values at the edge may forget them.
	if (named === null) return next({...state, copy: undefined}, [...taken, tell(besides(self, namedPath), {type: 'retainSecrets'})]);
	return next({...state, copy: copyOf(key, version, named, nowMs)}, taken);
}

function copyOf(key: ObjectKey, version: string, named: NamedObject, nowMs: number): NamedCopy {
	const {namespace, name} = parseObjectKey(key);
	const metadata = {name, namespace, uid: key, resourceVersion: '', generation: 1, creationTimestamp: timestampOf(nowMs)};
	return {apiVersion: 'node.troupe.dev/v1', kind: 'NamedObject', metadata, spec: {named, version}};
}
