// Histories of runs that are over, for one term: from its store into files of this home.

import type {ControlSystem} from '../../../actors/control/start.js';
import {openRunArchive, type RunArchive} from '../../../server/workflows/run-archive.js';
import {storedRecords} from '../../../server/workflows/run-history.js';
import {recordsFrom} from '../../../system/store/store-calls.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {quietly} from '../process/log.js';
import type {ServeContext} from '../process/serve.js';

export type TermArchiveOptions = {readonly context: ServeContext; readonly driver: StoreDriver};

export function archiveOfTerm({context, driver}: TermArchiveOptions, {index, pipeline}: ControlSystem): RunArchive {
	const {clock} = context.processParts;
	const quiet = quietly(clock);
	return openRunArchive({
		folder: context.home.runs,
		known: index,
		rangeOf: key => index.parts.historyOf(key),
		async *readHistory(key, range) {
			for await (const {body} of storedRecords(prefix => recordsFrom(driver, prefix), key, range)) yield body;
		},
		dropHistory: pipeline.dropHistory,
		clock,
		onProblem: error =>
			quiet('archive', () => context.log.warn(error, 'the history of a run that is over stays in the store; it is tried again')),
	});
}
