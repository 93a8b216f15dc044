// Every pod that fits somewhere is bound, evenly and once; those that do not are told why and tried again when a node changes.

import test from 'ava';
import {failure} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import {scheduler, type SchedulerMessage, type SchedulerState} from '../../actors/control/scheduling/scheduler.js';
import type {Effect, Pending, Reply} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {aClusterConfig, aContainer, aNode, aPod, contextWith, indexOf, drop, keyOf, nowMs, openWrites, put} from './_objects.js';
import {commit} from './_records.js';

const wake: SchedulerMessage = {type: 'wake'};
const bindsOf = (effects: readonly Effect[]): [string, string][] =>
	effects.flatMap(effect =>
		effect.type === 'update' ? [[effect.key, (effect.message as unknown as {readonly nodeName: string}).nodeName] as [string, string]] : [],
	);
/** What pods are told in a step. */
const toldIn = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect =>
		effect.type === 'tell' && effect.message.type === 'unschedulable' ? [(effect.message as unknown as {message: string}).message] : [],
	);

const waiting = (count: number, prefix = 'p', spec: Partial<Pod['spec'] & object> = {}): Pod[] =>
	Array.from({length: count}, (_, i) => aPod({name: `${prefix}${i}`, spec}));

/** Plays the scheduler against records that commit what it asks for, until nothing is asked any more. */
function run(index: ObjectIndex, messages: readonly SchedulerMessage[] = []): {readonly steps: number; readonly state: SchedulerState} {
	const pending = new Map<string, Pending>();
	const context = contextWith(index, {pending});
	const queue: SchedulerMessage[] = [...messages];
	const enqueue = (message: SchedulerMessage): void => {
		const key = scheduler.coalesce?.(message);
		if (key === undefined || !queue.some(other => scheduler.coalesce?.(other) === key)) queue.push(message);
	};
	let {state, effects} = play(scheduler, null, [], context);
	for (let steps = 0; steps < 25_000; steps++) {
		for (const effect of effects) {
			if (effect.type === 'update') pending.set(effect.id, effect);
			if (effect.type !== 'tell') continue;
			const told = effect.to.endsWith('/self') ? undefined : index.get(keyOfAddress(effect.to));
			if (told === undefined) enqueue(effect.message as SchedulerMessage);
			else commit(index, told, effect.message);
		}
		if (queue.length === 0 && pending.size > 0) queue.push(...committed(index, pending));
		const message = queue.shift();
		if (message === undefined) return {steps, state};
		if (message.type === 'outcome') pending.delete(message.id);
		({state, effects} = playFrom(scheduler, state, [message], context));
	}
	throw new Error('the scheduler does not come to rest');
}

const keyOfAddress = (address: string): string => `pods/${address.slice(address.lastIndexOf('/') + 1).replace('.', '/')}`;

/** Commits every open bind; the outcomes come one by one. */
function committed(index: ObjectIndex, pending: ReadonlyMap<string, Pending>): Reply<unknown, 'outcome'>[] {
	return [...pending.values()].map(write => {
		const pod = write.type === 'update' ? index.get(write.key) : undefined;
		if (pod !== undefined && write.type === 'update') commit(index, pod, write.message);
		return {type: 'outcome', id: write.id, outcome: {ok: true, value: null}};
	});
}

const spread = (index: ObjectIndex): Record<string, number> => {
	const counts: Record<string, number> = {};
	for (const pod of index.list('pods')) {
		const node = (pod as Pod).spec?.nodeName ?? 'none';
		counts[node] = (counts[node] ?? 0) + 1;
	}
	return counts;
};

test('a pod without a node is bound by an update of its record', t => {
	const pod = aPod();
	t.deepEqual(play(scheduler, null, [wake], contextWith(indexOf(aNode(), pod))).effects, [
		{
			type: 'update',
			key: 'pods/default/web',
			id: 'bind/uid-of-web',
			message: {type: 'bind', uid: 'uid-of-web', nodeName: 'node-a'},
		} as Effect,
	]);
});

test('a pod that names its node, ends, or is over is left alone', t => {
	const index = indexOf(
		aNode(),
		aPod({name: 'own', spec: {nodeName: 'elsewhere'}}),
		aPod({name: 'ending', metadata: {deletionTimestamp: '2023-11-14T22:13:20Z', finalizers: ['a.example/x']}}),
		aPod({name: 'over', status: {phase: 'Failed'}}),
	);
	t.deepEqual(play(scheduler, null, [wake], contextWith(index)).effects, []);
});

