// Who measures for autoscalers, who decides, and what their records do.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {FunctionObject} from '../../../api/kinds/function.js';
import type {Hpa} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import {autoscaler} from '../../../actors/control/autoscaling/autoscaler.js';
import {autoscalers, type AutoscalersState} from '../../../actors/control/autoscaling/autoscalers.js';
import {wishKey, type Judged, type Measured} from '../../../actors/control/autoscaling/autoscaling-message.js';
import {targetOf} from '../../../actors/control/autoscaling/scale-target.js';
import {entryIn, sizeOf} from '../../../actors/control/autoscaling/spread.js';
import {autoscalerController} from '../../../actors/control/autoscaling/horizontalpodautoscaler.js';
import {noFailures} from '../../../actors/control/objects/controller.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {play, playFrom} from '../../../system/kernel/play.js';
import type {Known} from '../../../system/index/object-index.js';
import {aDeployment, aNode, contextWith, indexOf, keyOf, openWrites, ownedBy, put} from '../_objects.js';
import {anHpa, aWorker, cpu, measuredOf} from './_autoscalers.js';

const web = aDeployment({spec: {replicas: 2}, status: {replicas: 2}});
const key = 'horizontalpodautoscalers/default/web';
const attend = (hpa: string = key, isNews = true) => ({type: 'attend', hpa, isNews, cause: 'test'}) as const;

const asksOf = (effects: readonly Effect[]) =>
	effects.flatMap(effect =>
		effect.type === 'ask' ? [[effect.to, (effect.message as {uids?: readonly string[]}).uids?.toSorted(), effect.id]] : [],
	);
const toldOf = (effects: readonly Effect[]) =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'measured' ? [effect.to] : []));

const answer = (id: string, ...pods: readonly string[]) =>
	({
		type: 'usageTold',
		id,
		outcome: {
			ok: true,
			value: {
				atMs: 1,
				node: {},
				containers: pods.map(pod => ({uid: `uid-of-${pod}`, container: 'main', cpuNanocores: 1, windowMs: 5_000, memoryBytes: 1})),
			},
		},
	}) as const;

/** Two autoscalers whose pods share a node. */
function twoOnOneNode(): {readonly known: Known; readonly state: AutoscalersState} {
	const api = aDeployment({name: 'api'});
	const second = anHpa({name: 'api', spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'api'}}});
	const known = indexOf(
		web,
		api,
		anHpa(),
		second,
		aNode(),
		aNode({name: 'node-b'}),
		aWorker('a'),
		aWorker('b', {}, {app: 'web'}, 'node-b'),
		aWorker('c', {}, {app: 'api'}),
	);
	const {state} = play(autoscalers, null, [attend(), attend(keyOf(second))], contextWith(known));
	return {known, state};
}

test('each node is asked once for all autoscalers that are due, and each of them is told when its own nodes have answered', t => {
	const {known, state} = twoOnOneNode();
	const asked = playFrom(autoscalers, state, [{type: 'look'}], contextWith(known));
	t.deepEqual(asksOf(asked.effects), [
		['troupe://node-a/usage', ['uid-of-a', 'uid-of-c'], '0/node-a'],
		['troupe://node-b/usage', ['uid-of-b'], '1/node-b'],
	]);
	const first = playFrom(autoscalers, asked.state, [answer('0/node-a', 'a', 'c')], contextWith(known));
	t.deepEqual(toldOf(first.effects), ['troupe://control/autoscalers/default.api']);
	const late = {
		type: 'usageTold',
		id: '1/node-b',
		outcome: {ok: false, error: {code: 'ERR_TIMEOUT', message: 'late', details: {}}},
	} as const;
	const second = playFrom(autoscalers, first.state, [late as never], contextWith(known));
	t.deepEqual(toldOf(second.effects), ['troupe://control/autoscalers/default.web']);
	t.is(sizeOf(second.state.asked), 0);
	t.true(
		first.effects.some(({type}) => type === 'wakeAt'),
		'it is due again',
	);
	t.deepEqual(asksOf(playFrom(autoscalers, second.state, [{type: 'look'}], contextWith(known)).effects), [], 'not yet');
});

