// What runs the pods of a service: a Deployment; a StatefulSet where it has a named volume of its own; a DaemonSet where it is global; a Job
// where it is to end.

import {dependsOnAnnotation} from '../depends-on.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {below, refuse, remark, type At} from './findings.js';
import {membersOf, refuseOthers, secondsOf, textOf, wholeOf} from './values.js';
import {limits} from '../limits.js';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job';

/** How a service is to run, apart from its pod. */
export type Running = {
	readonly kind: WorkloadKind;
	readonly replicas: number;
	/** Of a Job: whether its container is tried again, and how often. */
	readonly retries: number | undefined;
	/** Members of the workload's spec about updates. */
	readonly update: JsonObject;
	/** Of the pod. */
	readonly annotations: JsonObject;
};

export type About = {
	/** Named volumes that no other service has. */
	readonly hasOwnVolume: boolean;
	/** Whether the old pod has to be gone before the new one can run: it holds a port of the node, or a volume. */
	readonly isSingle: boolean;
	/** Whether another service waits for its end. */
	readonly isAwaited: boolean;
};

const maxInt32 = 2_147_483_647;

export function runningOf(service: At, fields: JsonObject, about: About): Running {
	const at = below(service, 'deploy');
	const deploy = membersOf(at, fields['deploy']);
	refuseOthers(at, deploy, [
		...['mode', 'replicas', 'resources', 'restart_policy', 'update_config', 'rollback_config', 'placement', 'labels', 'endpoint_mode'],
	]);
	for (const field of ['rollback_config', 'endpoint_mode']) if (deploy[field] !== undefined) remark(below(at, field), 'is not used');
	const restart = restartOf(service, fields, deploy);
	const mode = textOf(below(at, 'mode'), deploy['mode']) ?? 'replicated';
	const kind = kindOf(below(at, 'mode'), mode, restart, about);
	const deployed = wholeOf(below(at, 'replicas'), deploy['replicas'], 0, limits.replicas);
	const scale = wholeOf(below(service, 'scale'), fields['scale'], 0, limits.replicas);
	if (deployed !== undefined && scale !== undefined && deployed !== scale)
		refuse(below(service, 'scale'), `says ${scale}, and deploy.replicas says ${deployed}: leave one out`);
	if (kind === 'DaemonSet' && (deployed ?? scale) !== undefined) refuse(below(at, 'replicas'), 'a global service has one on each node');
	return {
		kind,
		replicas: deployed ?? scale ?? 1,
		retries: restart.retries,
		update: updateOf(below(at, 'update_config'), deploy['update_config'], kind, about.isSingle),
		annotations: restart.annotations,
	};
}

function kindOf(at: At, mode: string, {isToEnd}: Restart, {hasOwnVolume, isAwaited}: About): WorkloadKind {
	if (mode === 'global') return 'DaemonSet';
	if (mode === 'replicated-job') return 'Job';
	if (mode !== 'replicated') refuse(at, `must be replicated, global or replicated-job, got ${shown(mode)}`);
	if (isToEnd ?? isAwaited) return 'Job';
	return hasOwnVolume ? 'StatefulSet' : 'Deployment';
}

type Restart = {
	/** Whether a program that ended well has done its work; undefined: the file does not say. */
	readonly isToEnd: boolean | undefined;
	/** How often one that failed is tried again; undefined: not at all. */
	readonly retries: number | undefined;
	readonly annotations: JsonObject;
};

/** `restart`, or `deploy.restart_policy`, which counts before it. */
function restartOf(service: At, fields: JsonObject, deploy: JsonObject): Restart {
	const policy = below(service, 'deploy', 'restart_policy');
	if (deploy['restart_policy'] !== undefined) return deployedRestart(policy, membersOf(policy, deploy['restart_policy']));
	const at = below(service, 'restart');
	const value = fields['restart'];
	const word = value === false ? 'no' : textOf(at, value); // An unquoted `no` is false to some.
	const [, condition, times] = /^(no|always|unless-stopped|on-failure)(?::(\d{1,9}))?$/.exec(word ?? '') ?? [];
	if (word === undefined) return {isToEnd: undefined, retries: undefined, annotations: {}};
	if (condition === undefined || (times !== undefined && condition !== 'on-failure'))
		refuse(at, `must be "no", always, unless-stopped or on-failure[:TIMES], got ${shown(word)}`);
	if (condition === 'no') return {isToEnd: true, retries: undefined, annotations: {}};
	if (condition !== 'on-failure') return {isToEnd: false, retries: undefined, annotations: {}};
	return {isToEnd: true, retries: times === undefined ? maxInt32 : Number(times), annotations: {}};
}

