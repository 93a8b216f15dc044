// What a rollout's judge says of all that was watched.

import type {ApiObject} from '../../api/object.js';
import type {Following} from '../../bench/rigs/cluster/waiting.js';
import {RolloutJudge} from '../_rollout-judge.js';

/** All that was committed of the kinds that are followed, in the order of their versions: one counter numbers them all. */
const record = (followed: readonly Following[]) =>
	followed
		.flatMap(({changes}) => changes)
		.sort((a, b) => Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion));

/** Follow Deployments, ReplicaSets and Pods. */
export function judged(followed: readonly Following[]): RolloutJudge {
	const judge = new RolloutJudge();
	const known = new Map<string, ApiObject>();
	for (const {type, object} of record(followed)) {
		const {uid} = object.metadata;
		judge.change(known.get(uid), type === 'DELETED' ? undefined : object);
		known.set(uid, object);
	}
	return judge;
}
