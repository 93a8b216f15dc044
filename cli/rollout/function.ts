// Rollouts of Functions: versions are ReplicaSets, made when they are called. A version that nobody has called yet is none of them.

import {isSameTemplate} from '../../actors/control/workloads/template-hash.js';
import {templateOf, type FunctionTemplate} from '../../actors/control/functions/function-template.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import {conditionOf} from '../../api/conditions.js';
import {functionContainer, functionInstanceOf, functionLabel} from '../../api/function-instance.js';
import {timeoutMsOf, type FunctionObject, type FunctionSpec} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {isLabelValue} from '../../api/rules/names.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import {failedError} from '../command.js';
import {revisionIn} from './deployment.js';
import {going, type Revision, type RolloutKind, type RolloutStatus} from './rollout-kind.js';

export const functionRollout: RolloutKind = {
	kind: 'Function',
	statusOf: (object, revision) => statusOf(object as FunctionObject, revision),
	revisionsOf: async (client, object) =>
		(await versionsOf(client, object as FunctionObject)).flatMap(revisionIn).sort((a, b) => a.number - b.number),
	restored: (object, revision) => ({...object, spec: specOf(object as FunctionObject, revision)}),
	previous: (object, revisions) => revisions.findLast(revision => !isOfVersion(object as FunctionObject, revision)),
	isSame: (a, b) => isSame(templateOf(a as FunctionObject), templateOf(b as FunctionObject)),
	canPause: false,
	whyNoRestart: name => `restarting is not supported; others come in place of its pods: troupe delete pods -l ${functionLabel}=${name}`,
};

/** The ReplicaSets of its versions. */
export async function versionsOf(client: Client, fn: FunctionObject): Promise<readonly ReplicaSet[]> {
	const sets = (await labelled(client, 'replicasets', fn)) as readonly ReplicaSet[];
	return sets.filter(set => controllerOf(set)?.uid === fn.metadata.uid);
}

/** The pods of these versions. */
export async function instancesOf(client: Client, fn: FunctionObject, versions: readonly ReplicaSet[]): Promise<readonly Pod[]> {
	const uids = new Set(versions.map(({metadata}) => metadata.uid));
	const pods = versions.length === 0 ? [] : ((await labelled(client, 'pods', fn)) as readonly Pod[]);
	return pods.filter(pod => uids.has(controllerOf(pod)?.uid ?? ''));
}

/** A name that is no label has neither: its versions are refused. */
const labelled = async (client: Client, plural: string, {metadata: {name, namespace}}: FunctionObject): Promise<readonly ApiObject[]> =>
	isLabelValue(name) ? listAll(client, resourceOf(plural), namespace, {labelSelector: `${functionLabel}=${name}`}) : [];

/** Templates of no code are the same, too. */
const isSame = (a: FunctionTemplate | undefined, b: FunctionTemplate | undefined): boolean =>
	a === undefined || b === undefined ? a === b : isSameTemplate(a, b);

const isOfVersion = (fn: FunctionObject, {object}: Revision): boolean => isSame(templateOf(fn), (object as ReplicaSet).spec?.template);

/** What makes the version is as it was then; what is said of the function as a whole stays. */
function specOf({spec = {}}: FunctionObject, {number, object}: Revision): FunctionSpec {
	const {metadata, spec: pod} = (object as ReplicaSet).spec?.template ?? {};
	const instance = functionInstanceOf(metadata?.annotations);
	const container = pod?.containers.find(({name}) => name === functionContainer);
	if (instance === undefined || container === undefined) throw failedError(`revision ${number} does not say what it was made of`);
	const {userUploadFilePath, env: _env, envFrom: _envFrom, resources: _resources, ...others} = spec;
	const {artifact: _artifact, runtime: _runtime, command: _command, image: _image, runtimeClassName: _class, ...kept} = others;
	const {env, envFrom, resources, command, image} = container;
	const {artifact, runtime, concurrency, timeoutMs} = instance;
	return {
		...kept,
		concurrency,
		// A folder that is named would have to be uploaded.
		...(artifact === undefined ? {} : {artifact, ...(userUploadFilePath === undefined ? {} : {userUploadFilePath})}),
		...(runtime === 'program' ? {} : {runtime}),
		...(command === undefined ? {} : {command}),
		...(pod?.runtimeClassName === 'docker' ? {image} : {}),
		...(timeoutMsOf(spec) === timeoutMs ? {} : {timeout: timeText(timeoutMs)}),
		...(env === undefined ? {} : {env}),
		...(envFrom === undefined ? {} : {envFrom}),
		...(resources === undefined ? {} : {resources}),
	};
}

const timeText = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`);

function statusOf({metadata: {name, generation}, spec, status = {}}: FunctionObject, revision: number): RolloutStatus {
	// Before that all of it is about the spec before.
	if ((status.observedGeneration ?? 0) < generation) return going('Waiting for function spec update to be observed...');
	const {instances = 0, updated = 0} = status;
	const desired = Math.min(status.desired ?? 0, spec?.max ?? limits.functionInstancesDefault);
	if (revision > 0 && revision !== status.revision)
		throw failedError(`desired revision (${revision}) is different from the running revision (${status.revision ?? 'none'})`);
	const callable = conditionOf(status.conditions, 'Callable');
	if (callable?.reason === 'NoCode') throw failedError(`function "${name}" cannot be called: ${callable.message}`);
	if (desired === 0) return {text: `function "${name}" is at rest: its newest version begins with the next call`, isDone: true};
	const waiting = `Waiting for function "${name}" rollout to finish:`;
	if (updated < desired) return going(`${waiting} ${updated} of ${desired} instances of the newest version take calls...`);
	// Versions that traffic names have theirs, and so have those that runs of workflows go on with.
	if (instances > updated && spec?.traffic === undefined && status.apart === undefined)
		return going(`${waiting} ${instances - updated} other instances are pending termination...`);
	return {text: `function "${name}" successfully rolled out`, isDone: true};
}
