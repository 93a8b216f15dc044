// Rollouts of Deployments: versions are ReplicaSets.

import {conditionOf} from '../../api/conditions.js';
import {controllerOf} from '../../actors/control/objects/owners.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject, Labels} from '../../api/object.js';
import {changeCauseAnnotation, hashLabel, ownAnnotations, revisionAnnotation} from '../../api/rollouts.js';
import {formatSelector} from '../../api/selector-text.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import {failedError} from '../command.js';
import {going, withTemplate, type Revision, type RolloutKind, type RolloutStatus, type Template} from './rollout-kind.js';

export const deploymentRollout: RolloutKind = {
	kind: 'Deployment',
	statusOf: (object, revision) => statusOf(object as Deployment, revision),
	revisionsOf: async (client, object) =>
		(await setsOf(client, object as Deployment)).flatMap(revisionIn).sort((a, b) => a.number - b.number),
	restored,
	...withTemplate,
	canPause: true,
};

/** The ReplicaSets that the Deployment controls. */
export async function setsOf(client: Client, {metadata, spec}: Deployment): Promise<readonly ReplicaSet[]> {
	const query = {labelSelector: formatSelector(spec?.selector ?? {})};
	const sets = (await listAll(client, resourceOf('replicasets'), metadata.namespace, query)) as readonly ReplicaSet[];
	return sets.filter(set => controllerOf(set)?.uid === metadata.uid);
}

export const revisionNumber = ({metadata}: ApiObject): number => Number(metadata.annotations?.[revisionAnnotation] ?? 0);

/** The template without the label that tells versions apart. */
export function templateOf({spec}: ReplicaSet): Template {
	const {[hashLabel]: _hash, ...labels} = spec?.template.metadata?.labels ?? {};
	return {...spec?.template, metadata: {...spec?.template.metadata, labels}};
}

export function revisionIn(set: ReplicaSet): readonly Revision[] {
	const number = revisionNumber(set);
	const cause = set.metadata.annotations?.[changeCauseAnnotation];
	return number > 0 ? [{number, cause, template: templateOf(set), object: set}] : [];
}

/** What is said of the version is said of the whole again; what was applied last stays as it is. */
function restored(object: ApiObject, {template, object: set}: Revision): ApiObject {
	const of = (annotations: Labels | undefined, isOwn: boolean): Labels =>
		Object.fromEntries(Object.entries(annotations ?? {}).filter(([name]) => ownAnnotations.has(name) === isOwn));
	const annotations = {...of(object.metadata.annotations, true), ...of(set.metadata.annotations, false)};
	return {...object, metadata: {...object.metadata, annotations}, spec: {...(object as Deployment).spec, template}};
}

function statusOf(deployment: Deployment, revision: number): RolloutStatus {
	const {metadata, spec, status = {}} = deployment;
	const {name} = metadata;
	// Before that the revision is the one of the spec before.
	if ((status.observedGeneration ?? 0) < metadata.generation) return going('Waiting for deployment spec update to be observed...');
	const running = revisionNumber(deployment);
	if (revision > 0 && revision !== running)
		throw failedError(`desired revision (${revision}) is different from the running revision (${running})`);
	if (conditionOf(status.conditions, 'Progressing')?.reason === 'ProgressDeadlineExceeded')
		throw failedError(`deployment "${name}" exceeded its progress deadline`);
	const {updatedReplicas = 0, replicas = 0, availableReplicas = 0} = status;
	const wanted = spec?.replicas ?? 1;
	const waiting = `Waiting for deployment "${name}" rollout to finish:`;
	if (updatedReplicas < wanted) return going(`${waiting} ${updatedReplicas} out of ${wanted} new replicas have been updated...`);
	if (replicas > updatedReplicas) return going(`${waiting} ${replicas - updatedReplicas} old replicas are pending termination...`);
	if (availableReplicas < updatedReplicas)
		return going(`${waiting} ${availableReplicas} of ${updatedReplicas} updated replicas are available...`);
	return {text: `deployment "${name}" successfully rolled out`, isDone: true};
}
