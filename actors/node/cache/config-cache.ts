// The ConfigMaps, Secrets and claims that pods of this node name, the objects of the network, and the volumes that it has to remove: an actor for
// each, after a restart from the cache.
//
// The edge keeps opened Secrets, sealed for itself; it is told which are still named, so that it keeps no other.

import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {configPlurals, secrets, volumes} from '../../config-references.js';
import {certificates, networkPlurals} from '../../network-references.js';
import {configCopy, type KeepConfig} from './config-copy.js';
import {perform} from '../runtime/perform.js';
import {volumeRemoval} from './volume-removal.js';

export type ConfigCacheMessage =
	| KeepConfig
	/** A Secret went, or it is time to say so again. */
	| {readonly type: 'retainSecrets'}
	| Reply<null, 'secretsRetained'>;

export const configCache: Behavior<null, null, ConfigCacheMessage> = {
	kind: 'ConfigCache',
	init: (_input, context) => next(null, [...kept(context), retain(context)]),
	receive(_state, message, context) {
		switch (message.type) {
			case 'keepConfig':
				return next(null, keep(message, context));
			case 'retainSecrets':
				return next(null, [retain(context)]);
			case 'secretsRetained':
				return retained(message, context);
		}
	},
	coalesce: ({type}) => (type === 'retainSecrets' ? type : undefined),
};

/** `secrets.default.db`: neither plurals nor namespaces have dots. */
function childOf(key: ObjectKey): string {
	const {plural, namespace, name} = parseObjectKey(key);
	return `${plural}.${namespace}.${name}`;
}

/** What keeps a copy of what has this key. */
const keeperOf = (key: ObjectKey): string => (parseObjectKey(key).plural === volumes ? volumeRemoval : configCopy).kind;

const kept = ({known}: Context): Effect[] =>
	[...configPlurals, ...networkPlurals]
		.flatMap(plural => [...known.list(plural)])
		.map(({metadata: {uid: key}}) => ({type: 'spawn', name: childOf(key), behavior: keeperOf(key), snapshot: key}));

function keep(message: KeepConfig, context: Context): readonly Effect[] {
	const child = childOf(message.key);
	if (context.hasChild(child)) return [tell(`${context.self}/${child}`, message)];
	if (message.named === null) return reply(message.replyTo, {ok: true, value: null});
	return [{type: 'spawn', name: child, behavior: keeperOf(message.key), input: message}];
}

const retain = ({known}: Context): Effect =>
	perform(
		{type: 'secrets.retain', keys: [secrets, certificates].flatMap(plural => [...known.list(plural)].map(({metadata}) => metadata.uid))},
		'secrets/retain',
		'secretsRetained',
	);

function retained({outcome}: Reply<null, 'secretsRetained'>, {nowMs}: Context): Next<null> {
	if (outcome.ok) return next(null);
	return next(null, [{type: 'wakeAt', name: 'retain', atMs: nowMs + limits.actorBackoffMaxMs, message: {type: 'retainSecrets'}}]);
}
