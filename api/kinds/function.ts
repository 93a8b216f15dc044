// The kind Function: code that is called.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkProgramText} from '../rules/program-text.js';
import {membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/function.js';

export type FunctionSpec = ShapeOf<typeof spec>;
export type FunctionObject = ApiObject<FunctionSpec, ShapeOf<typeof status>>;

const specOf = (object: ApiObject): FunctionSpec | undefined => (object as FunctionObject).spec;

export const functionKind: KindDefinition = {
	kind: 'Function',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'functions',
	singular: 'function',
	shortNames: ['fn'],
	categories: ['all'],
	namespaced: true,
	isInert: true,
	defaults: draft => draft,
	validate,
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Runtime', 'What runs it.', object => specOf(object)?.runtime ?? none),
		column('Source', 'Where its code came from.', object => specOf(object)?.userUploadFilePath ?? none),
		ageColumn,
	],
};

function validate(found: Found, draft: Draft): void {
	const {userUploadFilePath: folder} = membersOf(draft.spec);
	const path = 'spec.userUploadFilePath';
	if (folder === '') refuse(found, path, 'is required', 'FieldValueRequired');
	if (typeof folder === 'string') checkProgramText(found, path, folder);
}
