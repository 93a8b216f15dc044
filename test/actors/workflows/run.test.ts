// Runs of workflows in the control system: what is kept of them, what they call, and what becomes of both when the control plane is killed.

import test from 'ava';
import {collectionAddress, objectAddress, objectKey} from '../../../api/keys.js';
import type {Json} from '../../../api/object.js';
import type {Run} from '../../../api/kinds/run.js';
import {limits} from '../../../api/limits.js';
import {seededRandom} from '../../../system/time/random.js';
import {gives, RunCluster, throws, type Answering} from './_run-cluster.js';
import {violationsOf} from './_run-seeds.js';
import {answersOfTwenty, attemptOf, attemptsOfTwenty, input, output, twenty} from './_workflow-of-twenty.js';

const machine = (States: object, StartAt = 'A'): object => ({StartAt, States});
const task = (more: object = {}): object => ({Type: 'Task', Resource: 'f', End: true, ...more});
const answer: Answering = () => ({outcome: gives({x: 1})});

/** Until the human step waits, which is then answered; to its end. */
function approved(cluster: RunCluster, name: string): void {
	for (let turns = 0; !cluster.run(name).status?.at?.some(({state}) => state === 'Ask'); turns++) {
		if (turns > 10_000 || !cluster.time.fireNext()) throw new Error('it does not ask');
		cluster.settle();
	}
	cluster.settle();
	const outcome = cluster.tellRun(name, {type: 'taskAnswered', task: {state: 'Ask'}, outcome: gives({yes: true})});
	if (!outcome.ok) throw new Error(outcome.error.message);
}

test('a run goes through its workflow, and nothing of it is left beside it', t => {
	const cluster = new RunCluster(answersOfTwenty);
	cluster.workflow('twenty', twenty);
	cluster.begin('twenty', 'one', input);
	approved(cluster, 'one');
	const {status, metadata} = cluster.untilOver('one');
	t.is(status?.phase, 'Succeeded');
	t.deepEqual(status?.output, output);
	t.deepEqual(status?.at, []);
	t.deepEqual(cluster.begun.map(attemptOf).sort(), attemptsOfTwenty);
	t.deepEqual(metadata.labels, {'troupe.dev/workflow': 'twenty'});
	cluster.settle();
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
	t.is(cluster.stored('/troupe/history/').length, status?.steps ?? 0);
	t.true((status?.steps ?? 0) > 40);
});

test('killed at every step boundary, and some turns after it, a run ends as it would have, and begins no attempt twice', t => {
	for (let extra = 0; extra < 12; extra++) {
		const cluster = new RunCluster(answersOfTwenty, 100 + extra);
		cluster.workflow('twenty', twenty);
		cluster.begin('twenty', 'one', input);
		let lives = 0;
		for (let turns = 0, isAnswered = false; cluster.run('one').status?.completionTime === undefined; turns++) {
			if (turns > 100_000) throw new Error('it does not end');
			const isAtRest = cluster.untilStep('runs/default/one', extra);
			const asks = cluster.run('one').status?.at?.some(({state}) => state === 'Ask') === true;
			if (isAtRest && asks && !isAnswered)
				isAnswered = cluster.tellRun('one', {type: 'taskAnswered', task: {state: 'Ask'}, outcome: gives({yes: true})}).ok;
			else if (isAtRest) cluster.time.fireNext();
			else {
				lives++;
				cluster.start();
			}
		}
		t.deepEqual(cluster.run('one').status?.output, output, `${extra} turns after a step`);
		t.deepEqual(cluster.begun.map(attemptOf).sort(), attemptsOfTwenty, `${extra} turns after a step`);
		t.deepEqual(cluster.violations, []);
		t.true(lives > 5);
	}
});

