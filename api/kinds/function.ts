// The kind Function: code that is called.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import type {Problem} from '../problem.js';
import {refuseNul} from '../rules/env.js';
import {membersOf, refuse} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/function.js';

export type FunctionSpec = ShapeOf<typeof spec>;
export type FunctionStatus = ShapeOf<typeof status>;
export type FunctionObject = ApiObject<FunctionSpec, FunctionStatus>;

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
	scalable: false,
	isInert: true,
	schemaVersion: 1,
	defaults: draft => draft,
	validate,
	initialStatus: (): FunctionStatus => ({}),
	columns: [
		nameColumn,
		column('Runtime', 'What runs it.', object => specOf(object)?.runtime ?? none),
		column('Source', 'Where its code came from.', object => specOf(object)?.userUploadFilePath ?? none),
		ageColumn,
	],
	selectableFields: {},
};

function validate(draft: Draft): readonly Problem[] {
	const found: Problem[] = [];
	const {userUploadFilePath: folder} = membersOf(draft.spec);
	const path = 'spec.userUploadFilePath';
	if (folder === '') refuse(found, path, 'is required', 'FieldValueRequired');
	if (typeof folder === 'string') refuseNul(found, path, folder);
	return found;
}
