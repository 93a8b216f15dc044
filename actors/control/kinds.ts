// The controllers there are, one line a kind, and the behaviours they make.

import {kinds} from '../../api/catalogue.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior} from '../../system/kernel/behavior.js';
import type {Filing} from '../../system/index/object-index.js';
import {clusterConfigController} from './cluster-config.js';
import {configMapController} from './configmap.js';
import {collectionBehavior} from './collection.js';
import type {Controller} from './controller.js';
import {detector} from './detector.js';
import {inertControllers} from './inert.js';
import {namespaceController} from './namespace.js';
import {nodeController} from './node.js';
import {nodeSync} from './node-sync.js';
import {objectBehavior} from './object.js';
import {podController} from './pod.js';
import {priorityClassController} from './priority-class.js';
import {replicaSetController} from './replicaset.js';
import {collectionName, controlRoot} from './root.js';
import {scheduler} from './scheduler.js';
import {secretController} from './secret.js';
import {syncSupervisor} from './sync-supervisor.js';

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
	[nodeSync.kind, nodeSync],
	...controllers.map((each): [string, AnyBehavior] => {
		const behavior = objectBehavior(each);
		return [behavior.kind, behavior];
	}),
	...kinds.map((definition): [string, AnyBehavior] => [collectionName(definition.plural), collectionBehavior(definition)]),
]);