test('an unchanged workflow keeps one revision, and a run goes by the one that it began with', t => {
	const cluster = new RunCluster((_call, state) => ({afterMs: 1_000, outcome: gives(state)}));
	cluster.workflow('w', machine({A: task({Next: 'B', End: undefined}), B: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	const {revisionName} = cluster.workflowObject('w').status ?? {};
	const changed = cluster.ask('troupe://control/workflows/default.w', {
		type: 'patch',
		patch: {spec: {definition: machine({A: task({Next: 'C', End: undefined}), B: null, C: task()})}},
	});
	t.true(changed.ok);
	t.not(cluster.workflowObject('w').status?.revisionName, revisionName);
	cluster.begin('w', 'two');
	t.is(cluster.untilOver('one').status?.output, 'B');
	t.is(cluster.untilOver('two').status?.output, 'C');
	t.is(cluster.run('one').status?.revisionName, revisionName);
});

test('params start one run of each generation', t => {
	const cluster = new RunCluster(answer);
	cluster.workflow('w', machine({A: task()}), {params: {n: 1}});
	cluster.settle();
	const runs = (): readonly string[] => [...cluster.durable.index.list('runs')].map(({metadata}) => metadata.name);
	t.is(runs().length, 1);
	const [first = ''] = runs();
	t.deepEqual(cluster.untilOver(first).spec?.input, {n: 1});
	cluster.start();
	cluster.settle();
	cluster.ask('troupe://control/workflows/default.w', {type: 'patch', patch: {metadata: {labels: {a: 'b'}}}});
	t.is(runs().length, 1);
	cluster.ask('troupe://control/workflows/default.w', {type: 'patch', patch: {spec: {params: {n: 2}}}});
	t.is(runs().length, 2);
});

test('a run that comes before its workflow waits for it, and says so', t => {
	const cluster = new RunCluster(answer);
	cluster.begin('w', 'one');
	cluster.settle();
	t.is(cluster.run('one').status?.phase, 'Pending');
	t.is(cluster.run('one').status?.conditions?.[0]?.reason, 'NotFound');
	cluster.workflow('w', machine({A: task()}));
	t.is(cluster.untilOver('one').status?.phase, 'Succeeded');
	t.is(cluster.run('one').metadata.ownerReferences?.[0]?.name, 'w');
	t.is(cluster.run('one').status?.conditions, undefined);
});

test('a run that can begin is made, and written again only with its first step', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: {Type: 'Pass', Next: 'B'}, B: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	const written = cluster.changes.filter(({key}) => key === 'runs/default/one').map(({after}) => (after?.object as Run).status?.steps);
	t.deepEqual(written, [undefined, 1, 2, 3]);
});

test('a suspended run takes answers and begins nothing; it goes on where it was, also after a crash', t => {
	const cluster = new RunCluster((_call, state) => ({afterMs: 10, outcome: gives(state)}));
	cluster.workflow('w', machine({A: task({Next: 'B', End: undefined}), B: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	cluster.patchRun('one', {suspend: true});
	cluster.pass(1_000);
	t.is(cluster.run('one').status?.phase, 'Suspended');
	t.deepEqual(cluster.run('one').status?.at, [{state: 'B', count: 1}]);
	cluster.start();
	cluster.pass(5_000);
	t.deepEqual(cluster.begun.map(attemptOf), ['A.1']);
	cluster.patchRun('one', {suspend: false});
	t.is(cluster.untilOver('one').status?.output, 'B');
});

test('a run that is cancelled ends, and its calls are stopped', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	cluster.patchRun('one', {cancel: true});
	cluster.settle();
	t.is(cluster.run('one').status?.phase, 'Cancelled');
	t.deepEqual(cluster.stopped.map(attemptOf), ['A.1']);
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
});

test('a task that waits is answered by its state, its key or its token, once', t => {
	const tokens: string[] = [];
	const cluster = new RunCluster(call => {
		tokens.push((call.input as {token: string}).token);
		return {outcome: {type: 'waiting'}};
	});
	const ask = task({Resource: 'activity:ask', Parameters: {'token.$': '$$.Task.Token'}});
	cluster.workflow('w', machine({A: {...ask, End: undefined, Next: 'B'}, B: {...ask, End: undefined, Next: 'C'}, C: ask}));
	cluster.begin('w', 'one');
	cluster.settle();
	const tell = (named: object, outcome: object = gives(1)) => cluster.tellRun('one', {type: 'taskAnswered', task: named, outcome});
	t.false(tell({state: 'B'}).ok);
	t.true(tell({state: 'A'}).ok);
	cluster.settle();
	const [first = '', second = ''] = tokens;
	t.false(tell({token: first}).ok);
	t.false(tell({token: `${second}0`}).ok);
	t.false(tell({token: second.replace(/~.*/, '')}).ok);
	t.true(tell({token: second}).ok);
	t.false(tell({token: second}).ok);
	cluster.settle();
	t.true(tell({key: cluster.begun.at(-1) ?? ''}, throws('No', 'not now')).ok);
	t.deepEqual(cluster.untilOver('one').status?.error, {error: 'No', cause: 'not now'});
	t.false(tell({state: 'C'}).ok);
});

test('a function that waits for its token is called once it has answered no more, whatever is killed, suspended and resumed', t => {
	const tokens: string[] = [];
	const cluster = new RunCluster((call, state) => {
		if (state !== 'A') return {outcome: gives(call.input)};
		tokens.push((call.input as {token: string}).token);
		return {afterMs: 50, outcome: {type: 'waiting'}};
	});
	const asks = {Resource: 'f.waitForTaskToken', Parameters: {'token.$': '$$.Task.Token'}, HeartbeatSeconds: 100, ResultPath: '$.a'};
	cluster.workflow('w', machine({A: task({...asks, End: undefined, Next: 'B'}), B: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	cluster.start();
	cluster.pass(60);
	t.deepEqual(cluster.calls.map(attemptOf), ['A.1', 'A.1'], 'nobody knows of the first call that it was answered');
	for (let life = 0; life < 3; life++) {
		cluster.start();
		cluster.pass(60);
		cluster.patchRun('one', {suspend: true});
		cluster.settle();
		cluster.patchRun('one', {suspend: false});
		cluster.pass(60);
	}
	t.true(cluster.tellRun('one', {type: 'taskAnswered', task: {token: tokens[0] ?? ''}, outcome: {type: 'heartbeat'}}).ok);
	cluster.start();
	cluster.pass(60);
	t.deepEqual(cluster.calls.map(attemptOf), ['A.1', 'A.1']);
	t.true(cluster.tellRun('one', {type: 'taskAnswered', task: {token: tokens[0] ?? ''}, outcome: gives(7)}).ok);
	t.deepEqual(cluster.untilOver('one').status?.output, {a: 7});
	t.deepEqual(cluster.violations, []);
});

test('an activity is not written to wait: nothing was called', t => {
	const cluster = new RunCluster(() => ({outcome: {type: 'waiting'}}));
	cluster.workflow('w', machine({A: task({Resource: 'activity:ask'})}));
	cluster.begin('w', 'one');
	cluster.settle();
	const before = cluster.changes.length;
	cluster.start();
	cluster.settle();
	t.is(cluster.run('one').status?.steps, 2);
	t.is(cluster.changes.length, before);
});

test('an outcome that is not committed yet when a run is resumed is not asked for again', t => {
	const cluster = new RunCluster((_call, state) => ({afterMs: 10, outcome: gives(state)}));
	cluster.workflow('w', machine({A: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	cluster.patchRun('one', {suspend: true});
	cluster.pass(1);
	let isFull = true;
	cluster.failsToWrite = () => isFull;
	cluster.pass(100);
	isFull = false;
	cluster.sendRun('one', {type: 'patch', patch: {spec: {suspend: false}}});
	t.is(cluster.untilOver('one').status?.output, 'A');
	t.deepEqual(cluster.calls.map(attemptOf), ['A.1']);
});

test('a run whose suspend is set and taken at any turn goes on to its end', t => {
	const each = machine({One: task({End: undefined, Next: 'Two'}), Two: {Type: 'Pass', End: true}}, 'One');
	const all = machine({
		A: task({End: undefined, Next: 'B'}),
		B: {Type: 'Map', ItemProcessor: each, Next: 'C'},
		C: {Type: 'Pass', End: true},
	});
	const items = [1, 2, 3, 4, 5, 6, 7, 8];
	for (let seed = 1; seed <= 300; seed++) {
		const random = seededRandom(seed);
		const some = (most: number): number => Math.floor(random.next() * most);
		const cluster = new RunCluster((call, state) => ({outcome: gives(state === 'One' ? call.input : items)}), seed);
		cluster.workflow('w', all);
		cluster.begin('w', 'one', {}, {suspend: true});
		const suspends = (suspend: boolean): void => cluster.sendRun('one', {type: 'patch', patch: {spec: {suspend}}});
		const turns = (count: number): void => {
			for (let turn = 0; turn < count; turn++) if (!cluster.turn()) cluster.time.fireNext();
		};
		suspends(false);
		turns(some(120));
		suspends(true);
		turns(some(6));
		suspends(false);
		t.deepEqual(cluster.untilOver('one').status?.output, items, `seed ${seed}`);
		t.deepEqual(cluster.violations, []);
	}
});

test('a run that is deleted calls nothing any more, and one that waits for its dependents to go begins nothing', t => {
	for (let seed = 1; seed <= 60; seed++) {
		const random = seededRandom(seed);
		const cluster = new RunCluster(call => ({afterMs: 1, outcome: gives(call.input)}), seed);
		const each = machine({One: task({Retry: [{ErrorEquals: ['States.ALL']}]})}, 'One');
		cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: each, Next: 'B'}, B: task()}));
		cluster.begin('w', 'one', [1, 2, 3, 4, 5], {suspend: true});
		cluster.sendRun('one', {type: 'patch', patch: {spec: {suspend: false}}});
		for (let turns = Math.floor(random.next() * 120); turns > 0; turns--) if (!cluster.turn()) cluster.time.fireNext();
		cluster.sendRun('one', {type: 'delete'});
		cluster.pass(10_000);
		t.deepEqual([...cluster.durable.index.list('runs')], [], `seed ${seed}`);
		t.deepEqual(cluster.violations, [], `seed ${seed}`);
	}
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: task({TimeoutSeconds: 5, Catch: [{ErrorEquals: ['States.ALL'], Next: 'B'}]}), B: task()}));
	cluster.begin('w', 'one');
	cluster.tellRun('one', {type: 'patch', patch: {metadata: {finalizers: ['example.com/held']}}});
	cluster.tellRun('one', {type: 'delete'});
	cluster.pass(10_000);
	t.is(cluster.run('one').status?.phase, 'Cancelled');
	t.deepEqual([cluster.begun.map(attemptOf), cluster.stopped.map(attemptOf)], [['A.1'], ['A.1']]);
	cluster.begin('none', 'two');
	cluster.tellRun('two', {type: 'patch', patch: {metadata: {finalizers: ['example.com/held']}}});
	cluster.tellRun('two', {type: 'delete'});
	cluster.workflow('none', machine({A: task()}));
	cluster.pass(10_000);
	t.is(cluster.run('two').status?.startTime, undefined);
});

/** What a task of a run has made, as the edge makes it. */
function taskObject(cluster: RunCluster, kind: 'Job' | 'Run', name: string, key: string): string {
	const {uid} = cluster.run('one').metadata;
	const owner = {apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'one', uid, controller: true, blockOwnerDeletion: true};
	const metadata = {name, namespace: 'default', annotations: {'troupe.dev/task-key': `${uid}/${key}`}, ownerReferences: [owner]};
	const template = {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'none', command: ['true']}]}};
	if (kind === 'Job') cluster.create('jobs', {apiVersion: 'batch/v1', kind, metadata, spec: {suspend: true, template}});
	else cluster.create('runs', {apiVersion: 'troupe.dev/v1', kind, metadata, spec: {workflow: 'none'}});
	return name;
}

