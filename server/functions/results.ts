// Answers of calls that nobody waited for, kept to be fetched: for a time, and so many. In memory is what they are, their bodies are in the store.

import {resultStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {membersOf, textOf} from '../../api/rules/report.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {StoreRecords} from '../store-records.js';
import type {FunctionAnswer} from './delivery.js';
import {bytesOf, headOf, keptText} from './kept-text.js';

export type Result = FunctionAnswer & {
	/** Whose call it was. */
	readonly by: string | undefined;
};

export type Results = {
	/** Undefined: it is not kept, or no more. Rejects with an AppError. */
	readonly read: (id: string) => Promise<Result | undefined>;
	/** Rejects with an AppError; then it is not kept. */
	readonly keep: (id: string, result: Result) => Promise<void>;
	readonly close: () => void;
};

type Head = {
	readonly by: string | undefined;
	readonly status: number;
	readonly contentType: string | undefined;
	readonly atMs: number;
	readonly bytes: number;
};

/** `found`: what the store has, text by id, in the order of ids. */
export function openResults(
	found: ReadonlyMap<string, string>,
	{records, clock, onProblem}: {readonly records: StoreRecords; readonly clock: Clock; readonly onProblem: (error: unknown) => void},
): Results {
	/** The oldest first. */
	const kept = new Map<string, Head>();
	let cancel: Cancel | undefined;
	let bytes = 0;
	const remove = (id: string): void => {
		bytes -= kept.get(id)?.bytes ?? 0;
		kept.delete(id);
		// One that stays is found again by the next term, and is too old then, too.
		records.put(resultStoreKey(id), undefined).catch(onProblem);
	};
	/** What is too old, or too much. */
	const sweep = (): void => {
		cancel = undefined;
		const oldestMs = clock.nowMs() - limits.resultKeptMs;
		for (const [id, {atMs}] of kept) {
			if (kept.size <= limits.results && bytes <= limits.resultsBytes && atMs > oldestMs) break;
			remove(id);
		}
		const [oldest] = kept.values();
		if (oldest !== undefined) cancel = clock.after(oldest.atMs + limits.resultKeptMs - clock.nowMs(), sweep);
	};
	for (const [id, text] of found) {
		const head = readHead(text);
		if (head === undefined) remove(id);
		else {
			kept.set(id, head);
			bytes += head.bytes;
		}
	}
	sweep();
	return {
		async read(id) {
			const head = kept.get(id);
			const text = head === undefined ? undefined : await records.get(resultStoreKey(id));
			return head === undefined || text === undefined ? undefined : {...head, body: bytesOf(text)};
		},
		async keep(id, {by, status, contentType, body}) {
			const head: Head = {
				by,
				status,
				contentType: contentType?.slice(0, limits.contentTypeCharacters),
				atMs: clock.nowMs(),
				bytes: body.length,
			};
			await records.put(resultStoreKey(id), keptText({...head, by: by ?? null, contentType: head.contentType ?? null}, body));
			bytes += head.bytes - (kept.get(id)?.bytes ?? 0);
			kept.delete(id);
			kept.set(id, head);
			if (cancel === undefined || kept.size > limits.results || bytes > limits.resultsBytes) {
				cancel?.();
				sweep();
			}
		},
		close: () => cancel?.(),
	};
}

/** Undefined: it says no result. */
function readHead(text: string): Head | undefined {
	const {by, status, contentType, atMs, bytes} = membersOf(headOf(text));
	if (typeof status !== 'number' || typeof atMs !== 'number' || typeof bytes !== 'number') return undefined;
	return {by: textOf(by), status, contentType: textOf(contentType), atMs, bytes};
}