function deployedRestart(at: At, policy: JsonObject): Restart {
	refuseOthers(at, policy, ['condition', 'delay', 'max_attempts', 'window']);
	const condition = textOf(below(at, 'condition'), policy['condition']) ?? 'any';
	const attempts = wholeOf(below(at, 'max_attempts'), policy['max_attempts'], 0, maxInt32);
	const delay = secondsOf(below(at, 'delay'), policy['delay']);
	if (policy['window'] !== undefined) remark(below(at, 'window'), 'is not used: ten minutes of health count');
	const annotations = delay === undefined || delay < 0.01 || delay > 86_400 ? {} : backoffOf(delay);
	switch (condition) {
		case 'any':
			if (attempts !== undefined && attempts > 0)
				refuse(below(at, 'max_attempts'), 'needs the condition on-failure: what is always started again is so without end');
			return {isToEnd: false, retries: undefined, annotations};
		case 'on-failure':
			return {isToEnd: true, retries: attempts ?? maxInt32, annotations};
		case 'none':
			return {isToEnd: true, retries: undefined, annotations};
		default:
			refuse(below(at, 'condition'), `must be none, on-failure or any, got ${shown(condition)}`);
			return {isToEnd: undefined, retries: undefined, annotations};
	}
}

const backoffOf = (seconds: number): JsonObject => ({
	'troupe.dev/backoff-first': `${Math.round(seconds * 1_000)}ms`,
	'troupe.dev/backoff-max': `${Math.round(seconds * 1_000)}ms`,
});

function updateOf(at: At, value: Json | undefined, kind: WorkloadKind, isSingle: boolean): JsonObject {
	const config = membersOf(at, value);
	refuseOthers(at, config, ['parallelism', 'delay', 'failure_action', 'monitor', 'max_failure_ratio', 'order']);
	for (const field of ['delay', 'failure_action', 'monitor', 'max_failure_ratio'])
		if (config[field] !== undefined)
			remark(below(at, field), 'is not used: an update goes on as its pods become ready, and stops while they do not');
	const order = textOf(below(at, 'order'), config['order']);
	if (order !== undefined && order !== 'stop-first' && order !== 'start-first')
		refuse(below(at, 'order'), `must be stop-first or start-first, got ${shown(order)}`);
	const given = wholeOf(below(at, 'parallelism'), config['parallelism'], 0, limits.replicas);
	const many: Json = given === 0 ? '100%' : (given ?? 1);
	if (kind !== 'Deployment') {
		if (order === 'start-first') refuse(below(at, 'order'), `cannot be said of a ${kind}: its pods stop first`);
		return {};
	}
	if (order === 'start-first') return {strategy: rolling({maxSurge: many, maxUnavailable: 0})};
	if (!isSingle && order === undefined && given === undefined) return {};
	return {strategy: rolling({maxSurge: 0, maxUnavailable: many})};
}

const rolling = (rollingUpdate: JsonObject): JsonObject => ({type: 'RollingUpdate', rollingUpdate});

/** What is made of a service: the workload with its pod in it. */
export function workloadOf(
	running: Running,
	parts: {name: string; labels: JsonObject; marks: JsonObject; template: JsonObject},
): JsonObject {
	const {kind, replicas, retries, update} = running;
	const {name, labels, marks, template} = parts;
	const metadata = {name, ...marks};
	const selector = {matchLabels: labels};
	switch (kind) {
		case 'Deployment':
			return {apiVersion: 'apps/v1', kind, metadata, spec: {replicas, selector, ...update, template}};
		case 'StatefulSet':
			return {
				apiVersion: 'apps/v1',
				kind,
				metadata,
				spec: {replicas, serviceName: name, podManagementPolicy: 'Parallel', selector, template},
			};
		case 'DaemonSet':
			return {apiVersion: 'apps/v1', kind, metadata, spec: {selector, template}};
		case 'Job': {
			const restartPolicy = retries === undefined ? 'Never' : 'OnFailure';
			const pod = isObject(template['spec']) ? template['spec'] : {};
			const counts = replicas === 1 ? {} : {parallelism: replicas, completions: replicas};
			const job = {...template, spec: {...pod, restartPolicy}};
			return {apiVersion: 'batch/v1', kind, metadata, spec: {...counts, backoffLimit: retries ?? 0, template: job}};
		}
	}
}

/** What a pod waits for, as its annotation says it. */
export const waitsFor = (names: readonly string[]): JsonObject => (names.length === 0 ? {} : {[dependsOnAnnotation]: names.join(',')});
