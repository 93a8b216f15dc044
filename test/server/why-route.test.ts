// `GET /troupe/v1/why`: answered from what is committed, with the last words of one container from its node, also when the object is gone.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import type {Link} from '../../server/why/finding.js';
import {linesOf, shownChain} from '../../server/why/words.js';
import {aNode, aReplicaSet, ownedBy} from '../actors/_objects.js';
import {openDoor} from './door.js';
import {actorTree} from '../api/_actor-tree.js';

type Why = {
	answer: string;
	state: string;
	next: {says: string; atMs?: number} | null;
	chain: Link[];
	nowMs: number;
	goneAtMs?: number;
	object: {kind: string; spec?: unknown} | null;
	actor: {state: string; failure?: string; children?: unknown} | null;
	journal: {cause: string}[];
	events: unknown[];
};

const address = 'troupe://control/pods/default.web';
const actor = actorTree(address, {name: 'default.web', behavior: 'object'});

const ended = (nowMs: number) => ({terminated: {exitCode: 0, reason: 'Completed', finishedAt: timestampOf(nowMs)}});

/** A pod on node-a whose program has ended and is started again soon. */
function crashing(pod: ApiObject, nowMs: number, more: object = {}): ApiObject {
	const waiting = {reason: 'CrashLoopBackOff', message: '', retryAt: timestampOf(nowMs + 5_000), retry: 3};
	const container = {
		name: 'main',
		image: 'none',
		imageID: '',
		ready: false,
		restartCount: 2,
		state: {waiting},
		lastState: ended(nowMs),
		...more,
	};
	return {...pod, spec: {...(pod.spec as object), nodeName: 'node-a'}, status: {phase: 'Running', containerStatuses: [container]}};
}

const chunk = (text: string) =>
	succeeded({data: Buffer.from(text).toString('base64'), nextOffset: text.length, endOffset: text.length, end: true, attempt: 1});

test('why answers in a sentence, with what comes next and the chain, and has the actor, the journal and the events', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.put(aNode());
	const nowMs = cluster.control.nowMs();
	cluster.put(crashing(cluster.pod('web'), nowMs));
	const key = 'pods/default/web';
	cluster.trees.push({system: 'control', tree: {...actor, address: 'troupe://control/', name: '', children: [actor]}, problem: undefined});
	cluster.journals.set(key, [{version: 3, atMs: 1, type: 'create', from: '', cause: 'http root POST pods/default/web'}]);
	cluster.events.set(key, [{type: 'Normal', reason: 'Scheduled', message: 'm', count: 1, firstAtMs: 1, lastAtMs: 2}]);
	cluster.onReadLog((node, request) => {
		t.is(node, 'node-a');
		t.like(request, {id: {container: 'main'}, previous: false, tailLines: limits.whyLogLines, waitMs: 0});
		return chunk('one\n\u001b[31mtwo\n\n');
	});
	const why = await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web');
	t.is(why.answer, 'Pod web crashes: its container main ended by itself with 0, twice; its last words: `[31mtwo`.');
	t.is(why.state, 'wrong');
	t.deepEqual(why.next, {says: 'restart attempt 3', atMs: nowMs + 5_000});
	t.deepEqual(
		why.chain.map(({about, lines}) => [about, lines]),
		[
			['pod/web', undefined],
			['container main', ['one', '[31mtwo']],
		],
	);
	t.false('log' in (why.chain[1] ?? {}));
	t.is(why.object?.kind, 'Pod');
	t.is(why.object?.spec, undefined);
	t.is(why.actor?.state, 'running');
	t.is(why.actor?.children, 0);
	t.is(why.journal[0]?.cause, 'http root POST pods/default/web');
	t.is(why.events.length, 1);
	t.is(cluster.asked.filter(({message}) => message.type === 'readLog').length, 1);
	t.is(cluster.asked.at(-1)?.options.deadlineMs, limits.whyLogMs);
});

test('a node that has no lines, or does not answer, leaves the answer without words', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.put(aNode());
	cluster.put(crashing(cluster.pod('web'), cluster.control.nowMs()));
	for (const outcome of [failed('ERR_TIMEOUT'), chunk('\n')]) {
		cluster.onReadLog(() => outcome);
		t.is(
			(await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web')).answer,
			'Pod web crashes: its container main ended by itself with 0, twice.',
		);
	}
});

test('the words that a status keeps are taken without a question', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.put(aNode());
	const lastState = {terminated: {exitCode: 3, reason: 'Error', message: 'starting\nno table'}};
	cluster.put(crashing(cluster.pod('web'), cluster.control.nowMs(), {lastState}));
	const {answer} = await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web');
	t.is(answer, 'Pod web crashes: its container main exited with 3, twice; its last words: `no table`.');
	t.deepEqual(
		cluster.asked.map(({message}) => message.type),
		['inspect'],
	);
});

