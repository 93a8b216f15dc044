// A cluster with a workflow and runs of it, as the commands about them see it.

import type {ExecutionContext} from 'ava';
import type {Run} from '../../api/kinds/run.js';
import {objectKey} from '../../api/keys.js';
import type {Json} from '../../api/object.js';
import type {Frame} from '../../actors/workflows/run.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import {aRevision, aWorkflow, definition, mapped} from '../actors/_runs.js';
import {openCluster} from './_rig.js';

/** A cluster with the workflow `order`. */
export async function openRuns(t: ExecutionContext) {
	const rig = await openCluster(t);
	const {cluster} = rig;
	for (const object of [aWorkflow(), aRevision('order-abc', definition), aRevision('order-map', mapped)]) cluster.put(object);
	const keyOf = (name: string): string => objectKey('runs', 'default', name);
	return {
		...rig,
		/** Puts a run in, with what is under way of it and its history. */
		put: (run: Run, frames: readonly Frame[] = [], history: readonly HistoryRecord[] = []): void => {
			const key = keyOf(run.metadata.name);
			cluster.histories.set(key, [...history]);
			cluster.control.index.parts.drop(key);
			cluster.control.index.parts.apply(key, {parts: new Map(frames.map(frame => [`frame/${frame.id}`, frame as unknown as Json]))});
			cluster.put({...run, status: {...run.status, steps: history.length}});
		},
		read: (name: string): Run | undefined => cluster.control.index.get(keyOf(name)) as Run | undefined,
		/** The run that `run/NAME started` tells of, which is gone then: the next one may have its name. */
		takenAway: (said: string): Run | undefined => {
			const [, name = ''] = /^run\/(\S+) started\n$/.exec(said) ?? [];
			const run = cluster.control.index.get(keyOf(name));
			if (run !== undefined) cluster.drop(keyOf(name));
			return run as Run | undefined;
		},
		/** All runs there are. */
		runs: (): readonly Run[] => [...cluster.control.index.list('runs')] as readonly Run[],
		keyOf,
	};
}