test('what tasks have made, and nobody has told to end, ends by itself when the server begins again, or the run is over', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	const caught = {TimeoutSeconds: 5, Catch: [{ErrorEquals: ['States.ALL'], Next: 'B'}]};
	cluster.workflow('w', machine({A: task(caught), B: task()}));
	cluster.begin('w', 'one');
	taskObject(cluster, 'Job', 'job-of-a', '1-A.1');
	taskObject(cluster, 'Run', 'run-of-a', '1-A.1');
	cluster.pass(6_000);
	taskObject(cluster, 'Job', 'job-of-b', '2-B.1');
	taskObject(cluster, 'Run', 'run-of-b', '2-B.1');
	const jobs = (): readonly string[] => [...cluster.durable.index.list('jobs')].map(({metadata}) => metadata.name);
	const phases = (): readonly unknown[] => ['run-of-a', 'run-of-b'].map(name => cluster.run(name).status?.phase);
	t.deepEqual(
		[jobs(), phases()],
		[
			['job-of-a', 'job-of-b'],
			['Pending', 'Pending'],
		],
	);
	cluster.start();
	cluster.pass(1_000);
	t.deepEqual([jobs(), phases()], [['job-of-b'], ['Cancelled', 'Pending']]);
	cluster.patchRun('one', {cancel: true});
	cluster.pass(1_000);
	t.deepEqual([jobs(), phases()], [[], ['Cancelled', 'Cancelled']]);
});

