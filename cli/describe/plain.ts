// `describe` of a kind without a page of its own: its fields as they are. Pure.

import type {ApiObject, Condition} from '../../api/object.js';
import type {WidthOf} from '../table.js';
import {conditionHead, conditionRows, drawFields, drawSection, indented, metadataFields} from './lines.js';

/** Metadata, then spec and status as YAML. `asYaml` is handed in: it is loaded only here. */
export async function describePlain(
	object: ApiObject,
	nowMs: number,
	widthOf: WidthOf,
	asYaml: (value: unknown) => Promise<string>,
): Promise<string> {
	const {conditions, ...status} = (object.status ?? {}) as {readonly conditions?: readonly Condition[]};
	const parts = [
		drawFields(metadataFields(object, nowMs)),
		await part('Spec', object.spec, asYaml),
		await part('Status', status, asYaml),
		conditions === undefined ? '' : drawSection('Conditions', conditionHead, conditionRows(conditions), widthOf),
	];
	return parts.join('');
}

async function part(title: string, value: unknown, asYaml: (value: unknown) => Promise<string>): Promise<string> {
	const isEmpty = value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
	return isEmpty ? '' : `${title}:\n${indented(await asYaml(value), '  ')}`;
}