test('what a node says of pods that it was not asked for, or says twice, counts for nothing', t => {
	const {known, state} = twoOnOneNode();
	const asked = playFrom(autoscalers, state, [{type: 'look'}], contextWith(known));
	const lied = playFrom(autoscalers, asked.state, [answer('1/node-b', 'a', 'b')], contextWith(known));
	const round = entryIn(lied.state.attended, key)?.round;
	t.deepEqual([...(round?.usage.keys() ?? [])], ['uid-of-b']);
	t.deepEqual(playFrom(autoscalers, lied.state, [answer('1/node-b', 'b')], contextWith(known)).effects, []);
});

test('a node of which nothing is heard is not waited for', t => {
	const silent = {type: 'Ready', status: 'Unknown'} as const;
	const known = indexOf(web, anHpa(), aNode({status: {conditions: [silent]}}), aWorker('a'));
	const {effects} = play(autoscalers, null, [attend(), {type: 'look'}], contextWith(known));
	t.deepEqual(asksOf(effects), []);
	t.deepEqual(toldOf(effects), ['troupe://control/autoscalers/default.web']);
});

test('one that is gone is not looked after any more, and news do not make it look more often than each second', t => {
	const known = indexOf(web);
	const {effects, state} = play(autoscalers, null, [attend(), {type: 'look'}], contextWith(known));
	t.true(effects.some(effect => effect.type === 'stopChild' && effect.name === 'default.web'));
	t.is(sizeOf(state.attended), 0);
	const there = indexOf(web, anHpa());
	const looked = play(autoscalers, null, [attend(), {type: 'look'}], contextWith(there));
	const again = playFrom(autoscalers, looked.state, [attend()], contextWith(there));
	t.is(entryIn(again.state.attended, key)?.dueAtMs, 1_000_000 + limits.autoscaleLeastMs);
	t.is(
		entryIn(playFrom(autoscalers, looked.state, [attend(key, false)], contextWith(there)).state.attended, key)?.dueAtMs,
		1_000_000 + limits.autoscaleSyncMs,
	);
});

test('of many that are due some begin at a time, those that have waited longest first, and none is left out', t => {
	const names = Array.from({length: limits.autoscaleAtOnce * 2 + 1}, (_, i) => `hpa-${i}`);
	const known = indexOf(web, ...names.map(name => anHpa({name})));
	const keys = names.map(name => `horizontalpodautoscalers/default/${name}`);
	let {state} = play(autoscalers, null, [], contextWith(known));
	const at = (monotonicMs: number) => contextWith(known, {monotonicMs});
	for (const [i, each] of keys.toReversed().entries()) ({state} = playFrom(autoscalers, state, [attend(each)], at(i)));
	const looked = () => {
		const played = playFrom(autoscalers, state, [{type: 'look'}], at(1_000));
		({state} = played);
		return toldOf(played.effects);
	};
	const rounds = [looked(), looked(), looked(), looked()];
	t.deepEqual(
		rounds.map(({length}) => length),
		[limits.autoscaleAtOnce, limits.autoscaleAtOnce, 1, 0],
	);
	t.is(new Set(rounds.flat()).size, names.length);
	t.deepEqual(rounds[2], ['troupe://control/autoscalers/default.hpa-0']);
});

test('one with an interval of its own is looked at as often', t => {
	const often = anHpa({metadata: {annotations: {'troupe.dev/scale-interval': '2'}}});
	const {state} = play(autoscalers, null, [attend(), {type: 'look'}], contextWith(indexOf(web, often)));
	t.is(entryIn(state.attended, key)?.dueAtMs, 1_002_000);
});

// ---- what sources say ----------------------------------------------------------------------------------------------------

