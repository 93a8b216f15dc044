// What the doors see of the control system and, through it, of every node: those of this process directly, others over the bus.

import type {Outcome} from '../../../api/errors.js';
import {controlSystem} from '../../../api/keys.js';
import type {ControlSystem} from '../../../actors/control/start.js';
import type {ControlPlane} from '../../../server/control-plane.js';
import {openRunHistory, type ReadArchive} from '../../../server/workflows/run-history.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {ObjectIndex} from '../../../system/index/object-index.js';
import type {Clock} from '../../../system/time/clock.js';

export type ControlPlaneOptions = {
	readonly control: ControlSystem;
	/** The systems of nodes that live in this process. */
	readonly ownNodes: () => readonly ActorSystem[];
	/** The systems of users' own that run. */
	readonly userSystems: () => readonly string[];
	readonly clock: Clock;
	/** Histories that have left the store. The default is that none does. */
	readonly archived?: ReadArchive;
};

const none: ReadArchive = () => Promise.resolve(undefined);

export function controlPlaneOf({control, ownNodes, userSystems, clock, archived = none}: ControlPlaneOptions): ControlPlane {
	const {system, index, ring, events, journal, departed, pipeline} = control;
	const own = (): readonly ActorSystem[] => [system, ...ownNodes()];
	const ask: ControlPlane['ask'] = <Value>(
		to: string,
		message: Parameters<typeof system.ask>[1],
		options: {deadlineMs: number; cause: string},
	) => new Promise<Outcome<Value>>(resolve => system.ask(to, message, options, outcome => resolve(outcome as Outcome<Value>)));
	return {
		index,
		watches: ring,
		epoch: () => pipeline.epoch(),
		nowMs: clock.nowMs,
		ask,
		tell: (to, message, cause) => system.tell(to, message, cause),
		eventsOf: key => events.of(key),
		eventKeys: () => events.keys(),
		journalOf: key => journal.of(key),
		departed: {of: key => departed.of(key, clock.nowMs()), ownedBy: uid => departed.ownedBy(uid)},
		journalSinceMs: clock.nowMs(),
		systems: () => [
			controlSystem,
			...new Set([...own().map(({name}) => name), ...nodesOf(index), ...userSystems()].filter(name => name !== controlSystem).toSorted()),
		],
		history: openRunHistory({
			rangeOf: key => index.parts.historyOf(key),
			load: control.recordsFrom,
			uidOf: key => index.get(key)?.metadata.uid,
			archived,
		}),
		snapshot: control.snapshot,
		counters: () => ({
			...Object.fromEntries(own().map(each => [each.name, {...each.counters, actors: each.size}])),
			store: {waiting: pipeline.waiting(), epoch: pipeline.epoch(), version: pipeline.meta.version, problem: pipeline.problem() ?? null},
			bus: {...control.bus.counters},
		}),
	};
}

const nodesOf = (index: ObjectIndex): readonly string[] => [...index.list('nodes')].map(({metadata}) => metadata.name);
