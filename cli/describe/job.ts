// `describe job`: how often it ran and has to run, and what bounds it. Pure.

import {ageOf} from '../../api/duration.js';
import type {Job, JobSpec, JobStatus} from '../../api/kinds/job.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, metadataFields, selectorLines, whenText, type Field} from './lines.js';
import {drawTemplate} from './pod-template.js';

/** Everything but the events. */
export function describeJob(object: Job, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = object;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Selector', selectorLines(spec?.selector)],
		...(spec === undefined ? [] : wantedFields(spec)),
		...(status === undefined ? [] : timeFields(status, nowMs)),
		['Pods Statuses', podsText(status)],
		['Completed Indexes', indexesText(status?.completedIndexes)],
		['Failed Indexes', indexesText(status?.failedIndexes)],
	]);
	return fields + drawTemplate(spec?.template ?? {}) + drawConditions(status?.conditions, widthOf);
}

const wantedFields = (spec: JobSpec): readonly Field[] => [
	['Parallelism', String(spec.parallelism ?? 1)],
	['Completions', spec.completions === undefined ? '<unset>' : String(spec.completions)],
	['Completion Mode', spec.completionMode],
	['Suspend', String(spec.suspend ?? false)],
	['Backoff Limit', String(spec.backoffLimit ?? 0)],
	['Backoff Limit Per Index', countText(spec.backoffLimitPerIndex)],
	['Max Failed Indexes', countText(spec.maxFailedIndexes)],
	['TTL Seconds After Finished', countText(spec.ttlSecondsAfterFinished)],
	['Active Deadline Seconds', spec.activeDeadlineSeconds === undefined ? undefined : `${spec.activeDeadlineSeconds}s`],
];

const countText = (count: number | undefined): string | undefined => (count === undefined ? undefined : String(count));

function timeFields({startTime, completionTime}: JobStatus, nowMs: number): readonly Field[] {
	if (startTime === undefined) return [];
	if (completionTime === undefined) return [['Start Time', whenText(startTime, nowMs)]];
	return [
		['Start Time', whenText(startTime, nowMs)],
		['Completed At', whenText(completionTime, nowMs)],
		['Duration', ageOf(Date.parse(completionTime) - Date.parse(startTime))],
	];
}

const podsText = ({active = 0, ready = 0, succeeded = 0, failed = 0, terminating = 0}: JobStatus = {}): string =>
	`${active} Active (${ready} Ready)${terminating === 0 ? '' : ` / ${terminating} Terminating`} / ${succeeded} Succeeded / ${failed} Failed`;

/** A job may have completed half of 100,000 indexes one by one: the beginning is shown. */
function indexesText(text: string | undefined): string | undefined {
	if (text === undefined) return undefined;
	const parts = text.split(',');
	return text === '' ? '<none>' : parts.length <= shownIntervals ? text : `${parts.slice(0, shownIntervals).join(',')},...`;
}

/** As kubectl. */
const shownIntervals = 50;
