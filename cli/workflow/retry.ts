// `troupe workflow retry`: a new run of the same workflow, from where one has failed or from a state that is named, with the input of that state.

import {historyIn, type Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {Json, JsonObject} from '../../api/object.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {isOver, runNamed} from '../runs/named.js';
import {historyOf, lastOf, placeOf, readRun} from '../runs/read.js';
import {startRun, told, waitOf} from './start.js';

export async function retry(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags} = invocation;
	const [word, ...more] = words;
	if (word === undefined || more.length > 0)
		throw usageError('retry takes one run, as in: troupe workflow retry run/order-7 --from Charge');
	const [name, from, wait] = [runNamed(word), flags.text('from'), waitOf(invocation)];
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const run = await readRun(client, {namespace, name});
		const {phase = 'Pending'} = run.status ?? {};
		if (!isOver(run)) throw failedError(`run/${name} is not over, it is ${phase}; troupe workflow cancel run/${name} ends it`);
		if (phase === 'Succeeded' && from === undefined)
			throw failedError(`run/${name} has succeeded; --from says from which state it is to be gone through again`);
		const {state, input} = await entryOf(client, run, from);
		const {workflow = '', ttlSecondsAfterFinished} = run.spec ?? {};
		const kept: JsonObject = ttlSecondsAfterFinished === undefined ? {} : {ttlSecondsAfterFinished};
		const made = await startRun(client, namespace, {workflow, input, more: {startAt: state, ...kept}});
		invocation.terminal.note(`run/${name} is gone through again from ${state}`);
		return told(invocation, client, made, wait);
	});
}

type Entry = {readonly state: string; readonly input: Json};

/** The last time that the state was entered, or the last state that was: of the outermost machine. */
async function entryOf(client: Client, run: Run, from: string | undefined): Promise<Entry> {
	const {name} = run.metadata;
	const {records: count} = historyIn(run);
	// Of a run that has failed or was cancelled the last record says it.
	const last = (await lastOf(client, run, 1)).records.at(-1)?.last;
	if (last !== undefined && (from === undefined || last.state === from)) return last;
	const steps = run.status?.steps ?? 0;
	if (count < steps)
		throw failedError(
			`what run/${name} gave ${from === undefined ? 'its last state' : `"${from}"`} the last time is not known: its history has ${count} of ${steps} steps`,
		);
	const entered = new Set<string>();
	let found: Entry | undefined;
	const first = Math.max(0, count - limits.runRetryRecords);
	for await (const page of historyOf(client, placeOf(run), first))
		for (const {news} of page)
			for (const each of news) {
				if (each.type !== 'entered' || each.frame !== '') continue;
				entered.add(each.state);
				if (from === undefined || each.state === from) found = {state: each.state, input: each.input};
			}
	if (found !== undefined) return found;
	if (entered.size === 0 && first === 0)
		throw failedError(`run/${name} has no history: it has entered no state, or that is not kept any more`);
	const all = [...entered];
	throw failedError(
		`run/${name} has not entered ${from === undefined ? 'a state' : `"${from}"`} in its outermost machine${first === 0 ? '' : `, in the last ${limits.runRetryRecords} records of its history`}${didYouMean(from ?? '', all) || `; it has ${all.slice(0, shownStates).join(', ')}`}`,
	);
}

const shownStates = 20;
