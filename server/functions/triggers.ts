// The triggers of all functions that the cluster itself has the news for: times, and changes of objects. They follow the functions as these change.

import {parseObjectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {Change, Known} from '../../system/index/object-index.js';
import type {Clock} from '../../system/time/clock.js';
import type {OpenDeliveries} from './deliveries.js';
import type {Delivery} from './delivery.js';
import {createObjectChanges} from './object-changes.js';
import {createSchedules} from './schedules.js';
import {nameOf} from './trigger-delivery.js';
import type {FunctionName} from './call.js';

export type TriggersOptions = {
	readonly known: Pick<Known, 'list'>;
	readonly deliveries: Pick<OpenDeliveries, 'accept' | 'giveUp'>;
	readonly clock: Clock;
	/** A trigger will never have anything to deliver. */
	readonly onGivenUp: (delivery: {readonly function: FunctionName; readonly trigger: string}, why: string) => void;
};

export type Triggers = {
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	readonly close: () => void;
};

/** Begins with the functions that there are. */
export function followTriggers({known, deliveries, clock, onGivenUp}: TriggersOptions): Triggers {
	let isOpen = true;
	const deliver = (delivery: Delivery): void =>
		void deliveries.accept(delivery).catch((error: unknown) => {
			if (isOpen) deliveries.giveUp(delivery, error as Error);
		});
	const schedules = createSchedules(clock, deliver);
	const objects = createObjectChanges(deliver, (fn, trigger) =>
		onGivenUp({function: nameOf(fn), trigger: trigger.name}, `there is no kind "${trigger.objects?.kind ?? ''}"`),
	);
	const set = (fn: FunctionObject): void => {
		schedules.set(fn);
		objects.set(fn);
	};
	for (const fn of known.list('functions')) set(fn as FunctionObject);
	return {
		hear(change) {
			const {key, before, after} = change;
			if (parseObjectKey(key).plural === 'functions') {
				if (after === undefined) {
					schedules.remove(key);
					objects.remove(key);
				} else if (
					before?.object.metadata.generation !== after.object.metadata.generation ||
					before?.object.metadata.uid !== after.object.metadata.uid
				)
					set(after.object as FunctionObject);
			}
			objects.hear(change);
		},
		close() {
			isOpen = false;
			schedules.close();
		},
	};
}
