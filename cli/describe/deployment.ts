// `describe deployment`: how far it is, what its pods are made from, and which ReplicaSets have them. Pure.

import {deepEqual} from '../../api/equal.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {templateOf} from '../rollout/deployment.js';
import type {WidthOf} from '../screen/table.js';
import {drawTemplate} from './pod-template.js';
import {drawConditions, drawFields, metadataFields, selectorLines} from './lines.js';

/** Everything but the events. `sets`: the ReplicaSets that it controls. */
export function describeDeployment(object: Deployment, sets: readonly ReplicaSet[], nowMs: number, widthOf: WidthOf): string {
	const {spec, status = {}} = object;
	const {updatedReplicas = 0, replicas = 0, availableReplicas = 0, unavailableReplicas = 0} = status;
	const {type = 'RollingUpdate', rollingUpdate} = spec?.strategy ?? {};
	const newest = sets.find(set => isOf(object, set));
	const old = sets.filter(set => set !== newest && ((set.spec?.replicas ?? 0) > 0 || set.status?.replicas !== 0));
	const {maxUnavailable, maxSurge} = rollingUpdate ?? {};
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Selector', selectorLines(spec?.selector)],
		[
			'Replicas',
			`${spec?.replicas ?? 1} desired | ${updatedReplicas} updated | ${replicas} total | ${availableReplicas} available | ${unavailableReplicas} unavailable`,
		],
		['StrategyType', type],
		['MinReadySeconds', String(spec?.minReadySeconds ?? 0)],
		[
			'RollingUpdateStrategy',
			rollingUpdate === undefined ? undefined : `${maxUnavailable ?? 0} max unavailable, ${maxSurge ?? 0} max surge`,
		],
		['Paused', spec?.paused === true ? 'true' : undefined],
	]);
	const versions = drawFields([
		['OldReplicaSets', old.map(setText)],
		['NewReplicaSet', newest === undefined ? [] : [setText(newest)]],
	]);
	return fields + drawTemplate(spec?.template ?? {}) + drawConditions(status.conditions, widthOf) + versions;
}

const setText = ({metadata, spec, status}: ReplicaSet): string =>
	`${metadata.name} (${status?.replicas ?? 0}/${spec?.replicas ?? 0} replicas created)`;

function isOf({spec}: Deployment, set: ReplicaSet): boolean {
	const {metadata, spec: podSpec} = templateOf(set);
	const wanted = spec?.template;
	return (
		deepEqual(podSpec, wanted?.spec) &&
		deepEqual(metadata?.labels ?? {}, wanted?.metadata?.labels ?? {}) &&
		deepEqual(metadata?.annotations ?? {}, wanted?.metadata?.annotations ?? {})
	);
}
