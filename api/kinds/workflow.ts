// The kind Workflow: a definition in the States Language, of which runs are made.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import {deepEqual} from '../equal.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {membersOf, type Found} from '../rules/report.js';
import {checkDefinition, checkRunInput, checkWorkflowName, checkWorkflowTriggers} from '../rules/workflow.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/workflow.js';
import {statesIn, type Definition} from '../states-language/definition.js';
import {definitionOfNodes, type NodesSpec} from '../states-language/from-nodes.js';

/** A definition that is kept was checked when it was written. */
export type WorkflowSpec = Omit<ShapeOf<typeof spec>, 'definition' | 'params'> & {
	readonly definition: JsonObject;
	readonly params?: JsonObject;
};
export type WorkflowTrigger = NonNullable<WorkflowSpec['triggers']>[number];
export type WorkflowStatus = ShapeOf<typeof status>;
export type Workflow = ApiObject<WorkflowSpec, WorkflowStatus>;

const asWorkflow = (object: ApiObject): Workflow => object as Workflow;

export const workflow: KindDefinition = {
	kind: 'Workflow',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'workflows',
	singular: 'workflow',
	shortNames: ['wf'],
	categories: ['all'],
	namespaced: true,
	schemaVersion: 2,
	keepsNulls: ['spec.definition', 'spec.params'],
	defaults: draft => draft,
	validate,
	initialStatus: (): WorkflowStatus => ({}),
	columns: [
		nameColumn,
		column('Start', 'The state that a run begins with.', object => definitionOf(object)?.StartAt ?? none),
		numberColumn('States', 'How many states it has, those of branches and items included.', object => countOf(definitionOf(object))),
		column('Revision', 'The number of its definition.', object => String(asWorkflow(object).status?.revision ?? none)),
		ageColumn,
	],
};

const definitionOf = (object: ApiObject): Definition | undefined => asWorkflow(object).spec?.definition as Definition | undefined;

const countOf = (definition: Definition | undefined): number => (definition === undefined ? 0 : statesIn(definition).length);

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const {definition, params, triggers} = membersOf(draft.spec);
	const {name} = draft.metadata;
	if (old === undefined && typeof name === 'string') checkWorkflowName(found, 'metadata.name', name);
	// What was taken once is not refused later, however rules change: it could not even be deleted.
	const before = membersOf(old?.spec);
	if (definition !== undefined && !deepEqual(definition, before['definition'])) checkDefinition(found, 'spec.definition', definition);
	if (params !== undefined && !deepEqual(params, before['params'])) checkRunInput(found, 'spec.params', params);
	checkWorkflowTriggers(found, 'spec.triggers', triggers);
}

/**
 * What was stored by the first version, as it is stored now. Nothing acted on it then: params that it had start no run before the workflow is
 * changed.
 */
export function ofFirstVersion(object: ApiObject): ApiObject {
	const {startAt, nodes, ...rest} = membersOf(object.spec) as unknown as NodesSpec & JsonObject;
	const status: WorkflowStatus = {...membersOf(object.status), startedGeneration: object.metadata.generation};
	return {...object, spec: {...rest, definition: definitionOfNodes({startAt, nodes})}, status};
}
