// Pods of a higher priority preempt pods of a lower one: as few, as low and as young as will do, and only where that helps.

import test from 'ava';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {scheduler, type SchedulerMessage, type SchedulerState} from '../../actors/control/scheduling/scheduler.js';
import type {Effect, Pending} from '../../system/kernel/behavior.js';
import type {Known, ObjectIndex} from '../../system/index/object-index.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {aBudget, aContainer, aNode, aPod, contextWith, drop, indexOf, now, nowMs, openWrites, put} from './_objects.js';
import {commit} from './_records.js';

const asking = (name: string, cpu: string, spec: Partial<PodSpec> = {}, startTime = '2023-11-14T22:00:00Z'): Pod =>
	aPod({name, spec: {containers: [aContainer({resources: {requests: {cpu}}})], ...spec}, status: {phase: 'Running', startTime}});
const high = (name = 'high', cpu = '1', spec: Partial<PodSpec> = {}): Pod => asking(name, cpu, {priority: 100, ...spec});
const cpus = (name: string, cpu = '1') => aNode({name, status: {allocatable: {cpu, pods: '110'}}});

type Asked = {readonly key: string; readonly message: {readonly type: string; readonly node?: string; readonly nodeName?: string}};

const asked = (effects: readonly Effect[]): string[] =>
	effects.flatMap(effect => {
		if (effect.type !== 'update') return [];
		const {key, message} = effect as unknown as Asked;
		return [`${message.type} ${key.slice('pods/default/'.length)} ${message.nodeName ?? message.node ?? 'nowhere'}`];
	});

const going = {name: 'going', metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 30}};

const cycle = (index: ObjectIndex, pending: ReadonlyMap<string, Pending> = new Map()) =>
	play(scheduler, null, [], contextWith(index, {pending}));

/** Commits what was asked for. */
function committed(index: ObjectIndex, effects: readonly Effect[]): void {
	for (const effect of effects) if (effect.type === 'update') commit(index, index.get(effect.key) as ApiObject, effect.message);
}

const next = (index: ObjectIndex, state: SchedulerState, message: SchedulerMessage = {type: 'wake'}) =>
	playFrom(scheduler, state, [message], contextWith(index));

