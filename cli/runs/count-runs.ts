// How many runs of a workflow are in which phase.

import {run as runKind, type Run, type RunPhase} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import {workflowLabel} from '../../api/workflow-label.js';
import type {Client} from '../client.js';
import type {List} from '../cluster/lists.js';
import {pathOf} from '../cluster/resources.js';

/** In portions: what runs have come to may be large. */
export async function countRuns(client: Client, namespace: string, workflow: string): Promise<ReadonlyMap<RunPhase, number>> {
	const counts = new Map<RunPhase, number>();
	const query = {labelSelector: `${workflowLabel}=${workflow}`, limit: limits.runsCounted};
	let next: string | undefined;
	do {
		const {items, metadata}: List = (await client.json({path: pathOf(runKind, namespace), query: {...query, continue: next}})) as List;
		for (const {status} of (items ?? []) as readonly Run[]) {
			const phase = status?.phase ?? 'Pending';
			counts.set(phase, (counts.get(phase) ?? 0) + 1);
		}
		next = metadata?.continue;
	} while (next !== undefined && next !== '');
	return counts;
}
