// What an autoscaler decides, and what it says of that.

import test from 'ava';
import {conditionOf} from '../../../api/conditions.js';
import {limits} from '../../../api/limits.js';
import {differs, rescaled, type Decision} from '../../../actors/control/autoscaling/decision.js';
import {aContainer, aDeployment, aPod, aReplicaSet, before, indexOf, now, nowMs} from '../_objects.js';
import {anHpa, aWorker, cpu, decided, memory, noMemory} from './_autoscalers.js';

const web = aDeployment({spec: {replicas: 2}, status: {replicas: 2}});
const two = [aWorker('a'), aWorker('b')];

const saysOf = ({status}: Decision, type: string): string => {
	const condition = conditionOf(status.conditions, type);
	return condition === undefined ? 'nothing' : `${condition.status} ${condition.reason ?? ''}`;
};

const goesTo = ({rescale}: Decision): number | undefined => rescale?.to;

test('more load makes more replicas, and the status says what was measured', t => {
	const decision = decided(indexOf(web, ...two), anHpa(), {a: 90, b: 90});
	t.like(decision.rescale, {from: 2, to: 4, reason: 'cpu resource utilization (percentage of request) above target', text: 'cpu: 90%/50%'});
	t.deepEqual(decision.status.currentMetrics, [
		{type: 'Resource', resource: {name: 'cpu', current: {averageValue: '90m', averageUtilization: 90}}},
	]);
	t.deepEqual(
		['AbleToScale', 'ScalingActive', 'ScalingLimited'].map(type => saysOf(decision, type)),
		['True ReadyForNewScale', 'True ValidMetricFound', 'False DesiredWithinRange'],
	);
	t.like(decision.status, {currentReplicas: 2, desiredReplicas: 4, observedGeneration: 1});
});

test('what is near enough changes nothing', t => t.is(goesTo(decided(indexOf(web, ...two), anHpa(), {a: 52, b: 54})), undefined));

test('of several metrics the one that asks for most counts', t => {
	const hpa = anHpa({spec: {metrics: [cpu(50), memory('100Mi')]}});
	const decision = decided(indexOf(web, ...two), hpa, {a: [50, 300], b: [50, 300]});
	t.like(decision.rescale, {to: 6, reason: 'memory resource above target', text: 'cpu: 50%/50%, memory: 300Mi/100Mi'});
});

test('where one metric is not known, another one makes more and never fewer', t => {
	const bare = ['a', 'b'].map(name => ({
		...aWorker(name),
		spec: {...aWorker(name).spec, containers: [aContainer({resources: {requests: {memory: '100Mi'}}})]},
	}));
	const hpa = anHpa({spec: {metrics: [cpu(50), memory('100Mi')]}});
	const index = indexOf(web, ...bare);
	t.is(goesTo(decided(index, hpa, {a: [1, 300], b: [1, 300]})), 6);
	const idle = decided(index, hpa, {a: [1, 10], b: [1, 10]});
	t.is(goesTo(idle), undefined);
	t.is(saysOf(idle, 'ScalingActive'), 'False FailedGetResourceMetric');
	t.regex(conditionOf(idle.status.conditions, 'ScalingActive')?.message ?? '', /missing request for cpu in container main of Pod a$/);
	t.is(idle.events.length, 1);
	t.deepEqual(decided(index, anHpa({...hpa, status: idle.status}), {a: 1, b: 1}).events, [], 'it is said once');
});

test('pods that are over or being deleted do not count, and what has not begun is not ready', t => {
	const gone = aWorker('c', {phase: 'Failed'});
	const leaving = aPod({name: 'd', metadata: {labels: {app: 'web'}, deletionTimestamp: now}, status: {phase: 'Running'}});
	const coming = aPod({name: 'e', metadata: {labels: {app: 'web'}}, spec: two[0]?.spec ?? {}, status: {phase: 'Pending'}});
	const index = indexOf(web, ...two, gone, leaving, coming);
	t.is(goesTo(decided(index, anHpa(), {a: 90, b: 90, c: 900, d: 900})), 4, '180 of 300 is 60 %, of three pods');
	t.is(goesTo(decided(index, anHpa(), {a: 80, b: 80})), undefined, 'with one that is idle they are as busy as wanted');
});

