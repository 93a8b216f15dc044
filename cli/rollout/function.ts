// Rollouts of Functions: versions are ReplicaSets, made when they are called. A version that nobody has called yet is none of them.

import {isSameTemplate} from '../../actors/control/workloads/template-hash.js';
import {templateOf, type FunctionTemplate} from '../../actors/control/functions/function-template.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import {conditionOf} from '../../api/conditions.js';
import {functionContainer, functionInstanceOf, functionLabel} from '../../api/function-instance.js';
import {timeoutMsOf, type FunctionObject, type FunctionSpec} from '../../api/kinds/function.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
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
export async function versionsOf(client: Client, {metadata}: FunctionObject): Promise<readonly ReplicaSet[]> {
	const query = {labelSelector: `${functionLabel}=${metadata.name}`};
	const sets = (await listAll(client, resourceOf('replicasets'), metadata.namespace, query)) as readonly ReplicaSet[];
	return sets.filter(set => controllerOf(set)?.uid === metadata.uid);
}

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
	const {env: _env, envFrom: _envFrom, resources: _resources, ...kept} = spec;
	const {env, envFrom, resources} = container;
	const {artifact, runtime, concurrency, timeoutMs} = instance;
	return {
		...kept,
		...{artifact, runtime, concurrency},
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
	if (instances > updated) return going(`${waiting} ${instances - updated} other instances are pending termination...`);
	return {text: `function "${name}" successfully rolled out`, isDone: true};
}
