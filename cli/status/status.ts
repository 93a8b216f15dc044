// How a whole cluster is, as `troupe status` tells it: its form for scripts. Fields are added, never renamed or removed, within a major version.

/** `wrong`: there is at least one thing that is not as it should be. */
export type Status = {
	readonly state: 'well' | 'wrong';
	readonly server: {
		readonly address: string;
		readonly version: string | null;
		/** Since it leads, in milliseconds; null: not known. */
		readonly upMs: number | null;
		/** Of the leader: it grows with each start. */
		readonly term: number | null;
	};
	readonly store: {
		readonly version: number | null;
		/** Writes that are under way. */
		readonly waiting: number;
		/** Why the last write failed, where none was taken since. */
		readonly problem: string | null;
	};
	readonly nodes: readonly NodeStatus[];
	readonly pods: {
		readonly total: number;
		readonly ready: number;
		/** Neither ready nor over. */
		readonly notReady: number;
		readonly phases: {readonly [phase: string]: number};
	};
	readonly actors: {
		readonly systems: number;
		/** Parked, restarting, paused, or crashed a moment ago; of a crowd of such actors the first ones. */
		readonly wrong: number;
		readonly silent: readonly {readonly system: string; readonly problem: string}[];
	};
	readonly faults: readonly FaultStatus[];
	/** What is wrong, what may be the cause of the rest first. `next`: what to do about it, mostly a command that tells more of it. */
	readonly wrong: readonly Wrong[];
	/** What is on its way by itself: pods that start, workloads that grow. */
	readonly coming: readonly Coming[];
};

export type NodeStatus = {
	readonly name: string;
	readonly ready: boolean;
	readonly cordoned: boolean;
	/** RFC 3339: since when it is so; null: not known. */
	readonly since: string | null;
};

/** `by`: the login that made it; null: not known. */
export type FaultStatus = {
	readonly place: string;
	readonly type: string;
	readonly text: string;
	readonly by: string | null;
	readonly leftMs: number;
};

/** `about`: `deployment/web`, `control/scheduler`. `namespace` is null where there is none. */
export type Wrong = {readonly about: string; readonly namespace: string | null; readonly says: string; readonly next: string};
export type Coming = Omit<Wrong, 'next'>;