test('no run begins by an older definition: where the new one cannot be kept, starts are refused, and what waits says why', t => {
	const cluster = new RunCluster((_call, state) => ({afterMs: 10, outcome: gives(state)}));
	const one = (state: string): object => machine({[state]: task()}, state);
	cluster.workflow('w', one('Old'));
	const quota = {apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name: 'few', namespace: 'default'}};
	cluster.create('resourcequotas', {...quota, spec: {hard: {'count/controllerrevisions.apps': '1'}}});
	cluster.settle();
	const change = (): void =>
		cluster.send('troupe://control/workflows/default.w', {
			type: 'patch',
			patch: {spec: {definition: {...one('New'), States: {Old: null, New: task()}}}},
		});
	const created = {apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'one', namespace: 'default'}, spec: {workflow: 'w'}};
	change();
	cluster.send(collectionAddress('runs'), {type: 'create', object: created});
	cluster.pass(3_000);
	const {status} = cluster.workflowObject('w');
	t.is(status?.revisionName, undefined);
	t.is(status?.revision, undefined);
	const [ready] = status?.conditions ?? [];
	t.like(ready, {type: 'Ready', status: 'False', reason: 'FailedCreate'});
	t.regex(ready?.message ?? '', /exceeded quota: few/);
	const refused = cluster.ask(collectionAddress('runs'), {
		type: 'create',
		object: {...created, metadata: {...created.metadata, name: 'two'}},
	});
	t.like(refused, {ok: false, error: {code: 'ERR_BUSY'}});
	t.regex(
		refused.ok ? '' : refused.error.message,
		/^the definition of the workflow "w" cannot be kept as a revision: .*exceeded quota: few/,
	);
	const waiting = cluster.run('one').status;
	t.is(waiting?.phase, 'Pending');
	t.regex(waiting?.conditions?.[0]?.message ?? '', /cannot be kept as a revision: .*exceeded quota: few/);
	t.true(cluster.ask('troupe://control/resourcequotas/default.few', {type: 'delete'}).ok);
	t.is(cluster.untilOver('one').status?.output, 'New');
	t.truthy(cluster.workflowObject('w').status?.revisionName);
});