test('a bind that is open is not asked for again', t => {
	const context = contextWith(indexOf(aNode(), ...waiting(3)));
	const first = play(scheduler, null, [], context).effects;
	t.is(bindsOf(first).length, 3);
	t.deepEqual(play(scheduler, null, [wake], {...context, pending: openWrites(first)}).effects, []);
});

test('a thousand pods are spread evenly, though binds are open all the time', t => {
	const index = indexOf(...['a', 'b', 'c', 'd'].map(name => aNode({name, status: {allocatable: {pods: '1000'}}})), ...waiting(1000));
	run(index);
	t.deepEqual(spread(index), {a: 250, b: 250, c: 250, d: 250});
});

test('a bind that is committed but not yet answered counts once', t => {
	const nodes = [aNode({name: 'a'}), aNode({name: 'b'})];
	const bound = aPod({name: 'one', spec: {nodeName: 'a'}});
	const next = [...waiting(1)];
	const pending = openWrites([
		{type: 'update', key: keyOf(bound), id: 'bind/uid-of-one', message: {type: 'bind', uid: 'uid-of-one', nodeName: 'a'}} as Effect,
	]);
	const others = [aPod({name: 'two', spec: {nodeName: 'b'}}), aPod({name: 'three', spec: {nodeName: 'b'}})];
	const {effects} = play(scheduler, null, [], contextWith(indexOf(...nodes, bound, ...others, ...next), {pending}));
	t.deepEqual(bindsOf(effects), [['pods/default/p0', 'a']]);
	const full = [aNode({name: 'a', status: {allocatable: {pods: '2'}}})];
	t.deepEqual(bindsOf(play(scheduler, null, [], contextWith(indexOf(...full, bound, ...next), {pending})).effects), [
		['pods/default/p0', 'a'],
	]);
});

test('the round-robin takes node after node, across cycles', t => {
	const index = indexOf(aClusterConfig('round-robin'), ...['a', 'b', 'c'].map(name => aNode({name})), ...waiting(4));
	const {effects, state} = play(scheduler, null, [], contextWith(index));
	t.deepEqual(
		bindsOf(effects).map(([, node]) => node),
		['a', 'b', 'c', 'a'],
	);
	const later = indexOf(aClusterConfig('round-robin'), ...['c', 'a', 'b'].map(name => aNode({name})), ...waiting(2));
	t.deepEqual(
		bindsOf(playFrom(scheduler, state, [wake], contextWith(later)).effects).map(([, node]) => node),
		['b', 'c'],
	);
});

test('a pod that fits nowhere is told why, once', t => {
	const index = indexOf(aNode({spec: {unschedulable: true}}), ...waiting(1));
	const {effects} = play(scheduler, null, [], contextWith(index));
	const message = {type: 'unschedulable', uid: 'uid-of-p0', message: '0/1 nodes fit: node-a: cordoned'};
	t.deepEqual(effects, [
		{type: 'tell', to: 'troupe://control/pods/default.p0', message},
		{type: 'wakeAt', name: 'again', atMs: nowMs + 60_000, message: {type: 'again'}},
	] as Effect[]);
	commit(index, waiting(1)[0] as Pod, message);
	t.deepEqual(toldIn(play(scheduler, null, [wake], contextWith(index)).effects), []);
});

test('what was told and never came to be committed is told again, after a while', t => {
	const index = indexOf(aNode({spec: {unschedulable: true}}), ...waiting(1));
	const first = play(scheduler, null, [], contextWith(index));
	const atMs = (monotonicMs: number): readonly string[] =>
		toldIn(playFrom(scheduler, first.state, [wake], contextWith(index, {monotonicMs})).effects);
	t.deepEqual(atMs(1_010_000), []);
	t.deepEqual(atMs(1_300_000), ['0/1 nodes fit: node-a: cordoned']);
});

test('an unschedulable pod is bound once a node is there for it', t => {
	const index = indexOf(aNode({spec: {unschedulable: true}}), ...waiting(1));
	run(index);
	put(index, aNode());
	run(index, [wake]);
	t.deepEqual(spread(index), {'node-a': 1});
});

test('what one decision takes, the next of the same cycle finds taken', t => {
	const ports = {containers: [aContainer({ports: [{containerPort: 80}]})]};
	const index = indexOf(aNode({name: 'a'}), aNode({name: 'b'}), ...waiting(3, 'p', ports));
	run(index);
	t.deepEqual(spread(index), {a: 1, b: 1, none: 1});
	const full = indexOf(aNode({status: {allocatable: {pods: '2'}}}), ...waiting(3));
	run(full);
	t.deepEqual(spread(full), {'node-a': 2, none: 1});
});

