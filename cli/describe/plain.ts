// `describe` of a kind without a page of its own: its fields as they are. Pure.

import {kindOf} from '../../api/catalogue.js';
import {contentOf} from '../../api/kind.js';
import type {ApiObject, Condition} from '../../api/object.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, indented, metadataFields} from './lines.js';

/** Metadata, then what was set and the status as YAML. `asYaml` is handed in: it is loaded only here. */
export async function describePlain(
	object: ApiObject,
	nowMs: number,
	widthOf: WidthOf,
	asYaml: (value: unknown) => Promise<string>,
): Promise<string> {
	const {conditions, ...status} = (object.status ?? {}) as {readonly conditions?: readonly Condition[]};
	const parts = [
		drawFields(metadataFields(object, nowMs)),
		...(await Promise.all(contentsOf(object).map(async ([field, value]) => part(field, value, asYaml)))),
		await part('Status', status, asYaml),
		conditions === undefined ? '' : drawConditions(conditions, widthOf),
	];
	return parts.join('');
}

/** What its writers set: mostly the spec. */
const contentsOf = (object: ApiObject): readonly (readonly [title: string, value: unknown])[] =>
	contentOf(kindOf(object.apiVersion, object.kind) ?? {}).map(field => [
		field.charAt(0).toUpperCase() + field.slice(1),
		(object as {readonly [member: string]: unknown})[field],
	]);

async function part(title: string, value: unknown, asYaml: (value: unknown) => Promise<string>): Promise<string> {
	const isEmpty = value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
	return isEmpty ? '' : `${title}:\n${indented(await asYaml(value), '  ')}`;
}
