// Runs one plan to its end: its acts, then quiet; and then everything must be as it was asked for, as if nothing had happened.

import {limits} from '../../api/limits.js';
import type {Control} from '../../actors/control/start.js';
import type {Node} from '../../actors/node/start.js';
import type {SystemDesign} from '../../system/durable-system.js';
import {World} from '../../system/world.js';
import {calm, perform, type Stage} from './acts.js';
import {Clients} from './clients.js';
import {SimulatedCluster} from './cluster.js';
import type {Plan} from './plan.js';
import {restless, unsettled} from './verdict.js';
import {Watcher} from './watcher.js';

export type Result = {
	readonly plan: Plan;
	readonly violations: readonly string[];
	readonly steps: number;
	readonly virtualMs: number;
	/** What happened, if it was asked for. */
	readonly history: readonly string[];
};

export type RunOptions = {
	/** A bug: a design that has one, or what is done to a control plane that has just been put together. */
	readonly design?: SystemDesign | undefined;
	readonly sabotage?: ((control: Control) => void) | undefined;
	readonly nodeSabotage?: ((node: Node) => void) | undefined;
	readonly trace?: boolean | undefined;
};

/** The looks at the cluster once it is quiet: by the last one the longest back-off and two rounds of the resync are over. */
const looksMs = [1_500, 1_500, 2_500, 4_000, 6_000, 9_000, 14_000, 20_000, 40_000, 120_000, 300_000, 400_000, 400_000];
/** Of so many seeds one is looked at for long after it has settled. */
const longOneIn = 64;
const longRestMs = 400_000;

export function runPlan(plan: Plan, {design, sabotage, nodeSabotage, trace = false}: RunOptions = {}): Result {
	const world = new World(plan.seed);
	const startMs = world.clock.nowMs();
	const history: string[] = [];
	const note = (text: string): void => {
		if (trace) history.push(`${String(Math.round(world.clock.nowMs() - startMs)).padStart(8)} ms  ${text}`);
	};
	const {nodes, servers, externalBroker, localNodes, watcher, keepsAll = false} = plan;
	const cluster = new SimulatedCluster(world, {
		nodes,
		servers,
		externalBroker,
		localNodes,
		watcher,
		keepsAll,
		design,
		sabotage,
		nodeSabotage,
		note,
		isTraced: trace,
	});
	const stage: Stage = {
		cluster,
		clients: new Clients(cluster),
		watcher: watcher ? new Watcher(world, cluster.dialler()) : undefined,
	};
	cluster.startAll();
	for (const act of plan.acts) {
		world.run(Math.max(0, startMs + act.atMs - world.clock.nowMs()));
		perform(stage, act);
	}
	world.run(plan.aftermathMs);
	calm(stage);
	for (const what of verdict(stage, plan.seed % longOneIn === 0)) cluster.invariants.broken(what);
	return {plan, violations: cluster.invariants.violations, steps: world.steps, virtualMs: world.clock.nowMs() - startMs, history};
}

/** Looks again and again: most clusters have settled long before the last look. */
function verdict(stage: Stage, isLong: boolean): string[] {
	let left: string[] = [];
	for (const ms of looksMs) {
		stage.cluster.world.run(ms);
		if (stage.cluster.invariants.violations.length > 0) return [];
		left = unsettled(stage);
		if (left.length > 0) continue;
		// A cluster may look settled for a moment, while something is still to come: such as the time-out of what was asked of a store.
		left = [...restless(stage), ...unsettled(stage)];
		if (left.length === 0) return isLong ? [...longRest(stage), ...unsettled(stage)] : [];
	}
	return left;
}

/** What happened last is still written down a little later, as events. */
function longRest(stage: Stage): string[] {
	stage.cluster.world.run(2 * limits.eventFlushMs);
	return restless(stage, longRestMs);
}
