// Rules of the spec of a Job, wherever one stands.

import {withPodDefaults} from '../defaults/pod.js';
import {deepEqual} from '../equal.js';
import {parseIntervals, sizeOf} from '../intervals.js';
import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import type {PodSpec} from '../shapes/pod.js';
import {shown} from '../shown.js';
import {jobLabels} from '../job-labels.js';
import {checkLabelKey} from './names.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';
import {checkSelector, checkSelects} from './selector.js';
import {checkTemplate, templateLabels} from './template.js';

/** As in Kubernetes: how many rules a policy may have, and what one may name. */
const most = {rules: 20, conditions: 20, exitCodes: 255} as const;

export function checkJobSpec(found: Found, path: string, spec: JsonObject): void {
	const template = membersOf(spec['template']);
	checkTemplate(found, `${path}.template`, template, {kind: 'Job', policies: ['OnFailure', 'Never']});
	checkIndexes(found, path, spec);
	checkFailurePolicy(found, path, spec);
	checkSuccessPolicy(found, path, spec);
	if (spec['podFailurePolicy'] !== undefined && spec['podReplacementPolicy'] === 'TerminatingOrFailed')
		refuse(found, `${path}.podReplacementPolicy`, 'must be Failed where there is a podFailurePolicy');
}

/** The selector that is made by the cluster, or the one that is the user's own; with the labels that go with it. */
export function checkJobSelector(found: Found, path: string, spec: JsonObject, isNew: boolean): void {
	const labels = templateLabels(membersOf(spec['template']));
	const selector = membersOf(spec['selector']);
	if (spec['manualSelector'] === true) {
		checkSelector(found, `${path}.selector`, selector);
		checkSelects(found, `${path}.template.metadata.labels`, selector, labels);
		return;
	}
	if (!isNew) return;
	if (!isEmpty(spec['selector'])) forbid(found, `${path}.selector`, 'is made by the cluster; leave it out, or set manualSelector');
	for (const label of Object.values(jobLabels))
		if (labels[label] !== undefined)
			forbid(found, `${path}.template.metadata.labels.${label}`, 'is set by the cluster; leave it out, or set manualSelector');
}

/** What a job that is there keeps. */
export function checkJobChange(found: Found, path: string, spec: JsonObject, before: JsonObject): void {
	const isElastic = spec['completionMode'] === 'Indexed' && spec['completions'] === spec['parallelism'];
	if (!deepEqual(spec['completions'], before['completions']) && !isElastic) {
		const words = spec['completionMode'] === 'Indexed' ? ' otherwise than together with parallelism, to the same number' : '';
		forbid(found, `${path}.completions`, `cannot be changed${words}; delete the job and create it again`);
	}
	const kept = (of: JsonObject): JsonObject => ({...of, template: podsOf(membersOf(of['template']))});
	const [now, old] = [kept(spec), kept(before)];
	for (const field of ['completionMode', 'selector', 'template', 'podFailurePolicy', 'backoffLimitPerIndex', 'successPolicy'])
		if (!deepEqual(now[field], old[field])) forbid(found, `${path}.${field}`, 'cannot be changed; delete the job and create it again');
}

/** What its pods get: one that was kept when requests were filled in in templates, too, is the same. */
const podsOf = (template: JsonObject): JsonObject => ({...template, spec: {...withPodDefaults(template['spec'] as PodSpec)}});

function checkIndexes(found: Found, path: string, spec: JsonObject): void {
	const {completions, backoffLimitPerIndex, maxFailedIndexes} = spec;
	if (spec['completionMode'] !== 'Indexed') {
		if (backoffLimitPerIndex !== undefined) refuse(found, `${path}.backoffLimitPerIndex`, 'is for jobs whose completionMode is Indexed');
	} else if (completions === undefined) {
		refuse(found, `${path}.completions`, 'is required when completionMode is Indexed', 'FieldValueRequired');
	} else if (typeof completions === 'number' && completions > limits.jobIndexes) {
		refuse(found, `${path}.completions`, `must be at most ${limits.jobIndexes} when completionMode is Indexed, got ${completions}`);
	}
	if (maxFailedIndexes === undefined) return;
	if (backoffLimitPerIndex === undefined)
		refuse(found, `${path}.backoffLimitPerIndex`, 'is required with maxFailedIndexes', 'FieldValueRequired');
	if (typeof maxFailedIndexes === 'number' && typeof completions === 'number' && maxFailedIndexes > completions)
		refuse(found, `${path}.maxFailedIndexes`, `must be at most completions (${completions}), got ${maxFailedIndexes}`);
}