const source = {mqtt: {topic: 'jobs'}};
const byJobs = {type: 'External', external: {metric: {name: 'jobs'}, target: {type: 'Value', value: 10}, source}} as const;
const byTopic = anHpa({spec: {metrics: [cpu(50), byJobs, byJobs]}});
const performed = (effects: readonly Effect[]) =>
	effects.flatMap(effect => (effect.type === 'perform' ? [[effect.key, effect.command]] : []));
const readingsAre = (value: number) => new Map([[wishKey({isOfPods: false, source}), {type: 'total', value}]]);
const said = (value: number, ok = true) =>
	({
		type: 'metricsRead',
		id: key,
		outcome: ok ? {ok, value: readingsAre(value)} : {ok, error: {code: 'ERR_TIMEOUT', message: 'late', details: {}}},
	}) as never;
const measuredIn = (effects: readonly Effect[]): Measured | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'measured' ? [effect.message as Measured] : []))[0];

test('sources are read once for each autoscaler that is due, and it is told when nodes and sources have answered', t => {
	const known = indexOf(web, byTopic, aNode(), aWorker('a'));
	const looked = play(autoscalers, null, [attend(), {type: 'look'}], contextWith(known));
	t.deepEqual(performed(looked.effects), [[key, {type: 'readMetrics', hpa: key, wishes: [{isOfPods: false, source}]}]]);
	const first = playFrom(autoscalers, looked.state, [said(7)], contextWith(known));
	t.deepEqual(toldOf(first.effects), []);
	const second = playFrom(autoscalers, first.state, [answer('0/node-a', 'a')], contextWith(known));
	t.deepEqual(measuredIn(second.effects)?.readings, readingsAre(7));
	t.is(measuredIn(second.effects)?.usage.size, 1);
	const other = playFrom(autoscalers, looked.state, [answer('0/node-a', 'a')], contextWith(known));
	t.deepEqual(toldOf(other.effects), []);
	const late = playFrom(autoscalers, other.state, [said(0, false)], contextWith(known));
	t.is(measuredIn(late.effects)?.readings.size, 0, 'what did not answer in time is not known');
	t.deepEqual(toldOf(playFrom(autoscalers, late.state, [said(9)], contextWith(known)).effects), [], 'an answer to no question');
});

test('one without sources asks the edge nothing', t => {
	const known = indexOf(web, anHpa(), aNode(), aWorker('a'));
	t.deepEqual(performed(play(autoscalers, null, [attend(), {type: 'look'}], contextWith(known)).effects), []);
});

test('of many autoscalers of one target only the one that acts is measured, and the others are told which it is', t => {
	const others = Array.from({length: 3}, (_, i) => anHpa({name: `x-${i}`, spec: {metrics: [cpu(50), byJobs]}}));
	const known = indexOf(web, byTopic, ...others, aNode(), aWorker('a'));
	const keys = [key, ...others.map(({metadata: {name}}) => `horizontalpodautoscalers/default/${name}`)];
	const looked = play(autoscalers, null, [...keys.map(each => attend(each)), {type: 'look'}], contextWith(known));
	t.deepEqual(
		performed(looked.effects).map(([whose]) => whose),
		[key],
	);
	t.deepEqual([...(entryIn(looked.state.asked, '0/node-a')?.hpas ?? [])], [key]);
	const rivals = looked.effects.flatMap(effect =>
		effect.type === 'tell' && effect.message.type === 'measured' ? [(effect.message as Measured).rival] : [],
	);
	t.deepEqual(rivals, [key, key, key]);
});