test('a pod of a higher priority preempts one of a lower, and is nominated for its node', t => {
	const index = indexOf(cpus('a'), asking('low', '1', {nodeName: 'a'}), high());
	const {effects} = cycle(index);
	t.deepEqual(asked(effects), ['preempt low a', 'nominate high a']);
	committed(index, effects);
	const low = index.get('pods/default/low') as Pod;
	t.is(low.metadata.deletionGracePeriodSeconds, 30);
	t.like(low.status?.conditions?.at(-1), {type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler'});
	t.is((index.get('pods/default/high') as Pod).status?.nominatedNodeName, 'a');
});

test('the victim says who took its place, and ends with its own grace', t => {
	const index = indexOf(cpus('a'));
	const low = asking('low', '1', {nodeName: 'a', terminationGracePeriodSeconds: 7});
	put(index, low);
	commit(index, low, {type: 'preempt', uid: 'uid-of-low', node: 'a', by: 'default/high'});
	const {metadata, status} = index.get('pods/default/low') as Pod;
	t.is(metadata.deletionGracePeriodSeconds, 7);
	t.is(Date.parse(metadata.deletionTimestamp ?? ''), nowMs + 7_000);
	t.is(status?.conditions?.at(-1)?.message, 'pod default/high of a higher priority takes its place on node a');
});

test('while its victims end a pod waits for them; then it is bound there, whatever other pods ask', t => {
	const index = indexOf(cpus('a'), asking('low', '1', {nodeName: 'a'}), high());
	const first = cycle(index);
	t.deepEqual(asked(cycle(index, openWrites(first.effects)).effects), []);
	committed(index, first.effects);
	const waits = next(index, first.state);
	t.deepEqual(asked(waits.effects), []);
	put(index, asking('rival', '1', {priority: 100}));
	put(index, asking('lower', '500m'));
	drop(index, index.get('pods/default/low') as Pod);
	const {state} = next(index, waits.state, {type: 'nodeChanged', node: 'a'});
	const freed = next(index, state, {type: 'more'});
	t.deepEqual(asked(freed.effects), ['bind high a']);
	committed(index, freed.effects);
	t.is((index.get('pods/default/high') as Pod).status?.nominatedNodeName, undefined);
});

test('what is reserved for a nominated pod no pod of equal or lower priority gets, but one of a higher does', t => {
	const kept = {...high(), status: {phase: 'Pending', nominatedNodeName: 'a'} as const};
	const leaving = aPod({...going, spec: {containers: [aContainer({resources: {requests: {cpu: '500m'}}})], nodeName: 'a'}});
	const told = (pod: Pod): string[] => asked(cycle(indexOf(cpus('a'), leaving, kept, pod)).effects);
	t.deepEqual(told(asking('low', '500m')), []);
	t.deepEqual(told(high('equal', '500m')), []);
	t.deepEqual(told(asking('top', '500m', {priority: 200})), ['bind top a']);
});

test('no pod goes for one of equal priority, of policy Never, or that it does not help', t => {
	const low = asking('low', '1', {nodeName: 'a', priority: 5});
	const victimsFor = (pod: Pod, node = cpus('a')): string[] => asked(cycle(indexOf(node, low, pod)).effects);
	t.deepEqual(victimsFor(asking('equal', '1', {priority: 5})), []);
	t.deepEqual(victimsFor(high('never', '1', {preemptionPolicy: 'Never'})), []);
	t.deepEqual(victimsFor(high('elsewhere', '1', {nodeSelector: {disk: 'ssd'}})), []);
	t.deepEqual(victimsFor(high('too-big', '2')), []);
	t.deepEqual(victimsFor(high('cordoned'), aNode({name: 'a', spec: {unschedulable: true}})), []);
	t.deepEqual(victimsFor(high()), ['preempt low a', 'nominate high a']);
});

test('a pod of the default priority preempts one below', t => {
	const index = indexOf(cpus('a'), asking('low', '1', {nodeName: 'a', priority: -1}), asking('plain', '1'));
	t.deepEqual(asked(cycle(index).effects), ['preempt low a', 'nominate plain a']);
});

test('only as many go as have to: those of a higher priority stay, and of equals those that run for longest', t => {
	const index = indexOf(
		cpus('a', '3'),
		asking('older', '1', {nodeName: 'a', priority: 1}, '2023-11-14T20:00:00Z'),
		asking('younger', '1', {nodeName: 'a', priority: 1}, '2023-11-14T21:00:00Z'),
		asking('better', '1', {nodeName: 'a', priority: 2}),
		high(),
	);
	t.deepEqual(asked(cycle(index).effects), ['preempt younger a', 'nominate high a']);
});

test('the node is taken where the highest victim is lowest, then where the fewest go, then where they began last', t => {
	const where = (...low: readonly Pod[]): string | undefined =>
		asked(cycle(indexOf(cpus('a'), cpus('b'), cpus('c'), ...low, high())).effects).at(-1);
	const on = (node: string, priority: number, startTime?: string, cpu = '1', name = `low-${node}`): Pod =>
		asking(name, cpu, {nodeName: node, priority}, startTime);
	t.is(where(on('a', 3), on('b', 1), on('c', 2)), 'nominate high b');
	t.is(where(on('a', 1, undefined, '500m'), on('a', 1, undefined, '500m', 'two'), on('b', 1), on('c', 2)), 'nominate high b');
	t.is(
		where(on('a', 1, '2023-11-14T20:00:00Z'), on('b', 1, '2023-11-14T20:00:01Z'), on('c', 1, '2023-11-14T19:00:00Z')),
		'nominate high b',
	);
	// A status may say anything: what is no time began before all others.
	t.is(where(on('a', 1, 'soon'), on('b', 1, '2023-11-14T20:00:01Z'), on('c', 1, 'soon')), 'nominate high b');
	t.is(where(on('a', 1, '2023-11-14T20:00:01Z'), on('b', 1, 'soon'), on('c', 1, '2023-11-14T20:00:00Z')), 'nominate high a');
});

test('pods that their disruption budget holds are spared where others will do, and go where nothing else helps', t => {
	const labels = {app: 'web'};
	const running = (name: string, node: string, priority = 0, metadata = {}): Pod => {
		const pod = asking(name, '1', {nodeName: node, priority});
		return {...pod, metadata: {...pod.metadata, ...metadata}};
	};
	const budget = (disruptionsAllowed: number) => aBudget({status: {disruptionsAllowed}});
	// On one node: the one that is held stays, though it counts less.
	const both = [running('held', 'a', 1, {labels}), running('free', 'a', 5)];
	t.deepEqual(asked(cycle(indexOf(cpus('a', '2'), budget(0), ...both, high())).effects), ['preempt free a', 'nominate high a']);
	t.deepEqual(asked(cycle(indexOf(cpus('a', '2'), budget(1), ...both, high())).effects), ['preempt held a', 'nominate high a']);
	// Of two nodes: the one where no budget is broken.
	const apart = [running('held', 'a', 1, {labels}), running('free', 'b', 5)];
	t.deepEqual(asked(cycle(indexOf(cpus('a'), cpus('b'), budget(0), ...apart, high())).effects), ['preempt free b', 'nominate high b']);
	// A budget that lets one go does not let two.
	const two = [running('one', 'a', 1, {labels}), running('two', 'a', 1, {labels}), running('free', 'b', 5), running('more', 'b', 5)];
	t.deepEqual(asked(cycle(indexOf(cpus('a', '2'), cpus('b', '2'), budget(1), ...two, high('high', '2'))).effects).sort(), [
		'nominate high b',
		'preempt free b',
		'preempt more b',
	]);
	t.deepEqual(asked(cycle(indexOf(cpus('a'), budget(0), running('held', 'a', 1, {labels}), high())).effects), [
		'preempt held a',
		'nominate high a',
	]);
});

test('a port and a neighbour can be in the way as well', t => {
	const port = {containers: [aContainer({ports: [{containerPort: 80}]})]};
	t.deepEqual(
		asked(
			cycle(indexOf(cpus('a'), aPod({name: 'low', spec: {...port, nodeName: 'a'}}), aPod({name: 'high', spec: {...port, priority: 1}})))
				.effects,
		),
		['preempt low a', 'nominate high a'],
	);
	const away = {
		podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: 'x'}}, topologyKey: 'host'}]},
	};
	const index = indexOf(
		aNode({name: 'a', metadata: {labels: {host: 'a'}}}),
		aPod({name: 'low', metadata: {labels: {app: 'x'}}, spec: {nodeName: 'a'}}),
		aPod({name: 'high', spec: {priority: 1, affinity: away}}),
	);
	t.deepEqual(asked(cycle(index).effects), ['preempt low a', 'nominate high a']);
});

