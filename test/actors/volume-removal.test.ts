// The folder of a volume is removed until control says that there is nothing to remove any more, also by an agent that starts again.

import test from 'ava';
import {objectKey} from '../../api/keys.js';
import {configCache} from '../../actors/node/cache/config-cache.js';
import {volumeRemoval, type VolumeRemovalMessage} from '../../actors/node/cache/volume-removal.js';
import type {KeepConfig} from '../../actors/node/cache/config-copy.js';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {play, playContext, playFrom} from '../../system/kernel/play.js';
import {cacheOf} from './_config.js';
import {nowMs} from './_objects.js';

const key = objectKey('persistentvolumes', undefined, 'pvc-1');
const self = 'troupe://node-a/named/persistentvolumes._.pvc-1';
const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1'};
const due: KeepConfig = {type: 'keepConfig', key, version: 'u', named: {type: 'removal', uid: 'u'}, replyTo};
const context = playContext({self});
const removal = {type: 'perform', command: {type: 'volume.remove', volume: 'pvc-1'}, as: 'removed'};
const answer = (outcome: Extract<VolumeRemovalMessage, {type: 'removed'}>['outcome']): VolumeRemovalMessage => ({
	type: 'removed',
	id: 'volume/pvc-1/remove',
	outcome,
});

test('what is to be removed is kept, removed, and told until it is taken', t => {
	const first = play(volumeRemoval, due, [], context);
	t.like(first.effects, [{type: 'reply'}, removal]);
	t.is(first.object?.metadata.uid, key);
	const told = playFrom(volumeRemoval, first.state, [answer(succeeded(null))], context);
	t.like(told.effects, [
		{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'volumeRemoval', key, uid: 'u'}},
		{type: 'wakeAt', atMs: nowMs + limits.podGoneAgainMs},
	]);
	t.like(playFrom(volumeRemoval, told.state, [{type: 'again'}], context).effects, [removal]);
	const over = playFrom(volumeRemoval, told.state, [{...due, named: null}], context);
	t.is(over.object, undefined);
	t.deepEqual(playFrom(volumeRemoval, over.state, [answer(succeeded(null))], context).effects, []);
});

test('a removal that fails says why, and is tried again later and later', t => {
	const {state} = play(volumeRemoval, due, [], context);
	const busy = answer(failed('ERR_RUNTIME', {message: 'it is busy'}));
	const {effects, state: after} = playFrom(volumeRemoval, state, [busy], context);
	t.like(effects[0], {message: {problem: 'it is busy'}});
	const again = playFrom(volumeRemoval, after, [busy, busy], context).effects;
	const [soon, later] = [effects[1], again.at(-1)].map(effect => (effect?.type === 'wakeAt' ? effect.atMs : 0));
	t.true((later ?? 0) > (soon ?? 0));
});

test('after a restart of the agent what its cache has is gone on with', t => {
	const known = cacheOf({[key]: {type: 'removal', uid: 'u'}});
	const {effects} = play(configCache, null, [], playContext({self: 'troupe://node-a/named', known}));
	t.like(effects[0], {type: 'spawn', name: 'persistentvolumes._.pvc-1', behavior: 'VolumeRemoval', snapshot: key});
	const kept = play(volumeRemoval, due, [], context).state;
	t.like(volumeRemoval.resume?.(kept, context).effects, [removal]);
});