test('one that was not measured because another acts decides nothing when that is gone', t => {
	const younger = anHpa({name: 'x', metadata: {creationTimestamp: '2023-11-14T22:00:01Z'}});
	const input = {hpa: 'horizontalpodautoscalers/default/x'};
	const message: Measured = {...measuredOf({}), rival: key};
	const idle = play(autoscaler, input, [message], contextWith(indexOf(web, anHpa(), younger)));
	t.true(
		idle.effects.some(({type}) => type === 'tell'),
		'it says who acts',
	);
	t.deepEqual(play(autoscaler, input, [message], contextWith(indexOf(web, younger))).effects, []);
	const elsewhere = anHpa({spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'other'}}});
	t.deepEqual(play(autoscaler, input, [message], contextWith(indexOf(web, elsewhere, younger))).effects, []);
});

test('a value that comes makes the next look sooner, no more often than each second, also while it is measured', t => {
	const known = indexOf(web, byTopic);
	const at = (monotonicMs: number) => contextWith(known, {monotonicMs});
	const dueAt = ({attended}: AutoscalersState) => entryIn(attended, key)?.dueAtMs;
	const came = {type: 'valuesCame', hpas: [key]} as const;
	let {state} = play(autoscalers, null, [attend(), {type: 'look'}, said(1)], at(10_000));
	t.is(dueAt(state), 10_000 + limits.autoscaleSyncMs);
	({state} = playFrom(autoscalers, state, [came], at(10_200)));
	t.is(dueAt(state), 10_000 + limits.autoscaleLeastMs);
	({state} = playFrom(autoscalers, state, [{type: 'look'}], at(11_000)));
	t.is(dueAt(state), Infinity);
	({state} = playFrom(autoscalers, state, [came, came], at(11_500)));
	const {state: told} = playFrom(autoscalers, state, [said(2)], at(12_000));
	t.is(dueAt(told), 12_000 + limits.autoscaleLeastMs);
	const {state: alone} = playFrom(autoscalers, told, [{...came, hpas: ['horizontalpodautoscalers/default/other']}], at(12_000));
	t.is(sizeOf(alone.attended), 1);
});

// ---- deciding ------------------------------------------------------------------------------------------------------------

const judgedIn = (effects: readonly Effect[]): Judged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'judged' ? [effect.message as Judged] : []))[0];

test('it writes the scale of its target first and tells its record then', t => {
	const known = indexOf(web, anHpa(), aWorker('a'), aWorker('b'));
	const first = play(autoscaler, {hpa: key}, [measuredOf({a: 90, b: 90})], contextWith(known));
	t.like(first.effects, [
		{
			type: 'update',
			key: 'deployments/default/web',
			message: {type: 'patch', subresource: 'scale', patch: {spec: {replicas: 4}}},
			id: 'scale',
		},
	]);
	t.deepEqual(playFrom(autoscaler, first.state, [measuredOf({a: 90, b: 90})], contextWith(known)).effects, [], 'one write at a time');
	const done = {type: 'outcome', id: 'scale', outcome: {ok: true, value: null}} as const;
	const after = playFrom(autoscaler, first.state, [done], contextWith(known));
	t.like(judgedIn(after.effects), {uid: 'uid-of-hpa-web', status: {desiredReplicas: 4}});
	t.deepEqual(playFrom(autoscaler, after.state, [done], contextWith(known)).effects, []);
});

test('the record is told of figures alone no more often than each 15 s, and of nothing where nothing is new', t => {
	const index = indexOf(web, anHpa(), aWorker('a'), aWorker('b'));
	const first = play(autoscaler, {hpa: key}, [measuredOf({a: 50, b: 50})], contextWith(index));
	const status = judgedIn(first.effects)?.status;
	t.truthy(status);
	put(index, anHpa({status: status ?? {}}));
	const at = (monotonicMs: number, load: number) =>
		judgedIn(playFrom(autoscaler, first.state, [measuredOf({a: load, b: load})], contextWith(index, {monotonicMs})).effects);
	t.is(at(1_001_000, 51), undefined);
	t.truthy(at(1_000_000 + limits.autoscaleFiguresMs, 51));
	t.is(at(1_000_000 + limits.autoscaleFiguresMs, 50), undefined);
});

