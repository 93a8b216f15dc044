// What is going to happen in one history, as data: so that it can be printed, replayed, and shrunk to the few acts that matter.
// Targets are shares from 0 to 1 of whatever there is to choose from at that time, so that an act means something without the others.

import type {JsonObject} from '../../api/object.js';
import {seededRandom, type Random} from '../../system/time/random.js';
import type {PacketFaults} from '../../system/world/world.js';
import type {StoreTrouble} from '../../system/world/store.js';

export type Program = 'serves' | 'fails' | 'ignoresTerm';

/** What a set's pods are besides: as large as fills the window to a node, or with a ConfigMap and a Secret of that name. */
export type SetLike = {readonly bytes?: number; readonly config?: string};

/** What a Job's program does: the share of its runs that fail, how long it takes at most, and whether its container starts again. */
export type Task = {readonly fails: number; readonly lastsMs: number; readonly restarts?: true};

/** Where something happens: control's leader, the node that runs an exclusive pod, or one of the nodes. */
export type Place = 'control' | 'holder' | number;

/** When the claims of a StatefulSet go; without one it has none. */
export type ClaimPolicy = {readonly whenDeleted: 'Retain' | 'Delete'; readonly whenScaled: 'Retain' | 'Delete'};

export type Deed =
	// ---- what clients ask for
	| {
			readonly type: 'create';
			readonly set: string;
			readonly replicas: number;
			readonly program: Program;
			readonly exclusive?: true;
			readonly like?: SetLike;
	  }
	| {readonly type: 'scale'; readonly set: number; readonly replicas: number}
	| {readonly type: 'deleteSet'; readonly set: number}
	| {
			readonly type: 'createStateful';
			readonly set: string;
			readonly replicas: number;
			readonly parallel?: true;
			readonly claims?: ClaimPolicy;
	  }
	| {readonly type: 'createDaemon'; readonly set: string; readonly surges?: true}
	/** Of a StatefulSet or DaemonSet: another template, another number of pods. */
	| {readonly type: 'changeNamed'; readonly set: number; readonly replicas?: number; readonly version?: number}
	| {readonly type: 'deleteNamed'; readonly set: number}
	/** A pod that nobody owns; what is held is not gone before it is released. */
	| {
			readonly type: 'createPod';
			readonly pod: string;
			readonly exclusive?: true;
			readonly held?: true;
			/** The claim it uses, which is made before it. */
			readonly claim?: string;
			readonly sidecars?: true;
	  }
	| {readonly type: 'release'; readonly pod: number}
	/** A Service of the pods of a set. */
	| {readonly type: 'expose'; readonly set: string}
	| {readonly type: 'deleteService'; readonly service: number}
	/** A ConfigMap, and a Secret of the same name and value: made, changed, or taken away. */
	| {readonly type: 'configure'; readonly name: string; readonly value: string | undefined}
	/** A Deployment of the template `first`, and a change of one: another template, size, or a pause. */
	| {readonly type: 'rollOut'; readonly deployment: string; readonly replicas: number; readonly strategy: JsonObject}
	| {
			readonly type: 'change';
			readonly deployment: number;
			readonly version?: string;
			readonly replicas?: number;
			readonly paused?: boolean;
	  }
	/** An autoscaler of a Deployment whose pods use more or less than they should, or whose queue is longer or shorter. */
	| {
			readonly type: 'autoscale';
			readonly deployment: string;
			readonly min: number;
			readonly max: number;
			readonly load: 'more' | 'fewer';
			readonly by: 'memory' | 'queue';
	  }
	/** Specs without their templates. */
	| {readonly type: 'createJob'; readonly job: string; readonly spec: JsonObject; readonly task: Task}
	| {readonly type: 'changeJob'; readonly job: number; readonly spec: JsonObject}
	| {readonly type: 'deleteJob'; readonly job: number}
	| {readonly type: 'createCron'; readonly cron: string; readonly spec: JsonObject; readonly job: JsonObject; readonly task: Task}
	| {readonly type: 'changeCron'; readonly cron: number; readonly spec: JsonObject}
	| {readonly type: 'deleteCron'; readonly cron: number}
	/** For so long, Jobs of CronJobs are deleted as soon as they are there. */
	| {readonly type: 'spurnJobs'; readonly forMs: number}
	/** The wall clocks of all servers are set forward: a minute is over in so long. */
	| {readonly type: 'nextMinute'; readonly inMs: number}
	/** What the namespace may hold; how many pods of a set have to be there; and an eviction, as the subresource does it. */
	| {readonly type: 'createQuota'; readonly quota: string; readonly hard: JsonObject}
	| {readonly type: 'createBudget'; readonly set: string; readonly minAvailable: number}
	| {readonly type: 'evict'; readonly pod: number}
	/** A claim, which may be in use; and a volume that is to outlive its claim. */
	| {readonly type: 'deleteClaim'; readonly claim: number}
	| {readonly type: 'retain'; readonly volume: number}
	/** A PriorityClass, and a pod that asks for a part of a node: it may have to wait, and to go for one that counts more. */
	| {readonly type: 'createClass'; readonly name: string; readonly value: number}
	| {
			readonly type: 'createGuest';
			readonly pod: string;
			readonly cpu: number;
			readonly priorityClass?: string;
			readonly port?: number;
			/** How long it bears the taint of `taint`. */
			readonly bearsSeconds?: number;
	  }
	/** A taint that makes pods leave, taken away after a while. */
	| {readonly type: 'taint'; readonly node: number; readonly forMs: number}
	/** The node takes no further pods for a while: it is cordoned, or has a taint that says so. */
	| {readonly type: 'cordon'; readonly node: number; readonly by: 'cordon' | 'taint'; readonly forMs: number}
	| {readonly type: 'deletePod'; readonly pod: number; readonly graceSeconds?: number}
	// ---- what ends
	/** Of a pod's main container, or of one of this name, of a pod that has such a one. */
	| {readonly type: 'killProgram'; readonly node: number; readonly pod: number; readonly container?: string}
	/** What the containers of a pod share dies; they run on. */
	| {readonly type: 'loseSandbox'; readonly node: number; readonly pod: number}
	| {readonly type: 'crashActor'; readonly place: Place; readonly actor: number}
	/** The actor of one object of that plural, in control. */
	| {readonly type: 'crashRecord'; readonly of: string; readonly record: number}
	| {readonly type: 'kill'; readonly place: Place; readonly forMs: number}
	/** The agent says that it will be back, and goes. */
	| {readonly type: 'restart'; readonly node: number; readonly forMs: number}
	/** SIGKILL right after the commit that is so many commits ahead: its effects are dropped. */
	| {readonly type: 'killAtCommit'; readonly place: Place; readonly commits: number}
	/** Power off: its programs are gone, nobody hears of it; back after so long. */
	| {readonly type: 'hostDown'; readonly node: number; readonly forMs: number}
	| {readonly type: 'brokerDown'; readonly forMs: number}
	// ---- what stands still or is slow
	| {readonly type: 'stop'; readonly place: Place; readonly forMs: number}
	| {readonly type: 'freeze'; readonly place: Place; readonly forMs: number}
	| {readonly type: 'slow'; readonly node: number; readonly latencyMs: number; readonly perMessageMs: number; readonly forMs: number}
	| {readonly type: 'clockJump'; readonly place: Place; readonly byMs: number}
	// ---- what is cut off
	| {readonly type: 'cutConnection'; readonly node: number; readonly line: 'control' | 'bulk' | 'beat'; readonly forMs: number}
	| {
			readonly type: 'partition';
			readonly nodes: number | 'holder';
			readonly way: 'both' | 'up' | 'down';
			readonly forMs: number;
			readonly holds?: true;
	  }
	/** The cable of one node is out. */
	| {readonly type: 'cutLink'; readonly node: number; readonly forMs: number}
	/** The leader does not reach the broker, where that is elsewhere. */
	| {readonly type: 'deafen'; readonly forMs: number}
	| {readonly type: 'cutWatcher'}
	// ---- what goes wrong below
	/** A record of a store is not what was written, or gone; put back after a while. The process is started anew and looks. */
	| {readonly type: 'damage'; readonly place: Place; readonly record: number; readonly how: 'changed' | 'lost'; readonly forMs: number}
	| {readonly type: 'packets'; readonly faults: PacketFaults; readonly forMs: number}
	| {readonly type: 'store'; readonly place: Place; readonly trouble: StoreTrouble; readonly forMs: number}
	| {
			readonly type: 'runtime';
			readonly node: number;
			readonly fails: number;
			readonly silent: number;
			readonly slowMs: number;
			readonly forMs: number;
	  }
	/** Control starts anew with code one schemaVersion ahead, or again with the old. */
	| {readonly type: 'upgrade'}
	| {readonly type: 'downgrade'};

