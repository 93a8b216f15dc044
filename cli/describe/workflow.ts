// `describe workflow`: the states of its definition, its runs by their phases, and how to start one. Pure.

import {counted} from '../../api/counted.js';
import type {RunPhase} from '../../api/kinds/run.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import {statesIn, type Definition, type State} from '../../api/states-language/definition.js';
import {dataText} from '../runs/path-lines.js';
import type {RunCounts} from '../runs/count-runs.js';
import {inOneLine, type WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, drawSection, metadataFields} from './lines.js';
import {drawWorkflowTriggers} from './triggers.js';

/** Everything but the events. `definition` is undefined where it cannot be read. */
export function describeWorkflow(
	object: Workflow,
	definition: Definition | undefined,
	runs: RunCounts,
	nowMs: number,
	widthOf: WidthOf,
): string {
	const {metadata, spec, status} = object;
	const {params} = spec ?? {};
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Revision', status?.revision === undefined ? '<none>' : `${status.revision} (${status.revisionName ?? ''})`],
		['Starts At', definition?.StartAt],
		['Time Limit', definition?.TimeoutSeconds === undefined ? undefined : `${definition.TimeoutSeconds} s`],
		['Params', params === undefined ? undefined : dataText(params)],
		['Runs', phasesText(runs.byPhase)],
		['Start', [`troupe workflow start ${metadata.name} --input '{}'`, `POST a Run with spec.workflow ${metadata.name}`]],
	]);
	return (
		fields +
		drawStates(definition, widthOf) +
		drawWorkflowTriggers(object, runs.byTrigger, widthOf) +
		drawConditions(status?.conditions, widthOf)
	);
}

/** `2 Running, 1 Failed`. */
function phasesText(runs: ReadonlyMap<RunPhase, number>): string {
	const shown = phases.flatMap(phase => (runs.has(phase) ? [`${runs.get(phase) ?? 0} ${phase}`] : []));
	return shown.length === 0 ? '<none>' : shown.join(', ');
}

const phases: readonly RunPhase[] = ['Pending', 'Running', 'Suspended', 'Succeeded', 'Failed', 'Cancelled'];

function drawStates(definition: Definition | undefined, widthOf: WidthOf): string {
	if (definition === undefined) return 'States:  <its definition cannot be read>\n';
	const all = statesIn(definition);
	const rows = all.slice(0, limits.workflowStatesShown).map(({name, state}) => [inOneLine(name), state.Type, inOneLine(thenText(state))]);
	const left = all.length - rows.length;
	return drawSection('States', ['NAME', 'TYPE', 'THEN'], rows, widthOf) + (left > 0 ? `  … ${counted(left, 'more state')}\n` : '');
}

/** Where each leads to, and what it calls. */
function thenText(state: State): string {
	const caught = 'Catch' in state ? (state.Catch ?? []).map(({Next}) => Next) : [];
	const next = nextOf(state);
	return [
		...(state.Type === 'Task' ? [`calls ${state.Resource}`] : []),
		...(next === '' ? [] : [`-> ${next}`]),
		...(caught.length === 0 ? [] : [`catches -> ${[...new Set(caught)].join(', ')}`]),
	].join('; ');
}

function nextOf(state: State): string {
	if (state.Type === 'Choice') {
		const targets = [...state.Choices.map(({Next}) => Next), state.Default].filter(next => typeof next === 'string');
		return [...new Set(targets)].join(', ');
	}
	return 'Next' in state ? (state.Next ?? '') : '';
}
