// The kind Pod: containers that live and die together. Its shape is re-exported, so one import serves both.

import {podColumns} from '../columns/pod.js';
import {withPodDefaults} from '../defaults/pod.js';
import {withKeptPriority} from '../defaults/priority.js';
import {withKeptClass} from '../defaults/runtime-class.js';
import {deepEqual} from '../equal.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Condition, Draft} from '../object.js';
import {checkBackoff} from '../rules/backoff.js';
import {checkDependsOn} from '../rules/depends-on.js';
import {checkFunctionInstance} from '../rules/function-instance.js';
import {checkPodChange} from '../rules/immutable.js';
import {checkPodSpec} from '../rules/pod.js';
import {membersOf, type Found} from '../rules/report.js';
import type {Container, Pod, PodSpec, PodStatus, Quantities} from '../shapes/pod.js';

export type * from '../shapes/pod.js';

const asPod = (object: ApiObject): Pod => object as Pod;

export const pod: KindDefinition = {
	kind: 'Pod',
	group: '',
	version: 'v1',
	plural: 'pods',
	singular: 'pod',
	shortNames: ['po'],
	categories: ['all'],
	namespaced: true,
	defaults: (draft, old) => ({...draft, spec: withPodDefaults(withKept(draft.spec as PodSpec, old?.spec as PodSpec | undefined))}),
	validate,
	initialStatus,
	columns: podColumns,
	selectableFields: {
		'spec.nodeName': object => asPod(object).spec?.nodeName ?? '',
		'spec.restartPolicy': object => asPod(object).spec?.restartPolicy ?? '',
		'status.phase': object => asPod(object).status?.phase ?? '',
		'status.podIP': object => asPod(object).status?.podIP ?? '',
		'status.nominatedNodeName': object => asPod(object).status?.nominatedNodeName ?? '',
	},
};

/** What it got when it was made. */
const withKept = (spec: PodSpec, old: PodSpec | undefined): PodSpec => withKeptClass(withKeptPriority(spec, old), old);

function validate(found: Found, object: Draft, old?: ApiObject): void {
	checkBackoff(found, 'metadata.annotations', object.metadata.annotations);
	checkDependsOn(found, 'metadata.annotations', object.metadata.annotations);
	checkFunctionInstance(found, object);
	checkPodSpec(found, 'spec', membersOf(object.spec));
	// An older version may have kept it with fewer defaults.
	if (old !== undefined && !deepEqual(object.spec, old.spec))
		checkPodChange(found, 'spec', membersOf(object.spec), membersOf(withPodDefaults(old.spec as PodSpec)));
}

function initialStatus({spec}: Draft): PodStatus {
	const {nodeName, containers, initContainers = []} = spec as PodSpec;
	const isBound = nodeName !== undefined && nodeName !== '';
	return {phase: 'Pending', conditions: [isBound ? scheduled : unscheduled], qosClass: qosClassOf([...initContainers, ...containers])};
}

const scheduled: Condition = {type: 'PodScheduled', status: 'True'};
const unscheduled: Condition = {
	type: 'PodScheduled',
	status: 'False',
	reason: 'Unscheduled',
	message: 'the scheduler has not looked at the pod yet',
};

const resources = ['cpu', 'memory'] as const;

/** Kubernetes' quality of service: how sure the containers' resources are. */
function qosClassOf(containers: readonly Container[]): PodStatus['qosClass'] & string {
	if (containers.every(isGuaranteed)) return 'Guaranteed';
	const asks = containers.some(({resources: {requests, limits} = {}}) => [requests, limits].some(asksFor));
	return asks ? 'Burstable' : 'BestEffort';
}

/** Devices are no matter of it. */
const asksFor = (amounts: Quantities | undefined): boolean => resources.some(resource => amounts?.[resource] !== undefined);

const isGuaranteed = ({resources: {requests, limits} = {}}: Container): boolean =>
	resources.every(resource => limits?.[resource] !== undefined && requests?.[resource] === limits[resource]);
