// The top of the control tree: collections of all kinds, scheduler, detector, node sync, and what every cluster starts with.

import {kinds} from '../../api/catalogue.js';
import {clusterConfigName, type ClusterConfigSpec} from '../../api/kinds/clusterconfig.js';
import {defaultNamespace} from '../../api/kinds/namespace.js';
import {systemPriorities} from '../../api/kinds/priorityclass.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Draft} from '../../api/object.js';
import {next, type Behavior, type Context, type Effect, type Next, type Reply} from '../../system/kernel/behavior.js';
import {
	activatorsPath,
	autoscalersPath,
	clusterConfigKey,
	detectorPath,
	namespaceKey,
	relayPath,
	subnetsPath,
	syncPath,
	schedulerPath,
} from '../addresses.js';
import {spawnInspector} from '../inspector.js';
import {autoscalers} from './autoscaling/autoscalers.js';
import {activators} from './functions/activators.js';
import {relay} from './network/relay.js';
import {subnets} from './nodes/subnets.js';
import {detector, type DetectorInput} from './nodes/detector.js';
import {scheduler} from './scheduling/scheduler.js';
import {syncSupervisor, type SyncSupervisorInput} from './sync/sync-supervisor.js';

export type ControlRootInput = SyncSupervisorInput &
	DetectorInput & {
		/** What the configuration of a new cluster says; one that is there stays as it is. */
		readonly settings?: ClusterConfigSpec;
	};

export type ControlRootMessage = {readonly type: 'furnish'} | Reply<unknown, 'outcome'>;

/** The settings that a new cluster begins with; the kind has defaults for the rest. */
type ControlRootState = ClusterConfigSpec;

export const controlRoot: Behavior<ControlRootInput, ControlRootState, ControlRootMessage> = {
	kind: 'ControlRoot',
	init: ({settings = {}, ...input}, context) => next(settings, [...tree(input), ...furniture(settings, context)]),
	receive(settings, message, context) {
		switch (message.type) {
			case 'furnish':
				return next(settings, furniture(settings, context));
			case 'outcome':
				return furnished(settings, message, context);
		}
	},
};

/** The name of a collection's behaviour, by plural. */
export const collectionName = (plural: string): string => `collection:${plural}`;

const tree = ({localNodes, ...input}: SyncSupervisorInput & DetectorInput): Effect[] => [
	// Before functions that have instances ask for theirs.
	{type: 'spawn', name: activatorsPath, behavior: activators.kind, input: null, restart: 'permanent'},
	// And before records of autoscalers are there.
	{type: 'spawn', name: autoscalersPath, behavior: autoscalers.kind, input: null, restart: 'permanent'},
	...kinds.map(({plural}): Effect => ({type: 'spawn', name: plural, behavior: collectionName(plural), input: null, restart: 'permanent'})),
	{type: 'spawn', name: schedulerPath, behavior: scheduler.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: detectorPath, behavior: detector.kind, input: {localNodes} satisfies DetectorInput, restart: 'permanent'},
	{type: 'spawn', name: syncPath, behavior: syncSupervisor.kind, input, restart: 'permanent'},
	{type: 'spawn', name: subnetsPath, behavior: subnets.kind, input: input.lineage, restart: 'permanent'},
	{type: 'spawn', name: relayPath, behavior: relay.kind, input: null, restart: 'permanent'},
	spawnInspector,
];

const systemPurpose = 'for pods without which the cluster does not work';

const startingObjects = (settings: ControlRootState): readonly (readonly [key: string, draft: Draft])[] => [
	[namespaceKey(defaultNamespace), {apiVersion: 'v1', kind: 'Namespace', metadata: {name: defaultNamespace}}],
	[
		clusterConfigKey,
		{
			apiVersion: 'troupe.dev/v1',
			kind: 'ClusterConfig',
			metadata: {name: clusterConfigName},
			spec: settings,
		},
	],
	...[...systemPriorities].map(([name, value]): readonly [string, Draft] => [
		objectKey('priorityclasses', undefined, name),
		{apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: {name}, value, description: systemPurpose} as Draft,
	]),
];

const furniture = (settings: ControlRootState, {known}: Context): Effect[] =>
	startingObjects(settings)
		.filter(([key]) => known.get(key) === undefined)
		.map(([key, object]) => ({type: 'create', object, id: key}));

function furnished(settings: ControlRootState, {outcome}: Reply<unknown, 'outcome'>, {nowMs}: Context): Next<ControlRootState> {
	if (outcome.ok || outcome.error.code === 'ERR_ALREADY_EXISTS') return next(settings);
	return next(settings, [{type: 'wakeAt', name: 'furnish', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'furnish'}}]);
}