test('pods that fit nowhere never hide those behind them', t => {
	const index = indexOf(
		aNode({status: {allocatable: {pods: '1000'}}}),
		...waiting(250, 'picky', {nodeSelector: {disk: 'ssd'}}),
		...waiting(350, 'easy'),
	);
	run(index);
	t.deepEqual(spread(index), {'node-a': 350, none: 250});
});

test('a pod that goes while others wait hides none of them', t => {
	const index = indexOf(
		aNode({status: {allocatable: {pods: '1000'}}}),
		...waiting(50, 'picky', {nodeSelector: {disk: 'ssd'}}),
		...waiting(150, 'easy'),
	);
	const pending = new Map<string, Pending>();
	const context = contextWith(index, {pending});
	const first = play(scheduler, null, [], context);
	t.is(bindsOf(first.effects).length, 100);
	for (const [id, write] of openWrites(first.effects)) pending.set(id, write);
	for (const name of ['picky0', 'picky1']) commit(index, index.get(`pods/default/${name}`) as ApiObject, {type: 'delete'});
	committed(index, pending);
	pending.clear();
	t.is(bindsOf(playFrom(scheduler, first.state, [{type: 'more'}], context).effects).length, 50);
});

test('what a cycle gives away is taken for the rest of it: processors, memory and number of pods', t => {
	for (const resource of ['cpu', 'memory'] as const) {
		const requests = {[resource]: resource === 'cpu' ? '600m' : '600Mi'};
		const pods = waiting(2, resource, {containers: [aContainer({resources: {requests}})]});
		const node = aNode({status: {allocatable: {cpu: '1', memory: '1Gi', pods: '10'}}});
		t.is(bindsOf(play(scheduler, null, [], contextWith(indexOf(node, ...pods))).effects).length, 1, resource);
	}
	t.is(
		bindsOf(play(scheduler, null, [], contextWith(indexOf(aNode({status: {allocatable: {pods: '1'}}}), ...waiting(2)))).effects).length,
		1,
	);
});

test('at most a hundred binds are open', t => {
	const context = contextWith(indexOf(aNode({status: {allocatable: {pods: '1000'}}}), ...waiting(300)));
	const first = play(scheduler, null, [], context);
	t.is(bindsOf(first.effects).length, 100);
	t.deepEqual(playFrom(scheduler, first.state, [{type: 'more'}], {...context, pending: openWrites(first.effects)}).effects, []);
});

test('while more than half of a hundred binds are open, the next cycle waits for their outcomes', t => {
	const index = indexOf(aNode({status: {allocatable: {cpu: '2', memory: '4194304Ki', pods: '1000'}}}), ...waiting(200));
	const {effects} = play(scheduler, null, [], contextWith(index));
	const open = (count: number) => contextWith(index, {pending: new Map([...openWrites(effects)].slice(0, count))});
	t.is(bindsOf(play(scheduler, null, [wake], open(51)).effects).length, 0);
	t.is(bindsOf(play(scheduler, null, [wake], open(50)).effects).length, 50);
});

test('a bind that failed is tried again after a second, not at once', t => {
	const outcome: SchedulerMessage = {type: 'outcome', id: 'bind/x', outcome: {ok: false, error: failure('ERR_STORE', {message: 'full'})}};
	const {effects} = play(scheduler, null, [outcome], contextWith(indexOf(aNode(), ...waiting(1))));
	t.deepEqual(effects, [{type: 'wakeAt', name: 'retry', atMs: nowMs + 1000, message: wake}]);
});

test('ten thousand pods are bound in a bounded number of steps', t => {
	const index = indexOf(aNode({status: {allocatable: {pods: '100000'}}}), ...waiting(10_000));
	const {steps} = run(index);
	t.is(spread(index)['node-a'], 10_000);
	// The outcome of each, and a cycle after each burst of them.
	t.true(steps <= 10_000 + 2 * (10_000 / 100), `${steps} steps`);
});

// ---- the order of the queue ------------------------------------------------------------------------------------------------

test('pods of a higher priority are bound first, of equals the oldest', t => {
	const since = (name: string, second: number, priority?: number): Pod =>
		aPod({name, metadata: {creationTimestamp: `2023-11-14T22:13:0${second}Z`}, spec: priority === undefined ? {} : {priority}});
	const index = indexOf(
		aNode({status: {allocatable: {pods: '100'}}}),
		...[since('late', 3), since('low', 1, -5), since('early', 2), since('high', 4, 10), since('highest', 5, 20)],
	);
	const {effects} = play(scheduler, null, [], contextWith(index));
	t.deepEqual(
		bindsOf(effects).map(([key]) => key.slice('pods/default/'.length)),
		['highest', 'high', 'early', 'late', 'low'],
	);
});

