// What is said between the record of an autoscaler, that which measures for all of them, and that which decides for it.

import type {HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {EventNews, Message} from '../../../system/kernel/behavior.js';
import type {Used} from '../../protocol/usage-message.js';

/** To the autoscalers: this one is looked after from now on. */
export type Attend = Message & {
	readonly type: 'attend';
	readonly hpa: ObjectKey;
	/** It is another one, or its target has other replicas than it wanted: it is looked at now. */
	readonly isNews: boolean;
	/** What set that going: who has changed the replicas of its target is in it. */
	readonly cause: string;
};

/** By the pod's uid, then by container; undefined: that it runs is all that is known. */
export type PodUsage = ReadonlyMap<string, ReadonlyMap<string, Used | undefined>>;

/** To what decides for one: what its target's pods use. */
export type Measured = Message & {
	readonly type: 'measured';
	readonly usage: PodUsage;
	/** When it was asked for, by the leader's clock. */
	readonly askedAtMs: number;
	readonly cause: string;
};

/** To its record: what came of it. */
export type Judged = Message & {
	readonly type: 'judged';
	readonly uid: string;
	readonly status: HpaStatus;
	readonly events: readonly EventNews[];
};
