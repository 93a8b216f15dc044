// `describe daemonset`: on how many nodes there is a pod and should be, and what each is made of. Pure.

import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, labelLines, metadataFields, selectorLines} from './lines.js';
import {drawTemplate} from './pod-template.js';

/** Everything but the events. */
export function describeDaemonSet(object: DaemonSet, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = object;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Selector', selectorLines(spec?.selector)],
		['Node-Selector', labelLines(spec?.template.spec.nodeSelector)],
		['Nodes', `${status?.currentNumberScheduled ?? 0} current / ${status?.desiredNumberScheduled ?? 0} desired`],
		['Up-to-date', String(status?.updatedNumberScheduled ?? 0)],
		['Ready', String(status?.numberReady ?? 0)],
		['Available', String(status?.numberAvailable ?? 0)],
		['Misscheduled', String(status?.numberMisscheduled ?? 0)],
		['Update Strategy', strategyText(object)],
	]);
	return fields + drawTemplate(spec?.template ?? {}) + drawConditions(status?.conditions, widthOf);
}

function strategyText({spec}: DaemonSet): string {
	const {type = 'RollingUpdate', rollingUpdate} = spec?.updateStrategy ?? {};
	if (type === 'OnDelete') return type;
	return `${type}, ${rollingUpdate?.maxUnavailable ?? 1} may be missing, ${rollingUpdate?.maxSurge ?? 0} too many`;
}
