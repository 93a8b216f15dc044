// The controllers there are, one line a kind, and the behaviours they make.

import {kinds} from '../../api/catalogue.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior} from '../../system/kernel/behavior.js';
import type {Filing} from '../../system/index/object-index.js';
import {clusterConfigController} from './cluster/cluster-config.js';
import {configMapController} from './configmap.js';
import {collectionBehavior} from './objects/collection.js';
import type {Controller} from './objects/controller.js';
import {detector} from './nodes/detector.js';
import {inertControllers} from './inert.js';
import {namespaceController} from './cluster/namespace.js';
import {nodeController} from './nodes/node.js';
import {nodeDispatcher} from './sync/node-dispatcher.js';
import {objectBehavior} from './objects/object.js';
import {podController} from './pods/pod.js';
import {priorityClassController} from './priority-class.js';
import {replicaSetController} from './workloads/replicaset.js';
import {collectionName, controlRoot} from './root.js';
import {scheduler} from './scheduler.js';
import {secretController} from './secret.js';
import {syncSupervisor} from './sync/sync-supervisor.js';

const controllers: readonly Controller[] = [
	namespaceController,
	nodeController,
	podController,
	replicaSetController,
	configMapController,
	secretController,
	priorityClassController,
	clusterConfigController,
	...inertControllers,
];

const byPlural = new Map(controllers.map(each => [each.plural, each]));

/** Index terms of an object, as its controller gives them. */
export const termsOf = (plural: string, object: ApiObject): readonly Filing[] => byPlural.get(plural)?.terms?.(object) ?? [];

/** Every behaviour of the control system, by the name that `spawn` effects use. */
export const controlBehaviors: {readonly [name: string]: AnyBehavior} = Object.fromEntries<AnyBehavior>([
	[controlRoot.kind, controlRoot],
	[scheduler.kind, scheduler],
	[detector.kind, detector],
	[syncSupervisor.kind, syncSupervisor],
	[nodeDispatcher.kind, nodeDispatcher],
	...controllers.map((each): [string, AnyBehavior] => {
		const behavior = objectBehavior(each);
		return [behavior.kind, behavior];
	}),
	...kinds.map((definition): [string, AnyBehavior] => [collectionName(definition.plural), collectionBehavior(definition)]),
]);