test('what a pod uses of processors while it starts says nothing, of memory it does', t => {
	const early = {type: 'Ready', status: 'True', lastTransitionTime: before} as const;
	const index = indexOf(aDeployment({spec: {replicas: 1}}), aWorker('a', {startTime: before, conditions: [early]}));
	const starting = decided(index, anHpa(), {a: 900});
	t.is(saysOf(starting, 'ScalingActive'), 'False FailedGetResourceMetric');
	t.is(goesTo(decided(index, anHpa({spec: {metrics: [memory('100Mi')]}}), {a: [900, 300]})), 3);
	const later = {...early, lastTransitionTime: '2023-11-14T22:13:10Z'} as const;
	const ready = indexOf(aDeployment({spec: {replicas: 1}}), aWorker('a', {startTime: '2023-11-14T22:13:00Z', conditions: [later]}));
	t.is(goesTo(decided(ready, anHpa(), {a: 100})), 2);
});

test('bounds come before what is measured', t => {
	t.like(decided(indexOf(web), anHpa({spec: {minReplicas: 3}}), {}).rescale, {
		to: 3,
		reason: 'Current number of replicas below Spec.MinReplicas',
	});
	const many = aDeployment({spec: {replicas: 12}});
	t.like(decided(indexOf(many), anHpa(), {}).rescale, {to: 10, reason: 'Current number of replicas above Spec.MaxReplicas'});
	const busy = decided(indexOf(web, ...two), anHpa({spec: {maxReplicas: 3}}), {a: 500, b: 500});
	t.is(goesTo(busy), 3);
	t.is(saysOf(busy, 'ScalingLimited'), 'True TooManyReplicas');
});

test('what has no replicas is switched off, and stays so', t => {
	const off = decided(indexOf(aDeployment({spec: {replicas: 0}})), anHpa(), {});
	t.is(goesTo(off), undefined);
	t.is(saysOf(off, 'ScalingActive'), 'False ScalingDisabled');
	t.like(off.memory, noMemory);
	t.is(off.status.desiredReplicas, 0);
});

test('a target that is not there is said, once', t => {
	const none = decided(indexOf(), anHpa(), {});
	t.is(saysOf(none, 'AbleToScale'), 'False FailedGetScale');
	t.regex(none.events[0]?.message ?? '', /deployment "web" not found/);
	t.deepEqual(decided(indexOf(), anHpa({status: none.status}), {}).events, []);
	const odd = anHpa({spec: {scaleTargetRef: {apiVersion: 'v1', kind: 'ConfigMap', name: 'web'}}});
	t.regex(decided(indexOf(), odd, {}).events[0]?.message ?? '', /no ConfigMap of v1 can be scaled/);
});

test('of two autoscalers of one target the older one acts', t => {
	const second = anHpa({name: 'other', metadata: {creationTimestamp: '2023-11-14T22:00:01Z'}});
	const index = indexOf(web, ...two, anHpa(), second);
	t.is(goesTo(decided(index, anHpa(), {a: 90, b: 90})), 4);
	const idle = decided(index, second, {a: 90, b: 90});
	t.is(goesTo(idle), undefined);
	t.is(saysOf(idle, 'ScalingActive'), 'False AmbiguousSelector');
	t.regex(idle.events[0]?.message ?? '', /scaled by hpa\/web already/);
	// The older one has made five of them, and is gone.
	const five = indexOf(aDeployment({spec: {replicas: 5}}), second, ...['a', 'b', 'c', 'd', 'e'].map(name => aWorker(name)));
	const alone = decided(five, second, {a: 50, b: 50, c: 50, d: 50, e: 50}, {memory: idle.memory});
	t.is(alone.rescale, undefined, 'it goes on with what is there');
});

