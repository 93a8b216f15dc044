// Volumes are counted one after the other, not more often than it is worth, and once more when their last pod is gone.

import test from 'ava';
import {objectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {failed, succeeded} from '../../api/errors.js';
import {configCopy} from '../../actors/node/cache/config-copy.js';
import {volumeUsage, type VolumeUsageMessage, type VolumeUsageState} from '../../actors/node/cache/volume-usage.js';
import type {ConfigData} from '../../actors/protocol/sync-message.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playContext, playFrom} from '../../system/kernel/play.js';
import {cacheOf} from './_config.js';
import {nowMs} from './_objects.js';

const self = 'troupe://node-a/volume-usage';
const claimKey = (name: string): ObjectKey => objectKey('persistentvolumeclaims', 'default', name);
const local = (volume: string): ConfigData => ({type: 'claim', source: {type: 'local', volume, path: `/srv/${volume}`}});
const hostPath: ConfigData = {type: 'claim', source: {type: 'hostPath', path: '/srv/there', check: ''}};
const look: VolumeUsageMessage = {type: 'look'};
const counted = (usedBytes: number): VolumeUsageMessage => ({type: 'measured', id: '', outcome: succeeded({usedBytes})});
const told = (volume: string, usedBytes: number) => ({
	type: 'tell',
	to: 'troupe://node-a/sync',
	message: {type: 'volumeUsage', key: `persistentvolumes/_/${volume}`, usedBytes},
});

/** A node at which time passes and claims come and go. */
function node() {
	let named: Readonly<Record<string, ConfigData>> = {};
	let atMs = nowMs;
	const context = () =>
		playContext({
			self,
			nowMs: atMs,
			known: cacheOf(Object.fromEntries(Object.entries(named).map(([name, data]) => [claimKey(name), data]))),
		});
	let state: VolumeUsageState = play(volumeUsage, null, [], context()).state;
	return {
		name: (next: Readonly<Record<string, ConfigData>>): void => {
			named = next;
		},
		say: (message: VolumeUsageMessage, afterMs = 0): readonly Effect[] => {
			atMs += afterMs;
			const played = playFrom(volumeUsage, state, [message], context());
			state = played.state;
			return played.effects;
		},
		state: () => state,
	};
}

const measures = (volume: string) => ({type: 'perform', command: {type: 'volume.measure', volume}});
const wakesIn = (delayMs: number) => ({type: 'wakeAt', name: 'look', atMs: nowMs + delayMs});

test('a volume is counted soon after its first pod came, then every few minutes, and told each time', t => {
	const {name, say} = node();
	name({data: local('pvc-1'), there: hostPath});
	t.like(say(look), [wakesIn(limits.volumeCountFirstMs)]);
	t.like(say(look, limits.volumeCountFirstMs), [measures('pvc-1')]);
	t.deepEqual(say(look, 1_000), [], 'it is being counted');
	t.like(say(counted(4_096), 1_000), [told('pvc-1', 4_096), wakesIn(limits.volumeCountFirstMs + 2_000 + limits.volumeCountEachMs)]);
	t.like(say(look, limits.volumeCountEachMs), [measures('pvc-1')]);
});

test('one is counted at a time, and what takes long is counted more seldom', t => {
	const {name, say} = node();
	name({a: local('pvc-a'), b: local('pvc-b')});
	say(look);
	t.like(say(look, limits.volumeCountFirstMs), [measures('pvc-a')]);
	t.like(say(counted(1), 100_000), [told('pvc-a', 1), measures('pvc-b')]);
	say({type: 'measured', id: '', outcome: failed('ERR_RUNTIME', {message: 'it took longer than 1 ms'})}, 1);
	t.like(say(look, limits.volumeCountEachMs), [measures('pvc-b')], 'also one that could not be counted');
	t.like(say(counted(2)), [told('pvc-b', 2)]);
	const [wake] = say(look);
	t.like(wake, wakesIn(limits.volumeCountFirstMs + 100_001 + 2 * limits.volumeCountEachMs));
	const {name: nameOne, say: sayOne} = node();
	nameOne({a: local('pvc-a')});
	sayOne(look);
	sayOne(look, limits.volumeCountFirstMs);
	const tookMs = 100_000;
	t.like(sayOne(counted(1), tookMs)[1], wakesIn(limits.volumeCountFirstMs + tookMs + limits.volumeCountPause * tookMs));
});

test('when the last pod is gone it is counted once more and then forgotten, also when it went during a count', t => {
	const {name, say, state} = node();
	name({data: local('pvc-1')});
	say(look);
	name({});
	t.like(say(look), [measures('pvc-1')]);
	t.like(say(counted(7), 1_000), [told('pvc-1', 7), {type: 'cancelWake', name: 'look'}]);
	t.is(state().volumes.size, 0);

	name({data: local('pvc-1')});
	say(look);
	say(look, limits.volumeCountFirstMs);
	name({});
	t.deepEqual(say(look, 1_000), []);
	t.like(say(counted(7)), [told('pvc-1', 7), measures('pvc-1')]);
	say(counted(8));
	t.is(state().volumes.size, 0);
});

test('a claim that is named again while its volume is counted is kept', t => {
	const {name, say, state} = node();
	name({data: local('pvc-1')});
	say(look);
	name({});
	say(look);
	name({data: local('pvc-1')});
	say(look);
	say(counted(7));
	t.true(state().volumes.get('pvc-1')?.isNamed);
});

test('it hears of claims that come and go, and of nothing else', t => {
	const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1'};
	const heard = (key: ObjectKey, named: ConfigData): number =>
		play(
			configCopy,
			{type: 'keepConfig', key, version: 'v', named, replyTo},
			[],
			playContext({self: 'troupe://node-a/named/x'}),
		).effects.filter(effect => effect.type === 'tell' && effect.to === self).length;
	t.is(heard(claimKey('data'), local('pvc-1')), 1);
	t.is(heard(objectKey('secrets', 'default', 'data'), {type: 'secret'}), 0);
	const kept = play(configCopy, {type: 'keepConfig', key: claimKey('data'), version: 'v', named: local('pvc-1'), replyTo}, []).state;
	const gone = playFrom(
		configCopy,
		kept,
		[{type: 'keepConfig', key: claimKey('data'), version: '', named: null, replyTo}],
		playContext({self: 'troupe://node-a/named/x'}),
	);
	t.true(gone.effects.some(effect => effect.type === 'tell' && effect.to === self));
});
