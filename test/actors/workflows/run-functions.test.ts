// Runs of workflows in the control system, and the functions that they call: in the versions with which they began, which are kept until their end.

import test from 'ava';
import type {CallTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {versionOf, versionOfSet} from '../../../actors/control/functions/function-version.js';
import {revisionOf} from '../../../actors/control/workloads/revisions.js';
import type {FunctionObject} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {objectAddress, objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {JsonObject} from '../../../api/object.js';
import {gives, RunCluster, stateOfKey} from './_run-cluster.js';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const machine = (States: object, StartAt = 'A'): object => ({StartAt, States});
const task = (Resource: string, Next?: string): object => ({Type: 'Task', Resource, ...(Next === undefined ? {End: true} : {Next})});
/** A function is called, somebody is asked, and it is called again. */
const twice = machine({A: task('f', 'Ask'), Ask: task('activity:ask', 'B'), B: task('default/f')});

/** A cluster whose functions answer at once, and what each was called with: `one A WORD`. */
function world() {
	const called: string[] = [];
	const cluster = new RunCluster((call: CallTask, state: string): {outcome: TaskOutcome} => {
		if (call.resource.startsWith('activity:')) return {outcome: {type: 'waiting'}};
		called.push(`${call.run.name} ${state} ${call.version ?? 'any'}`);
		return {outcome: gives(stateOfKey(call.key))};
	});
	const fn = (name = 'f'): FunctionObject => cluster.durable.index.get(objectKey('functions', 'default', name)) as FunctionObject;
	return {
		cluster,
		called,
		fn,
		word: (name = 'f'): string => versionOf(fn(name)) ?? 'none',
		define: (name = 'f', more: JsonObject = {}): void => {
			const spec = {artifact: digest('a'), runtime: 'python', ...more};
			cluster.create('functions', {apiVersion: 'troupe.dev/v1', kind: 'Function', metadata: {name, namespace: 'default'}, spec});
			cluster.settle();
		},
		patch: (spec: JsonObject, name = 'f'): void => {
			const outcome = cluster.ask(objectAddress(objectKey('functions', 'default', name)), {type: 'patch', patch: {spec}});
			if (!outcome.ok) throw new Error(outcome.error.message);
			cluster.settle();
		},
		/** The words of the versions that there are sets of, in order of their numbers. */
		sets: (): readonly string[] =>
			([...cluster.durable.index.list('replicasets')] as ReplicaSet[])
				.sort((a, b) => revisionOf(a) - revisionOf(b))
				.map(set => versionOfSet(set) ?? ''),
		answer: (run: string): void => {
			const outcome = cluster.tellRun(run, {type: 'taskAnswered', task: {state: 'Ask'}, outcome: gives({})});
			if (!outcome.ok) throw new Error(outcome.error.message);
			cluster.pass(10);
		},
	};
}

test('a run calls functions in the versions with which it began, whatever they become and whatever is killed', t => {
	const {cluster, called, word, define, patch, sets, answer} = world();
	define('f', {revisionHistoryLimit: 0});
	cluster.workflow('w', twice);
	t.deepEqual(sets(), []);
	const first = word();
	cluster.begin('w', 'one');
	cluster.pass(10);
	t.deepEqual(cluster.run('one').status?.functions, [{function: 'default/f', version: first}]);
	t.deepEqual(sets(), [first], 'it is kept, though nothing has called it');
	patch({artifact: digest('b')});
	const second = word();
	t.not(second, first);
	cluster.start();
	cluster.settle();
	cluster.begin('w', 'two');
	cluster.pass(10);
	t.deepEqual(sets(), [first, second]);
	answer('one');
	answer('two');
	t.deepEqual(called, [`one A ${first}`, `two A ${second}`, `one B ${first}`, `two B ${second}`]);
	t.deepEqual([cluster.run('one').status?.phase, cluster.run('two').status?.phase], ['Succeeded', 'Succeeded']);
	t.deepEqual(sets(), [second], 'nobody goes on with the first');
});

test('the set of a version goes with the last of its runs, deleted or cancelled ones too', t => {
	const {cluster, word, define, patch, sets, fn} = world();
	define('f', {revisionHistoryLimit: 0});
	cluster.workflow('w', twice);
	const first = word();
	for (const name of ['one', 'two', 'three']) cluster.begin('w', name);
	cluster.settle();
	patch({artifact: digest('b')});
	cluster.begin('w', 'later');
	cluster.settle();
	t.deepEqual(fn().status?.apart, [1]);
	cluster.patchRun('one', {cancel: true});
	cluster.settle();
	cluster.tellRun('two', {type: 'delete'});
	cluster.settle();
	t.deepEqual(sets(), [first, word()]);
	cluster.tellRun('three', {type: 'delete'});
	cluster.settle();
	t.deepEqual(sets(), [word()]);
	t.is(fn().status?.apart, undefined);
});

test('a run writes each function down once, items and branches included, and none that has no code or is not there', t => {
	const {cluster, called, word, define} = world();
	define('f');
	define('g');
	const spec = {userUploadFilePath: 'h'};
	cluster.create('functions', {apiVersion: 'troupe.dev/v1', kind: 'Function', metadata: {name: 'h', namespace: 'default'}, spec});
	const each = {Type: 'Map', ItemProcessor: machine({G: task('function:g')}, 'G'), ItemsPath: '$$.Execution.Input', Next: 'C'};
	cluster.workflow('w', machine({A: task('f', 'B'), B: each, C: task('default/f', 'D'), D: task('h', 'E'), E: task('nowhere/i')}));
	cluster.begin('w', 'one', [1]);
	t.is(cluster.untilOver('one').status?.phase, 'Succeeded');
	t.deepEqual(cluster.run('one').status?.functions, [
		{function: 'default/f', version: word()},
		{function: 'default/g', version: word('g')},
	]);
	t.deepEqual(called, [`one A ${word()}`, `one G ${word('g')}`, `one C ${word()}`, 'one D any', 'one E any']);
});

test('where versions share the calls a run goes with one of them, by their weights', t => {
	const {cluster, called, word, define, patch, sets} = world();
	define();
	cluster.workflow('w', machine({A: task('f', 'B'), B: task('f')}));
	const first = word();
	cluster.begin('w', 'before');
	cluster.untilOver('before');
	patch({artifact: digest('b'), traffic: [{revision: 1, weight: 1}, {weight: 1}]});
	const second = word();
	for (let n = 0; n < 20; n++) {
		cluster.begin('w', `run-${n}`);
		cluster.untilOver(`run-${n}`);
		const [a, b] = called.slice(-2).map(line => line.split(' ')[2]);
		t.is(a, b);
	}
	t.deepEqual([...new Set(called.slice(2).map(line => line.split(' ')[2]))].sort(), [first, second].sort());
	patch({traffic: [{revision: 1}, {match: {header: {name: 'x-canary'}}}]});
	cluster.begin('w', 'last');
	cluster.untilOver('last');
	t.is(called.at(-1), `last B ${first}`);
	patch({traffic: [{revision: 7}]});
	cluster.begin('w', 'unknown');
	cluster.untilOver('unknown');
	t.is(called.at(-1), `unknown B ${second}`, 'the newest takes the share of one that there is not');
	t.deepEqual(sets(), [first, second]);
});

test('of more functions than a run writes down the others are called as they are', t => {
	const {cluster, called, define} = world();
	const names = Array.from({length: limits.runFunctions + 1}, (_, n) => `f-${n}`);
	for (const name of names) define(name);
	const States = Object.fromEntries(names.map((name, n) => [name, task(name, names[n + 1])]));
	cluster.workflow('w', machine(States, 'f-0'));
	cluster.begin('w', 'one');
	cluster.untilOver('one');
	t.is(cluster.run('one').status?.functions?.length, limits.runFunctions);
	t.deepEqual(
		called.filter(line => line.endsWith(' any')),
		[`one f-${limits.runFunctions} any`],
	);
});
