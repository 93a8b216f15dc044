// The kind ConfigMap: settings of programs, by key.

import {isBase64} from '../base64.js';
import {ageColumn, nameColumn, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {joinPath} from '../path.js';
import {checkDataKeys, checkImmutable} from '../rules/config-data.js';
import {membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {content} from '../schemas/configmap.js';

export type ConfigMap = ApiObject & ShapeOf<typeof content>;

const countOf = ({data = {}, binaryData = {}}: ConfigMap): number => Object.keys(data).length + Object.keys(binaryData).length;

export const configMap: KindDefinition = {
	kind: 'ConfigMap',
	group: '',
	version: 'v1',
	plural: 'configmaps',
	singular: 'configmap',
	shortNames: ['cm'],
	namespaced: true,
	content: ['data', 'binaryData', 'immutable'],
	defaults: draft => draft,
	validate,
	columns: [nameColumn, numberColumn('Data', 'How many entries it has.', object => countOf(object)), ageColumn],
};

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const object = membersOf(draft);
	const data = membersOf(object['data']);
	const binaryData = membersOf(object['binaryData']);
	checkDataKeys(found, 'data', data);
	checkDataKeys(found, 'binaryData', binaryData);
	for (const [key, value] of Object.entries(binaryData)) {
		const path = joinPath('binaryData', key);
		if (Object.hasOwn(data, key)) refuse(found, path, 'is an entry of data already', 'FieldValueDuplicate');
		if (typeof value === 'string' && !isBase64(value)) refuse(found, path, 'must be base64');
	}
	checkImmutable(found, object, old, ['data', 'binaryData']);
}
