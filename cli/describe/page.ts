// The page of an object that `describe` shows, as the cluster tells of it now.

import {serviceNameLabel} from '../../api/endpoint-labels.js';
import {AppError} from '../../api/errors.js';
import {functionFiguresPath, type FunctionsAnswer} from '../../api/function-figures.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import type {Job} from '../../api/kinds/job.js';
import type {LimitRange} from '../../api/kinds/limitrange.js';
import type {Namespace} from '../../api/kinds/namespace.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {PodDisruptionBudget} from '../../api/kinds/poddisruptionbudget.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ResourceQuota} from '../../api/kinds/resourcequota.js';
import type {Run} from '../../api/kinds/run.js';
import type {Service} from '../../api/kinds/service.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf, type Resource} from '../cluster/resources.js';
import {eventCells, listEvents, type EventObject} from '../objects/event-list.js';
import {asYaml} from '../objects/output.js';
import {setsOf} from '../rollout/deployment.js';
import {instancesOf, versionsOf} from '../rollout/function.js';
import type {WidthOf} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';
import {describeAutoscaler} from './autoscaler.js';
import {describeConfigMap, describeSecret} from './config.js';
import {describeCronJob} from './cronjob.js';
import {describeDaemonSet} from './daemonset.js';
import {describeDeployment} from './deployment.js';
import {describeDisruptionBudget} from './disruption-budget.js';
import {describeFunction, type FunctionParts} from './function.js';
import {describeJob} from './job.js';
import {describeLimitRange} from './limit-range.js';
import {drawSection} from './lines.js';
import {describeNode} from './node.js';
import {describePlain} from './plain.js';
import {describePod} from './pod.js';
import {describeNamespace, describeResourceQuota} from './quota.js';
import {describeReplicaSet} from './replicaset.js';
import {describeService} from './service.js';
import {describeStatefulSet} from './statefulset.js';
import {describeClaim, describeVolume} from './storage.js';

export type Subject = {readonly resource: Resource; readonly object: ApiObject};

/** The page of an object, with what was told of it. */
export async function describe(client: Client, {resource, object}: Subject): Promise<string> {
	const {name, namespace} = object.metadata;
	const events = await listEvents(client, namespace, {resource, name});
	const nowMs = Date.now();
	const rows = events.map(event => eventRow(event, nowMs));
	const widthOf = await widthFor([...rows.flat(), JSON.stringify(object.status ?? {})]);
	return (await page(client, object, nowMs, widthOf)) + drawSection('Events', ['WHEN', 'TYPE', 'REASON', 'MESSAGE'], rows, widthOf);
}

const eventRow = (event: EventObject, nowMs: number): readonly string[] => {
	const [when = '', type = '', reason = '', , message = ''] = eventCells(event, nowMs);
	return [when, type, reason, message];
};

/** Who may not read them is not told what is of them. */
const nodesIfAllowed = (client: Client): Promise<readonly ApiObject[]> =>
	listAll(client, resourceOf('nodes'), undefined).catch((error: unknown) => {
		if (error instanceof AppError && error.code === 'ERR_FORBIDDEN') return [];
		throw error;
	});

