// Volumes are there before any container starts, and follow what they show.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {Volume} from '../../api/kinds/pod.js';
import type {PodStatus} from '../../api/kinds/pod.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {nodeDesign} from '../../actors/node/design.js';
import type {Assign} from '../../actors/node/pods/hand-state.js';
import type {PodEvent} from '../../actors/protocol/sync-message.js';
import {anAssignment, anExit, aRunningContainer, sandbox} from './_agent.js';
import {aCopy, configMapOf, secretCopy, settingsKey, dbKey} from './_config.js';
import {handAddress, openTree, type Tree} from './_tree.js';

const assignOf = (volumes: readonly Volume[], overrides = {}): Assign => ({
	type: 'assign',
	key: 'pods/default/web',
	version: 'v1',
	assignment: anAssignment({...overrides, spec: {volumes}}),
});
const settings: Volume = {name: 'settings', configMap: {name: 'settings'}};
const scratch: Volume = {name: 'scratch', emptyDir: {}};
const ensure = 'uid-of-web/sandbox/ensure';
const inspect = 'uid-of-web/main/inspect';
const start = 'uid-of-web/main/start/0';
const nothing = succeeded({running: undefined, lastExit: undefined, nextAttempt: 0});

const volumesKey = ({open}: Tree): string | undefined => [...open.keys()].find(key => key.includes('/volumes/'));
const answerVolumes = (tree: Tree, outcome: Parameters<Tree['answer']>[1] = succeeded(null)): void =>
	tree.answer(volumesKey(tree) ?? 'volumes', outcome);
type Report = {readonly status: PodStatus; readonly events: readonly PodEvent[]};
const lastReport = ({sent}: Tree): Report | undefined =>
	sent.flatMap(({message}) => (message.type === 'podReport' ? [message as unknown as Report] : [])).at(-1);
const waiting = (tree: Tree): unknown => lastReport(tree)?.status.containerStatuses?.[0]?.state?.waiting;

/** A node's cache that a test fills as it goes. */
function aCache(): ObjectIndex & {put: (...copy: Parameters<typeof aCopy>) => void; drop: (key: string) => void} {
	const known = new ObjectIndex(nodeDesign.termsOf);
	return Object.assign(known, {
		put: (...copy: Parameters<typeof aCopy>) => void known.apply(copy[0], known.version + 1, aCopy(...copy), () => ''),
		drop: (key: string) => void known.apply(key as never, known.version + 1, undefined, () => ''),
	});
}
const changed = (tree: Tree): void => tree.tell(handAddress, {type: 'configChanged'});

/** A pod with these volumes whose container was looked at. */
function looked(volumes: readonly Volume[], known = aCache(), overrides = {}): Tree {
	const tree = openTree(assignOf(volumes, overrides), 'fresh', known);
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, nothing);
	return tree;
}

test('a pod without volumes asks for none', t => {
	const tree = looked([]);
	t.deepEqual([...tree.open.keys()], [start]);
});

test('a container starts when the volumes are there', t => {
	const tree = looked([scratch], undefined, {});
	t.is([...tree.open.keys()].length, 1);
	t.like(tree.open.get(volumesKey(tree) ?? ''), {
		command: {
			type: 'volumes.ensure',
			uid: 'uid-of-web',
			namespace: 'default',
			volumes: [{name: 'scratch', source: {type: 'emptyDir'}}],
			fsGroup: undefined,
		},
	});
	t.deepEqual(waiting(tree), {reason: 'ContainerCreating'});
	answerVolumes(tree);
	t.deepEqual([...tree.open.keys()], [start]);
});

test('a volume that names what is not there says so, and is made when it comes', t => {
	const known = aCache();
	const tree = looked([settings], known);
	t.is(volumesKey(tree), undefined);
	t.deepEqual(waiting(tree), {reason: 'CreateContainerConfigError', message: 'configmap "settings" not found'});
	const events = tree.sent
		.filter(({message}) => message.type === 'podReport')
		.flatMap(({message}) => (message as unknown as Report).events);
	t.deepEqual(events, [{event: 'Warning', reason: 'FailedMount', message: 'configmap "settings" not found'}]);
	const before = tree.sent.length;
	changed(tree);
	t.is(tree.sent.length, before, 'what was said is not said again');
	known.put(settingsKey, configMapOf({a: '1'}));
	changed(tree);
	answerVolumes(tree);
	t.true(tree.open.has(start));
});

test('a Secret that the edge does not find is waited for likewise', t => {
	const known = aCache();
	known.put(dbKey, secretCopy);
	const tree = looked([{name: 'db', secret: {secretName: 'db', items: [{key: 'k', path: 'k'}]}}], known);
	answerVolumes(tree, failed('ERR_CONFIG_MISSING', {message: "couldn't find key k in Secret default/db"}));
	t.like(waiting(tree), {reason: 'CreateContainerConfigError', message: "couldn't find key k in Secret default/db"});
	tree.pass(600_000);
	t.is(volumesKey(tree), undefined);
	known.put(dbKey, secretCopy, 'v2');
	changed(tree);
	answerVolumes(tree);
	t.true(tree.open.has(start));
});