function checkFailurePolicy(found: Found, path: string, spec: JsonObject): void {
	if (spec['podFailurePolicy'] === undefined) return;
	const place = `${path}.podFailurePolicy.rules`;
	const podSpec = membersOf(membersOf(spec['template'])['spec']);
	if (podSpec['restartPolicy'] === 'OnFailure')
		refuse(found, `${path}.template.spec.restartPolicy`, 'must be Never where there is a podFailurePolicy');
	const rules = itemsOf(membersOf(spec['podFailurePolicy'])['rules']).map(membersOf);
	if (rules.length > most.rules) refuse(found, place, `must be at most ${most.rules} rules, got ${rules.length}`);
	const names = [...itemsOf(podSpec['containers']), ...itemsOf(podSpec['initContainers'])].map(each => textOf(membersOf(each)['name']));
	rules.slice(0, most.rules).forEach((rule, i) => {
		requireOne(found, `${place}[${i}]`, rule, ['onExitCodes', 'onPodConditions'], ['action']);
		if (rule['action'] === 'FailIndex' && spec['backoffLimitPerIndex'] === undefined)
			refuse(found, `${place}[${i}].action`, 'FailIndex needs backoffLimitPerIndex');
		checkExitCodes(found, `${place}[${i}].onExitCodes`, membersOf(rule['onExitCodes']), names);
		const conditions = itemsOf(rule['onPodConditions']);
		if (conditions.length > most.conditions)
			refuse(found, `${place}[${i}].onPodConditions`, `must be at most ${most.conditions}, got ${conditions.length}`);
		conditions.slice(0, most.conditions).forEach((each, j) => {
			const type = textOf(membersOf(each)['type']);
			if (type !== undefined) checkLabelKey(found, `${place}[${i}].onPodConditions[${j}].type`, type);
		});
	});
}

function checkExitCodes(
	found: Found,
	path: string,
	{containerName, operator, values}: JsonObject,
	names: readonly (string | undefined)[],
): void {
	if (typeof containerName === 'string' && !names.includes(containerName))
		refuse(found, `${path}.containerName`, `must be one of the template's containers, got ${shown(containerName)}`);
	if (!Array.isArray(values)) return;
	if (values.length === 0 || values.length > most.exitCodes)
		return refuse(found, `${path}.values`, `must be 1 to ${most.exitCodes} codes, got ${values.length}`);
	const codes = values.filter(code => typeof code === 'number');
	if (codes.some((code, i) => i > 0 && code <= (codes[i - 1] ?? 0))) refuse(found, `${path}.values`, 'must be in rising order, each once');
	if (operator === 'In' && codes.includes(0)) refuse(found, `${path}.values`, 'must not have 0: a container that succeeded is no failure');
}

function checkSuccessPolicy(found: Found, path: string, spec: JsonObject): void {
	if (spec['successPolicy'] === undefined) return;
	if (spec['completionMode'] !== 'Indexed') refuse(found, `${path}.successPolicy`, 'is for jobs whose completionMode is Indexed');
	const rules = itemsOf(membersOf(spec['successPolicy'])['rules']).map(membersOf);
	const place = `${path}.successPolicy.rules`;
	if (rules.length > most.rules) refuse(found, place, `must be at most ${most.rules} rules, got ${rules.length}`);
	rules.slice(0, most.rules).forEach((rule, i) => checkSuccessRule(found, `${place}[${i}]`, rule, spec['completions']));
}

function checkSuccessRule(found: Found, path: string, rule: JsonObject, completions: unknown): void {
	const {succeededIndexes, succeededCount} = rule;
	if (succeededIndexes === undefined && succeededCount === undefined)
		return refuse(found, path, 'must have succeededIndexes or succeededCount', 'FieldValueRequired');
	const end = typeof completions === 'number' ? completions : limits.jobIndexes;
	let size = end;
	if (typeof succeededIndexes === 'string') {
		const intervals = succeededIndexes.length > limits.intervalCharacters ? undefined : risingIntervals(succeededIndexes, end);
		if (intervals === undefined)
			return refuse(
				found,
				`${path}.succeededIndexes`,
				`must be rising indexes below ${end}, such as "0,3-5", got ${shown(succeededIndexes)}`,
			);
		size = intervals;
	}
	if (typeof succeededCount === 'number' && succeededCount > size)
		refuse(found, `${path}.succeededCount`, `must be at most the number of indexes (${size}), got ${succeededCount}`);
}

/** How many indexes the text names; undefined where it is none, or they do not rise. */
function risingIntervals(text: string, end: number): number | undefined {
	const intervals = parseIntervals(text);
	if (intervals.length !== text.split(',').length) return undefined;
	let next = 0;
	for (const [first, last] of intervals) {
		if (first < next || last < first || last >= end) return undefined;
		next = last + 1;
	}
	return sizeOf(intervals);
}
