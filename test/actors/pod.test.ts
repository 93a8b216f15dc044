// The record of a pod: bound once, then as its node sees it, and gone when its node says so.

import test from 'ava';
import {conditionOf} from '../../api/conditions.js';
import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {aContainer, aNode, aPod, aReadyPod, contextWith, indexOf, now, nowMs} from './_objects.js';
import {tellRecord, type Told} from './_records.js';

const replyTo = {to: 'troupe://control/scheduler', as: 'outcome', id: 'bind/x'};
const context = contextWith(indexOf(aNode()));
const bind = (nodeName: string, uid = 'uid-of-web'): Told => ({type: 'bind', uid, nodeName, replyTo});
const observed = (status: Partial<PodStatus>, uid = 'uid-of-web'): Told => ({
	type: 'observed',
	uid,
	node: 'node-a',
	status: {phase: 'Running', ...status},
	events: [],
});
const codeOf = ([effect]: readonly Effect[]): string | undefined =>
	effect?.type === 'reply' && !effect.outcome.ok ? effect.outcome.error.code : undefined;

test('a bind sets the node and says that the pod is scheduled', t => {
	const unscheduled = {type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'full'} as const;
	const {object, effects} = tellRecord(aPod({status: {conditions: [unscheduled], qosClass: 'BestEffort'}}), [bind('node-a')], context);
	t.like(object, {
		spec: {nodeName: 'node-a'},
		status: {phase: 'Pending', qosClass: 'BestEffort', conditions: [{type: 'PodScheduled', status: 'True', lastTransitionTime: now}]},
		metadata: {generation: 1},
	});
	t.deepEqual(effects, [
		{type: 'event', event: 'Normal', reason: 'Scheduled', message: 'assigned default/web to node-a'},
		{type: 'replySelf', to: replyTo},
	]);
});

test('the same bind again changes nothing, another is refused', t => {
	const pod = aReadyPod();
	t.is(tellRecord(pod, [bind('node-a')], context).object, pod);
	const other = tellRecord(pod, [bind('node-b')], context);
	t.is(other.object, pod);
	t.is(codeOf(other.effects), 'ERR_CONFLICT');
});

test('a pod that is being deleted is not bound', t => {
	const pod = aPod({metadata: {deletionTimestamp: now, finalizers: ['a.example/x']}});
	const {object, effects} = tellRecord(pod, [bind('node-a')], context);
	t.is(object, pod);
	t.is(codeOf(effects), 'ERR_CONFLICT');
});

test('whatever is said of another uid is refused', t => {
	const pod = aReadyPod();
	for (const message of [
		bind('node-a', 'old'),
		observed({}, 'old'),
		{type: 'gone', uid: 'old', node: 'node-a', replyTo},
		{type: 'unschedulable', uid: 'old', message: 'x', replyTo},
	]) {
		const {object, effects} = tellRecord(pod, [{...message, replyTo}], context);
		t.is(object, pod);
		t.is(codeOf(effects), 'ERR_CONFLICT');
	}
});

test('why a pod fits nowhere becomes a condition and an event, once', t => {
	const message = {type: 'unschedulable', uid: 'uid-of-web', message: '0/1 nodes fit: node-a: cordoned'};
	const first = tellRecord(aPod(), [message], context);
	t.like(first.object?.status, {conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: message.message}]});
	t.like(first.effects, [{type: 'event', event: 'Warning', reason: 'FailedScheduling'}]);
	const again = tellRecord(aPod(), [message, message], context);
	t.deepEqual(again.object, first.object);
	t.deepEqual(again.effects, []);
	const bound = aReadyPod();
	t.is(tellRecord(bound, [message], context).object, bound);
});

test('the node’s view replaces the status, but for what it cannot know', t => {
	const pod = aReadyPod({status: {qosClass: 'Burstable', startTime: '2023-11-14T22:00:00Z', message: 'old'}});
	const theirs = {
		podIP: '10.1.0.7',
		startTime: now,
		conditions: [
			{type: 'PodScheduled', status: 'False'},
			{type: 'Ready', status: 'False'},
		],
	} as const;
	const {object} = tellRecord(pod, [observed(theirs)], context);
	t.deepEqual(object?.status, {
		phase: 'Running',
		podIP: '10.1.0.7',
		startTime: '2023-11-14T22:00:00Z',
		qosClass: 'Burstable',
		conditions: [
			{type: 'PodScheduled', status: 'True'},
			{type: 'Ready', status: 'False', lastTransitionTime: now},
		],
	} as never);
});

test('a pod that its node has evicted was disrupted, as the failure policy of a job may have it', t => {
	const message = 'the node was low on resource: memory';
	const {object} = tellRecord(aReadyPod(), [observed({phase: 'Failed', reason: 'Evicted', message})], context);
	t.like(conditionOf((object as Pod).status?.conditions, 'DisruptionTarget'), {
		status: 'True',
		reason: 'TerminationByKubelet',
		message,
	});
	const overdue = tellRecord(aReadyPod(), [observed({phase: 'Failed', reason: 'DeadlineExceeded'})], context);
	t.is(conditionOf((overdue.object as Pod).status?.conditions, 'DisruptionTarget'), undefined);
});

