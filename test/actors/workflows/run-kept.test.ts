// What is kept of a run: as much of its history as may be, what is under way by name, and nothing that is not needed any more.

import test from 'ava';
import {historyStoreKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Run, RunStatus} from '../../../api/kinds/run.js';
import type {Json} from '../../../api/object.js';
import type {HistoryRecord} from '../../../server/workflows/run-history.js';
import {gives, RunCluster, throws} from './_run-cluster.js';

const key = 'runs/default/one';
const machine = (States: object, StartAt = 'A'): object => ({StartAt, States});
const task = (more: object = {}): object => ({Type: 'Task', Resource: 'f', End: true, ...more});
const names = (count: number): readonly string[] => Array.from({length: count}, (_, at) => `S${String(at).padStart(2, '0')}`);

/** The records of its history that were committed, in order. */
const told = ({changes}: RunCluster): readonly HistoryRecord[] =>
	changes.flatMap(({history}) => (history === undefined ? [] : [{number: history.number, ...(history.value as object)} as HistoryRecord]));

/** As if so much of its history were kept already. */
function withHistory(cluster: RunCluster, history: NonNullable<RunStatus['history']>): void {
	cluster.changeStored(key, run => ({...run, status: {...(run as Run).status, history}}));
	cluster.settle();
}

for (const [what, full] of [
	['records', {records: limits.runHistoryRecords, bytes: 1}],
	['bytes', {records: 3, bytes: limits.runHistoryBytes}],
] as const)
	test(`a history of as many ${what} as may be is not gone on with but for its end; the run goes on, and its steps are counted`, t => {
		const cluster = new RunCluster(call => ({outcome: call.input === 'B' ? throws('No', 'not now') : {type: 'waiting'}}));
		const next = (Next: string): object => task({Next, End: undefined});
		cluster.workflow('w', machine({A: next('P'), P: {Type: 'Pass', Result: 'B', Next: 'Q'}, Q: {Type: 'Pass', Next: 'B'}, B: task()}));
		cluster.begin('w', 'one');
		cluster.settle();
		const before = cluster.run('one').status;
		const count = told(cluster).length;
		t.is(before?.history?.records, before?.steps);
		withHistory(cluster, full);
		const [first = ''] = cluster.begun;
		cluster.tellRun('one', {type: 'runEvent', event: {type: 'taskSucceeded', key: first, output: 1}});
		const {status} = cluster.untilOver('one');
		t.is(status?.error?.error, 'No');
		t.true((status?.steps ?? 0) > (before?.steps ?? 0) + 3);
		t.deepEqual(told(cluster).length, count + 1);
		t.is(status?.history?.records, full.records + 1);
		t.like(told(cluster).at(-1), {ending: {status: 'failed'}, last: {state: 'B', input: 'B'}});
	});