test('being told why does not move a pod in the queue', t => {
	const index = indexOf(aNode({spec: {unschedulable: true}}), ...waiting(3));
	run(index);
	commit(index, index.get('pods/default/p0') as ApiObject, {type: 'unschedulable', uid: 'uid-of-p0', message: 'something else'});
	put(index, aNode());
	const {effects} = play(scheduler, null, [wake], contextWith(index));
	t.deepEqual(
		bindsOf(effects).map(([key]) => key),
		['pods/default/p0', 'pods/default/p1', 'pods/default/p2'],
	);
});

// ---- what is tried again ---------------------------------------------------------------------------------------------------

/** Twelve nodes: more than are told one by one. */
const manyNodes = (specOf: (name: string) => NodeObject['spec'] & object = () => ({})): NodeObject[] =>
	Array.from({length: 12}, (_, i) => `n${i}`).map(name =>
		aNode({name, spec: specOf(name), status: {allocatable: {cpu: '1', pods: '110'}}}),
	);
const asking = (name: string, cpu: string, spec: Partial<PodSpec> = {}): Pod =>
	aPod({name, spec: {containers: [aContainer({resources: {requests: {cpu}}})], ...spec}});

test('pods that wait are tried on a node that changed, and nothing is written where that does not help', t => {
	const full = manyNodes().map((node, i) => asking(`full${i}`, '1', {nodeName: node.metadata.name}));
	const index = indexOf(...manyNodes(), ...full, asking('small', '500m'), asking('large', '900m'));
	const {state} = run(index);
	t.is(spread(index)['none'], 2);
	const context = contextWith(index);
	drop(index, full[3] as Pod);
	put(index, asking('full3', '400m', {nodeName: 'n3'}));
	const heard = playFrom(scheduler, state, [{type: 'nodeChanged', node: 'n3'}], context);
	t.deepEqual(heard.effects, [{type: 'tell', to: context.self, message: {type: 'more'}}]);
	const {effects, state: after} = playFrom(scheduler, heard.state, [{type: 'more'}], context);
	t.deepEqual(bindsOf(effects), [['pods/default/small', 'n3']]);
	t.deepEqual(toldIn(effects), []);
	// The one that still waits was tried: nothing is left to do.
	t.deepEqual(playFrom(scheduler, after, [{type: 'more'}], {...context, pending: openWrites(effects)}).effects, []);
});

test('a changed node means nothing as long as no pod waits', t => {
	const {effects} = play(
		scheduler,
		null,
		[{type: 'nodeChanged', node: 'node-a'}],
		contextWith(indexOf(aNode(), aPod({spec: {nodeName: 'node-a'}}))),
	);
	t.deepEqual(effects, []);
});

test('a pod that has to be near another one is bound as soon as that one is, in the same cycle or a later one', t => {
	const near: Partial<PodSpec> = {
		affinity: {
			podAffinity: {
				requiredDuringSchedulingIgnoredDuringExecution: [
					{labelSelector: {matchLabels: {app: 'db'}}, topologyKey: 'kubernetes.io/hostname'},
				],
			},
		},
	};
	const node = aNode({metadata: {labels: {'kubernetes.io/hostname': 'node-a'}}});
	const index = indexOf(node, aPod({name: 'web', spec: near}), aPod({name: 'db', metadata: {labels: {app: 'db'}}}));
	const first = play(scheduler, null, [], contextWith(index));
	t.deepEqual(bindsOf(first.effects), [['pods/default/db', 'node-a']]);
	const pending = openWrites(first.effects);
	t.deepEqual(bindsOf(playFrom(scheduler, first.state, [{type: 'more'}], contextWith(index, {pending})).effects), [
		['pods/default/web', 'node-a'],
	]);
});

test('a waiting pod whose tolerations grow is tried, though nothing else changed', t => {
	const index = indexOf(aNode({spec: {taints: [{key: 'x', effect: 'NoSchedule'}]}}), aPod());
	const {state} = run(index);
	put(index, aPod({spec: {tolerations: [{key: 'x', operator: 'Exists'}]}}));
	t.deepEqual(bindsOf(playFrom(scheduler, state, [{type: 'more'}], contextWith(index)).effects), [['pods/default/web', 'node-a']]);
});

