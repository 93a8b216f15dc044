// All triggers that the cluster itself has the news for: times, and changes of objects. They follow the functions and workflows as these change.

import {objectKey, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Change, Known} from '../../system/index/object-index.js';
import type {Clock} from '../../system/time/clock.js';
import {createObjectChanges, type ObjectChangesOptions} from './object-changes.js';
import {targetOf, triggeredPlurals, type Occasion, type Takers, type Triggered, type TriggerTarget} from './occasion.js';
import {createSchedules} from './schedules.js';

export type TriggersOptions = Pick<ObjectChangesOptions, 'workflowsBehind'> & {
	readonly known: Pick<Known, 'list'>;
	readonly takers: Takers;
	readonly clock: Clock;
	readonly onGivenUp: OnGivenUp;
};

/** What a trigger has seen was given up, or it will never see anything. */
export type OnGivenUp = (of: {readonly target: TriggerTarget; readonly trigger: string}, why: string) => void;

export type Triggers = {
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	readonly close: () => void;
};

/** Begins with the functions and workflows that there are. */
export function followTriggers({known, takers, clock, workflowsBehind, onGivenUp}: TriggersOptions): Triggers {
	let isOpen = true;
	const see = (occasion: Occasion): void => {
		const taker = takers[occasion.target.plural];
		taker.accept(occasion).catch((error: unknown) => {
			if (isOpen) taker.giveUp(occasion, error as Error);
		});
	};
	const schedules = createSchedules(clock, see);
	const objects = createObjectChanges({
		see,
		workflowsBehind,
		onUnknownKind: (target, {name, objects: wished}) => onGivenUp({target, trigger: name}, `there is no kind "${wished?.kind ?? ''}"`),
	});
	const set = (key: ObjectKey, object: ApiObject): void => {
		schedules.set(key, object as Triggered);
		objects.set(key, object as Triggered);
	};
	for (const plural of triggeredPlurals)
		for (const object of known.list(plural)) set(objectKey(plural, object.metadata.namespace, object.metadata.name), object);
	return {
		hear(change) {
			const {key, before, after} = change;
			if (targetOf(key) !== undefined) {
				if (after === undefined) {
					schedules.remove(key);
					objects.remove(key);
				} else if (
					before?.object.metadata.generation !== after.object.metadata.generation ||
					before?.object.metadata.uid !== after.object.metadata.uid
				)
					set(key, after.object);
			}
			objects.hear(change);
		},
		close() {
			isOpen = false;
			schedules.close();
		},
	};
}