test('a run of another run goes on by its definition when its workflow is deleted and made anew, and the revision goes with the run', t => {
	const cluster = new RunCluster((_call, state) => (state === 'Long' ? {outcome: 'never'} : {afterMs: 60_000, outcome: gives(state)}));
	const two = (last: string): object => machine({A: task({End: undefined, Next: last}), [last]: task()});
	cluster.workflow('parent', machine({Long: task()}, 'Long'));
	cluster.begin('parent', 'one');
	cluster.workflow('w', two('B'));
	const {uid} = cluster.run('one').metadata;
	const owner = {apiVersion: 'troupe.dev/v1', kind: 'Run', name: 'one', uid, controller: true, blockOwnerDeletion: true};
	const metadata = {name: 'child', namespace: 'default', ownerReferences: [owner]};
	cluster.create('runs', {apiVersion: 'troupe.dev/v1', kind: 'Run', metadata, spec: {workflow: 'w'}});
	const {revisionName = ''} = cluster.run('child').status ?? {};
	const revision = () => cluster.durable.index.get(objectKey('controllerrevisions', 'default', revisionName));
	t.true(cluster.ask('troupe://control/workflows/default.w', {type: 'delete', propagation: 'Foreground'}).ok);
	t.is(cluster.durable.index.get(objectKey('workflows', 'default', 'w')), undefined);
	cluster.workflow('w', two('B'));
	cluster.start();
	cluster.settle();
	t.not(cluster.workflowObject('w').status?.revisionName, revisionName);
	t.is(cluster.untilOver('child').status?.output, 'B');
	t.truthy(revision());
	cluster.tellRun('child', {type: 'delete'});
	cluster.settle();
	t.is(revision(), undefined);
});

test('a run that ends without a step of its machine stops all that is under way', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	const branch = (name: string): object => machine({[name]: task()}, name);
	cluster.workflow('w', machine({A: {Type: 'Parallel', Branches: [branch('P'), branch('Q')], End: true}}));
	cluster.begin('w', 'one');
	t.true(cluster.tellRun('one', {type: 'failRun', error: {Error: 'States.DataLimitExceeded', Cause: 'too much'}}).ok);
	t.deepEqual(cluster.stopped.map(attemptOf).toSorted(), ['P.1', 'Q.1']);
});

test('an answer that names its task by key or token looks at nothing else of its run, whether it is taken or not', t => {
	const tokens: string[] = [];
	const cluster = new RunCluster(call => {
		tokens.push((call.input as {token: string}).token);
		return {outcome: {type: 'waiting'}};
	});
	const asks = task({Resource: 'activity:ask', Parameters: {'token.$': '$$.Task.Token'}});
	cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: machine({Ask: asks}, 'Ask'), End: true}}));
	cluster.begin('w', 'one', [1, 2, 3, 4]);
	const {index} = cluster.durable;
	let looks = 0;
	const partsOf = index.partsOf.bind(index);
	index.partsOf = run => {
		looks++;
		return partsOf(run);
	};
	const isTaken = (named: object): boolean => cluster.tellRun('one', {type: 'taskAnswered', task: named, outcome: gives(1)}).ok;
	const [key = ''] = cluster.begun;
	t.true(isTaken({key}));
	t.false(isTaken({key}));
	t.false(isTaken({key: `${key}/none`}));
	t.false(isTaken({key: 'of another run'}));
	t.true(isTaken({token: tokens[1] ?? ''}));
	t.false(isTaken({token: tokens[1] ?? ''}));
	t.is(looks, 0);
	t.false(isTaken({state: 'Ask'}), 'two of them wait');
	t.true(looks > 0);
});

test('a Map of a thousand items is gone through with bounded steps, and leaves nothing behind', t => {
	const cluster = new RunCluster(call => ({afterMs: 5, outcome: gives(call.input)}));
	const each = machine({One: task()}, 'One');
	cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: each, MaxConcurrency: 50, End: true}}));
	const items = Array.from({length: 1_000}, (_, n) => n);
	cluster.begin('w', 'one', items);
	t.deepEqual(cluster.untilOver('one').status?.output, items);
	t.is(cluster.begun.length, 1_000);
	cluster.settle();
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
});

