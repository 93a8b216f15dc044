// The kinds that are rolled out: each is one value in this list.

import type {Resource} from '../cluster/resources.js';
import {usageError} from '../command.js';
import {deploymentRollout} from './deployment.js';
import {functionRollout} from './function.js';
import type {RolloutKind} from './rollout-kind.js';
import {daemonSetRollout, statefulSetRollout} from './sets.js';

const rolloutKinds: readonly RolloutKind[] = [deploymentRollout, daemonSetRollout, statefulSetRollout, functionRollout];

/** Throws ERR_USAGE for a kind that is not rolled out. */
export function rolloutKindOf({kind, singular}: Resource): RolloutKind {
	const found = rolloutKinds.find(each => each.kind === kind);
	const kinds = rolloutKinds.map(each => each.kind).join(', ');
	if (found === undefined) throw usageError(`a ${singular} has no rollouts; these have: ${kinds}`);
	return found;
}