/** The page of each kind; those without one are shown as they are. */
async function page(client: Client, object: ApiObject, nowMs: number, widthOf: WidthOf): Promise<string> {
	switch (object.kind) {
		case 'Pod':
			return describePod(object as Pod, nowMs, widthOf);
		case 'ReplicaSet':
			return describeReplicaSet(object as ReplicaSet, nowMs, widthOf);
		case 'StatefulSet':
			return describeStatefulSet(object as StatefulSet, nowMs, widthOf);
		case 'DaemonSet':
			return describeDaemonSet(object as DaemonSet, nowMs, widthOf);
		case 'CronJob':
			return describeCronJob(object as CronJob, nowMs);
		case 'Job':
			return describeJob(object as Job, nowMs, widthOf);
		case 'Deployment':
			return describeDeployment(object as Deployment, await setsOf(client, object as Deployment), nowMs, widthOf);
		case 'Function':
			return describeFunction(object as FunctionObject, await partsOf(client, object as FunctionObject), nowMs, widthOf);
		case 'Run': {
			const [{describeRun}, {partsOfRun}] = await Promise.all([import('./run.js'), import('../runs/parts.js')]);
			return describeRun(object as Run, await partsOfRun(client, object as Run), nowMs, widthOf);
		}
		case 'Workflow': {
			const [{describeWorkflow}, {definitionIn}, {countRuns}] = await Promise.all([
				import('./workflow.js'),
				import('../runs/read.js'),
				import('../runs/count-runs.js'),
			]);
			const {name, namespace = ''} = object.metadata;
			const definition = definitionIn(object as Workflow);
			return describeWorkflow(object as Workflow, definition, await countRuns(client, namespace, name), nowMs, widthOf);
		}
		case 'Node': {
			const pods = await listAll(client, resourceOf('pods'), undefined, {fieldSelector: `spec.nodeName=${object.metadata.name}`});
			return describeNode(object as NodeObject, pods as readonly Pod[], nowMs, widthOf);
		}
		case 'PodDisruptionBudget':
			return describeDisruptionBudget(object as PodDisruptionBudget, nowMs, widthOf);
		case 'HorizontalPodAutoscaler':
			return describeAutoscaler(object as Hpa, nowMs, widthOf);
		case 'LimitRange':
			return describeLimitRange(object as LimitRange, nowMs, widthOf);
		case 'ResourceQuota':
			return describeResourceQuota(object as ResourceQuota, nowMs, widthOf);
		case 'Namespace': {
			const [quotas, limits] = await Promise.all(
				['resourcequotas', 'limitranges'].map(plural => listAll(client, resourceOf(plural), object.metadata.name)),
			);
			const held = {quotas: quotas as readonly ResourceQuota[], limits: limits as readonly LimitRange[]};
			return describeNamespace(object as Namespace, held, nowMs, widthOf);
		}
		case 'PersistentVolumeClaim': {
			const pods = await listAll(client, resourceOf('pods'), object.metadata.namespace);
			return describeClaim(object as PersistentVolumeClaim, pods as readonly Pod[], nowMs, widthOf);
		}
		case 'PersistentVolume':
			return describeVolume(object as PersistentVolume, nowMs);
		case 'Service': {
			const {metadata, spec} = object as Service;
			const labelSelector = Object.entries(spec?.selector ?? {})
				.map(([key, value]) => `${key}=${value}`)
				.join();
			const [slices, pods, nodes] = await Promise.all([
				listAll(client, resourceOf('endpointslices'), metadata.namespace, {labelSelector: `${serviceNameLabel}=${metadata.name}`}),
				labelSelector === '' ? [] : listAll(client, resourceOf('pods'), metadata.namespace, {labelSelector}),
				spec?.ports?.some(({protocol}) => protocol === 'UDP') === true ? nodesIfAllowed(client) : [],
			]);
			return describeService(
				object as Service,
				slices as readonly EndpointSlice[],
				pods as readonly Pod[],
				nodes as readonly NodeObject[],
				nowMs,
				widthOf,
			);
		}
		case 'ConfigMap':
			return describeConfigMap(object, nowMs);
		case 'Secret':
			return describeSecret(object, nowMs);
		default:
			return describePlain(object, nowMs, widthOf, asYaml);
	}
}

async function partsOf(client: Client, fn: FunctionObject): Promise<FunctionParts> {
	const versions = await versionsOf(client, fn);
	const [instances, deliveries] = await Promise.all([instancesOf(client, fn, versions), deliveriesOf(client, fn)]);
	return {versions, instances, deliveries};
}

/** None where the server does not tell: the rest is worth reading all the same. */
async function deliveriesOf(client: Client, {metadata: {namespace, name}}: FunctionObject): Promise<FunctionParts['deliveries']> {
	try {
		const {functions} = (await client.json({path: functionFiguresPath, query: {namespace}})) as FunctionsAnswer;
		return functions.find(each => each.name === name)?.triggers ?? [];
	} catch (error) {
		if (error instanceof AppError) return [];
		throw error;
	}
}
