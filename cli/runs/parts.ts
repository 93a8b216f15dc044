// What is shown of a run beside its object, as the cluster tells of it now.

import {AppError} from '../../api/errors.js';
import type {Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {RunLook} from '../../server/http/runs.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import type {Client} from '../client.js';
import {definitionOfRun, lastOf, lookAtRun, placeOf} from './read.js';

export type RunParts = Pick<RunLook, 'states' | 'more'> & {
	/** Of the definition that it goes by; undefined where it has none yet. */
	readonly revision: number | undefined;
	/** The last records of its history, and how many there are before them. */
	readonly records: readonly HistoryRecord[];
	readonly from: number;
};

export async function partsOfRun(client: Client, run: Run): Promise<RunParts> {
	const [{states, more}, known, history] = await Promise.all([
		lookAtRun(client, placeOf(run)),
		// The page tells the rest also of one whose definition this program cannot read.
		definitionOfRun(client, run).catch(unlessAway),
		lastOf(client, run, limits.runRecordsRead),
	]);
	return {states, more, revision: known?.revision, ...history};
}

function unlessAway(error: unknown): undefined {
	if (error instanceof AppError && error.code === 'ERR_INTERNAL') return undefined;
	throw error;
}