test('after a restart it knows what it wanted, and the replicas there are count as recommended', t => {
	const status = {desiredReplicas: 4, lastScaleTime: '2023-11-14T22:00:00Z'};
	const four = aDeployment({spec: {replicas: 4}, status: {replicas: 4}});
	const index = indexOf(four, anHpa({status}), ...['a', 'b', 'c', 'd'].map(name => aWorker(name)));
	const idle = play(autoscaler, {hpa: key}, [measuredOf({a: 1, b: 1, c: 1, d: 1})], contextWith(index));
	const able = judgedIn(idle.effects)?.status.conditions?.find(({type}: Condition) => type === 'AbleToScale');
	t.is(able?.reason, 'ScaleDownStabilized');
	put(index, web);
	const fought = play(autoscaler, {hpa: key}, [measuredOf({a: 1})], contextWith(index));
	t.like(fought.effects, [{type: 'update', message: {patch: {spec: {replicas: 4}}}}]);
	put(index, aDeployment({spec: {replicas: 6}}));
	const unkept = play(autoscaler, {hpa: key}, [measuredOf({a: 1, b: 1, c: 1, d: 1})], contextWith(index));
	t.is(unkept.effects.filter(({type}) => type === 'update').length, 0, 'the last write may have been its own, and not yet in its record');
	const named = measuredOf({a: 1}, 'http eve PATCH deployments/default/web/scale');
	t.like(play(autoscaler, {hpa: key}, [named], contextWith(index)).effects, [{type: 'update', message: {patch: {spec: {replicas: 4}}}}]);
});

test('an autoscaler that is made anew under its name begins anew', t => {
	const index = indexOf(web, anHpa(), aWorker('a'), aWorker('b'));
	const first = play(autoscaler, {hpa: key}, [measuredOf({a: 50, b: 50})], contextWith(index));
	put(index, anHpa({metadata: {uid: 'uid-of-another'}}));
	put(index, aDeployment({spec: {replicas: 5}}));
	const {effects} = playFrom(autoscaler, first.state, [measuredOf({a: 50, b: 50})], contextWith(index));
	t.is(effects.filter(({type}) => type === 'update').length, 0);
	t.is(judgedIn(effects)?.uid, 'uid-of-another');
});

test('the least instances of a function follow, within its most, and never below what its calls need', t => {
	const fn: FunctionObject = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Function',
		metadata: {...web.metadata, name: 'add', uid: 'uid-of-add'},
		spec: {max: 3, min: 1},
		status: {desired: 1, instances: 1},
	};
	const hpa = anHpa({
		spec: {
			scaleTargetRef: {apiVersion: 'troupe.dev/v1', kind: 'Function', name: 'add'},
			behavior: {scaleDown: {stabilizationWindowSeconds: 0}},
		},
	});
	const instance = aWorker('a', {}, {'troupe.dev/function': 'add'});
	const busy = play(autoscaler, {hpa: key}, [measuredOf({a: 400})], contextWith(indexOf(fn, hpa, instance)));
	t.like(busy.effects, [{type: 'update', key: 'functions/default/add', message: {patch: {spec: {min: 3}}}}]);
	const called = {...fn, spec: {max: 3, min: 3}, status: {desired: 2, instances: 3}};
	const idle = play(autoscaler, {hpa: key}, [measuredOf({a: 1})], contextWith(indexOf(called, hpa, instance)));
	t.like(idle.effects, [{type: 'update', message: {patch: {spec: {min: 2}}}}]);
	const quiet = play(
		autoscaler,
		{hpa: key},
		[measuredOf({a: 1})],
		contextWith(indexOf({...called, spec: {max: 3, min: 2}}, hpa, instance)),
	);
	t.is(quiet.effects.filter(({type}) => type === 'update').length, 0);
});

// ---- the record ----------------------------------------------------------------------------------------------------------

const reconciled = (hpa: Hpa, ...objects: readonly ApiObject[]) =>
	autoscalerController.reconcile(hpa, contextWith(indexOf(hpa, ...objects)), noFailures).effects;

