// Node sync: what control and one node tell each other about the pods of that node and what these name. It runs over the stream between systems.
//
// The node says hello with what it has; control answers with the difference and then with numbered deltas, each acknowledged
// once it is in the node's cache. Up comes observed status. Both directions keep keys, not bodies: when the window opens the
// newest value goes. Absence of news changes nothing.

import type {Failure} from '../../api/errors.js';
import type {ObjectKey} from '../../api/keys.js';
import type {ConfigMap} from '../../api/kinds/configmap.js';
import type {PodSpec, PodStatus} from '../../api/kinds/pod.js';
import type {Labels} from '../../api/object.js';
import type {EventNews} from '../../system/kernel/behavior.js';
import type {NetworkObject} from './network-object.js';
import type {RuntimeInfo} from './runtime-info.js';

export const syncProtocol = 2;

/** What of a pod its node needs. */
export type Assignment = {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
	readonly labels: Labels;
	readonly annotations: Labels;
	/** `<namespace>/<kind>/<name>` of the top of its chain of controllers; missing in what earlier versions assigned. */
	readonly controller?: string;
	readonly nodeName: string;
	/** Set once the pod is being deleted. */
	readonly deletionGraceSeconds: number | undefined;
	readonly spec: PodSpec;
};

/** A pod that nothing made is its own controller. */
export const controllerName = (namespace: string, kind: string, name: string): string => `${namespace}/${kind}/${name}`;

/**
 * Whether a node may take orders of a lineage. Of one that it has never heard of it takes them only where that replaces its own by an
 * operator's word: a control plane that came up empty would stop every program.
 */
export const mayFollow = (known: string, lineage: string, replaces: readonly string[] = []): boolean =>
	known === '' || known === lineage || replaces.includes(known);

export const unknownLineage = (node: string, known: string, lineage: string): string =>
	`node "${node}" belongs to a control plane of lineage "${known}" and takes no orders of one of lineage "${lineage}", which does not replace it: its programs run on. Mount the store of that control plane, or restore a backup of it (troupe restore); where the new one is meant, start the agent once with --new`;

/** Compared, never parsed: another version means another assignment. */
export type AssignmentVersion = string;

export type Hello = {
	readonly type: 'hello';
	readonly protocol: number;
	readonly node: string;
	readonly labels: Labels;
	/** Random, new with each hello: what belongs to an earlier one is ignored by both ends. */
	readonly session: string;
	/** The highest epoch the node has seen; it refuses deltas of lower ones. */
	readonly epoch: number;
	readonly lineage: string;
	readonly have: {readonly [key: ObjectKey]: string};
	readonly info: RuntimeInfo;
};

/** Control asks the node to say hello: it has just begun to lead. */
export type CallHello = {readonly type: 'callHello'};

export type PodEntry = {
	readonly key: ObjectKey;
	readonly version: AssignmentVersion;
	/** Null: not (or no longer) this node's. */
	readonly assignment: Assignment | null;
	readonly named?: undefined;
};

/** What of config goes to a node: a ConfigMap as it is, of a Secret never more than its version. */
export type ConfigData =
	| (Pick<ConfigMap, 'data' | 'binaryData'> & {readonly type: 'configMap'})
	| {readonly type: 'secret'}
	/** Of a claim: where its volume is. */
	| {readonly type: 'claim'; readonly source: ClaimSource}
	/** Of a volume of class local that nobody needs any more: its folder goes. */
	| {readonly type: 'removal'; readonly uid: string}
	/** For what serves traffic there; whatever pods the node has. */
	| {readonly type: 'network'; readonly object: NetworkObject};

/** What a claim is on this node. */
export type ClaimSource =
	/** A folder that the agent makes and removes. */
	| {readonly type: 'local'; readonly volume: string; readonly path: string}
	| {readonly type: 'hostPath'; readonly path: string; readonly check: string}
	/** What another host exports. */
	| {readonly type: 'nfs'; readonly server: string; readonly path: string; readonly readOnly: boolean}
	/** It cannot be used there. */
	| {readonly type: 'elsewhere'; readonly why: string};

/** Of a manifest's words. */
export const nfsSource = ({server, path, readOnly = false}: {server: string; path: string; readOnly?: boolean}) =>
	({type: 'nfs', server, path, readOnly}) as const;

export type ConfigEntry = {
	readonly key: ObjectKey;
	readonly version: string;
	/** Null: it is not there, or no pod of this node names it any more. Hosts of other versions know it by this word. */
	readonly named: ConfigData | null;
	readonly assignment?: undefined;
};

export type DeltaEntry = PodEntry | ConfigEntry;

export type Delta = {
	readonly type: 'delta';
	readonly session: string;
	readonly number: number;
	readonly epoch: number;
	readonly lineage: string;
	/** Lineages of which an operator has said that this one takes their place. */
	readonly replaces?: readonly string[];
	readonly entries: readonly DeltaEntry[];
	/** With this delta the node has everything that was to be said to its hello. */
	readonly complete: boolean;
};

export type DeltaTaken = {readonly type: 'deltaTaken'; readonly session: string; readonly number: number};

export type ObservedPod = {
	readonly key: ObjectKey;
	readonly uid: string;
	readonly status: PodStatus;
	readonly events: readonly PodEvent[];
	/** What the newest of it came from: several pods share a message, each has a story of its own. */
	readonly cause: string;
};

/** What happened to a pod on its node. */
export type PodEvent = EventNews & {
	/** Of the end of an attempt: when. An agent that began anew tells the last ends again, for it does not know what was told. */
	readonly finishedAtMs?: number;
};

export const podWarning = (reason: string, message: string): PodEvent => ({event: 'Warning', reason, message});

/** Up: the newest status of some pods. */
export type Observed = {
	readonly type: 'observed';
	readonly session: string;
	readonly number: number;
	readonly pods: readonly ObservedPod[];
};

/** Control has committed what it could of that message; these keys failed and are to be sent again. */
export type ObservedTaken = {
	readonly type: 'observedTaken';
	readonly session: string;
	readonly number: number;
	readonly failed: readonly ObjectKey[];
};

/** Up: nothing of this pod is left on the node. Said until it is taken. */
export type PodGone = {readonly type: 'podGone'; readonly key: ObjectKey; readonly uid: string};

/** Control has done what follows from it. */
export type PodGoneTaken = {readonly type: 'podGoneTaken'; readonly key: ObjectKey; readonly uid: string};

/** Up: the folder of a volume is gone, or why it is not. Said again and again until there is nothing to remove any more. */
export type VolumeRemoval = {
	readonly type: 'volumeRemoval';
	readonly key: ObjectKey;
	readonly uid: string;
	/** Undefined: it is gone. */
	readonly problem?: string | undefined;
};

/** Up: how much of the disk the folder of a volume takes, each time it was counted. */
export type VolumeUsage = {readonly type: 'volumeUsage'; readonly key: ObjectKey; readonly usedBytes: number};

export type NodeRefused = {readonly type: 'refused'; readonly error: Failure};

/** Where the servers of the cluster are, `https://host:port` each: the node dials them in turn, and beats so that it is heard within the grace. */
export type Servers = {readonly type: 'servers'; readonly servers: readonly string[]; readonly graceMs?: number};

/** All that a node takes from control for its sync. */
export type FromControl = CallHello | Delta | ObservedTaken | PodGoneTaken | NodeRefused | Servers;
