// How much of the disk the volumes of class `local` take that pods of this node name: counted one after the other, some seconds after the first
// pod came, then every few minutes, and once more when the last pod is gone. Control is told each count.
//
// Counting looks at every file. So the pause after a count grows with the time that it took, and nothing waits for one.

import type {ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {besides, syncPath} from '../../addresses.js';
import {claims, volumeKey} from '../../config-references.js';
import type {VolumeUsage} from '../../protocol/sync-message.js';
import {perform} from '../runtime/perform.js';
import type {RuntimeResults} from '../runtime/runtime-port.js';
import type {ConfigCopy} from './config-copy.js';

export type VolumeUsageMessage =
	/** A claim came or went, or it is time for a count. */
	{readonly type: 'look'} | Reply<RuntimeResults['volume.measure'], 'measured'>;

type Watched = {readonly dueMs: number; readonly isNamed: boolean};

export type VolumeUsageState = {
	/** By the name of the volume. */
	readonly volumes: ReadonlyMap<string, Watched>;
	/** The one that is being counted, and since when. */
	readonly current: {readonly volume: string; readonly sinceMs: number} | undefined;
};

export const volumeUsage: Behavior<null, VolumeUsageState, VolumeUsageMessage> = {
	kind: 'VolumeUsage',
	init: (_input, context) => look({volumes: new Map(), current: undefined}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'look':
				return look(state, context);
			case 'measured':
				return measured(state, message, context);
		}
	},
	coalesce: ({type}) => (type === 'look' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({volumes, current}) => (volumes.size === 0 ? '' : `${volumes.size} volumes${current === undefined ? '' : ', counts one'}`),
};

/** Volumes of claims that pods of this node name. */
const namedIn = (known: Known): ReadonlySet<string> =>
	new Set(
		([...known.list(claims)] as ConfigCopy[]).flatMap(({spec}) => {
			const named = spec?.named;
			return named?.type === 'claim' && named.source.type === 'local' ? [named.source.volume] : [];
		}),
	);

/** Compares what there is with what is named, and begins what is due. */
function look(state: VolumeUsageState, context: Context): Next<VolumeUsageState> {
	const {known, nowMs} = context;
	const named = namedIn(known);
	const volumes = new Map(state.volumes);
	for (const [volume, {dueMs, isNamed}] of volumes) {
		if (isNamed && !named.has(volume)) volumes.set(volume, {dueMs: nowMs, isNamed: false});
		else if (!isNamed && named.has(volume)) volumes.set(volume, {dueMs, isNamed: true});
	}
	for (const volume of named) if (!volumes.has(volume)) volumes.set(volume, {dueMs: nowMs + limits.volumeCountFirstMs, isNamed: true});
	return begin({...state, volumes}, context);
}

function begin(state: VolumeUsageState, {nowMs}: Context): Next<VolumeUsageState> {
	if (state.current !== undefined) return next(state);
	const [first] = [...state.volumes].sort(([, a], [, b]) => a.dueMs - b.dueMs);
	if (first === undefined) return next(state, [{type: 'cancelWake', name: 'look'}]);
	const [volume, {dueMs}] = first;
	if (dueMs > nowMs) return next(state, [{type: 'wakeAt', name: 'look', atMs: dueMs, message: {type: 'look'}}]);
	return next({...state, current: {volume, sinceMs: nowMs}}, [measure(volume)]);
}

/** The runtime gives up before that. */
const measure = (volume: string): Effect =>
	perform({type: 'volume.measure', volume}, `volume/${volume}/measure`, 'measured', limits.volumeCountMs + limits.performDeadlineMs);

function measured(
	state: VolumeUsageState,
	{outcome}: Extract<VolumeUsageMessage, {type: 'measured'}>,
	context: Context,
): Next<VolumeUsageState> {
	const {current} = state;
	if (current === undefined) return next(state);
	const {volume, sinceMs} = current;
	const {nowMs, self} = context;
	const volumes = new Map(state.volumes);
	const watched = volumes.get(volume);
	// One that its last pod left while it was counted is counted once more.
	const isLast = watched?.isNamed === false && watched.dueMs <= sinceMs;
	const pauseMs = Math.max(limits.volumeCountEachMs, (nowMs - sinceMs) * limits.volumeCountPause);
	if (isLast) volumes.delete(volume);
	else if (watched?.isNamed === true) volumes.set(volume, {...watched, dueMs: nowMs + pauseMs});
	const told = outcome.ok ? [tell(besides(self, syncPath), usageOf(volumeKey(volume), outcome.value.usedBytes))] : [];
	const begun = begin({volumes, current: undefined}, context);
	return next(begun.state, [...told, ...begun.effects]);
}

const usageOf = (key: ObjectKey, usedBytes: number): VolumeUsage => ({type: 'volumeUsage', key, usedBytes});