export type Act = Deed & {readonly atMs: number};

export type Plan = {
	readonly seed: number;
	readonly scenario: string;
	readonly nodes: number;
	readonly servers: number;
	/** A broker of its own, on a host of its own. */
	readonly externalBroker: boolean;
	/** Whether nodes live in control's process as far as control knows: then nobody judges them by their silence. */
	readonly localNodes: boolean;
	/** A tool that follows the topics. */
	readonly watcher: boolean;
	/** Nothing is away for longer than a moment: no node may be given up, and no program that does not end by itself may end. */
	readonly keepsAll?: true;
	/** Nothing stands behind the wakes: what one misses is missed. */
	readonly withoutResync?: true;
	/** Clocks of two hosts run apart, by up to a tenth. */
	readonly drifts?: true;
	/** What a system sends another one is made anew on the way. */
	readonly serialises?: true;
	/** Actors wait for their turns in the run queue of real processes. */
	readonly queues?: true;
	/** Stores keep checksums, so that damage shows. */
	readonly checksums?: true;
	/** How long the faults go on after the last act; then they end, and what is down comes up. */
	readonly aftermathMs: number;
	readonly acts: readonly Act[];
};

/** Draws from one source; each scenario is a function of it. */
export type Draw = {
	readonly share: () => number;
	/** A whole number from 0, `end` excluded. */
	readonly below: (end: number) => number;
	readonly between: (from: number, to: number) => number;
	readonly chance: (share: number) => boolean;
	readonly one: <Value>(values: readonly Value[]) => Value;
};

export function drawFrom(random: Random): Draw {
	const share = (): number => Math.round(random.next() * 1_000) / 1_000;
	const below = (end: number): number => Math.floor(random.next() * end);
	return {
		share,
		below,
		between: (from, to) => Math.round(from + random.next() * (to - from)),
		chance: wanted => random.next() < wanted,
		one: values => {
			const value = values[below(values.length)];
			if (value === undefined) throw new Error('nothing to choose from');
			return value;
		},
	};
}

export const drawOf = (seed: number): Draw => drawFrom(seededRandom(seed ^ 0x5eed));

/** One line of a history. */
export function describeAct({atMs, type, ...rest}: Act): string {
	const words = Object.entries(rest).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
	return `at ${atMs} ms: ${type} ${words.join(' ')}`.trimEnd();
}
