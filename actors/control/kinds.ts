// The controllers there are, one line each, and the behaviours of the control system. A kind without a controller is kept, owned, collected and
// deleted like all others, and that is all.

import {kinds} from '../../api/catalogue.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior} from '../../system/kernel/behavior.js';
import type {Filing} from '../../system/index/object-index.js';
import {clusterConfigController} from './cluster/cluster-config.js';
import {inspector} from '../inspector.js';
import {collectionBehavior} from './objects/collection.js';
import {idle, type Controller} from './objects/controller.js';
import {disruptionBudgetController} from './pods/disruption-budget.js';
import {autoscaler} from './autoscaling/autoscaler.js';
import {autoscalers} from './autoscaling/autoscalers.js';
import {autoscalerController} from './autoscaling/horizontalpodautoscaler.js';
import {activator} from './functions/activator.js';
import {activators} from './functions/activators.js';
import {functionController} from './functions/function.js';
import {detector} from './nodes/detector.js';
import {cronJobController} from './workloads/cronjob.js';
import {namespaceController} from './cluster/namespace.js';
import {relay} from './network/relay.js';
import {subnets} from './nodes/subnets.js';
import {nodeController} from './nodes/node.js';
import {nodeDispatcher} from './sync/node-dispatcher.js';
import {objectBehavior} from './objects/object.js';
import {serviceController} from './network/service.js';
import {podController} from './pods/pod.js';
import {priorityClassController} from './pods/pod-priority.js';
import {deploymentController} from './workloads/deployment.js';
import {daemonSetController} from './workloads/daemonset.js';
import {replicaSetController} from './workloads/replicaset.js';
import {statefulSetController} from './workloads/statefulset.js';
import {collectionName, controlRoot} from './root.js';
import {resourceQuotaController} from './cluster/resource-quota.js';
import {scheduler} from './scheduling/scheduler.js';
import {networkPolicyController} from './network/networkpolicy.js';
import {dnsController, ingressController} from './network/route.js';
import {keptRevisionController} from './workflows/kept-revisions.js';
import {runController} from './workflows/run.js';
import {runNode} from './workflows/run-node.js';
import {jobTaskController, slurmTaskController} from './workflows/task-objects.js';
import {workflowController} from './workflows/workflow.js';
import {claimController} from './storage/claim.js';
import {volumeController} from './storage/volume.js';
import {syncSupervisor} from './sync/sync-supervisor.js';

export const controllers: readonly Controller[] = [
	namespaceController,
	nodeController,
	podController,
	replicaSetController,
	deploymentController,
	statefulSetController,
	daemonSetController,
	keptRevisionController,
	jobTaskController,
	cronJobController,
	clusterConfigController,
	priorityClassController,
	disruptionBudgetController,
	resourceQuotaController,
	claimController,
	volumeController,
	serviceController,
	dnsController,
	ingressController,
	networkPolicyController,
	functionController,
	autoscalerController,
	workflowController,
	runController,
	slurmTaskController,
];

const byPlural = new Map(controllers.map(each => [each.plural, each]));

const controllerOfKind = (plural: string): Controller => byPlural.get(plural) ?? idle(plural);

/** Index terms of an object, as its controller gives them. */
export const termsOf = (plural: string, object: ApiObject): readonly Filing[] => byPlural.get(plural)?.terms?.(object) ?? [];

type Watch = NonNullable<Controller['watches']>[string];

const watchesByPlural = new Map(
	kinds.map(({plural}): [string, readonly Watch[]] => [plural, controllers.flatMap(({watches}) => watches?.[plural] ?? [])]),
);

/** What tells which objects a change of an object of this kind concerns. */
export const watchesOf = (plural: string): readonly Watch[] => watchesByPlural.get(plural) ?? [];

/** Every behaviour of the control system, by the name that `spawn` effects use. */
export const controlBehaviors: {readonly [name: string]: AnyBehavior} = Object.fromEntries<AnyBehavior>([
	[controlRoot.kind, controlRoot],
	[scheduler.kind, scheduler],
	[detector.kind, detector],
	[syncSupervisor.kind, syncSupervisor],
	[inspector.kind, inspector],
	[subnets.kind, subnets],
	[relay.kind, relay],
	[activators.kind, activators],
	[activator.kind, activator],
	[autoscalers.kind, autoscalers],
	[autoscaler.kind, autoscaler],
	[runNode.kind, runNode],
	[nodeDispatcher.kind, nodeDispatcher],
	...kinds.flatMap((definition): [string, AnyBehavior][] => [
		[definition.kind, objectBehavior(controllerOfKind(definition.plural))],
		[collectionName(definition.plural), collectionBehavior(definition, controllerOfKind(definition.plural))],
	]),
]);
