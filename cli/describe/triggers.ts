// Triggers of functions and workflows, as `describe` shows them. Pure.

import type {FunctionTrigger} from '../../api/kinds/function.js';
import type {Workflow, WorkflowTrigger} from '../../api/kinds/workflow.js';
import type {StartedRuns} from '../runs/count-runs.js';
import type {WidthOf} from '../screen/table.js';
import {drawSection} from './lines.js';

/** `topic orders/+`, `schedule 0 3 * * * (Europe/Berlin)`, `changes of Pod`. */
export function triggerSource({topic, schedule, timeZone, objects}: FunctionTrigger | WorkflowTrigger): string {
	if (topic !== undefined) return `topic ${topic}`;
	if (schedule !== undefined) return `schedule ${schedule}${timeZone === undefined ? '' : ` (${timeZone})`}`;
	return objects === undefined ? '<none>' : `changes of ${objects.kind}`;
}

/** Nothing of a workflow without any. */
export function drawWorkflowTriggers({spec}: Workflow, started: ReadonlyMap<string, StartedRuns>, widthOf: WidthOf): string {
	const {triggers = []} = spec ?? {};
	const rows = triggers.map(trigger => {
		const {runs, underWay} = started.get(trigger.name) ?? {runs: 0, underWay: 0};
		return [trigger.name, triggerSource(trigger), trigger.concurrencyPolicy ?? 'Allow', String(runs), String(underWay)];
	});
	return rows.length === 0 ? '' : drawSection('Triggers', ['NAME', 'SOURCE', 'CONCURRENCY', 'RUNS', 'UNDER-WAY'], rows, widthOf);
}
