// The kind Workflow: a graph of functions and choices.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject} from '../object.js';
import {membersOf} from '../rules/report.js';
import {checkWorkflow} from '../rules/workflow.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/workflow.js';

export type WorkflowSpec = ShapeOf<typeof spec>;
export type Workflow = ApiObject<WorkflowSpec, ShapeOf<typeof status>>;

const specOf = (object: ApiObject): WorkflowSpec | undefined => (object as Workflow).spec;

export const workflow: KindDefinition = {
	kind: 'Workflow',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'workflows',
	singular: 'workflow',
	shortNames: ['wf'],
	categories: ['all'],
	namespaced: true,
	isInert: true,
	defaults: draft => draft,
	validate: (found, draft) => checkWorkflow(found, 'spec', membersOf(draft.spec)),
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Start', 'The first node.', object => specOf(object)?.startAt ?? none),
		numberColumn('Nodes', 'How many nodes it has.', object => Object.keys(specOf(object)?.nodes ?? {}).length),
		ageColumn,
	],
};
