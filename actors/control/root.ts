// The top of the control tree: collections of all kinds, scheduler, detector, node sync, and what every cluster starts with.

import {kinds} from '../../api/catalogue.js';
import {clusterConfigName} from '../../api/kinds/clusterconfig.js';
import {defaultNamespace} from '../../api/kinds/namespace.js';
import {systemPriorities} from '../../api/kinds/priorityclass.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Draft} from '../../api/object.js';
import {next, type Behavior, type Context, type Effect, type Next, type Reply} from '../../system/kernel/behavior.js';
import {clusterConfigKey, detectorPath, namespaceKey, syncPath} from '../addresses.js';
import {spawnInspector} from '../inspector.js';
import {detector, type DetectorInput} from './nodes/detector.js';
import {scheduler, schedulerPath} from './scheduling/scheduler.js';
import {syncSupervisor, type SyncSupervisorInput} from './sync/sync-supervisor.js';

export type ControlRootInput = SyncSupervisorInput & DetectorInput;

export type ControlRootMessage = {readonly type: 'furnish'} | Reply<unknown, 'outcome'>;

export const controlRoot: Behavior<ControlRootInput, null, ControlRootMessage> = {
	kind: 'ControlRoot',
	init: (input, context) => next(null, [...tree(input), ...furniture(context)]),
	receive(_state, message, context) {
		switch (message.type) {
			case 'furnish':
				return next(null, furniture(context));
			case 'outcome':
				return furnished(message, context);
		}
	},
};

/** The name of a collection's behaviour, by plural. */
export const collectionName = (plural: string): string => `collection:${plural}`;

const tree = ({localNodes, ...input}: ControlRootInput): Effect[] => [
	...kinds.map(({plural}): Effect => ({type: 'spawn', name: plural, behavior: collectionName(plural), input: null, restart: 'permanent'})),
	{type: 'spawn', name: schedulerPath, behavior: scheduler.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: detectorPath, behavior: detector.kind, input: {localNodes} satisfies DetectorInput, restart: 'permanent'},
	{type: 'spawn', name: syncPath, behavior: syncSupervisor.kind, input, restart: 'permanent'},
	spawnInspector,
];

const systemPurpose = 'for pods without which the cluster does not work';

const startingObjects: readonly (readonly [key: string, draft: Draft])[] = [
	[namespaceKey(defaultNamespace), {apiVersion: 'v1', kind: 'Namespace', metadata: {name: defaultNamespace}}],
	[clusterConfigKey, {apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: clusterConfigName}, spec: {}}],
	...[...systemPriorities].map(([name, value]): readonly [string, Draft] => [
		objectKey('priorityclasses', undefined, name),
		{apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: {name}, value, description: systemPurpose} as Draft,
	]),
];

const furniture = ({known}: Context): Effect[] =>
	startingObjects.filter(([key]) => known.get(key) === undefined).map(([key, object]) => ({type: 'create', object, id: key}));

function furnished({outcome}: Reply<unknown, 'outcome'>, {nowMs}: Context): Next<null> {
	if (outcome.ok || outcome.error.code === 'ERR_ALREADY_EXISTS') return next(null);
	return next(null, [{type: 'wakeAt', name: 'furnish', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'furnish'}}]);
}
