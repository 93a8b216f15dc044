// What all actor systems of one process share: time, chance, the executor, and links between those that live here.

import type {Instruments} from '../../../api/metrics.js';
import type {Clock} from '../../../system/time/clock.js';
import {systemClock} from '../../../system/time/clock.js';
import type {Executor} from '../../../system/kernel/executor.js';
import type {Links} from '../../../system/links/link.js';
import {createMemoryNetwork} from '../../../system/links/memory-link.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import type {DeadLetterReason, LifecycleEvent, SystemObserver} from '../../../system/kernel/observer.js';
import {systemRandom, type Random} from '../../../system/time/random.js';
import type {Log} from './log.js';

export type ProcessParts = {
	readonly clock: Clock;
	readonly random: Random;
	readonly executor: Executor;
	/** Joins a system of this process to the others of it. */
	readonly linksOf: (system: string) => Required<Links>;
	/** Whether faults may be made in the systems of this process. */
	readonly faults: boolean;
};

export function openProcessParts(faults = false): ProcessParts & {readonly close: () => void} {
	const executor = createNactExecutor(systemClock);
	const [control, bulk] = [createMemoryNetwork({defer: executor.defer}), createMemoryNetwork({defer: executor.defer})];
	return {
		clock: systemClock,
		random: systemRandom,
		executor,
		faults,
		linksOf: system => ({control: control.link(system), bulk: bulk.link(system)}),
		close: () => executor.close(),
	};
}

/** What is counted of actors of a tree where it happens: what their systems do not count themselves. */
export type ActorEvents = {readonly restarted: () => void; readonly lost: (why: DeadLetterReason) => void};

export function openActorEvents({counter}: Instruments): (tree: 'control' | 'node') => ActorEvents {
	const restarts = counter({name: 'troupe_actor_restarts_total', help: 'Restarts of actors that had crashed.', labels: ['tree']});
	const lost = counter({
		name: 'troupe_actor_lost_messages_total',
		help: 'Messages that no actor took, by reason.',
		labels: ['tree', 'reason'],
	});
	return tree => {
		restarts({tree}, 0);
		return {restarted: () => restarts({tree}), lost: reason => lost({tree, reason})};
	};
}

/** What goes wrong in a system goes to the log and is counted; the lives of its actors go on to `onLifecycle`. */
export const observerOf = (log: Log, {restarted, lost}: ActorEvents, onLifecycle: (event: LifecycleEvent) => void): SystemObserver => ({
	lifecycle(event) {
		if (event.type === 'restarted') restarted();
		const level = event.type === 'restarted' || event.type === 'unparked' ? 'info' : 'error';
		log[level](event, `actor ${event.address} ${event.type}`);
		onLifecycle(event);
	},
	deadLetter(letter) {
		lost(letter.why);
		log.warn(letter, `a "${letter.messageType}" for ${letter.to} was not delivered: ${letter.why}`);
	},
	slowStep: step => log.warn(step, `a step of ${step.address} took ${Math.round(step.ms)} ms`),
});