test('a revision that blocks the deletion of its workflow blocks it no more', t => {
	const cluster = new RunCluster(answer);
	cluster.workflow('w', machine({A: task()}));
	cluster.settle();
	const key = objectKey('controllerrevisions', 'default', cluster.workflowObject('w').status?.revisionName ?? '');
	const owners = () => cluster.durable.index.get(key)?.metadata.ownerReferences ?? [];
	const [before] = owners();
	cluster.changeStored(key, object => ({
		...object,
		metadata: {...object.metadata, ownerReferences: owners().map(owner => ({...owner, blockOwnerDeletion: true}))},
	}));
	cluster.settle();
	t.deepEqual(owners(), before === undefined ? [] : [{...before, blockOwnerDeletion: false}]);
	t.is(owners().length, 1);
});

test('items of a Map that end while a transaction is on its way are taken together by the next', t => {
	const cluster = new RunCluster(call => ({afterMs: 5, outcome: gives(call.input)}));
	cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: machine({One: task()}, 'One'), MaxConcurrency: 100, End: true}}));
	const items = Array.from({length: 1_000}, (_, n) => n);
	cluster.begin('w', 'one', items);
	for (let turns = 0; turns < 100 && cluster.run('one').status?.completionTime === undefined; turns++) cluster.pass(5);
	t.deepEqual(cluster.run('one').status?.output, items);
	t.true((cluster.run('one').status?.steps ?? 0) < 200);
	t.deepEqual(cluster.violations, []);
});

test('many branches whose states begin many more stay within what one transaction takes', t => {
	const cluster = new RunCluster(answer);
	const inner = {Type: 'Map', ItemProcessor: machine({Z: {Type: 'Pass', End: true}}, 'Z'), ItemsPath: '$', End: true};
	cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: machine({B: inner}, 'B'), End: true}}));
	const items = Array.from({length: 60}, () => Array.from({length: 50}, (_, n) => n));
	cluster.begin('w', 'one', items);
	t.deepEqual(cluster.untilOver('one').status?.output, items);
	cluster.settle();
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
});

test('a run is deleted with all that is kept of it once its time is over', t => {
	const cluster = new RunCluster(answer);
	cluster.workflow('w', machine({A: task()}));
	cluster.begin('w', 'one', {}, {ttlSecondsAfterFinished: 60});
	cluster.untilOver('one');
	cluster.pass(61_000);
	t.deepEqual([...cluster.durable.index.list('runs')], []);
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
	t.deepEqual(cluster.stored('/troupe/history/'), []);
	t.true(limits.runTtlSeconds > 60);
});

test('no timer waits for a run that is kept for long; one that is woken now and then goes at its time', t => {
	const cluster = new RunCluster(answer);
	const hourMs = 3_600_000;
	// Nor one for the time that it might have taken.
	cluster.workflow('w', {...machine({A: task()}), TimeoutSeconds: 100_000});
	cluster.begin('w', 'one', {}, {ttlSecondsAfterFinished: (2 * hourMs) / 1_000});
	cluster.untilOver('one');
	cluster.pass(hourMs);
	t.is(cluster.time.nextAtMs(), undefined);
	const wake = (): void => cluster.durable.system.wake('troupe://control/runs/default.one', {type: 'wake'}, 'resync');
	wake();
	cluster.pass(hourMs - 2 * limits.resyncMs);
	t.is(cluster.time.nextAtMs(), undefined);
	wake();
	cluster.pass(2 * limits.resyncMs - 1_000);
	t.is([...cluster.durable.index.list('runs')].length, 1);
	cluster.pass(2_000);
	t.is([...cluster.durable.index.list('runs')].length, 0);
});

test('that the object of a task is there is kept before its end is asked for, so that it is never made again', t => {
	for (const resource of ['workflow:other', 'job:']) {
		const asked: (true | undefined)[] = [];
		const cluster = new RunCluster(({isMade}) => (asked.push(isMade), {outcome: isMade === true ? 'never' : {type: 'made'}}));
		cluster.workflow('w', machine({A: task({Resource: resource})}));
		cluster.begin('w', 'one');
		cluster.pass(1);
		t.deepEqual(asked, [undefined, true]);
		const calls = cluster.calls.length;
		cluster.start();
		cluster.pass(1);
		t.is(cluster.calls.length, calls + 1);
		t.deepEqual(cluster.violations, [], 'each call says whether it was made');
	}
});

const ofTask = (cluster: RunCluster, key: string): object => {
	const {name, uid} = cluster.run('one').metadata;
	return {
		namespace: 'default',
		name: 'made',
		annotations: {'troupe.dev/task-key': key},
		ownerReferences: [{apiVersion: 'troupe.dev/v1', kind: 'Run', name, uid, controller: true, blockOwnerDeletion: true}],
	};
};

