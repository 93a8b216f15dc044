// What the doors see of the control system and, through it, of every node: those of this process directly, others over the bus.

import {failure, type Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {ControlSystem} from '../../../actors/control/start.js';
import {runtimePath} from '../../../actors/addresses.js';
import type {ActorTree} from '../../../api/inspect.js';
import type {ControlPlane, SystemTree} from '../../../server/control-plane.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Clock} from '../../../system/time/clock.js';

export type ControlPlaneOptions = {
	readonly control: ControlSystem;
	/** The systems of nodes that live in this process. */
	readonly ownNodes: () => readonly ActorSystem[];
	/** The systems of users' own that run. */
	readonly userSystems: () => readonly string[];
	readonly clock: Clock;
};

export function controlPlaneOf({control, ownNodes, userSystems, clock}: ControlPlaneOptions): ControlPlane {
	const {system, index, ring, events, journal, pipeline} = control;
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
		eventsOf: key => events.of(key),
		eventKeys: () => events.keys(),
		journalOf: key => journal.of(key),
		journalSinceMs: clock.nowMs(),
		async trees(only) {
			const here = own().filter(({name}) => only === undefined || name === only);
			const elsewhere = [...index.list('nodes')]
				.map(({metadata}) => metadata.name)
				.filter(name => (only === undefined || name === only) && !own().some(each => each.name === name));
			const known = here.map((each): SystemTree => ({system: each.name, tree: each.tree(), problem: undefined}));
			return [...known, ...(await Promise.all(elsewhere.map(node => treeOf(node, ask))))];
		},
		userSystems,
		snapshot: control.snapshot,
		counters: () => ({
			...Object.fromEntries(own().map(each => [each.name, {...each.counters, actors: each.size}])),
			store: {waiting: pipeline.waiting(), epoch: pipeline.epoch(), version: pipeline.meta.version},
			bus: {...control.bus.counters},
		}),
	};
}

async function treeOf(node: string, ask: ControlPlane['ask']): Promise<SystemTree> {
	const outcome = await ask<ActorTree>(address(node, runtimePath), {type: 'readTree'}, {deadlineMs: limits.treeDeadlineMs, cause: 'tree'});
	if (outcome.ok) return {system: node, tree: outcome.value, problem: undefined};
	return {system: node, tree: undefined, problem: problemOf(node, outcome.error.code === 'ERR_TIMEOUT')};
}

const problemOf = (node: string, isSilent: boolean): string =>
	failure('ERR_NOT_REACHABLE', {
		message: isSilent ? `the node did not answer within ${limits.treeDeadlineMs / 1_000} s` : `the node "${node}" cannot be reached`,
	}).message;