test('two pods never count on the same victim', t => {
	const index = indexOf(
		cpus('a'),
		cpus('b'),
		asking('low-a', '1', {nodeName: 'a'}),
		asking('low-b', '1', {nodeName: 'b'}),
		high('one'),
		high('two'),
		high('three'),
	);
	const {effects} = cycle(index);
	const victims = asked(effects).filter(text => text.startsWith('preempt'));
	t.deepEqual(victims.sort(), ['preempt low-a a', 'preempt low-b b']);
	t.is(asked(effects).filter(text => text.startsWith('nominate')).length, 2);
});

test('a nomination that is of no use any more ends, and victims are searched for elsewhere', t => {
	const kept = {...high(), status: {phase: 'Pending', nominatedNodeName: 'a'} as const};
	const closed = aNode({name: 'a', spec: {unschedulable: true}});
	t.deepEqual(asked(cycle(indexOf(closed, kept)).effects), ['nominate high nowhere']);
	t.deepEqual(asked(cycle(indexOf(closed, cpus('b'), asking('low', '1', {nodeName: 'b'}), kept)).effects), [
		'preempt low b',
		'nominate high b',
	]);
});

test('a pod that is over and held by a finalizer frees nothing: no pod waits for it', t => {
	const kept = {...high(), status: {phase: 'Pending', nominatedNodeName: 'a'} as const};
	const spec = {containers: [aContainer({resources: {requests: {cpu: '1'}}})], nodeName: 'a'};
	const held = aPod({...going, spec, status: {phase: 'Failed'}});
	const index = indexOf(cpus('a'), held, high('taken', '1', {nodeName: 'a', priority: 200}), kept);
	t.deepEqual(asked(cycle(index).effects), ['nominate high nowhere']);
	put(index, {...held, status: {phase: 'Running'}});
	t.deepEqual(asked(cycle(index).effects), []);
});

