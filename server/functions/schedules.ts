// Times at which functions are called, by their triggers with a schedule: each is one delivery. A time that comes while no server leads, or while the
// clock jumps over it, is not made up for.

import {readSchedule, type CronSchedule} from '../../api/cron-schedule.js';
import type {ObjectKey} from '../../api/keys.js';
import type {FunctionObject, FunctionTrigger} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {Delivery} from './delivery.js';
import {keyOf, nameOf, triggerDelivery} from './trigger-delivery.js';

export type Schedules = {
	/** From now on these are its times. */
	readonly set: (fn: FunctionObject) => void;
	readonly remove: (key: ObjectKey) => void;
	readonly close: () => void;
};

export function createSchedules(clock: Clock, deliver: (delivery: Delivery) => void): Schedules {
	const running = new Map<ObjectKey, readonly Cancel[]>();
	const remove = (key: ObjectKey): void => {
		for (const cancel of running.get(key) ?? []) cancel();
		running.delete(key);
	};
	return {
		set(fn) {
			remove(keyOf(fn));
			const timers = (fn.spec?.triggers ?? []).flatMap(trigger => {
				const read = trigger.schedule === undefined ? undefined : readSchedule(trigger.schedule, trigger.timeZone);
				return read?.ok === true ? [eachTime(clock, read.value, atMs => deliver(deliveryAt(fn, trigger, atMs)))] : [];
			});
			if (timers.length > 0) running.set(keyOf(fn), timers);
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

const deliveryAt = (fn: FunctionObject, trigger: FunctionTrigger, atMs: number): Delivery =>
	triggerDelivery(nameOf(fn), trigger, {
		queue: undefined,
		contentType: 'application/json',
		headers: {'x-troupe-scheduled-time': new Date(atMs).toISOString()},
		body: Buffer.from(trigger.params ?? '{}'),
	});
