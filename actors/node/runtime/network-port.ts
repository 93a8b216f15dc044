// What a node's actors need of the thing that serves traffic: Services, names and routes. Implemented in `agent/network/`.

import type {Outcome} from '../../../api/errors.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {WayAnswer, WayRequest} from '../../../api/way-check.js';
import type {NetworkObject, NetworkPolicyOfNode, ReadyInstance} from '../../protocol/network-object.js';
import type {NetworkInfo} from '../../protocol/runtime-info.js';

/** Undefined: it is there no more. */
export type NetworkChange = {readonly key: ObjectKey; readonly object: NetworkObject | undefined};

export type NetworkCommand =
	/** All there is: what is not among it is there no more. */
	| {readonly type: 'network.replace'; readonly changes: readonly NetworkChange[]}
	| {readonly type: 'network.change'; readonly changes: readonly NetworkChange[]}
	/** One of these, before it goes to what serves traffic: for rules of the kernel, which wait for nothing that is under way. Answered at once. */
	| {readonly type: 'network.learn'; readonly changes: readonly NetworkChange[]}
	/** All policies that there are. They wait for nothing that is under way: answered at once. */
	| {readonly type: 'network.enforce'; readonly policies: readonly NetworkPolicyOfNode[]}
	/** A pod of this node is a ready instance of a function from now on; null: no more. Answered at once. */
	| {readonly type: 'network.instance'; readonly uid: string; readonly instance: ReadyInstance | null};

/** Tries the way from a pod of this node, or from the node, to somewhere. Answered with a `WayAnswer`. */
export type WayCheckCommand = {readonly type: 'way.check'; readonly request: WayRequest};

/** What serves traffic on this node, as people are shown it. */
export type NetworkStatus = {
	/** Undefined: nothing has needed it yet, or it is being started. */
	readonly pid: number | undefined;
	readonly memoryBytes: number | undefined;
	/** What it cannot do, and what to do about that; for people. Of a port that is taken, say. */
	readonly problems: readonly string[];
};

export type Network = {
	readonly info: () => NetworkInfo;
	/** Answered once what serves traffic has taken it; while nothing is there to serve, at once. */
	readonly run: (command: NetworkCommand, done: (outcome: Outcome<null>) => void) => void;
	/** Answers with what is known and what became of each try; fails where nothing could be tried. */
	readonly checkWay: (request: WayRequest, done: (outcome: Outcome<WayAnswer>) => void) => void;
	readonly onStatus: (listener: (status: NetworkStatus) => void) => void;
	/** What serves traffic goes on. */
	readonly close: () => Promise<void>;
};
