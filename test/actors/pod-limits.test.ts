// What a LimitRange makes of new pods, and which of them it refuses.

import test from 'ava';
import type {LimitRangeItem} from '../../api/kinds/limitrange.js';
import type {Container, PodSpec} from '../../api/kinds/pod.js';
import type {Draft} from '../../api/object.js';
import {withinLimits} from '../../actors/control/pods/pod-limits.js';
import {aContainer, aLimitRange, indexOf} from './_objects.js';

const draftOf = (...containers: readonly Container[]): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'web', namespace: 'default'},
	spec: {containers},
});

const asking = (requests?: object, limits?: object, name = 'main'): Container =>
	aContainer({name, resources: {...(requests === undefined ? {} : {requests}), ...(limits === undefined ? {} : {limits})}} as never);

const outcomeOf = (draft: Draft, ...items: readonly LimitRangeItem[]) => withinLimits(draft, indexOf(aLimitRange('a', ...items)));

function resourcesOf(draft: Draft, ...items: readonly LimitRangeItem[]): readonly unknown[] {
	const outcome = outcomeOf(draft, ...items);
	if (!outcome.ok) throw new Error(outcome.error.message);
	return (outcome.value.spec as PodSpec).containers.map(({resources}) => resources);
}

const refusalOf = (draft: Draft, ...items: readonly LimitRangeItem[]): string => {
	const outcome = outcomeOf(draft, ...items);
	return outcome.ok ? 'taken' : outcome.error.message.replace('pods "web" is forbidden: ', '');
};

const defaults: LimitRangeItem = {type: 'Container', default: {cpu: '1', memory: '512Mi'}, defaultRequest: {cpu: '100m', memory: '256Mi'}};

test('a namespace without limits leaves a pod as it is, and so does a draft that admission will refuse', t => {
	const draft = draftOf(asking());
	const outcome = withinLimits(draft, indexOf());
	t.is(outcome.ok && outcome.value, draft);
	const broken = {...draft, spec: {containers: 'none'}};
	const left = outcomeOf(broken, defaults);
	t.is(left.ok && left.value, broken);
	const elsewhere = withinLimits({...draft, metadata: {name: 'web', namespace: 'shop'}}, indexOf(aLimitRange('a', defaults)));
	t.deepEqual(elsewhere.ok && (elsewhere.value.spec as PodSpec).containers[0]?.resources, {});
});

test('what a container does not ask for is filled in, a limit of its own is its request, and the pod says what was set', t => {
	const [none, own, half] = resourcesOf(
		draftOf(asking(), asking({}, {memory: '1Gi'}, 'own'), asking({cpu: '200m', memory: '300Mi'}, {cpu: '2', memory: '1Gi'}, 'all')),
		defaults,
	);
	t.deepEqual(none, {requests: {cpu: '100m', memory: '256Mi'}, limits: {cpu: '1', memory: '512Mi'}});
	t.deepEqual(own, {requests: {memory: '1Gi', cpu: '100m'}, limits: {memory: '1Gi', cpu: '1'}});
	t.deepEqual(half, {requests: {cpu: '200m', memory: '300Mi'}, limits: {cpu: '2', memory: '1Gi'}});
	const outcome = outcomeOf(draftOf(asking(), asking({}, {memory: '1Gi'}, 'own')), defaults);
	t.is(
		outcome.ok && outcome.value.metadata.annotations?.['kubernetes.io/limit-ranger'],
		'LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main; ' +
			'cpu request for container own; cpu limit for container own',
	);
});

test('of several LimitRanges the first by name gives a default, and all of them bound', t => {
	const known = indexOf(
		aLimitRange('b', {type: 'Container', default: {cpu: '2'}, max: {cpu: '900m'}}),
		aLimitRange('a', {type: 'Container', default: {cpu: '1'}}),
	);
	const outcome = withinLimits(draftOf(asking()), known);
	t.is(outcome.ok ? '' : outcome.error.message, 'pods "web" is forbidden: maximum cpu usage per Container is 900m, but limit is 1');
});

test('what is too little, too much or too far apart is refused in the words of Kubernetes', t => {
	const min: LimitRangeItem = {type: 'Container', min: {memory: '100Mi'}};
	t.is(refusalOf(draftOf(asking()), min), 'minimum memory usage per Container is 100Mi.  No request is specified');
	t.is(refusalOf(draftOf(asking({memory: '50Mi'})), min), 'minimum memory usage per Container is 100Mi, but request is 50Mi');
	t.is(refusalOf(draftOf(asking({memory: '100Mi'})), min), 'taken');
	const max: LimitRangeItem = {type: 'Container', max: {memory: '1Gi'}};
	t.is(refusalOf(draftOf(asking({memory: '1Gi'})), max), 'maximum memory usage per Container is 1Gi.  No limit is specified');
	t.is(refusalOf(draftOf(asking({}, {memory: '2Gi'})), max), 'maximum memory usage per Container is 1Gi, but limit is 2Gi');
	t.is(refusalOf(draftOf(asking({}, {memory: '1Gi'})), max), 'taken');
	const ratio: LimitRangeItem = {type: 'Container', maxLimitRequestRatio: {cpu: '1.5'}};
	t.is(
		refusalOf(draftOf(asking({}, {memory: '1Gi'})), ratio),
		'cpu max limit to request ratio per Container is 1.5, but no request is specified or request is 0',
	);
	t.is(
		refusalOf(draftOf(asking({cpu: '1'})), ratio),
		'cpu max limit to request ratio per Container is 1.5, but no limit is specified or limit is 0',
	);
	t.is(
		refusalOf(draftOf(asking({cpu: '1'}, {cpu: '2'})), ratio),
		'cpu max limit to request ratio per Container is 1.5, but provided ratio is 2.000000',
	);
	t.is(refusalOf(draftOf(asking({cpu: '1'}, {cpu: '1500m'})), ratio), 'taken');
});

test('limits of a pod are about the sum of its containers, and of its init containers where one is more', t => {
	const two = draftOf(asking({}, {memory: '600Mi'}), asking({}, {memory: '600Mi'}, 'second'));
	const item: LimitRangeItem = {type: 'Pod', max: {memory: '1Gi'}};
	t.is(refusalOf(two, item), 'maximum memory usage per Pod is 1Gi, but limit is 1200Mi');
	t.is(refusalOf(draftOf(asking()), item), 'maximum memory usage per Pod is 1Gi.  No limit is specified');
	const init = {...two, spec: {containers: [asking({}, {memory: '1Mi'})], initContainers: [asking({}, {memory: '2Gi'}, 'first')]}};
	t.is(refusalOf(init, item), 'maximum memory usage per Pod is 1Gi, but limit is 2Gi');
});

test('all that is wrong is told at once, and limits of claims are about claims', t => {
	const item: LimitRangeItem = {type: 'Container', min: {cpu: '1'}, max: {memory: '1Mi'}};
	t.is(
		refusalOf(draftOf(asking({}, {memory: '2Mi'})), item),
		'[minimum cpu usage per Container is 1.  No request is specified, maximum memory usage per Container is 1Mi, but limit is 2Mi]',
	);
	t.is(refusalOf(draftOf(asking()), {type: 'PersistentVolumeClaim', max: {storage: '1Gi'}}), 'taken');
});