test('what changes while they are made is made as well', t => {
	const known = aCache();
	known.put(settingsKey, configMapOf({a: '1'}));
	const tree = looked([settings], known);
	known.put(settingsKey, configMapOf({a: '2'}), 'v2');
	changed(tree);
	answerVolumes(tree);
	t.like(tree.open.get(volumesKey(tree) ?? ''), {command: {volumes: [{source: {files: [{data: Buffer.from('2').toString('base64')}]}}]}});
});

test('volumes that cannot be made are tried again, ever more slowly', t => {
	const tree = looked([scratch]);
	for (const delayMs of [100, 200, 400]) {
		answerVolumes(tree, failed('ERR_RUNTIME', {message: 'no space'}));
		t.like(waiting(tree), {reason: 'FailedMount', message: 'no space'});
		tree.pass(delayMs - 1);
		t.is(volumesKey(tree), undefined);
		tree.pass(1);
	}
	answerVolumes(tree);
	t.true(tree.open.has(start));
});

test('or at once, when somebody asks', t => {
	const tree = looked([scratch]);
	answerVolumes(tree, failed('ERR_RUNTIME', {message: 'no space'}));
	tree.tell(handAddress, {type: 'retryNow', replyTo: {to: 'x', as: 'y', id: 'z'}});
	t.deepEqual(tree.replies.at(-1), {ok: true, value: {containers: ['main']}});
	t.not(volumesKey(tree), undefined);
});

function running(known: ReturnType<typeof aCache>): Tree {
	const tree = looked([settings], known);
	answerVolumes(tree);
	tree.answer(start, succeeded(aRunningContainer()));
	return tree;
}

test('files of what runs follow a change, and nothing is started again', t => {
	const known = aCache();
	known.put(settingsKey, configMapOf({a: '1'}));
	const tree = running(known);
	changed(tree);
	t.deepEqual([...tree.open.keys()], [], 'nothing has changed');
	known.put(settingsKey, configMapOf({a: '2'}), 'v2');
	changed(tree);
	t.deepEqual([...tree.open.keys()], [volumesKey(tree)]);
	answerVolumes(tree);
	t.deepEqual([...tree.open.keys()], []);
});

test('what goes, or fails to be brought up to date, leaves what runs alone', t => {
	const known = aCache();
	known.put(settingsKey, configMapOf({a: '1'}));
	const tree = running(known);
	known.drop(settingsKey);
	changed(tree);
	t.deepEqual([...tree.open.keys()], []);
	known.put(settingsKey, configMapOf({a: '2'}), 'v2');
	changed(tree);
	answerVolumes(tree, failed('ERR_RUNTIME', {message: 'no space'}));
	t.like(lastReport(tree), {status: {phase: 'Running'}, events: [{reason: 'FailedMount', message: 'no space'}]});
	tree.tell(`${handAddress}/main`, {type: 'exited', exit: anExit()} as never);
	t.true(tree.open.has('uid-of-web/main/start/1'));
});

test('after a restart of the agent what runs is found before its volumes are', t => {
	const tree = openTree(assignOf([settings]), 'resumed', aCache());
	tree.answer(ensure, succeeded(sandbox));
	tree.answer(inspect, succeeded({running: aRunningContainer(), lastExit: undefined, nextAttempt: 1}));
	t.like(lastReport(tree), {status: {phase: 'Running', containerStatuses: [{ready: true}]}});
	tree.tell(`${handAddress}/main`, {type: 'exited', exit: anExit()} as never);
	t.like(waiting(tree), {reason: 'CreateContainerConfigError'});
	t.deepEqual([...tree.open.keys()], [], 'its next attempt waits for them');
});

test('a pod that ends makes no volumes any more', t => {
	const tree = looked([scratch]);
	answerVolumes(tree, failed('ERR_RUNTIME', {message: 'no space'}));
	tree.tell(handAddress, assignOf([scratch], {deletionGraceSeconds: 5}));
	tree.pass(600_000);
	t.is(volumesKey(tree), undefined);
	tree.answer('uid-of-web/sandbox/remove', succeeded(null));
	t.false(tree.lives(handAddress));
});

test('volumes whose actor crashed are made once more', t => {
	const tree = looked([scratch]);
	tree.crash(`${handAddress}/_volumes`);
	answerVolumes(tree);
	t.true(tree.open.has(start));
});

test('a held container whose actor crashed has its turn again', t => {
	const tree = looked([scratch]);
	answerVolumes(tree);
	tree.crash(`${handAddress}/main`);
	tree.answer(inspect, nothing);
	t.true(tree.open.has(start));
});
