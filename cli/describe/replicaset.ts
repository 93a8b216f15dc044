// `describe replicaset`: how many there are and should be, and what each is made of. Pure.

import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, metadataFields, selectorLines} from './lines.js';
import {drawTemplate} from './pod-template.js';

/** Everything but the events. */
export function describeReplicaSet(object: ReplicaSet, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = object;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Selector', selectorLines(spec?.selector)],
		['Replicas', `${status?.replicas ?? 0} current / ${spec?.replicas ?? 1} desired`],
		['Ready', String(status?.readyReplicas ?? 0)],
	]);
	return fields + drawTemplate(spec?.template ?? {}) + drawConditions(status?.conditions, widthOf);
}