test('the bytes of a history are those of its records, and its end says with what the last state was entered', t => {
	const cluster = new RunCluster(() => ({outcome: throws('No')}));
	cluster.workflow('w', machine({A: {Type: 'Pass', Result: {text: 'ä"\n'}, ResultPath: '$.deep', Next: 'B'}, B: task()}));
	cluster.begin('w', 'one', {x: [1, null]});
	const {status} = cluster.untilOver('one');
	const records = told(cluster);
	const bytes = records.reduce((sum, {number: _number, ...record}) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
	t.deepEqual(status?.history, {records: records.length, bytes});
	t.deepEqual(records.at(-1)?.last, {state: 'B', input: {x: [1, null], deep: {text: 'ä"\n'}}});
	t.deepEqual(
		records.flatMap(({last}) => (last === undefined ? [] : [last.state])),
		['B'],
	);
});

test('a run of more than sixty records goes on with the next one after a new start of the control plane', t => {
	const cluster = new RunCluster(() => ({outcome: {type: 'waiting'}}));
	const states = names(70).map((name, at, all) => [name, {Type: 'Pass', Next: all[at + 1] ?? 'Ask'}] as const);
	cluster.workflow('w', machine({...Object.fromEntries(states), Ask: task({Resource: 'activity:a'})}, 'S00'));
	cluster.begin('w', 'one');
	cluster.settle();
	const before = cluster.run('one').status?.steps ?? 0;
	t.true(before > 2 * limits.leavingParts);
	cluster.start();
	cluster.settle();
	t.true(cluster.tellRun('one', {type: 'taskAnswered', task: {state: 'Ask'}, outcome: gives(1)}).ok);
	const {status} = cluster.untilOver('one');
	t.is(status?.output, 1);
	t.is(status?.history?.records, status?.steps);
	t.deepEqual(
		told(cluster).map(({number}) => number),
		Array.from({length: before + 1}, (_, at) => at),
	);
	t.deepEqual(
		cluster.stored('/troupe/history/'),
		Array.from({length: before + 1}, (_, at) => historyStoreKey(key, at)),
	);
});

test('of very many states under way the status has the first names, and the counts stay right whatever is killed', t => {
	const count = 2 * limits.runAtStates;
	const waits = new Set<string>();
	const cluster = new RunCluster((_call, state) => (waits.add(state), {outcome: {type: 'waiting'}}));
	const branch = (name: string): object => machine({[name]: task({Resource: 'activity:a'})}, name);
	cluster.workflow('w', machine({A: {Type: 'Parallel', Branches: names(count).map(branch), End: true}}));
	cluster.begin('w', 'one');
	cluster.settle();
	t.is(waits.size, count);
	const at = (): readonly string[] => (cluster.run('one').status?.at ?? []).map(({state, count: many}) => `${state} ${many}`);
	t.deepEqual(
		at(),
		['A', ...names(limits.runAtStates - 1)].map(name => `${name} 1`),
	);
	const atParts = (): readonly string[] => cluster.stored('/troupe/parts/').filter(each => each.endsWith('/at'));
	t.is(atParts().length, 1);
	for (const [done, state] of names(count).entries()) {
		if (done % 10 === 5) {
			cluster.start();
			cluster.settle();
		}
		t.true(cluster.tellRun('one', {type: 'taskAnswered', task: {state}, outcome: gives(done)}).ok, state);
		cluster.settle();
		const left = names(count).slice(done + 1);
		if (left.length > 0)
			t.deepEqual(
				at(),
				['A', ...left].slice(0, limits.runAtStates).map(name => `${name} 1`),
			);
		t.is(atParts().length, left.length + 1 > limits.runAtStates ? 1 : 0);
	}
	t.is(cluster.untilOver('one').status?.phase, 'Succeeded');
});

test('data as large as it may be is what a run ends with, also out of a Map', t => {
	const cluster = new RunCluster(() => ({outcome: gives(1)}));
	const text = 'x'.repeat(limits.statesDataBytes - 100);
	const each = machine({S: {Type: 'Pass', End: true}}, 'S');
	cluster.workflow(
		'w',
		machine({A: {Type: 'Map', ItemsPath: '$.list', ItemSelector: {'all.$': '$.text'}, ItemProcessor: each, End: true}}),
	);
	cluster.begin('w', 'one', {text, list: [1]});
	const {status} = cluster.untilOver('one', 60_000);
	t.is(status?.phase, 'Succeeded', JSON.stringify(status?.error));
	t.deepEqual(status?.output, [{all: text}]);
	const records = told(cluster);
	t.deepEqual(records.at(-1)?.ending, {status: 'succeeded', atMs: records.at(-1)?.atMs ?? 0, output: [{all: text}]});
	const lefts = records.flatMap(({news}) => news.flatMap(one => (one.type === 'left' ? [one.output] : [])));
	t.deepEqual(lefts as (Json | undefined)[], [{omittedBytes: JSON.stringify({all: text}).length}, undefined]);
});

test('what is found again of a run that is over goes at the next start', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: machine({One: task()}, 'One'), End: true}}));
	cluster.begin(
		'w',
		'one',
		Array.from({length: 4 * limits.leavingParts}, (_, at) => at),
	);
	cluster.settle();
	cluster.failsToWrite = () => cluster.run('one').status?.completionTime !== undefined;
	cluster.patchRun('one', {cancel: true});
	t.is(cluster.run('one').status?.phase, 'Cancelled');
	t.true(cluster.stored('/troupe/parts/').length > 2 * limits.leavingParts);
	cluster.failsToWrite = () => false;
	cluster.start();
	cluster.settle();
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
	t.deepEqual([...cluster.durable.index.partsOf(key)], []);
	t.is(cluster.run('one').status?.phase, 'Cancelled');
});

test('a run made anew under its old name takes over nothing of a wide one that was deleted, whenever the process is killed', t => {
	const wide = Array.from({length: 3 * limits.leavingParts}, (_, at) => at);
	let isMade = false;
	let kills = 0;
	for (let turns = 0; !isMade; turns++) {
		const cluster = new RunCluster(({input}) => ({outcome: input === 'new' ? gives('new') : 'never'}));
		cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: machine({One: task()}, 'One'), End: true}}));
		cluster.begin('w', 'one', wide);
		cluster.settle();
		cluster.sendRun('one', {type: 'delete'});
		while (cluster.durable.index.get(key) !== undefined && cluster.turn());
		cluster.sendBegin('w', 'one', ['new']);
		for (let turn = 0; turn < turns; turn++) cluster.turn();
		cluster.start();
		isMade = cluster.stored('/troupe/registry/runs/').length > 0;
		kills++;
		cluster.settle();
		if (!isMade) {
			t.deepEqual([...cluster.stored('/troupe/parts/'), ...cluster.stored('/troupe/history/')], []);
			cluster.begin('w', 'one', ['new']);
		}
		const {status} = cluster.untilOver('one');
		t.deepEqual(status?.output, ['new'], `${turns} turns`);
		t.is(cluster.stored('/troupe/history/').length, status?.history?.records ?? 0);
		t.deepEqual(cluster.stored('/troupe/parts/'), []);
	}
	t.true(kills > 9);
});
