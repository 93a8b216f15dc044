// The kind Run: one run of a Workflow.

import {ageColumn, column, nameColumn, none, numberColumn} from '../columns/common.js';
import {ageOf} from '../duration.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import type {ApiObject, Draft, Json} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {checkDnsSubdomain} from '../rules/names.js';
import {forbid, membersOf, refuse, type Found} from '../rules/report.js';
import {checkRunInput, checkWorkflowName} from '../rules/workflow.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/run.js';
import {workflowLabel} from '../workflow-label.js';

export type RunSpec = Omit<ShapeOf<typeof spec>, 'input'> & {readonly input?: Json};
export type RunStatus = Omit<ShapeOf<typeof status>, 'output'> & {readonly output?: Json};
export type RunPhase = NonNullable<RunStatus['phase']>;
export type Run = ApiObject<RunSpec, RunStatus>;

/** How much is kept of what has happened in it: all of its steps, where nothing else is said. */
export const historyIn = ({status}: Run): NonNullable<RunStatus['history']> => status?.history ?? {records: status?.steps ?? 0, bytes: 0};

const asRun = (object: ApiObject): Run => object as Run;

export const run: KindDefinition = {
	kind: 'Run',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'runs',
	singular: 'run',
	shortNames: [],
	namespaced: true,
	keepsNulls: ['spec.input', 'status.output'],
	defaults: withDefaults,
	validate,
	// The machine goes on from it.
	ownsStatus: true,
	initialStatus: (): RunStatus => ({phase: 'Pending'}),
	underWay: object => underWayText(asRun(object)),
	columns: [
		nameColumn,
		column('Workflow', 'What it is a run of.', object => asRun(object).spec?.workflow ?? none),
		column('Status', 'How it is.', object => statusText(asRun(object))),
		column('At', 'The states that are under way; of a run that failed, its error.', object => placeText(asRun(object))),
		numberColumn('Steps', 'How many steps are committed.', object => asRun(object).status?.steps ?? 0),
		column('Duration', 'How long it ran.', (object, nowMs) => durationText(asRun(object), nowMs)),
		ageColumn,
	],
	selectableFields: {
		'status.phase': object => phaseOf(asRun(object)),
		'spec.workflow': object => asRun(object).spec?.workflow ?? '',
	},
};

/** The label is the cluster's, whatever a manifest says of it. */
function withDefaults(draft: Draft): Draft {
	const spec = draft.spec as RunSpec;
	const {metadata} = draft;
	return {
		...draft,
		metadata: {...metadata, labels: {...metadata.labels, [workflowLabel]: spec.workflow}},
		spec: {...spec, input: spec.input === undefined ? {} : spec.input},
	};
}

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	if (old !== undefined) {
		const before = membersOf(old.spec);
		for (const field of ['workflow', 'input', 'startAt']) checkUnchanged(found, `spec.${field}`, spec[field], before[field]);
		if (before['cancel'] === true && spec['cancel'] !== true) forbid(found, 'spec.cancel', 'cannot be taken back');
		return;
	}
	const {workflow, input, startAt} = spec;
	if (typeof workflow === 'string') {
		checkDnsSubdomain(found, 'spec.workflow', workflow);
		checkWorkflowName(found, 'spec.workflow', workflow);
	}
	if (startAt === '') refuse(found, 'spec.startAt', 'must be the name of a state, got ""');
	if (input !== undefined) checkRunInput(found, 'spec.input', input);
}

const phaseOf = ({status}: Run): RunPhase => status?.phase ?? 'Pending';

const isOver = (phase: RunPhase): boolean => phase === 'Succeeded' || phase === 'Failed' || phase === 'Cancelled';

function statusText(each: Run): string {
	const phase = phaseOf(each);
	return each.metadata.deletionTimestamp === undefined || isOver(phase) ? phase : 'Terminating';
}

function underWayText(each: Run): string | undefined {
	const phase = phaseOf(each);
	if (isOver(phase)) return undefined;
	const place = placeText(each);
	return place === none ? phase : `${phase}, at ${place}`;
}

/** Of states under way that a row names. */
const statesShown = 3;

/** `Charge, Pack x12`. */
function placeText({status}: Run): string {
	if (status?.phase === 'Failed') return status.error?.error ?? none;
	const at = status?.at ?? [];
	if (at.length === 0) return none;
	const more = at.length - statesShown;
	const named = at.slice(0, statesShown).map(({state, count}) => (count === 1 ? state : `${state} x${count}`));
	// Of very many it has only the first.
	const least = at.length < limits.runAtStates ? '' : ' or';
	return named.join(', ') + (more > 0 ? ` + ${more}${least} more...` : '');
}

function durationText({status}: Run, nowMs: number): string {
	if (status?.startTime === undefined) return none;
	const endMs = status.completionTime === undefined ? nowMs : Date.parse(status.completionTime);
	return ageOf(endMs - Date.parse(status.startTime));
}