test('who changes the replicas of what it scales is overruled, and named', t => {
	const index = indexOf(web, ...two);
	const own = {history: undefined, own: {replicas: 5, uid: web.metadata.uid}};
	const decision = decided(index, anHpa(), {a: 50, b: 50}, {memory: own, cause: 'http eve PATCH deployments/default/web/scale'});
	t.like(decision.rescale, {from: 2, to: 5, reason: 'replicas of deployment/web were set to 2 by eve'});
	t.is(saysOf(decision, 'AbleToScale'), 'True ReplicasOverwritten');
	t.is(decision.events[0]?.reason, 'ReplicasOverwritten');
	const unknown = decided(index, anHpa(), {a: 50, b: 50}, {memory: own, cause: 'resync'});
	t.regex(unknown.rescale?.reason ?? '', /by somebody else$/);
	const anew = {history: undefined, own: {replicas: 5, uid: 'uid-of-one-before'}};
	t.is(goesTo(decided(index, anHpa(), {a: 50, b: 50}, {memory: anew})), undefined, 'a target that was made anew begins anew');
});

test('a decision that was done is remembered and kept, one that failed is said and tried again', t => {
	const index = indexOf(web, ...two);
	const decision = decided(index, anHpa(), {a: 90, b: 90});
	const done = rescaled(decision, undefined, nowMs, 1_000_000);
	t.is(saysOf(done, 'AbleToScale'), 'True SucceededRescale');
	t.is(done.events.at(-1)?.message, 'New size: 4; reason: cpu resource utilization (percentage of request) above target');
	t.like(done.status, {lastScaleTime: now});
	t.deepEqual(done.status.decisions, [
		{time: now, from: 2, to: 4, reason: 'cpu resource utilization (percentage of request) above target', measured: 'cpu: 90%/50%'},
	]);
	t.like(done.memory, {own: {replicas: 4}});
	t.deepEqual(done.memory.history?.changes, [{by: 2, atMs: 1_000_000}]);
	const failed = rescaled(decision, 'the store is full', nowMs, 1_000_000);
	t.is(saysOf(failed, 'AbleToScale'), 'False FailedUpdateScale');
	t.like(failed.status, {desiredReplicas: 2, lastScaleTime: undefined});
	t.is(failed.events[0]?.reason, 'FailedRescale');
});

test('no more than the last decisions are kept', t => {
	const made = {time: now, from: 1, to: 2, reason: 'x'};
	const status = {desiredReplicas: 2, decisions: Array.from({length: limits.autoscaleDecisions}, () => made)};
	const done = rescaled(decided(indexOf(web, ...two), anHpa({status}), {a: 90, b: 90}), undefined, nowMs, 0);
	t.is(done.status.decisions?.length, limits.autoscaleDecisions);
	t.is(done.status.decisions?.at(-1)?.to, 4);
});

test('figures alone are a difference of their own', t => {
	const {status} = decided(indexOf(web, ...two), anHpa(), {a: 50, b: 50});
	t.is(differs(status, status), undefined);
	t.is(differs(status, decided(indexOf(web, ...two), anHpa({status}), {a: 51, b: 51}).status), 'figures');
	t.is(differs(status, {...status, currentReplicas: 3}), 'all');
});

test('the pods of a set are its own, by its selector and that of dialect A', t => {
	const set = aReplicaSet({spec: {replicas: 2}});
	const other = aWorker('b', {}, {app: 'web', tier: 'back'});
	const index = indexOf(set, aWorker('a', {}, {app: 'web', tier: 'front'}), other);
	const spec = {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web'}} as const;
	t.is(goesTo(decided(index, anHpa({spec}), {a: 100, b: 60})), 4);
	const metadata = {annotations: {'troupe.dev/selector': 'tier=front'}};
	t.is(goesTo(decided(index, anHpa({spec, metadata}), {a: 200, b: 60})), 4);
	t.deepEqual(decided(index, anHpa({spec, metadata}), {a: 200}).status.currentMetrics?.[0]?.resource?.current.averageUtilization, 200);
});
