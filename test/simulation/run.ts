// Runs one plan to its end: its acts, then quiet; and then everything must be as it was asked for, as if nothing had happened.

import {limits} from '../../api/limits.js';
import type {ControlSystem} from '../../actors/control/start.js';
import type {NodeSystem} from '../../actors/node/start.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import {EndlessWorld, World} from '../../system/world/world.js';
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
	readonly sabotage?: ((control: ControlSystem) => void) | undefined;
	readonly nodeSabotage?: ((node: NodeSystem) => void) | undefined;
	/** A leader does not look whether it is one. */
	readonly goesOn?: boolean | undefined;
	/** Nobody looks whether what a store has is what was written. */
	readonly trustsStores?: boolean | undefined;
	readonly trace?: boolean | undefined;
	/** After so many steps the world counts as endless; of the default no seed takes a tenth. */
	readonly mostSteps?: number | undefined;
};

/**
 * The looks at the cluster once it is quiet. Whatever has to be done is done by the last one, also by a runtime that never answers
 * (`performDeadlineMs`): later is too late, even if a resync did it.
 */
const looksMs = [1_500, 1_500, 2_500, 4_000, 6_000, 9_000, 14_000, 20_000, 30_000];
/** Where actors were made to crash, or pods of Jobs fail: their longest back-off has to be over. */
const looksAfterCrashesMs = [...looksMs, 40_000, 120_000, 300_000, 400_000, 400_000];
/** Of so many seeds one is looked at for long after it has settled. */
const longOneIn = 64;
const longRestMs = 400_000;

export function runPlan(
	plan: Plan,
	{design, sabotage, nodeSabotage, goesOn = false, trustsStores = false, trace = false, mostSteps = 1_000_000}: RunOptions = {},
): Result {
	const world = new World(plan.seed, mostSteps);
	const startMs = world.clock.nowMs();
	world.serialises = plan.serialises === true;
	world.hasRunQueue = plan.queues === true;
	const history: string[] = [];
	const note = (text: string): void => {
		if (trace) history.push(`${String(Math.round(world.clock.nowMs() - startMs)).padStart(8)} ms  ${text}`);
	};
	const {nodes, servers, externalBroker, localNodes, watcher, keepsAll = false, withoutResync = false, drifts = false} = plan;
	const cluster = new SimulatedCluster(world, {
		nodes,
		servers,
		externalBroker,
		localNodes,
		watcher,
		keepsAll,
		resync: !withoutResync,
		drifts,
		checksums: plan.checksums === true && !trustsStores,
		design,
		sabotage,
		nodeSabotage,
		goesOn,
		note,
		isTraced: trace,
	});
	const stage: Stage = {
		cluster,
		clients: new Clients(cluster),
		watcher: watcher ? new Watcher(world, cluster.dialler()) : undefined,
	};
	try {
		play(stage, plan, startMs);
	} catch (error) {
		if (!(error instanceof EndlessWorld)) throw error;
		cluster.invariants.broken(`I7: ${error.message}`);
	}
	return {plan, violations: cluster.invariants.violations, steps: world.steps, virtualMs: world.clock.nowMs() - startMs, history};
}

function play(stage: Stage, plan: Plan, startMs: number): void {
	const {cluster} = stage;
	const {world} = cluster;
	cluster.startAll();
	for (const act of plan.acts) {
		world.run(Math.max(0, startMs + act.atMs - world.clock.nowMs()));
		perform(stage, act);
	}
	world.run(plan.aftermathMs);
	calm(stage);
	for (const what of verdict(stage, plan.seed % longOneIn === 0)) cluster.invariants.broken(what);
}

/** Looks again and again: most clusters have settled long before the last look. */
function verdict(stage: Stage, isLong: boolean): string[] {
	let left: string[] = [];
	const isPatient =
		stage.cluster.crashesWanted > 0 ||
		stage.clients.jobs.isAsked ||
		stage.cluster.invariants.bounds.isAsked ||
		stage.cluster.invariants.autoscaled.isAsked;
	for (const ms of isPatient ? looksAfterCrashesMs : looksMs) {
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
