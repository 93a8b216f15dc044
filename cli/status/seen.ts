// What `troupe status` looks at, all of it answers that the API has anyway.

import {parseUserSystem} from '../../api/user-system.js';
import type {ActorTree, FaultsLook, OfSystem, SystemStats} from '../../api/inspect.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {Job} from '../../api/kinds/job.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';

export type Objects = {
	readonly nodes: readonly NodeObject[];
	readonly pods: readonly Pod[];
	readonly deployments: readonly Deployment[];
	readonly replicasets: readonly ReplicaSet[];
	readonly statefulsets: readonly StatefulSet[];
	readonly daemonsets: readonly DaemonSet[];
	readonly jobs: readonly Job[];
	readonly persistentvolumeclaims: readonly PersistentVolumeClaim[];
};

/** `GET /troupe/v1/counters`, as far as it is looked at here. */
export type Counters = {
	readonly store?: {
		readonly waiting?: number;
		readonly epoch?: number;
		readonly version?: number;
		readonly problem?: string | null;
	};
};

export type Actors = {
	/** The root of each system, or why it did not answer. */
	readonly roots: readonly OfSystem<ActorTree>[];
	/** Of those below which something is wrong: what that is. */
	readonly trees: readonly OfSystem<ActorTree>[];
	readonly faults: readonly OfSystem<FaultsLook>[];
	readonly control: SystemStats | undefined;
};

export type Seen = {
	readonly server: string;
	/** As `GET /version` has it. */
	readonly gitVersion: string | undefined;
	readonly nowMs: number;
	readonly counters: Counters;
	readonly objects: Objects;
	readonly actors: Actors;
};

/** A system of a login's own, which may have any number of them: the cluster's come first. */
export const isUsers = (system: string): boolean => parseUserSystem(system) !== undefined;
