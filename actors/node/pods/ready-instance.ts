// What the router of a node is told of a pod that is an instance of a function. Pure.

import {isConditionTrue} from '../../../api/conditions.js';
import {functionInstanceOf, functionLabel} from '../../../api/function-instance.js';
import type {PodStatus} from '../../../api/kinds/pod.js';
import {tell, type Context, type Effect} from '../../../system/kernel/behavior.js';
import {besides, networkPath} from '../../addresses.js';
import type {ReadyInstance} from '../../protocol/network-object.js';
import type {Assignment} from '../../protocol/sync-message.js';
import type {InstanceChanged} from '../network/network.js';

/** Undefined: it is no instance. */
function instanceOf({uid, namespace, labels, annotations}: Assignment): ReadyInstance | undefined {
	const {[functionLabel]: name} = labels;
	const said = functionInstanceOf(annotations);
	if (said === undefined || name === undefined) return undefined;
	return {uid, namespace, function: name, concurrency: said.concurrency, timeoutMs: said.timeoutMs};
}

/** It has become ready, or is so no more; `status` undefined: it is gone. */
export function readinessTold(
	assignment: Assignment,
	before: PodStatus | undefined,
	status: PodStatus | undefined,
	{self}: Context,
): readonly Effect[] {
	const isReady = isConditionTrue(status?.conditions, 'Ready');
	if (isReady === isConditionTrue(before?.conditions, 'Ready')) return [];
	const instance = instanceOf(assignment);
	if (instance === undefined) return [];
	const message: InstanceChanged = {type: 'instanceChanged', uid: instance.uid, instance: isReady ? instance : null};
	return [tell(besides(self, networkPath), message)];
}