test('a run that is a task is kept beyond its time until the run that it is a task of has read its end', t => {
	const cluster = new RunCluster((_call, state) => ({outcome: state === 'A' || state === 'B' ? 'never' : gives(1)}));
	cluster.workflow('w', machine({A: task({Next: 'B', End: undefined}), B: task()}));
	cluster.workflow('quick', machine({Q: task()}, 'Q'));
	cluster.begin('w', 'one');
	cluster.settle();
	const [key = ''] = cluster.calls;
	const metadata = ofTask(cluster, key);
	const spec = {workflow: 'quick', input: {}, ttlSecondsAfterFinished: 0};
	cluster.create('runs', {apiVersion: 'troupe.dev/v1', kind: 'Run', metadata, spec});
	cluster.pass(10_000);
	cluster.start();
	cluster.pass(10_000);
	t.is(cluster.run('made').status?.phase, 'Succeeded');
	t.true(cluster.tellRun('one', {type: 'runEvent', event: {type: 'taskSucceeded', key, output: 1}}).ok);
	cluster.pass(2 * limits.runAgainMs);
	t.is(cluster.durable.index.get('runs/default/made'), undefined);
	t.is(cluster.run('one').status?.phase, 'Running');
});

test('a Job that is a task is kept beyond its time until its run has read its end', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: task({Next: 'B', End: undefined}), B: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	const [key = ''] = cluster.calls;
	const template = {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'none'}]}};
	const spec = {template, activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 0};
	cluster.create('jobs', {apiVersion: 'batch/v1', kind: 'Job', metadata: ofTask(cluster, key), spec});
	cluster.pass(10_000);
	t.truthy(cluster.durable.index.get('jobs/default/made'));
	t.true(cluster.tellRun('one', {type: 'runEvent', event: {type: 'taskSucceeded', key, output: 1}}).ok);
	cluster.pass(2 * limits.runAgainMs);
	t.is(cluster.durable.index.get('jobs/default/made'), undefined);
});

test('what one transaction did not take of what was told is told again soon, also where the next is not committed', t => {
	const item = machine({One: task({Next: 'Two', End: undefined}), Two: task()}, 'One');
	for (let failing = 1; failing <= 8; failing++) {
		const cluster = new RunCluster(() => ({afterMs: 50, outcome: gives('x'.repeat(3_000))}));
		cluster.workflow('w', machine({A: {Type: 'Map', ItemProcessor: item, End: true}}));
		cluster.begin(
			'w',
			'one',
			Array.from({length: 30}, (_, n) => n),
		);
		cluster.settle();
		let writes = 0;
		cluster.failsToWrite = () => ++writes === failing;
		cluster.pass(limits.askDeadlineMs / 2);
		t.true(writes > failing);
		t.is(cluster.run('one').status?.phase, 'Succeeded', `write ${failing} fails`);
		t.deepEqual(cluster.violations, []);
	}
});

test('the time of a run as a whole counts from its begin, whatever is killed meanwhile', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', {...machine({A: task()}), TimeoutSeconds: 100});
	cluster.begin('w', 'one');
	cluster.pass(60_000);
	cluster.start();
	cluster.pass(39_000);
	t.is(cluster.run('one').status?.phase, 'Running');
	cluster.pass(1_100);
	t.is(cluster.run('one').status?.error?.error, 'States.Timeout');
});

test('by seeds: whatever is killed, fails to be written or takes long, a run ends as it should', t => {
	for (let seed = 1; seed <= 60; seed++) t.deepEqual(violationsOf(seed), [], `seed ${seed}`);
});

test('data as large as it may be goes through every sort of state', t => {
	const cluster = new RunCluster(call => ({outcome: gives(call.resource === 'same' ? call.input : 1)}));
	const text = 'x'.repeat(limits.statesDataBytes - 100);
	const branch = (name: string): object => machine({[name]: task()}, name);
	cluster.workflow(
		'w',
		machine({
			A: task({Resource: 'same', End: undefined, Next: 'B'}),
			B: {Type: 'Parallel', Branches: ['P', 'Q', 'R'].map(branch), ResultPath: null, Next: 'C'},
			C: {Type: 'Map', ItemsPath: '$.list', ItemSelector: {'all.$': '$.text'}, ItemProcessor: branch('S'), ResultPath: null, Next: 'D'},
			D: {Type: 'Wait', Seconds: 1, Next: 'E'},
			E: {Type: 'Choice', Choices: [{Variable: '$.text', IsString: true, Next: 'F'}]},
			F: {Type: 'Pass', End: true},
		}),
	);
	cluster.begin('w', 'one', {text, list: [1, 2, 3]});
	const {status} = cluster.untilOver('one', 60_000);
	t.is(status?.phase, 'Succeeded', JSON.stringify(status?.error));
	t.deepEqual(status?.output, {text, list: [1, 2, 3]});
});

