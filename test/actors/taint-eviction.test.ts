// Taints of effect NoExecute that people put on a node: who leaves, when, and that a restart begins no time anew.

import test from 'ava';
import type {Taint} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Toleration} from '../../api/shapes/pod.js';
import {timestampOf} from '../../api/object.js';
import {aNode, aReadyPod, contextWith, indexOf, nowMs, put} from './_objects.js';
import {commit, tellRecord} from './_records.js';

const since = (agoMs: number): string => timestampOf(nowMs - agoMs);
const taint = (more: Partial<Taint> = {}): Taint => ({key: 'maintenance', effect: 'NoExecute', timeAdded: since(10_000), ...more});
const pod = (...tolerations: readonly Toleration[]): Pod => aReadyPod({spec: {tolerations}});
const tolerating = (tolerationSeconds?: number): Toleration => ({
	key: 'maintenance',
	operator: 'Exists',
	effect: 'NoExecute',
	...(tolerationSeconds === undefined ? {} : {tolerationSeconds}),
});

const self = 'troupe://control/pods/default.web';
/** What the record of the pod asks for when it is woken. */
function woken(of: Pod, ...taints: readonly Taint[]) {
	const index = indexOf(aNode({spec: {taints}}), of);
	return tellRecord(of, [{type: 'wake'}], contextWith(index, {self})).effects;
}
const due = (dueMs: number) => ({type: 'taintDue', uid: 'uid-of-web', node: 'node-a', dueMs});

test('a pod that does not tolerate the taint leaves at once, with its grace and the reason', t => {
	const of = pod();
	t.deepEqual(woken(of, taint()), [{type: 'tell', to: self, message: due(0)}] as never);
	const index = indexOf(aNode({spec: {taints: [taint({value: 'now'})]}}), of);
	const {effects} = tellRecord(of, [due(0)], contextWith(index));
	t.like(effects, [
		{
			type: 'event',
			reason: 'TaintManagerEviction',
			message: 'the pod does not tolerate the taint maintenance=now:NoExecute of node node-a',
		},
	]);
	const after = commit(index, of, due(0)) as Pod;
	t.is(after.metadata.deletionGracePeriodSeconds, 30);
	t.like(after.status?.conditions?.at(-1), {type: 'DisruptionTarget', reason: 'DeletionByTaintManager'});
});

test('a pod that tolerates it for a time leaves when that is over, counted from when the taint came', t => {
	t.deepEqual(woken(pod(tolerating(60)), taint()), [
		{type: 'wakeAt', name: 'taint', atMs: nowMs + 50_000, message: due(nowMs + 50_000), atMostMs: 60_000},
	] as never);
	t.deepEqual(woken(pod(tolerating(5)), taint()), [{type: 'tell', to: self, message: due(nowMs - 5_000)}] as never);
	t.deepEqual(woken(pod(tolerating(60), tolerating(30)), taint()), [
		{type: 'wakeAt', name: 'taint', atMs: nowMs + 20_000, message: due(nowMs + 20_000), atMostMs: 30_000},
	] as never);
});

test('a pod that came to a tainted node counts from then', t => {
	const of = aReadyPod({
		spec: {tolerations: [tolerating(60)]},
		status: {conditions: [{type: 'PodScheduled', status: 'True', lastTransitionTime: since(1_000)}]},
	});
	t.deepEqual(woken(of, taint()), [
		{type: 'wakeAt', name: 'taint', atMs: nowMs + 59_000, message: due(nowMs + 59_000), atMostMs: 60_000},
	] as never);
});

test('who tolerates it without a number stays, and so does whoever is not meant', t => {
	t.deepEqual(woken(pod(tolerating()), taint()), []);
	t.deepEqual(woken(pod(), taint({effect: 'NoSchedule'}), taint({effect: 'PreferNoSchedule'})), []);
	t.deepEqual(woken(pod(), taint({key: 'node.kubernetes.io/unreachable'})), []);
	t.deepEqual(woken(aReadyPod({status: {phase: 'Succeeded', conditions: [{type: 'PodScheduled', status: 'True'}]}}), taint()), []);
});

test('of several taints the first that is over counts', t => {
	const other: Toleration = {key: 'other', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20};
	t.deepEqual(woken(pod(tolerating(60), other), taint(), taint({key: 'other'})), [
		{type: 'wakeAt', name: 'taint', atMs: nowMs + 10_000, message: due(nowMs + 10_000), atMostMs: 20_000},
	] as never);
	t.deepEqual(woken(pod(tolerating(60)), taint(), taint({key: 'other'})), [{type: 'tell', to: self, message: due(0)}] as never);
});

test('a time that does not hold any more means nothing', t => {
	const of = pod(tolerating(60));
	const index = indexOf(aNode({spec: {taints: [taint()]}}), of);
	t.is(commit(index, of, due(nowMs + 1)), of);
	put(index, aNode());
	t.is(commit(index, of, due(nowMs + 50_000)), of);
});

test('the time counts when its length is over, wherever the clock was set meanwhile', t => {
	const of = pod(tolerating(60));
	const index = indexOf(aNode({spec: {taints: [taint()]}}), of);
	const after = commit(index, of, due(nowMs + 50_000), {nowMs: nowMs - 3_600_000}) as Pod;
	t.true(after.metadata.deletionTimestamp !== undefined);
});

test('a node writes down when a taint came, once', t => {
	const {timeAdded: _time, ...fresh} = taint();
	const node = aNode({spec: {taints: [taint({key: 'old'}), fresh, {key: 'other', effect: 'NoSchedule'}]}});
	const index = indexOf(node);
	t.deepEqual(tellRecord(node, [{type: 'wake'}], contextWith(index, {self})).effects, [
		{type: 'tell', to: self, message: {type: 'stamp'}},
	] as never);
	const stamped = commit(index, node, {type: 'stamp'}) as typeof node;
	t.deepEqual(
		stamped.spec?.taints?.map(({timeAdded}) => timeAdded),
		[since(10_000), timestampOf(nowMs), undefined],
	);
	t.deepEqual(tellRecord(stamped, [{type: 'wake'}], contextWith(index)).effects, []);
});
