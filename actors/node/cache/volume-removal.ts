// One volume of class `local` whose folder this node has to remove. It tries until control says that there is nothing to remove any more; kept in
// the node's cache, so that an agent that starts again goes on.

import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import {besides, syncPath} from '../../addresses.js';
import type {VolumeRemoval} from '../../protocol/sync-message.js';
import {perform} from '../runtime/perform.js';
import {copyOf, type ConfigCopy, type KeepConfig} from './config-copy.js';

export type VolumeRemovalMessage = KeepConfig | Reply<null, 'removed'> | {readonly type: 'again'};

export type VolumeRemovalState = {readonly key: ObjectKey; readonly copy: ConfigCopy | undefined; readonly failures: number};

export const volumeRemoval: Behavior<KeepConfig, VolumeRemovalState, VolumeRemovalMessage> = {
	kind: 'VolumeRemoval',
	init: (message, context) => keep({key: message.key, copy: undefined, failures: 0}, message, context),
	resume: state => next(state, [remove(state)]),
	receive(state, message, context) {
		switch (message.type) {
			case 'keepConfig':
				return keep(state, message, context);
			case 'again':
				return next(state, [remove(state)]);
			case 'removed':
				return removed(state, message, context);
		}
	},
	persistence: {
		key: ({key}) => key,
		objectOf: ({copy}) => copy,
		withObject: (state, object) => ({...state, copy: object as ConfigCopy}),
		restore: object => ({key: object.metadata.uid, copy: object as ConfigCopy, failures: 0}),
	},
	pastIntensity: 'backOff',
	trouble: ({failures}) => (failures === 0 ? undefined : `${failures} failed ${failures === 1 ? 'try' : 'tries'}`),
};

const nameOf = (key: ObjectKey): string => parseObjectKey(key).name;

const remove = ({key}: VolumeRemovalState): Effect =>
	perform({type: 'volume.remove', volume: nameOf(key)}, `volume/${nameOf(key)}/remove`, 'removed');

function keep(state: VolumeRemovalState, message: KeepConfig, {nowMs}: Context): Next<VolumeRemovalState> {
	const {key, version, named, replyTo} = message;
	const taken = reply(replyTo, {ok: true, value: null});
	if (named === null) return next({...state, copy: undefined}, taken);
	return next({...state, copy: copyOf(key, version, named, nowMs)}, [...taken, remove(state)]);
}

/** Whatever came of it is told; a removal that is done is asked for again only to be told again. */
function removed(state: VolumeRemovalState, {outcome}: Reply<null, 'removed'>, {self, nowMs}: Context): Next<VolumeRemovalState> {
	const named = state.copy?.spec?.named;
	if (named?.type !== 'removal') return next(state);
	const failures = outcome.ok ? 0 : state.failures + 1;
	const delayMs = outcome.ok
		? limits.podGoneAgainMs
		: exponentialBackoffMs(failures, limits.containerBackoffFirstMs, limits.containerBackoffMaxMs);
	const message: VolumeRemoval = {
		type: 'volumeRemoval',
		key: state.key,
		uid: named.uid,
		...(outcome.ok ? {} : {problem: outcome.error.message}),
	};
	return next({...state, failures}, [
		tell(besides(self, syncPath), message),
		{type: 'wakeAt', name: 'again', atMs: nowMs + delayMs, message: {type: 'again'}},
	]);
}