test('a step that can never be committed ends its run, and says so', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	t.true(cluster.tellRun('one', {type: 'failRun', error: {Error: 'States.DataLimitExceeded', Cause: 'too much'}}).ok);
	t.deepEqual(cluster.run('one').status?.error, {error: 'States.DataLimitExceeded', cause: 'too much'});
	t.deepEqual(cluster.stored('/troupe/parts/'), []);
});

test('nobody writes the status of a run from outside; one that is as it was changes nothing', t => {
	const cluster = new RunCluster(() => ({outcome: 'never'}));
	cluster.workflow('w', machine({A: task()}));
	cluster.begin('w', 'one');
	cluster.settle();
	const before = cluster.run('one');
	for (const status of [
		{startTime: 'now'},
		{completionTime: '2030-01-01T00:00:00Z'},
		{phase: 'Succeeded'},
		{steps: 0},
		{revisionName: null},
	]) {
		const refused = cluster.tellRun('one', {type: 'patch', subresource: 'status', patch: {status}});
		if (refused.ok) return t.fail(JSON.stringify(status));
		t.like(refused.error, {code: 'ERR_FORBIDDEN', message: 'runs "one" is forbidden: the status of a Run is written by the cluster alone'});
	}
	t.true(cluster.tellRun('one', {type: 'replace', subresource: 'status', object: before}).ok);
	t.is(cluster.run('one'), before);
});

test('data that no object may have fails the task that gave it, and the run can be changed as before', t => {
	for (const text of ['1e999', '{"a": {"__proto__": 1}}']) {
		const cluster = new RunCluster((_, state) => ({outcome: state === 'A' ? gives(JSON.parse(text) as Json) : 'never'}));
		const caught = [{ErrorEquals: ['States.DataLimitExceeded'], Next: 'B'}];
		cluster.workflow('w', machine({A: task({Catch: caught, End: undefined, Next: 'B'}), B: task()}));
		cluster.begin('w', 'one');
		cluster.pass(1);
		t.like(cluster.run('one').status?.at, [{state: 'B'}], text);
		cluster.patchRun('one', {suspend: true});
		cluster.settle();
		t.is(cluster.run('one').status?.phase, 'Suspended');
	}
	const written = new RunCluster(answer);
	written.workflow('w', machine({A: {Type: 'Pass', Parameters: {'a.$': "States.StringToJson('1e999')"}, End: true}}));
	written.begin('w', 'one');
	t.is(written.untilOver('one').status?.error?.error, 'States.DataLimitExceeded');
	t.true(written.tellRun('one', {type: 'patch', patch: {metadata: {labels: {a: 'b'}}}}).ok);
});

test('many items that fail at once with long causes are taken in as many transactions as they need', t => {
	const count = 2 * limits.runEventsTogether;
	const cluster = new RunCluster(() => ({afterMs: 5, outcome: throws('Down', 'é'.repeat(limits.statesCauseCharacters))}));
	const Retry = [{ErrorEquals: ['Down'], IntervalSeconds: 1, MaxAttempts: 1}];
	const Catch = [{ErrorEquals: ['States.ALL'], ResultPath: null, Next: 'Given'}];
	const item = {StartAt: 'Try', States: {Try: {Type: 'Task', Resource: 'f', Retry, Catch, End: true}, Given: {Type: 'Pass', End: true}}};
	cluster.workflow('w', {
		StartAt: 'All',
		States: {
			All: {
				Type: 'Map',
				ItemsPath: '$',
				MaxConcurrency: count,
				ItemProcessor: item,
				ResultPath: null,
				End: true,
			},
		},
	});
	cluster.begin(
		'w',
		'one',
		Array.from({length: count}, (_, n) => n),
	);
	for (let turns = 0; turns < 20 && cluster.run('one').status?.completionTime === undefined; turns++) cluster.pass(1_000);
	const {status} = cluster.run('one');
	t.is(status?.phase, 'Succeeded', JSON.stringify(status?.error)?.slice(0, 500));
	t.is(cluster.begun.length, 2 * count);
});

test('who looks at the actor of a run sees how it is and where, until it is over', t => {
	const cluster = new RunCluster((_, state) => (state === 'A' ? {outcome: 'never'} : answer({} as never, state)));
	const said = (): string => {
		const cell = cluster.durable.system.kernel.cells.get(objectAddress(objectKey('runs', 'default', 'one')));
		return cell === undefined ? 'it is not there' : (cell.behavior.describe?.(cell.state) ?? '');
	};
	cluster.begin('w', 'one');
	cluster.settle();
	t.is(said(), 'Pending');
	cluster.workflow('w', machine({A: task()}));
	cluster.settle();
	t.is(said(), 'Running, at A');
	cluster.patchRun('one', {suspend: true});
	cluster.settle();
	t.is(said(), 'Suspended, at A');
	cluster.patchRun('one', {cancel: true});
	cluster.settle();
	t.regex(said(), /^generation \d+$/);
});