test('whoever may not read the log sees no word of it', t => {
	const finding = {state: 'wrong', is: 'crashes', because: '', chain: [{about: 'container a', says: 'exited', lines: ['a word']}]} as const;
	t.deepEqual(shownChain(finding, false), [{about: 'container a', says: 'exited'}]);
	t.deepEqual(shownChain(finding, true)[0]?.lines, ['a word']);
});

test('of a long log only the last lines are shown, however long they are', t => {
	const data = (text: string) => ({data: Buffer.from(text).toString('base64'), nextOffset: 0, endOffset: 0, end: true, attempt: 0});
	const lines = linesOf(data(Array.from({length: 50}, (_, i) => `line ${i}`).join('\n')));
	t.is(lines?.length, limits.whyLogLines);
	t.is(lines?.at(-1), 'line 49');
	t.is(linesOf(data('x'.repeat(100_000)))?.[0]?.length, limits.lastLinesBytes);
	t.is(linesOf(data('\n \n')), undefined);
});

test('an object that is gone is told of as it was, with who asked for its end', async t => {
	const {json, cluster} = await openDoor(t);
	const nowMs = cluster.control.nowMs();
	cluster.put(aNode());
	const set = aReplicaSet({name: 'web', spec: {replicas: 1}, status: {replicas: 1, readyReplicas: 0}});
	const pod = crashing(cluster.pod('web-1'), nowMs, {lastState: {terminated: {exitCode: 3, reason: 'Error', message: 'no table'}}});
	const owned = {...pod, metadata: {...pod.metadata, ownerReferences: [ownedBy(set)]}};
	cluster.drop('pods/default/web-1');
	cluster.departed.set('pods/default/web-1', {object: owned, goneAtMs: nowMs - 120_000, askedVersion: 4});
	cluster.departed.set('replicasets/default/web', {object: set, goneAtMs: nowMs - 121_000, askedVersion: 2});
	cluster.journals.set('pods/default/web-1', [
		{version: 3, atMs: 1, type: 'create', from: '', cause: 'http root POST pods'},
		{version: 4, atMs: 1, type: 'wake', from: '', cause: 'http root DELETE pods/default/web-1'},
		{version: 5, atMs: 1, type: 'gone', from: '', cause: 'exit of main'},
	]);
	const why = await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web-1');
	t.is(
		why.answer,
		'Pod web-1 has been gone for 2 min, because of http root DELETE pods/default/web-1. Before that: Pod web-1 crashes: its container main exited with 3, twice; its last words: `no table`.',
	);
	t.like(why, {state: 'gone', next: null, object: null, goneAtMs: nowMs - 120_000});
	const ofSet = await json<Why>(200, 'GET', '/troupe/v1/why/replicasets/default/web');
	t.regex(
		ofSet.answer,
		/^ReplicaSet web has been gone for 2 min\. Before that: ReplicaSet web has 0 of 1 pod ready: its pod crashes; container main of pod web-1 /,
	);
	t.deepEqual(
		ofSet.chain.map(({about}) => about),
		['replicaset/web', 'pod/web-1', 'container main'],
	);
	cluster.journals.set('replicasets/default/web', [
		{version: 2, atMs: 1, type: 'wake', from: '', cause: 'http root DELETE replicasets/default/web'},
	]);
	const later = await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web-1');
	t.regex(later.answer, /^Pod web-1 has been gone for 2 min, because of http root DELETE replicasets\/default\/web\. /);
	cluster.departed.set('replicasets/default/web', {object: set, goneAtMs: nowMs, askedVersion: 9});
	t.is((await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/web-1')).answer, why.answer, 'what went later is no cause');
});

test('of what is gone and forgotten the last event is told; of what never was, nothing', async t => {
	const {json, cluster} = await openDoor(t);
	const lastAtMs = cluster.control.nowMs() - 5_000;
	cluster.events.set('pods/default/old', [{type: 'Warning', reason: 'Crashed', message: 'exit 3', count: 1, firstAtMs: 1, lastAtMs}]);
	const why = await json<Why>(200, 'GET', '/troupe/v1/why/pods/default/old');
	t.is(why.answer, 'Pod old is gone, and how it was is not known any more. The last that was told of it, 5 s ago: Crashed: exit 3.');
	t.deepEqual(why.chain, []);
	await json(404, 'GET', '/troupe/v1/why/pods/default/nobody');
	await json(404, 'GET', '/troupe/v1/why/pods/_/web');
	await json(404, 'GET', '/troupe/v1/why/nothing/default/web');
	t.is(
		(await json<Why>(200, 'GET', '/troupe/v1/why/namespaces/_/default')).answer,
		'Nothing is wrong with Namespace default: it has 0 objects.',
	);
});
