// Rollouts of DaemonSets and StatefulSets: versions are ControllerRevisions.

import {controllerOf} from '../../actors/control/objects/owners.js';
import type {ControllerRevision} from '../../api/kinds/controllerrevision.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject} from '../../api/object.js';
import {changeCauseAnnotation} from '../../api/rollouts.js';
import {membersOf} from '../../api/rules/report.js';
import {formatSelector} from '../../api/selector-text.js';
import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import {failedError} from '../command.js';
import {going, withTemplate, type Revision, type RolloutKind, type RolloutStatus} from './rollout-kind.js';

type AnySet = DaemonSet | StatefulSet;

const kindOf = (kind: string, statusOf: (object: ApiObject) => RolloutStatus): RolloutKind => ({
	kind,
	statusOf,
	revisionsOf,
	restored: (object, {template}) => ({...object, spec: {...(object as AnySet).spec, template}}),
	...withTemplate,
	canPause: false,
});

export const daemonSetRollout = kindOf('DaemonSet', object => daemonSetStatus(object as DaemonSet));
export const statefulSetRollout = kindOf('StatefulSet', object => statefulSetStatus(object as StatefulSet));

async function revisionsOf(client: Client, {metadata, spec}: ApiObject): Promise<readonly Revision[]> {
	const query = {labelSelector: formatSelector((spec as AnySet['spec'])?.selector ?? {})};
	const found = (await listAll(client, resourceOf('controllerrevisions'), metadata.namespace, query)) as readonly ControllerRevision[];
	return found
		.filter(revision => controllerOf(revision)?.uid === metadata.uid)
		.map(revisionIn)
		.sort((a, b) => a.number - b.number);
}

function revisionIn(object: ControllerRevision): Revision {
	const {$patch: _directive, ...template} = membersOf(membersOf(membersOf(object.data)['spec'])['template']);
	return {number: object.revision, cause: object.metadata.annotations?.[changeCauseAnnotation], template, object};
}

function daemonSetStatus({metadata: {name, generation}, spec, status}: DaemonSet): RolloutStatus {
	checkRolling(spec?.updateStrategy?.type);
	if ((status?.observedGeneration ?? 0) < generation) return going('Waiting for daemon set spec update to be observed...');
	const {desiredNumberScheduled: wanted = 0, updatedNumberScheduled: updated = 0, numberAvailable: available = 0} = status ?? {};
	const waiting = `Waiting for daemon set "${name}" rollout to finish:`;
	if (updated < wanted) return going(`${waiting} ${updated} out of ${wanted} new pods have been updated...`);
	if (available < wanted) return going(`${waiting} ${available} of ${wanted} updated pods are available...`);
	return {text: `daemon set "${name}" successfully rolled out`, isDone: true};
}

function statefulSetStatus({metadata: {generation}, spec, status}: StatefulSet): RolloutStatus {
	checkRolling(spec?.updateStrategy?.type);
	if ((status?.observedGeneration ?? 0) < generation) return going('Waiting for statefulset spec update to be observed...');
	const {readyReplicas = 0, updatedReplicas = 0} = status ?? {};
	const replicas = spec?.replicas ?? 1;
	if (readyReplicas < replicas) return going(`Waiting for ${replicas - readyReplicas} pods to be ready...`);
	const wanted = Math.max(0, replicas - (spec?.updateStrategy?.rollingUpdate?.partition ?? 0));
	if (updatedReplicas < wanted)
		return going(`Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${wanted} new pods have been updated...`);
	return {text: `partitioned roll out complete: ${updatedReplicas} new pods have been updated...`, isDone: true};
}

function checkRolling(type = 'RollingUpdate'): void {
	if (type !== 'RollingUpdate') throw failedError('rollout status is only available for RollingUpdate strategy type');
}
