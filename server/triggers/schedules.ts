// Times that triggers with a schedule name: each is one occasion. A time that comes while no server leads, or while the clock jumps over it, is not
// made up for.

import {readSchedule, type CronSchedule} from '../../api/cron-schedule.js';
import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {targetOf, type Occasion, type Triggered} from './occasion.js';

export type Schedules = {
	/** From now on these are its times. */
	readonly set: (key: ObjectKey, object: Triggered) => void;
	readonly remove: (key: ObjectKey) => void;
	readonly close: () => void;
};

export function createSchedules(clock: Clock, see: (occasion: Occasion) => void): Schedules {
	const running = new Map<ObjectKey, readonly Cancel[]>();
	const remove = (key: ObjectKey): void => {
		for (const cancel of running.get(key) ?? []) cancel();
		running.delete(key);
	};
	return {
		set(key, {spec}) {
			remove(key);
			const target = targetOf(key);
			if (target === undefined) return;
			const timers = (spec?.triggers ?? []).flatMap(trigger => {
				const {schedule, timeZone, params = '{}'} = trigger;
				const read = schedule === undefined ? undefined : readSchedule(schedule, timeZone);
				if (read?.ok !== true) return [];
				return [eachTime(clock, read.value, atMs => see({target, trigger, seen: {type: 'time', atMs, params}}))];
			});
			if (timers.length > 0) running.set(key, timers);
		},
		remove,
		close() {
			for (const key of [...running.keys()]) remove(key);
		},
	};
}

/** Calls back at each time of the schedule, until what comes back is called. */
function eachTime(clock: Clock, schedule: CronSchedule, due: (atMs: number) => void): Cancel {
	let cancel: Cancel = () => undefined;
	const arm = (atMs: number | undefined): void => {
		if (atMs === undefined) return;
		// A timer counts time, and a schedule is of the clock, which may be set meanwhile.
		cancel = clock.after(Math.min(Math.max(atMs - clock.nowMs(), 0), limits.scheduleLookMs), () => {
			const nowMs = clock.nowMs();
			if (nowMs < atMs) return arm(atMs - nowMs > limits.scheduleLookMs ? schedule.nextMs(nowMs) : atMs);
			if (nowMs - atMs < limits.scheduleLateMs) due(atMs);
			arm(schedule.nextMs(Math.max(atMs, nowMs)));
		});
	};
	arm(schedule.nextMs(clock.nowMs()));
	return () => cancel();
}
