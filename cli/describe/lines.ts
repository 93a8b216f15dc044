// The building blocks of `describe`: labelled lines, aligned, and tables below a title. Pure.

import {ageSince} from '../../api/duration.js';
import type {ApiObject, Condition, Labels} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import type {LabelSelector} from '../../api/selector.js';
import {drawTable, inOneLine, type WidthOf} from '../screen/table.js';

/** A label and its value; several values are lines below each other, an undefined one leaves the line out. */
export type Field = readonly [label: string, value: string | readonly string[] | undefined];

/** `Name:   web`, values aligned. */
export function drawFields(fields: readonly Field[], indent = ''): string {
	const shown = fields.filter(([, value]) => value !== undefined);
	const width = Math.max(0, ...shown.map(([label]) => label.length)) + 1;
	return shown.map(([label, value]) => drawField(label, linesOf(value), indent, width)).join('');
}

const linesOf = (value: Field[1]): readonly string[] => {
	const lines = typeof value === 'string' ? [value] : (value ?? []);
	return lines.length === 0 ? ['<none>'] : lines.map(inOneLine);
};

const drawField = (label: string, lines: readonly string[], indent: string, width: number): string =>
	lines.map((line, at) => `${indent}${(at === 0 ? `${label}:` : '').padEnd(width)}  ${line}`.trimEnd() + '\n').join('');

/** A title and a table below it, or `<none>` beside it. */
export function drawSection(title: string, head: readonly string[], rows: readonly (readonly string[])[], widthOf: WidthOf): string {
	if (rows.length === 0) return `${title}:  <none>\n`;
	return `${title}:\n` + indented(drawTable(head, rows, widthOf), '  ');
}

export const indented = (text: string, by: string): string => text.replace(/^(?=.)/gm, by);

export const labelLines = (labels: Labels | undefined): readonly string[] =>
	Object.entries(labels ?? {})
		.filter(([key]) => key !== lastAppliedAnnotation)
		.map(([key, value]) => `${key}=${value}`);

export const selectorLines = (selector: LabelSelector | undefined): readonly string[] => [
	...labelLines(selector?.matchLabels),
	...(selector?.matchExpressions ?? []).map(
		({key, operator, values = []}) => `${key} ${operator}${values.length === 0 ? '' : ` (${values.join(', ')})`}`,
	),
];

/** What every object begins with. */
export const metadataFields = ({metadata}: ApiObject, nowMs: number): readonly Field[] => [
	['Name', metadata.name],
	['Namespace', metadata.namespace],
	['Labels', labelLines(metadata.labels)],
	['Annotations', labelLines(metadata.annotations)],
	['Created', whenText(metadata.creationTimestamp, nowMs)],
	['Deleted', metadata.deletionTimestamp === undefined ? undefined : whenText(metadata.deletionTimestamp, nowMs)],
	['Controlled By', controllerText(metadata.ownerReferences)],
];

function controllerText(owners: ApiObject['metadata']['ownerReferences']): string | undefined {
	const owner = owners?.find(({controller}) => controller === true);
	return owner === undefined ? undefined : `${owner.kind}/${owner.name}`;
}

/** `2026-01-02T03:04:05Z (12s ago)`; of what is still to come, `(in 12s)`. */
export function whenText(timestamp: string | undefined, nowMs: number): string {
	if (timestamp === undefined) return '<unknown>';
	const isAhead = Date.parse(timestamp) > nowMs;
	const distance = isAhead ? `in ${ageSince(new Date(nowMs).toISOString(), Date.parse(timestamp))}` : `${ageSince(timestamp, nowMs)} ago`;
	return `${timestamp} (${distance})`;
}

export function drawConditions(conditions: readonly Condition[] | undefined, widthOf: WidthOf): string {
	const rows = (conditions ?? []).map(({type, status, reason = '', message = ''}) => [type, status, inOneLine(reason), inOneLine(message)]);
	return drawSection('Conditions', ['TYPE', 'STATUS', 'REASON', 'MESSAGE'], rows, widthOf);
}
