import test from 'ava';
import {answerOf, causeOf} from '../../server/why/cause.js';
import type {Evidence} from '../../server/why/finding.js';
import {limits} from '../../api/limits.js';
import {aReplicaSet, aReadyPod, indexOf, nowMs, ownedBy} from '../actors/_objects.js';
import {becauseOfPod} from '../../server/why/pod.js';
import {plantedCauses, type PlantedCause} from './_why-causes.js';

function evidenceOf({
	objects,
	events = {},
	actors = {},
	departed = [],
	isGone,
	partitions = {},
}: Omit<PlantedCause, 'title' | 'answer' | 'chain'>): Evidence {
	return {
		known: isGone === true ? indexOf() : indexOf(...objects),
		nowMs,
		eventsOf: key => events[key] ?? [],
		actorAt: address => actors[address],
		partitionOf: system => partitions[system],
		isGone: isGone === true,
		goneOwnedBy: uid =>
			(isGone === true ? objects : departed).filter(({metadata}) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
	};
}

for (const planted of plantedCauses)
	test(`why of ${planted.title}`, t => {
		const [object] = planted.objects;
		if (object === undefined) return t.fail();
		const found = causeOf(object, evidenceOf(planted));
		const answer = answerOf(object, found);
		t.is(planted.answer.endsWith('.') ? answer : answer.slice(0, planted.answer.length), planted.answer);
		t.deepEqual(
			found.chain.map(({about}) => about),
			planted.chain,
		);
		if (planted.next === undefined) return;
		const {says, atMs} = found.next ?? {};
		t.deepEqual(
			found.next === undefined ? null : [says, ...(atMs === undefined ? [] : [Math.round((atMs - nowMs) / 1_000)])],
			planted.next === null ? null : [...planted.next],
		);
	});

test('the causes that are planted are many', t => {
	t.true(plantedCauses.length >= 30);
});

test('of a set of very many pods only some are looked at, those that are not ready first', t => {
	const [good, bad] = [limits.whyPods, limits.whyPods + 5];
	const count = good + bad;
	const set = aReplicaSet({spec: {replicas: count}, status: {replicas: count, readyReplicas: good}});
	const labels = {labels: {app: 'web'}, ownerReferences: [ownedBy(set)]};
	const pods = Array.from({length: count}, (_, i) => aReadyPod({name: `web-${i}`, metadata: labels}));
	const unready = pods.slice(good).map(pod => ({...pod, status: {phase: 'Pending' as const, conditions: []}}));
	const found = causeOf(set, evidenceOf({objects: [set, ...pods.slice(0, good), ...unready]}));
	t.is(found.is, `has ${good} of ${count} pods ready`);
	t.true(found.because.startsWith(`at least ${limits.whyPods} of its ${count} pods `), found.because);
});

test('a pod is named once, and a name that is part of another word is not taken for it', t => {
	const because = (name: string, text: string): string =>
		becauseOfPod(aReadyPod({name}), {state: 'wrong', is: '', because: text, chain: []});
	t.is(because('a', 'node a-1 was lost'), 'pod a: node a-1 was lost');
	t.is(because('web', 'container web of pod web crashed'), 'container web of pod web crashed');
	t.is(because('web', 'container app of pod web-2 crashed'), 'pod web: container app of pod web-2 crashed');
	t.is(because('web', ''), '');
});