test('a step preempts for a bounded number of pods, and goes on in the next', t => {
	const names = Array.from({length: 8}, (_, i) => `n${i}`);
	const index = indexOf(
		...names.map(name => cpus(name)),
		...names.map(name => asking(`low-${name}`, '1', {nodeName: name})),
		...names.map(name => high(`high-${name}`)),
	);
	const first = cycle(index);
	t.is(asked(first.effects).filter(text => text.startsWith('preempt')).length, 5);
	t.true(first.effects.some(effect => effect.type === 'tell' && effect.message.type === 'more'));
	committed(index, first.effects);
	t.is(asked(next(index, first.state, {type: 'more'}).effects).filter(text => text.startsWith('preempt')).length, 3);
});

test('of many nodes victims are searched for on one that changed, and on no other', t => {
	const names = Array.from({length: 12}, (_, i) => `n${i}`);
	const full = names.map(name => asking(`full-${name}`, '2', {nodeName: name, priority: 100}));
	const index = indexOf(...names.map(name => cpus(name, '2')), ...full, high('high', '2'), high('also', '2'));
	const first = cycle(index);
	t.deepEqual(asked(first.effects), []);
	// Two nodes have now a pod of a lower priority, and one of them is known to have changed.
	for (const name of ['n3', 'n8']) {
		drop(index, index.get(`pods/default/full-${name}`) as Pod);
		put(index, asking(`low-${name}`, '1', {nodeName: name}));
	}
	const {state} = next(index, first.state, {type: 'nodeChanged', node: 'n3'});
	const second = next(index, state, {type: 'more'});
	t.deepEqual(asked(second.effects).sort(), ['nominate high n3', 'preempt low-n3 n3']);
	committed(index, second.effects);
	const third = next(index, second.state, {type: 'nodeChanged', node: 'n8'});
	t.deepEqual(asked(next(index, third.state, {type: 'more'}).effects).sort(), ['nominate also n8', 'preempt low-n8 n8']);
});

test('many nodes that changed are searched in bounded steps, too', t => {
	const names = Array.from({length: 20}, (_, i) => `n${i}`);
	const full = names.map(name => asking(`full-${name}`, '1', {nodeName: name, priority: 100}));
	const waiting = Array.from({length: 8}, (_, i) => high(`high-${i}`, `${900 + i}m`));
	const index = indexOf(...names.map(name => cpus(name)), ...full, ...waiting);
	let {state} = cycle(index);
	state = next(index, state, {type: 'more'}).state;
	for (const pod of full) {
		drop(index, pod);
		put(index, asking(pod.metadata.name, '1', {nodeName: pod.spec?.nodeName ?? ''}));
	}
	for (const node of names) state = next(index, state, {type: 'nodeChanged', node}).state;
	const first = next(index, state, {type: 'more'});
	t.is(asked(first.effects).filter(text => text.startsWith('preempt')).length, 5);
	committed(index, first.effects);
	t.is(asked(next(index, first.state, {type: 'more'}).effects).filter(text => text.startsWith('preempt')).length, 3);
});

test('of a large cluster one step searches a bounded part, any of it', t => {
	const names = Array.from({length: 300}, (_, i) => `n${i}`);
	const equals = names.flatMap(name => Array.from({length: 50}, (_, i) => asking(`${name}-${i}`, '10m', {nodeName: name, priority: 100})));
	const index = indexOf(...names.map(name => cpus(name)), ...equals, high('one', '900m'), high('two', '901m'), high('three', '902m'));
	let read = 0;
	const known: Known = {
		version: index.version,
		get: key => index.get(key),
		byUid: uid => index.byUid(uid),
		byOwner: uid => index.byOwner(uid),
		list: (plural, namespace) => index.list(plural, namespace),
		select: (plural, namespace, selector) => index.select(plural, namespace, selector),
		*byTerm(plural, term) {
			for (const object of index.byTerm(plural, term)) {
				if (term.startsWith('occupies')) read++;
				yield object;
			}
		},
		countByTerm: (plural, term) => index.countByTerm(plural, term),
		sumByTerm: (plural, term) => index.sumByTerm(plural, term),
		countOf: (plural, namespace) => index.countOf(plural, namespace),
		countInNamespace: namespace => index.countInNamespace(namespace),
		inNamespace: namespace => index.inNamespace(namespace),
		part: (key, name) => index.part(key, name),
		partsOf: key => index.partsOf(key),
	};
	play(scheduler, null, [], contextWith(known));
	// The lowest priority on a node is found out once: searches for three pods read each pod at most once.
	t.true(read > 0 && read <= equals.length, String(read));
});