test('after a minute all are tried, whatever was missed', t => {
	const index = indexOf(aNode({spec: {unschedulable: true}}), aPod());
	const {state} = run(index);
	put(index, aNode());
	t.deepEqual(playFrom(scheduler, state, [{type: 'more'}], contextWith(index)).effects, []);
	t.deepEqual(bindsOf(playFrom(scheduler, state, [{type: 'again'}], contextWith(index)).effects), [['pods/default/web', 'node-a']]);
});

test('how many nodes lack what may change at each try: no pod is told', t => {
	const index = indexOf(...manyNodes(), asking('big', '2'));
	const first = play(scheduler, null, [], contextWith(index));
	t.deepEqual(toldIn(first.effects), ['0/12 nodes fit: 12 has 1 cpu, 2 is asked for']);
	put(index, aNode({name: 'n3', status: {conditions: []}}));
	const other = playFrom(scheduler, first.state, [wake], contextWith(index));
	t.deepEqual(toldIn(other.effects), []);
	put(index, aNode({name: 'n3', status: {allocatable: {cpu: '1'}}}));
	put(index, aNode({name: 'n4', spec: {unschedulable: true}, status: {allocatable: {cpu: '1'}}}));
	t.deepEqual(toldIn(playFrom(scheduler, other.state, [wake], contextWith(index)).effects), []);
});

test('another reason is told at once to a pod that was told long ago, and after a while to one that was told just now', t => {
	const index = indexOf(...manyNodes(), asking('big', '2'));
	const first = play(scheduler, null, [], contextWith(index));
	for (const node of manyNodes(() => ({unschedulable: true}))) put(index, node);
	const soon = playFrom(scheduler, first.state, [wake], contextWith(index, {monotonicMs: 1_001_000}));
	t.deepEqual(toldIn(soon.effects), []);
	t.deepEqual(soon.effects, [{type: 'wakeAt', name: 'tell', atMs: nowMs + 9_000, message: wake}]);
	const later = playFrom(scheduler, soon.state, [wake], contextWith(index, {monotonicMs: 1_010_000}));
	t.deepEqual(toldIn(later.effects), ['0/12 nodes fit: 12 cordoned']);
});

test('thousands of unschedulable pods are one class, and are not tried again for each pod that comes', t => {
	const index = indexOf(...manyNodes(), ...waiting(1_000, 'picky', {nodeSelector: {disk: 'ssd'}}));
	const {state} = run(index);
	const readsOf = (message: SchedulerMessage): number => {
		let reads = 0;
		const known = new Proxy(index, {
			get(target, name) {
				if (name === 'countByTerm' || name === 'sumByTerm') reads++;
				const value: unknown = Reflect.get(target, name);
				return typeof value === 'function' ? (value.bind(target) as unknown) : value;
			},
		});
		playFrom(scheduler, state, [message], contextWith(known));
		return reads;
	};
	put(index, aPod({name: 'one-more', spec: {nodeSelector: {disk: 'ssd'}}}));
	// What a cycle looks up does not grow with the pods that wait.
	t.true(readsOf({type: 'more'}) < 100);
	t.true(readsOf({type: 'wake'}) < 100);
});

test('a pod waits for what its annotation names, says for what, and is bound once that is available', t => {
	const annotations = {'troupe.dev/depends-on': 'deployment/db, job/migrate'};
	const pod = aPod({name: 'web', metadata: {annotations}});
	const about = {namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'};
	const deployment = (availableReplicas: number): ApiObject => ({
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {...about, name: 'db'},
		spec: {replicas: 2},
		status: {availableReplicas},
	});
	const job = (status: string): ApiObject => ({
		apiVersion: 'batch/v1',
		kind: 'Job',
		metadata: {...about, uid: 'v', name: 'migrate'},
		spec: {},
		status: {conditions: [{type: 'Complete', status}]},
	});
	const index = indexOf(aClusterConfig('least-pods'), aNode({name: 'a'}), pod, deployment(0));
	const step = (message?: SchedulerMessage) => play(scheduler, null, message === undefined ? [] : [message], contextWith(index)).effects;
	t.deepEqual(toldIn(step()), ['waits: deployment/db is not available, job/migrate is not there']);
	put(index, job('False'));
	t.deepEqual(toldIn(step()), ['waits: deployment/db is not available, job/migrate is not complete']);
	put(index, deployment(1));
	t.deepEqual(bindsOf(step()), []);
	put(index, job('True'));
	t.deepEqual(bindsOf(step()), [['pods/default/web', 'a']]);
});
