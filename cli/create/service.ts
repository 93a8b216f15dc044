// The Service that leads to the pods of an object, in the words of `kubectl expose`. Pure.

import type {PodSpec} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import type {ApiObject, JsonObject, Labels} from '../../api/object.js';
import type {LabelSelector} from '../../api/selector.js';
import {type Flags, usageError} from '../command.js';

const types = ['ClusterIP', 'NodePort', 'LoadBalancer'];

/** Throws ERR_USAGE for flags that no Service has, and for an object that says not enough. */
export function serviceOf(object: ApiObject, subject: string, flags: Flags): JsonObject {
	const name = flags.text('name') ?? object.metadata.name;
	const type = flags.text('type') ?? 'ClusterIP';
	if (!types.includes(type)) throw usageError(`--type must be ${types.join(', ')}, got "${type}"`);
	const affinity = flags.text('session-affinity');
	const clusterIP = flags.text('cluster-ip');
	return {
		apiVersion: 'v1',
		kind: 'Service',
		metadata: {name, ...(object.metadata.labels === undefined ? {} : {labels: {...object.metadata.labels}})},
		spec: {
			type,
			selector: {...selectorOf(object, subject)},
			ports: [...portsOf(object, subject, flags)],
			...(affinity === undefined ? {} : {sessionAffinity: affinity}),
			...(clusterIP === undefined ? {} : {clusterIP}),
		},
	};
}

/** Of its pods. */
function selectorOf(object: ApiObject, subject: string): Labels {
	if (object.kind === 'Pod' && Object.keys(object.metadata.labels ?? {}).length > 0) return object.metadata.labels ?? {};
	if (object.kind === 'Pod') throw usageError(`${subject} has no labels, so no Service can choose it: troupe label ${subject} app=NAME`);
	if (object.kind === 'Service') {
		const {selector = {}} = (object as Service).spec ?? {};
		if (Object.keys(selector).length > 0) return selector;
		throw usageError(`${subject} has no selector, so its pods are not known`);
	}
	const {selector} = (object.spec ?? {}) as {readonly selector?: LabelSelector};
	if (selector?.matchLabels === undefined || (selector.matchExpressions ?? []).length > 0)
		throw usageError(`${subject} does not choose its pods by labels alone, as a Service does`);
	return selector.matchLabels;
}

/** `--port`, or those that its containers name. */
function portsOf(object: ApiObject, subject: string, flags: Flags): readonly JsonObject[] {
	const protocol = flags.text('protocol');
	const target = flags.text('target-port');
	const wanted = flags.number('port');
	const found =
		object.kind === 'Service'
			? ((object as Service).spec?.ports ?? []).map(({port, protocol: of}) => [port, of] as const)
			: namedPorts(object);
	if (wanted === undefined && found.length === 0) throw usageError(`${subject} names no port; --port says at which the Service listens`);
	const ports = wanted === undefined ? found : [[wanted, undefined] as const];
	return ports.map(([port, of], index) => ({
		...(ports.length === 1 ? {} : {name: `port-${index + 1}`}),
		port,
		targetPort: target === undefined ? port : /^\d+$/.test(target) ? Number(target) : target,
		protocol: protocol ?? of ?? 'TCP',
	}));
}

function namedPorts(object: ApiObject): readonly (readonly [port: number, protocol: string | undefined])[] {
	const {spec = {}} = object as {readonly spec?: {readonly template?: {readonly spec?: PodSpec}}};
	const {containers = []} = (object.kind === 'Pod' ? spec : (spec.template?.spec ?? {})) as Partial<PodSpec>;
	return containers.flatMap(({ports = []}) => ports.map(({containerPort, protocol}) => [containerPort, protocol] as const));
}
