// `describe statefulset`: how many pods there are and should be, how they are replaced, and what each is made of. Pure.

import {modesText, storageText} from '../../api/columns/storage.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, metadataFields, selectorLines} from './lines.js';
import {drawTemplate} from './pod-template.js';

/** Everything but the events. */
export function describeStatefulSet(object: StatefulSet, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = object;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Selector', selectorLines(spec?.selector)],
		['Replicas', `${status?.replicas ?? 0} current / ${spec?.replicas ?? 1} desired`],
		['Ready', String(status?.readyReplicas ?? 0)],
		['Available', String(status?.availableReplicas ?? 0)],
		['Pod Management', spec?.podManagementPolicy ?? 'OrderedReady'],
		['Update Strategy', strategyText(object)],
		['Current Revision', revisionText(status?.currentRevision, status?.currentReplicas)],
		['Update Revision', revisionText(status?.updateRevision, status?.updatedReplicas)],
		['Volume Claims', claimLines(object)],
	]);
	return fields + drawTemplate(spec?.template ?? {}) + drawConditions(status?.conditions, widthOf);
}

function strategyText({spec}: StatefulSet): string {
	const {type = 'RollingUpdate', rollingUpdate} = spec?.updateStrategy ?? {};
	if (type === 'OnDelete') return type;
	return `${type}, partition ${rollingUpdate?.partition ?? 0}, ${rollingUpdate?.maxUnavailable ?? 1} may be missing`;
}

/** Undefined for a set without claims. */
function claimLines({spec}: StatefulSet): readonly string[] | undefined {
	const {whenDeleted = 'Retain', whenScaled = 'Retain'} = spec?.persistentVolumeClaimRetentionPolicy ?? {};
	const claims = (spec?.volumeClaimTemplates ?? []).map(
		({metadata, spec: {resources, accessModes, storageClassName}}) =>
			`${metadata.name}: ${storageText(resources.requests)} ${modesText(accessModes)}${storageClassName === undefined ? '' : ` of ${storageClassName}`}`,
	);
	return claims.length === 0 ? undefined : [...claims, `when deleted: ${whenDeleted}, when scaled: ${whenScaled}`];
}

const revisionText = (name: string | undefined, pods = 0): string | undefined =>
	name === undefined ? undefined : `${name} (${pods} ${pods === 1 ? 'pod' : 'pods'})`;
