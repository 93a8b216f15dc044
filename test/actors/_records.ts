// Records of objects, played one step at a time against an index.

import type {ApiObject} from '../../api/object.js';
import {clusterConfigController} from '../../actors/control/cluster/cluster-config.js';
import {functionController} from '../../actors/control/functions/function.js';
import {noFailures, type Controller} from '../../actors/control/objects/controller.js';
import {namespaceController} from '../../actors/control/cluster/namespace.js';
import {nodeController} from '../../actors/control/nodes/node.js';
import {objectBehavior, type ObjectState, type RecordInput} from '../../actors/control/objects/object.js';
import {resourceQuotaController} from '../../actors/control/cluster/resource-quota.js';
import {disruptionBudgetController} from '../../actors/control/pods/disruption-budget.js';
import {networkPolicyController} from '../../actors/control/network/networkpolicy.js';
import {dnsController, ingressController} from '../../actors/control/network/route.js';
import {podController} from '../../actors/control/pods/pod.js';
import {deploymentController} from '../../actors/control/workloads/deployment.js';
import {daemonSetController} from '../../actors/control/workloads/daemonset.js';
import {cronJobController} from '../../actors/control/workloads/cronjob.js';
import {jobController} from '../../actors/control/workloads/job.js';
import {statefulSetController} from '../../actors/control/workloads/statefulset.js';
import {claimController} from '../../actors/control/storage/claim.js';
import {volumeController} from '../../actors/control/storage/volume.js';
import {serviceController} from '../../actors/control/network/service.js';
import {replicaSetController} from '../../actors/control/workloads/replicaset.js';
import type {Behavior, Context, Effect, Message, Signal} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {playFrom, type Played} from '../../system/kernel/play.js';
import {contextWith, drop, keyOf, put} from './_objects.js';

type Record = Behavior<RecordInput, ObjectState, Message>;

const recordOf = (each: Controller): Record => objectBehavior(each);

export const records = {
	Namespace: recordOf(namespaceController),
	Node: recordOf(nodeController),
	Pod: recordOf(podController),
	ResourceQuota: recordOf(resourceQuotaController),
	PodDisruptionBudget: recordOf(disruptionBudgetController),
	ReplicaSet: recordOf(replicaSetController),
	Deployment: recordOf(deploymentController),
	StatefulSet: recordOf(statefulSetController),
	DaemonSet: recordOf(daemonSetController),
	Job: recordOf(jobController),
	CronJob: recordOf(cronJobController),
	PersistentVolumeClaim: recordOf(claimController),
	PersistentVolume: recordOf(volumeController),
	ClusterConfig: recordOf(clusterConfigController),
	Service: recordOf(serviceController),
	Dns: recordOf(dnsController),
	Ingress: recordOf(ingressController),
	NetworkPolicy: recordOf(networkPolicyController),
	Function: recordOf(functionController),
};

const recordFor = ({kind}: ApiObject): Record => records[kind as keyof typeof records];

export const restored = (object: ApiObject): ObjectState => ({object, failures: noFailures, rest: undefined});

/** A message as a test writes it down. */
export type Told = Message & {readonly [member: string]: unknown};

/** Plays messages to the record of an object that is committed as given. */
export const tellRecord = (
	object: ApiObject,
	messages: readonly Told[],
	context: Context,
	state: ObjectState = restored(object),
): Played<ObjectState> => playFrom(recordFor(object), state, messages, context);

export function signalRecord(object: ApiObject, signal: Signal, context: Context): {readonly effects: readonly Effect[]} {
	const step = recordFor(object).signal?.(restored(object), signal, context);
	if (step === undefined) throw new Error('records hear signals');
	return step;
}

/** One step whose object is committed to the index, as the pipeline would; the committed object, undefined once removed. */
export function commit(index: ObjectIndex, object: ApiObject, message: Told, overrides: Partial<Context> = {}): ApiObject | undefined {
	const played = tellRecord(object, [message], contextWith(index, overrides));
	if (played.object === object) return object;
	if (played.object === undefined) drop(index, object);
	else put(index, played.object);
	return index.get(keyOf(object));
}

/** Wakes a record until it finds nothing to do; throws when it never comes to rest. */
export function settle(index: ObjectIndex, object: ApiObject): ApiObject | undefined {
	let present: ApiObject | undefined = object;
	for (let step = 0; step < 10; step++) {
		if (present === undefined) return undefined;
		const after = commit(index, present, {type: 'wake'});
		if (after === present) return present;
		present = after;
	}
	throw new Error('the record does not come to rest');
}
