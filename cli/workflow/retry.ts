// `troupe workflow retry`: a new run of the same workflow, from where one has failed or from a state that is named, with the input of that state.

import type {Run} from '../../api/kinds/run.js';
import type {Json, JsonObject} from '../../api/object.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {isOver, runNamed} from '../runs/named.js';
import {historyOf, placeOf, readRun} from '../runs/read.js';
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

/** The last time that the state was entered, or the last state that was: of the outermost machine. */
async function entryOf(client: Client, run: Run, from: string | undefined): Promise<{readonly state: string; readonly input: Json}> {
	const entered = new Set<string>();
	let found: {readonly state: string; readonly input: Json} | undefined;
	for await (const records of historyOf(client, placeOf(run)))
		for (const {news} of records)
			for (const each of news) {
				if (each.type !== 'entered' || each.frame !== '') continue;
				entered.add(each.state);
				if (from === undefined || each.state === from) found = {state: each.state, input: each.input};
			}
	if (found !== undefined) return found;
	const {name} = run.metadata;
	if (entered.size === 0) throw failedError(`run/${name} has no history: it has entered no state, or that is not kept any more`);
	const all = [...entered];
	throw failedError(
		`run/${name} has not entered "${from ?? ''}" in its outermost machine${didYouMean(from ?? '', all) || `; it has ${all.slice(0, shownStates).join(', ')}`}`,
	);
}

const shownStates = 20;
