// The kind ControllerRevision: what a DaemonSet, a StatefulSet or a Workflow once was, so that it can be that again.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {membersOf, type Found} from '../rules/report.js';
import type {content} from '../schemas/controllerrevision.js';
import type {ShapeOf} from '../schemas/parts.js';

export type ControllerRevision = ApiObject & ShapeOf<typeof content>;

const asRevision = (object: ApiObject): ControllerRevision => object as ControllerRevision;

export const controllerRevision: KindDefinition = {
	kind: 'ControllerRevision',
	group: 'apps',
	version: 'v1',
	plural: 'controllerrevisions',
	singular: 'controllerrevision',
	shortNames: [],
	namespaced: true,
	content: ['data', 'revision'],
	keepsNulls: ['data'],
	defaults: draft => draft,
	validate,
	columns: [
		nameColumn,
		column('Controller', 'What it is a revision of.', controllerText),
		numberColumn('Revision', 'Its number.', object => asRevision(object).revision),
		ageColumn,
	],
};

/** `daemonset.apps/web`. */
function controllerText({metadata}: ApiObject): string {
	const owner = metadata.ownerReferences?.find(({controller}) => controller === true);
	if (owner === undefined) return none;
	const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [];
	return `${owner.kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${owner.name}`;
}

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	if (old !== undefined) checkUnchanged(found, 'data', membersOf(draft)['data'], asRevision(old).data);
}