test('a record has itself looked after: at once where it or its target is another', t => {
	const isNews = (hpa: Hpa, ...objects: readonly ApiObject[]) =>
		reconciled(hpa, ...objects).map(effect => effect.type === 'tell' && (effect.message as {isNews?: boolean}).isNews);
	t.deepEqual(isNews(anHpa(), web), [true]);
	const settled = anHpa({status: {observedGeneration: 1, desiredReplicas: 2}});
	t.deepEqual(isNews(settled, web), [false]);
	t.deepEqual(isNews(settled, aDeployment({spec: {replicas: 7}})), [true]);
});

test('a change of the replicas of a target wakes its autoscalers, other changes do not', t => {
	const index = indexOf(web, anHpa());
	const concerned = (after: ApiObject) => [...(autoscalerController.watches?.['deployments']?.({before: web, after}, index) ?? [])].length;
	t.is(concerned(aDeployment({spec: {replicas: 3}})), 1);
	t.is(concerned(aDeployment({spec: {replicas: 2}, status: {replicas: 1}})), 0);
	t.is(concerned(aDeployment({name: 'other', spec: {replicas: 3}})), 0);
});

test('of a single pod copies are made, and removed again', t => {
	const spec = {scaleTargetRef: {apiVersion: 'v1', kind: 'Pod', name: 'solo'}} as const;
	const hpa = anHpa({spec, status: {observedGeneration: 1, desiredReplicas: 3}});
	const solo = aWorker('solo');
	const creates = reconciled(hpa, solo).flatMap(effect => (effect.type === 'create' ? [effect.object] : []));
	t.is(creates.length, 2);
	for (const copy of creates) {
		t.like(copy, {
			kind: 'Pod',
			metadata: {labels: {app: 'web'}, ownerReferences: [{kind: 'HorizontalPodAutoscaler', name: 'web', controller: true}]},
		});
		t.like(copy.spec, {nodeName: undefined, containers: solo.spec?.containers});
	}
	const copies = ['x', 'y', 'z'].map(name => {
		const pod = aWorker(name);
		return {...pod, metadata: {...pod.metadata, ownerReferences: [ownedBy(hpa)]}};
	});
	const fewer = reconciled(hpa, solo, ...copies);
	t.is(fewer.filter(({type}) => type === 'delete').length, 1);
	const open = contextWith(indexOf(hpa, solo, ...copies), {pending: openWrites(fewer)});
	t.is(autoscalerController.reconcile(hpa, open, noFailures).effects.filter(({type}) => type === 'delete').length, 0);
	const only = {...solo, metadata: {...solo.metadata, annotations: {'troupe.dev/exclusive': 'true'}}};
	t.deepEqual(
		reconciled(hpa, only).map(({type}) => type),
		['tell'],
		'what may run once only is not copied',
	);
	const refused = targetOf(hpa, indexOf(hpa, only));
	t.regex(typeof refused === 'string' ? refused : '', /is exclusive/);
	t.deepEqual(
		reconciled(hpa, ...copies).map(({type}) => type),
		['tell'],
		'where the pod is gone, its copies stay as they are',
	);
});

test('what is decided for one of that name and not for this one is not kept', t => {
	const judged: Judged = {type: 'judged', uid: 'uid-of-one-before', status: {desiredReplicas: 9}, events: []};
	t.like(autoscalerController.receive?.(anHpa(), judged as never, contextWith(indexOf())), {
		ok: true,
		object: {status: {desiredReplicas: 0}},
	});
	const own = {...judged, uid: 'uid-of-hpa-web', events: [{event: 'Normal', reason: 'SuccessfulRescale', message: 'New size: 9'}]};
	t.like(autoscalerController.receive?.(anHpa(), own as never, contextWith(indexOf())), {
		object: {status: {desiredReplicas: 9}},
		effects: [{type: 'event', reason: 'SuccessfulRescale'}],
	});
});
