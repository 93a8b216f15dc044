// How many runs of a workflow are in which phase, and how many each trigger has started.

import {run as runKind, type Run, type RunPhase} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import {workflowLabel} from '../../api/workflow-label.js';
import {triggerLabel} from '../../api/triggered-run.js';
import type {Client} from '../client.js';
import type {List} from '../cluster/lists.js';
import {pathOf} from '../cluster/resources.js';
import {isOver} from './named.js';

export type RunCounts = {
	readonly byPhase: ReadonlyMap<RunPhase, number>;
	readonly byTrigger: ReadonlyMap<string, StartedRuns>;
};

/** Of runs that a trigger has started: those that are there, and those of them that are not over. */
export type StartedRuns = {readonly runs: number; readonly underWay: number};

/** In portions: what runs have come to may be large. */
export async function countRuns(client: Client, namespace: string, workflow: string): Promise<RunCounts> {
	const byPhase = new Map<RunPhase, number>();
	const byTrigger = new Map<string, StartedRuns>();
	const query = {labelSelector: `${workflowLabel}=${workflow}`, limit: limits.runsCounted};
	let next: string | undefined;
	do {
		const {items, metadata}: List = (await client.json({path: pathOf(runKind, namespace), query: {...query, continue: next}})) as List;
		for (const run of (items ?? []) as readonly Run[]) {
			const phase = run.status?.phase ?? 'Pending';
			byPhase.set(phase, (byPhase.get(phase) ?? 0) + 1);
			const trigger = run.metadata.labels?.[triggerLabel];
			if (trigger === undefined) continue;
			const {runs, underWay} = byTrigger.get(trigger) ?? {runs: 0, underWay: 0};
			byTrigger.set(trigger, {runs: runs + 1, underWay: underWay + (isOver(run) ? 0 : 1)});
		}
		next = metadata?.continue;
	} while (next !== undefined && next !== '');
	return {byPhase, byTrigger};
}