test('a status told again writes nothing, whatever the node thinks of since when it is so', t => {
	const condition = (lastTransitionTime: string): NonNullable<PodStatus['conditions']> => [
		{type: 'Ready', status: 'True', lastTransitionTime},
	];
	const pod = tellRecord(
		aReadyPod(),
		[observed({conditions: condition('2023-11-14T22:00:00Z'), startTime: '2023-11-14T22:00:00Z'})],
		context,
	).object;
	if (pod === undefined) return t.fail();
	const again = tellRecord(pod, [observed({conditions: condition(now), startTime: now})], context);
	t.is(again.object, pod);
	const changed = tellRecord(pod, [observed({conditions: [{type: 'Ready', status: 'False', lastTransitionTime: now}]})], context);
	t.deepEqual((changed.object?.status as PodStatus).conditions?.at(-1), {type: 'Ready', status: 'False', lastTransitionTime: now});
});

test('what happened on the node becomes events of the record', t => {
	const event = {event: 'Warning', reason: 'Crashed', message: 'exit 1', fieldPath: 'spec.containers{main}'} as const;
	const {effects} = tellRecord(aReadyPod(), [{...observed({}), events: [event]}], context);
	t.deepEqual(effects, [{type: 'event', ...event}]);
});

test('an end that an agent tells again after its restart counts once, and another one counts', t => {
	const finishedAtMs = Date.parse(now);
	const event = {event: 'Warning', reason: 'Crashed', message: 'exit 1', fieldPath: 'spec.containers{main}', aspect: 'exit 1'} as const;
	const status = (finishedAt: string): Partial<PodStatus> => ({
		containerStatuses: [
			{
				name: 'main',
				restartCount: 0,
				ready: false,
				image: 'web',
				imageID: '',
				lastState: {terminated: {exitCode: 1, reason: 'Error', finishedAt}},
			},
		],
	});
	const first = tellRecord(aReadyPod(), [{...observed(status(now)), events: [{...event, finishedAtMs}]}], context);
	t.deepEqual(first.effects, [{type: 'event', ...event}]);
	const pod = first.object;
	if (pod === undefined) return t.fail();
	const again = tellRecord(pod, [{...observed(status(now)), events: [{...event, finishedAtMs}]}], context);
	t.deepEqual(again.effects, []);
	const ofAnother = {...event, fieldPath: 'spec.containers{side}', finishedAtMs};
	const later = {...event, finishedAtMs: finishedAtMs + 1};
	const both = tellRecord(pod, [{...observed(status(now)), events: [ofAnother, later, {...event, finishedAtMs: Number.NaN}]}], context);
	t.is(both.effects.length, 3);
});

test('a pod that is gone and was to be deleted is removed', t => {
	const pod = aReadyPod({metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 30}});
	const {object, effects} = tellRecord(pod, [{type: 'gone', uid: 'uid-of-web', node: 'node-a', replyTo}], context);
	t.is(object, undefined);
	t.deepEqual(effects, [{type: 'replySelf', to: replyTo}]);
});

test('a pod that is gone and was not to be deleted stays', t => {
	const pod = aReadyPod();
	t.is(tellRecord(pod, [{type: 'gone', uid: 'uid-of-web', node: 'node-a'}], context).object, pod);
});

test('the index files pods by what the scheduler and node sync look for', t => {
	const ports = {nodeName: 'node-a', containers: [aContainer({ports: [{containerPort: 80}]})]};
	const index = indexOf(
		aPod({name: 'waits'}),
		aPod({name: 'runs', spec: ports}),
		aPod({name: 'over', spec: ports, status: {phase: 'Succeeded'}}),
		aPod({name: 'over-before', status: {phase: 'Failed'}}),
	);
	const named = (term: string): string[] => [...index.byTerm('pods', term)].map(({metadata}) => metadata.name);
	t.deepEqual(named('unbound'), ['waits']);
	t.deepEqual(named('node=node-a'), ['runs', 'over']);
	t.deepEqual(named('occupies=node-a'), ['runs']);
	t.deepEqual(named('port=node-a/TCP/80'), ['runs']);
});

test('a wake of a pod that is as it should be writes nothing', t => {
	const pod = aReadyPod();
	const {object, effects} = tellRecord(pod, [{type: 'wake'}], contextWith(indexOf(pod), {nowMs: nowMs + 1}));
	t.is(object, pod);
	t.deepEqual(effects, []);
});

test('an exclusive pod waits for the end of its lease, unless its node never had it', t => {
	const exclusive = {annotations: {'troupe.dev/exclusive': 'true'}};
	const nobody = contextWith(indexOf());
	const deleted = {type: 'delete', graceSeconds: 0, replyTo} as const;
	const seen = tellRecord(aReadyPod({metadata: exclusive, status: {containerStatuses: []}}), [deleted], nobody);
	t.is(seen.object?.metadata.deletionGracePeriodSeconds, 1);
	const typo = tellRecord(aPod({metadata: exclusive, spec: {nodeName: 'nowhere'}}), [deleted], nobody);
	t.is(typo.object, undefined);
});
