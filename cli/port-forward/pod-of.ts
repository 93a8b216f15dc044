// The pod to which ports lead: the one that is named, or one that serves for what is named.

import {isConditionTrue} from '../../api/conditions.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import type {LabelSelector} from '../../api/selector.js';
import {formatSelector} from '../../api/selector-text.js';
import type {Client} from '../client.js';
import {failedError, usageError} from '../command.js';
import {getOne, listAll} from '../cluster/lists.js';
import {displayName, resourceOf, type Resource} from '../cluster/resources.js';

export type Found = {readonly pod: Pod; readonly service: Service | undefined};

const owners = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'];

/** Throws AppErrors where there is none that runs. */
export async function podOf(client: Client, namespace: string, resource: Resource, name: string): Promise<Found> {
	const object = await getOne(client, resource, namespace, name);
	if (resource.kind === 'Pod') return {pod: object as Pod, service: undefined};
	const service = resource.kind === 'Service' ? (object as Service) : undefined;
	if (service === undefined && !owners.includes(resource.kind))
		throw usageError(`a ${resource.singular} has no pods to which ports could lead`);
	const selector =
		service === undefined
			? (object.spec as {readonly selector?: LabelSelector} | undefined)?.selector
			: {matchLabels: service.spec?.selector ?? {}};
	const labelSelector = formatSelector(selector ?? {});
	if (labelSelector === '') throw failedError(`${displayName(resource, name)} has no selector, so its pods are not known`);
	const pods = (await listAll(client, resourceOf('pods'), namespace, {labelSelector})) as readonly Pod[];
	const running = pods.filter(({status, metadata}) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined);
	const pod = running.find(({status}) => isConditionTrue(status?.conditions, 'Ready')) ?? running[0];
	if (pod === undefined)
		throw failedError(`no pod of ${displayName(resource, name)} runs; troupe describe ${resource.singular} ${name} tells more`);
	return {pod, service};
}
