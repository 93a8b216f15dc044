// A run as it goes on: by a list and a watch from it, never by asking again and again.

import {AppError, rowOf} from '../../api/errors.js';
import {run as runKind, type Run} from '../../api/kinds/run.js';
import {systemClock} from '../../system/time/clock.js';
import type {Client} from '../client.js';
import {withKind, type List} from '../cluster/lists.js';
import {pathOf} from '../cluster/resources.js';
import {watch} from '../cluster/watch.js';
import {failedError} from '../command.js';
import {isOver} from './named.js';
import {readRun, type RunPlace} from './read.js';

export type Following = {
	readonly signal?: AbortSignal;
	/** The cluster does not answer for now; undefined: it does again. */
	readonly onLost?: (why: string | undefined) => void;
};

/**
 * The run as it is, then as each change makes it, up to its end; also while the cluster is away for a time. Throws where it is not there, or is
 * deleted meanwhile, and what asking again does not mend.
 */
export async function* followRun(client: Client, place: RunPlace, {signal, onLost = () => undefined}: Following = {}): AsyncGenerator<Run> {
	let uid: string | undefined;
	for (;;) {
		try {
			for await (const run of onceFollowed(client, place, signal)) {
				onLost(undefined);
				if (uid !== undefined && run.metadata.uid !== uid) throw gone(place);
				uid = run.metadata.uid;
				yield run;
				if (isOver(run)) return;
			}
		} catch (error) {
			if (uid === undefined || signal?.aborted === true || !isForNow(error)) throw error;
			onLost(error.message);
		}
		await new Promise<void>(resolve => void systemClock.after(againMs, resolve));
	}
}

const againMs = 1_000;

const isForNow = (error: unknown): error is AppError => error instanceof AppError && rowOf(error.code).retryable;

const gone = ({name}: RunPlace): AppError => failedError(`run/${name} was deleted`);

/** One list and the watch that goes on from it, until the server ends it. */
async function* onceFollowed(client: Client, {namespace, name}: RunPlace, signal: AbortSignal | undefined): AsyncGenerator<Run> {
	const path = pathOf(runKind, namespace);
	const query = {fieldSelector: `metadata.name=${name}`};
	const list = (await client.json({path, query, signal})) as List;
	const [found] = list.items ?? [];
	// Throws in the words of the server that it is not there.
	yield found === undefined ? await readRun(client, {namespace, name}) : (withKind(found, runKind) as Run);
	const from = {...query, resourceVersion: list.metadata?.resourceVersion};
	for await (const {type, object} of watch(client, {path, query: from, signal})) {
		if (type === 'DELETED') throw gone({namespace, name});
		yield object as Run;
	}
}
