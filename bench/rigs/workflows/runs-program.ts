// Runs of workflows in a process of their own, whose memory and event loop are theirs alone. A part (bench/rigs/remote.ts).

import {monitorEventLoopDelay} from 'node:perf_hooks';
import type {CallTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import type {Json} from '../../../api/object.js';
import {createScope} from '../../harness/scope.js';
import {serve} from '../remote.js';
import {openWriters, type Load, type Writers} from '../writers.js';
import {openControlHere, type ControlHere} from './control-here.js';
import {calling, counting, itemsOf, mapping, turning, type Called} from './definitions.js';
import {openStore, type StoreAt} from './stores.js';

/** The runs have one store, the writers beside them another one. */
export type Stores = {readonly runs: StoreAt; readonly writes: StoreAt};

export type Stepped = {
	/** States that were entered, a second, and commits of runs. */
	readonly states: number;
	readonly commits: number;
	/** Of the object of a run, as JSON. */
	readonly objectBytes: number;
};

export type Mapped = {
	readonly ms: number;
	readonly commits: number;
	/** The longest time in which nothing else had its turn. */
	readonly longestMs: number;
};

type Answer = (outcome: TaskOutcome) => void;

const secondMs = 1_000;
/** More than a run goes through in the time. */
const turns = 12_000;

function openRuns() {
	const scope = createScope();
	let here: ControlHere | undefined;
	let writers: Writers | undefined;
	let items: Json = [];
	let called: (run: string) => void = () => undefined;
	let names = 0;
	const workflows = new Set<string>();

	const answerTask = ({resource, input, run}: CallTask, answer: Answer): void => {
		const gives = (output: Json) => (): void => answer({type: 'succeeded', output});
		switch (resource as Called) {
			case 'call':
				called(run.name);
				return void setImmediate(gives(null));
			case 'wait':
				return void setTimeout(gives(null), secondMs);
			case 'list':
				return void setImmediate(gives(items));
			case 'item':
				return void setImmediate(gives(input));
		}
	};
	const opened = (): ControlHere => {
		if (here === undefined) throw new Error('it is not open');
		return here;
	};
	/** So many further runs of a workflow, which is made when it is first named. */
	const begin = async (workflow: string, definition: Json, count: number, input: Json = {}): Promise<readonly string[]> => {
		if (!workflows.has(workflow)) await opened().workflow(workflow, definition);
		workflows.add(workflow);
		const begun = Array.from({length: count}, () => `${workflow}-${++names}`);
		await Promise.all(begun.map(name => opened().begin(workflow, name, input)));
		return begun;
	};
	const cancel = async (runs: readonly string[]): Promise<void> => {
		const over = opened().ended(runs.length);
		await Promise.all(runs.map(run => opened().cancel(run)));
		await over;
	};

	return {
		async open({runs, writes}: Stores): Promise<void> {
			here = await openControlHere(await openStore(runs), answerTask);
			writers = await openWriters(scope, await openStore(writes));
		},
		writes: (load: Load): Promise<number> => writers?.(load) ?? Promise.reject(new Error('it is not open')),
		/** Runs of states that call nothing, or that call what answers at once, each for so long. */
		async steps({runs, ms, of}: {readonly runs: number; readonly ms: number; readonly of: 'states' | 'tasks'}): Promise<Stepped> {
			const begun =
				of === 'states' ? await begin('counting', counting, runs, {left: turns}) : await begin('calling-on', turning('call'), runs);
			let states = 0;
			let commits = 0;
			const forget = opened().listen(({history}) => {
				if (history === undefined) return;
				commits++;
				states += enteredIn(history.value);
			});
			const startedAt = performance.now();
			await new Promise(resolve => void setTimeout(resolve, ms));
			const seconds = (performance.now() - startedAt) / 1_000;
			forget();
			const entry = opened().durable.index.entry(`runs/default/${begun[0] ?? ''}`);
			await cancel(begun);
			return {states: states / seconds, commits: commits / seconds, objectBytes: entry?.json().length ?? 0};
		},
		/** From asking for a run until its first task is called, one run after the other; meanwhile others call what takes a second, again and again. */
		async starts({count, underWay}: {readonly count: number; readonly underWay: number}): Promise<readonly number[]> {
			const others = await begin('calling-on-slowly', turning('wait'), underWay);
			const times: number[] = [];
			for (let at = 0; at < count; at++) {
				const over = opened().ended(1);
				const isCalled = new Promise<void>(resolve => (called = () => resolve()));
				const askedAt = performance.now();
				await Promise.all([begin('calling', calling, 1), isCalled.then(() => times.push(performance.now() - askedAt))]);
				await over;
			}
			called = () => undefined;
			await cancel(others);
			return times;
		},
		async map({
			count,
			concurrency,
			from,
		}: {
			readonly count: number;
			readonly concurrency: number;
			readonly from: 'task' | 'input';
		}): Promise<Mapped> {
			items = itemsOf(count);
			const definition = mapping(concurrency, from);
			const workflow = `each-${concurrency}-of-${from}`;
			await begin(workflow, definition, 0);
			let commits = 0;
			const forget = opened().listen(({history}) => void (commits += history === undefined ? 0 : 1));
			const delay = monitorEventLoopDelay({resolution: 1});
			const over = opened().ended(1);
			delay.enable();
			const startedAt = performance.now();
			const [run = ''] = await begin(workflow, definition, 1, from === 'input' ? {items} : {});
			await over;
			const ms = performance.now() - startedAt;
			delay.disable();
			forget();
			const {phase, error} = opened().run(run)?.status ?? {};
			if (phase !== 'Succeeded') throw new Error(`the Map has ended with ${phase ?? 'nothing'}: ${error?.cause ?? ''}`);
			return {ms, commits, longestMs: delay.max / 1e6};
		},
	};
}

export type Runs = ReturnType<typeof openRuns>;

type Told = {readonly news: readonly {readonly type: string}[]};

const enteredIn = (record: Json): number => (record as unknown as Told).news.filter(({type}) => type === 'entered').length;

if (process.argv[1] === import.meta.filename && process.send !== undefined) serve(openRuns());
