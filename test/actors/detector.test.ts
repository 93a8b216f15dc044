// A node that is silent is found out, its pods are replaced, and what is heard again goes on as it was; in the whole control tree.

import test from 'ava';
import {limits} from '../../api/limits.js';
import type {Pod} from '../../api/kinds/pod.js';
import {detectorAddress} from '../../actors/addresses.js';
import {detector, type DetectorMessage, type DetectorState, type SignsMessage} from '../../actors/control/nodes/detector.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playFrom} from '../../system/kernel/play.js';
import {FakeCluster} from './_cluster.js';
import {aContainer, aNode, aPod, aReadyPod, contextWith, indexOf, openWrites} from './_objects.js';

const {nodeGraceMs, suspectAfterMs, signsMs} = limits;

const threeNodes = ['node-a', 'node-b', 'node-c'];
const unreachable = 'node.kubernetes.io/unreachable';

const podDraft = (name: string, spec: object = {}, metadata: object = {}) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, ...metadata},
	spec: {containers: [aContainer()], ...spec},
});

const setDraft = (replicas: number) => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name: 'web'},
	spec: {
		replicas,
		selector: {matchLabels: {app: 'web'}},
		template: {metadata: {labels: {app: 'web'}}, spec: {containers: [aContainer()]}},
	},
});

/** Where the one bare pod is, and the cluster in which its node falls silent. */
function withBarePod(spec: object = {}, nodes = threeNodes): {cluster: FakeCluster; home: string} {
	const cluster = new FakeCluster({nodes});
	cluster.create('pods', podDraft('bare', spec));
	cluster.settle();
	const home = cluster.pod('bare')?.spec?.nodeName ?? '';
	if (!cluster.node(home).runs.has('pods/default/bare')) throw new Error('the pod does not run');
	return {cluster, home};
}

test('a cluster in which all is heard writes nothing', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(10_000);
	cluster.writes = [];
	cluster.pass(60_000);
	t.deepEqual(cluster.writes, []);
});

test('a node that is silent for less than the grace is written twice, and nothing else is', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(10_000);
	cluster.writes = [];
	const pids = [...cluster.node('node-a').runs.values()];
	cluster.node('node-a').cut = true;
	cluster.pass(suspectAfterMs + signsMs);
	t.is(cluster.ready('node-a'), 'Unknown NodeSuspect');
	cluster.pass(nodeGraceMs - suspectAfterMs - 3 * signsMs);
	cluster.node('node-a').cut = false;
	cluster.pass(10_000);
	t.is(cluster.ready('node-a'), 'True AgentReady');
	t.deepEqual(cluster.writes, ['nodes/_/node-a', 'nodes/_/node-a']);
	t.deepEqual([...cluster.node('node-a').runs.values()], pids);
});

test('the ClusterConfig says how long a silent node has, also while the cluster runs', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(10_000);
	cluster.setGrace('30s');
	cluster.node('node-a').cut = true;
	cluster.pass(30_000 - 2 * signsMs);
	t.is(cluster.ready('node-a'), 'Unknown NodeSuspect');
	cluster.setGrace('1s');
	cluster.pass(2 * signsMs);
	t.is(cluster.ready('node-a'), 'Unknown NodeLost');
	cluster.heal('node-a');
	cluster.pass(5_000);
	cluster.node('node-b').cut = true;
	cluster.pass(1_000 + 2 * signsMs);
	t.is(cluster.ready('node-b'), 'Unknown NodeLost');
});

test('a pod that tolerates a lost node for longer outlives a short grace', t => {
	const tolerations = [{key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20}];
	const {cluster, home} = withBarePod({tolerations});
	cluster.setGrace('1s');
	cluster.pass(10_000);
	cluster.node(home).cut = true;
	cluster.pass(20_000 - 2 * signsMs);
	t.is(cluster.pod('bare')?.spec?.nodeName, home);
	cluster.pass(1_000);
	t.not(cluster.pod('bare')?.spec?.nodeName, home);
});

test('a suspect node gets no new pods, and again some when it is back', t => {
	const cluster = new FakeCluster({nodes: ['node-a', 'node-b']});
	cluster.node('node-a').cut = true;
	cluster.pass(2_000);
	for (let i = 0; i < 4; i++) cluster.create('pods', podDraft(`p${i}`));
	cluster.settle();
	t.deepEqual(new Set(Object.values(cluster.places())), new Set(['node-b']));
	cluster.create('pods', podDraft('picky', {nodeSelector: {nothing: 'here'}}));
	cluster.heal('node-a');
	cluster.pass(1_000);
	cluster.create('pods', podDraft('last'));
	cluster.settle();
	t.is(cluster.places()['last'], 'node-a');
});

test('pods of a set are made anew elsewhere when their node is dead, and are surplus when it returns', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(2_000);
	const before = cluster.places();
	const node = cluster.node('node-a');
	node.cut = true;
	cluster.pass(nodeGraceMs - signsMs);
	t.deepEqual(cluster.places(), before);
	cluster.pass(2 * signsMs);
	t.is(cluster.ready('node-a'), 'Unknown NodeLost');
	t.like(cluster.nodeObject('node-a').spec?.taints, [{key: unreachable, effect: 'NoExecute'}]);
	const after = cluster.places();
	t.is(Object.keys(after).length, 6);
	t.false(Object.values(after).includes('node-a'));
	t.is(Object.keys(before).filter(name => name in after).length, 4);
	t.is(node.runs.size, 2);
	cluster.heal('node-a');
	cluster.pass(1_000);
	t.is(node.runs.size, 0);
	t.is(cluster.ready('node-a'), 'True AgentReady');
	t.is(cluster.nodeObject('node-a').spec?.taints, undefined);
	t.deepEqual(cluster.places(), after);
});

test('a bare pod that the scheduler bound is bound anew, as the same object', t => {
	const {cluster, home} = withBarePod();
	const uid = cluster.pod('bare')?.metadata.uid;
	cluster.node(home).cut = true;
	cluster.pass(nodeGraceMs + signsMs);
	const pod = cluster.pod('bare');
	t.is(pod?.metadata.uid, uid);
	t.not(pod?.spec?.nodeName, home);
	t.true(cluster.node(pod?.spec?.nodeName ?? '').runs.has('pods/default/bare'));
	t.is(pod?.status?.phase, 'Running');
	t.true(cluster.reasons('pods/default/bare').includes('Replaced'));
	cluster.heal(home);
	cluster.pass(1_000);
	t.is(cluster.node(home).runs.size, 0);
	t.deepEqual(cluster.pod('bare')?.spec, pod?.spec);
	t.is(cluster.pod('bare')?.status?.phase, 'Running');
});

test('a pod that fits nowhere else waits, and goes where there is room', t => {
	const {cluster, home} = withBarePod({}, ['node-a', 'node-b']);
	const other = home === 'node-a' ? 'node-b' : 'node-a';
	t.true(cluster.tellRecord(`nodes/_/${other}`, {type: 'patch', patch: {spec: {unschedulable: true}}}).ok);
	cluster.node(home).cut = true;
	cluster.pass(nodeGraceMs + signsMs);
	t.is(cluster.pod('bare')?.spec?.nodeName, undefined);
	t.is(cluster.pod('bare')?.status?.phase, 'Pending');
	t.regex(cluster.pod('bare')?.status?.conditions?.[0]?.message ?? '', new RegExp(`${home}: lost`));
	cluster.heal(home);
	cluster.pass(1_000);
	t.is(cluster.pod('bare')?.spec?.nodeName, home);
	t.is(cluster.node(home).runs.size, 1);
});

test('a pod whose manifest names the node stays, says so, and is ready again when the node is back', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('pods', podDraft('pinned', {nodeName: 'node-a'}));
	cluster.pass(1_000);
	const [run] = cluster.node('node-a').runs.values();
	cluster.node('node-a').cut = true;
	cluster.pass(nodeGraceMs + signsMs);
	t.is(cluster.pod('pinned')?.spec?.nodeName, 'node-a');
	const readyOf = () => cluster.pod('pinned')?.status?.conditions?.find(({type}) => type === 'Ready');
	t.like(readyOf(), {status: 'False', reason: 'NodeLost'});
	t.regex(readyOf()?.message ?? '', /manifest/);
	cluster.writes = [];
	cluster.pass(30_000);
	t.deepEqual(cluster.writes, []);
	cluster.heal('node-a');
	cluster.pass(1_000);
	t.is(readyOf()?.status, 'True');
	t.deepEqual([...cluster.node('node-a').runs.values()], [run]);
});

test('a node that comes back without having lost its connection is asked how its pods are', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('pods', podDraft('pinned', {nodeName: 'node-a'}));
	cluster.pass(1_000);
	cluster.node('node-a').cut = true;
	cluster.pass(20_000);
	cluster.node('node-a').cut = false;
	cluster.pass(1_000);
	t.is(cluster.pod('pinned')?.status?.conditions?.find(({type}) => type === 'Ready')?.status, 'True');
	t.is(cluster.ready('node-a'), 'True AgentReady');
});

const tolerating = (tolerationSeconds?: number) => ({
	tolerations: [
		{key: unreachable, operator: 'Exists', effect: 'NoExecute', ...(tolerationSeconds === undefined ? {} : {tolerationSeconds})},
	],
});

test('each pod waits for its own grace: as many seconds as it tolerates, for ever without a number', t => {
	const cluster = new FakeCluster({nodes: ['node-a', 'node-b', 'node-c']});
	for (const name of ['node-b', 'node-c']) cluster.tellRecord(`nodes/_/${name}`, {type: 'patch', patch: {spec: {unschedulable: true}}});
	cluster.create('pods', podDraft('plain'));
	cluster.create('pods', podDraft('short', tolerating(0)));
	cluster.create('pods', podDraft('long', tolerating(30)));
	cluster.create('pods', podDraft('ever', tolerating()));
	cluster.create('pods', podDraft('all', {tolerations: [{operator: 'Exists', effect: 'NoExecute'}]}));
	cluster.create('pods', podDraft('other', {tolerations: [{key: unreachable, operator: 'Exists', effect: 'NoSchedule'}]}));
	cluster.pass(1_000);
	t.is(cluster.node('node-a').runs.size, 6);
	for (const name of ['node-b', 'node-c']) cluster.tellRecord(`nodes/_/${name}`, {type: 'patch', patch: {spec: {unschedulable: null}}});
	cluster.node('node-a').cut = true;
	const there = (): string[] => Object.keys(cluster.places()).filter(name => cluster.places()[name] === 'node-a');
	cluster.pass(nodeGraceMs + signsMs);
	t.deepEqual(there().sort(), ['all', 'ever', 'long']);
	t.like(
		cluster.pod('long')?.status?.conditions?.find(({type}) => type === 'Ready'),
		{status: 'False', reason: 'NodeLost'},
	);
	cluster.pass(30_000 - nodeGraceMs - 3 * signsMs);
	t.true(there().includes('long'));
	cluster.pass(3 * signsMs);
	t.deepEqual(there().sort(), ['all', 'ever']);
});

test('an exclusive pod is nowhere else before its lease is over, not even one that is deleted or whose node is confirmed as lost', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	for (const name of ['node-b', 'node-c']) cluster.tellRecord(`nodes/_/${name}`, {type: 'patch', patch: {spec: {unschedulable: true}}});
	const exclusive = {annotations: {'troupe.dev/exclusive': 'true'}};
	cluster.create('pods', podDraft('one', {}, exclusive));
	cluster.create('pods', podDraft('ending', {}, exclusive));
	cluster.pass(1_000);
	for (const name of ['node-b', 'node-c']) cluster.tellRecord(`nodes/_/${name}`, {type: 'patch', patch: {spec: {unschedulable: null}}});
	cluster.node('node-a').cut = true;
	cluster.pass(3_000);
	t.true(cluster.tellRecord('pods/default/ending', {type: 'delete'}).ok);
	t.true(cluster.ask(detectorAddress, {type: 'confirmLost', node: 'node-a'}).ok);
	const leaseOverMs = (limits.podLeaseTtlMs + limits.podLeaseKillMs) * 1.1;
	cluster.pass(leaseOverMs - 3_000 - signsMs);
	t.deepEqual(cluster.places(), {one: 'node-a', ending: 'node-a'});
	cluster.pass(2 * signsMs);
	t.deepEqual(Object.keys(cluster.places()), ['one']);
	t.not(cluster.places()['one'], 'node-a');
});

test('a pod that is being deleted goes with its node, one with finalizers waits for them alone', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('pods', podDraft('ending', {nodeName: 'node-a'}));
	cluster.create('pods', podDraft('held', {nodeName: 'node-a'}, {finalizers: ['a.example/x']}));
	cluster.pass(1_000);
	cluster.node('node-a').cut = true;
	cluster.pass(500);
	for (const name of ['ending', 'held']) t.true(cluster.tellRecord(`pods/default/${name}`, {type: 'delete'}).ok);
	cluster.pass(nodeGraceMs - 1_000);
	t.not(cluster.pod('ending'), undefined);
	cluster.pass(1_000);
	t.is(cluster.pod('ending'), undefined);
	t.is(cluster.pod('held')?.metadata.deletionGracePeriodSeconds, 0);
	t.true(cluster.tellRecord('pods/default/held', {type: 'patch', patch: {metadata: {finalizers: null}}}).ok);
	t.is(cluster.pod('held'), undefined);
});

test('what was over on a dead node stays over', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('pods', podDraft('done', {nodeName: 'node-a', restartPolicy: 'Never'}));
	cluster.pass(1_000);
	const uid = cluster.pod('done')?.metadata.uid;
	cluster.tellRecord('pods/default/done', {type: 'observed', uid, node: 'node-a', status: {phase: 'Succeeded'}, events: []});
	cluster.node('node-a').cut = true;
	cluster.pass(10_000);
	t.is(cluster.pod('done')?.status?.phase, 'Succeeded');
});

test('a node’s report of a pod that was bound elsewhere meanwhile is refused', t => {
	const {cluster, home} = withBarePod();
	const uid = cluster.pod('bare')?.metadata.uid;
	cluster.node(home).cut = true;
	cluster.pass(10_000);
	const after = cluster.pod('bare');
	for (const message of [
		{type: 'observed', uid, node: home, status: {phase: 'Failed'}, events: []},
		{type: 'gone', uid, node: home},
		{type: 'evict', uid, node: home},
		{type: 'evict', uid, node: after?.spec?.nodeName},
	])
		t.like(cluster.tellRecord('pods/default/bare', message), {ok: false, error: {code: 'ERR_CONFLICT'}});
	t.is(cluster.pod('bare'), after);
});

test('while too many are silent nothing is moved, each says so once, and half of them back ends it', t => {
	const cluster = new FakeCluster({nodes: ['node-a', 'node-b', 'node-c', 'node-d']});
	cluster.create('replicasets', setDraft(8));
	cluster.pass(2_000);
	const before = cluster.places();
	for (const name of threeNodes) cluster.node(name).cut = true;
	cluster.pass(60_000);
	t.deepEqual(cluster.places(), before);
	for (const name of threeNodes) {
		t.is(cluster.ready(name), 'Unknown NodeSuspect');
		t.is(cluster.reasons(`nodes/_/${name}`).filter(reason => reason === 'EvictionsFrozen').length, 1);
	}
	cluster.writes = [];
	cluster.pass(60_000);
	t.deepEqual(cluster.writes, []);
	cluster.node('node-d').cut = true;
	cluster.pass(10_000);
	t.deepEqual(new Set(cluster.writes), new Set(['nodes/_/node-d']));
	cluster.heal('node-d');
	cluster.heal('node-c');
	cluster.pass(nodeGraceMs - signsMs);
	t.deepEqual(cluster.places(), before);
	t.true(cluster.reasons('nodes/_/node-a').includes('EvictionsResumed'));
	cluster.pass(3 * signsMs);
	t.deepEqual(new Set(Object.values(cluster.places())), new Set(['node-c', 'node-d']));
	t.is(Object.keys(before).filter(name => cluster.places()[name] === before[name]).length, 4);
});

test('a node that is confirmed as lost is replaced although the rest is frozen', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(2_000);
	cluster.node('node-a').cut = true;
	cluster.node('node-b').cut = true;
	cluster.pass(60_000);
	t.is(Object.values(cluster.places()).filter(node => node === 'node-a').length, 2);
	const confirmed = cluster.ask(detectorAddress, {type: 'confirmLost', node: 'node-a'});
	t.like(confirmed, {ok: true, value: {kind: 'Node', metadata: {name: 'node-a'}}});
	cluster.pass(2 * signsMs);
	t.deepEqual(new Set(Object.values(cluster.places())), new Set(['node-b', 'node-c']));
	// With it out of the count, half of the others are heard.
	cluster.pass(nodeGraceMs + signsMs);
	t.deepEqual(new Set(Object.values(cluster.places())), new Set(['node-c']));
	cluster.heal('node-a');
	cluster.pass(1_000);
	t.false(cluster.nodeObject('node-a').status?.conditions?.some(({type}) => type === 'ConfirmedLost'));
	t.is(cluster.ready('node-a'), 'True AgentReady');
});

test('what is heard, local, or not there is not confirmed as lost', t => {
	const cluster = new FakeCluster({nodes: threeNodes, localNodes: ['node-c']});
	const ask = (node: string) => cluster.ask(detectorAddress, {type: 'confirmLost', node});
	t.like(ask('node-a'), {ok: false, error: {code: 'ERR_CONFLICT'}});
	t.like(ask('node-c'), {ok: false, error: {code: 'ERR_CONFLICT'}});
	t.like(ask('nope'), {ok: false, error: {code: 'ERR_NOT_FOUND'}});
	cluster.node('node-a').cut = true;
	cluster.pass(500);
	t.like(ask('node-a'), {ok: false, error: {code: 'ERR_CONFLICT'}});
	cluster.pass(2_000);
	t.true(ask('node-a').ok);
});

test('a confirmation outlives the leader that took it, and a new leader listens first', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(3));
	cluster.pass(2_000);
	cluster.node('node-a').cut = true;
	cluster.node('node-b').cut = true;
	cluster.pass(10_000);
	const before = cluster.places();
	t.true(cluster.ask(detectorAddress, {type: 'confirmLost', node: 'node-a'}).ok);
	cluster.start();
	cluster.pass(nodeGraceMs - signsMs);
	t.deepEqual(cluster.places(), before);
	cluster.pass(4 * signsMs);
	t.false(Object.values(cluster.places()).includes('node-a'));
});

test('a leader that takes over in the middle gives a full grace and then goes on', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('pods', podDraft('late', {...tolerating(20)}));
	cluster.create('replicasets', setDraft(6));
	cluster.pass(2_000);
	const home = cluster.places()['late'] ?? '';
	cluster.node(home).cut = true;
	cluster.pass(nodeGraceMs + signsMs);
	t.is(cluster.places()['late'], home);
	cluster.start();
	t.is(cluster.ready(home), 'Unknown NodeStatusUnknown');
	cluster.pass(nodeGraceMs);
	const others = threeNodes.filter(name => name !== home);
	for (const name of others) t.is(cluster.ready(name), 'True AgentReady');
	t.is(cluster.places()['late'], home);
	cluster.pass(20_000 - nodeGraceMs + signsMs);
	t.not(cluster.places()['late'], home);
	t.false(Object.values(cluster.places()).includes(home));
	cluster.heal(home);
	cluster.pass(1_000);
	t.is(cluster.ready(home), 'True AgentReady');
	t.is(cluster.nodeObject(home).spec?.taints, undefined);
});

test('a node that only beats after a change of leader is ready when it has said hello, not before', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	const node = cluster.node('node-a');
	node.cut = true;
	cluster.start();
	const names = [...threeNodes];
	for (let round = 0; round < 40; round++) {
		cluster.time.advance(signsMs);
		cluster.settle();
		cluster.read({beats: names, packets: names});
	}
	t.is(cluster.ready('node-a'), 'Unknown NodeStatusUnknown');
	cluster.heal('node-a');
	t.is(cluster.ready('node-a'), 'True AgentReady');
});

test('a jump of the wall clock means nothing', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.create('pods', podDraft('late', tolerating(600)));
	cluster.pass(2_000);
	const before = cluster.places();
	cluster.writes = [];
	cluster.wallOffsetMs = 86_400_000;
	cluster.pass(5_000);
	cluster.wallOffsetMs = -86_400_000;
	cluster.pass(5_000);
	t.deepEqual(cluster.writes, []);
	const home = before['late'] ?? '';
	cluster.node(home).cut = true;
	cluster.pass(10_000);
	cluster.wallOffsetMs = 86_400_000;
	cluster.pass(60_000);
	t.is(cluster.places()['late'], home);
});

test('while the canary does not come back nobody loses a pod', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.pass(2_000);
	const before = cluster.places();
	cluster.canaryHeard = false;
	for (const name of threeNodes) cluster.node(name).cut = true;
	cluster.pass(60_000);
	t.deepEqual(cluster.places(), before);
	cluster.canaryHeard = true;
	for (const name of threeNodes) cluster.heal(name);
	cluster.pass(20_000);
	t.deepEqual(cluster.places(), before);
});

test('an agent that said it restarts has a minute, and its pods go on under the same pid', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(3));
	cluster.pass(2_000);
	const before = cluster.places();
	const node = cluster.node('node-a');
	const pids = [...node.runs.values()];
	cluster.presences = [{node: 'node-a', state: 'online', boot: 'one', connection: 1}];
	cluster.pass(signsMs);
	cluster.presences = [{node: 'node-a', state: 'restarting', boot: 'one', connection: 1}];
	node.cut = true;
	cluster.pass(30_000);
	t.is(cluster.ready('node-a'), 'Unknown AgentRestarting');
	t.deepEqual(cluster.places(), before);
	cluster.presences = [{node: 'node-a', state: 'online', boot: 'two', connection: 1}];
	cluster.heal('node-a');
	cluster.pass(1_000);
	t.is(cluster.ready('node-a'), 'True AgentReady');
	t.deepEqual([...node.runs.values()], pids);
});

test('a node that lives in this process is never suspect', t => {
	const cluster = new FakeCluster({nodes: ['node-a', 'node-b'], localNodes: ['node-a']});
	cluster.pass(2_000);
	cluster.writes = [];
	for (let round = 0; round < 40; round++) {
		cluster.time.advance(signsMs);
		cluster.read({beats: ['node-b'], packets: ['node-b']});
	}
	t.deepEqual(cluster.writes, []);
});

test('pods of a node whose record was deleted are replaced, unless its agent is heard', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(6));
	cluster.create('pods', podDraft('pinned', {nodeName: 'node-a'}));
	cluster.create('pods', podDraft('stubborn', tolerating()));
	cluster.pass(2_000);
	const before = cluster.places();
	t.true(cluster.tellRecord('nodes/_/node-b', {type: 'delete'}).ok);
	cluster.pass(20_000);
	t.deepEqual(cluster.places(), before);
	t.is(cluster.ready('node-b'), 'True AgentReady');
	for (const name of threeNodes.slice(0, 2)) cluster.node(name).cut = true;
	cluster.pass(500);
	for (const name of threeNodes.slice(0, 2)) t.true(cluster.tellRecord(`nodes/_/${name}`, {type: 'delete'}).ok);
	cluster.pass(nodeGraceMs - signsMs);
	t.deepEqual(cluster.places(), before);
	cluster.pass(4 * signsMs);
	const after = cluster.places();
	t.is(after['pinned'], 'node-a');
	delete after['pinned'];
	t.deepEqual(new Set(Object.values(after)), new Set(['node-c']));
	t.is(Object.keys(after).length, 7);
});

test('pods bound to a node that is not registered are found by a new leader', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.create('replicasets', setDraft(3));
	cluster.pass(2_000);
	cluster.node('node-a').cut = true;
	t.true(cluster.tellRecord('nodes/_/node-a', {type: 'delete'}).ok);
	cluster.start();
	cluster.pass(nodeGraceMs + 4 * signsMs);
	t.false(Object.values(cluster.places()).includes('node-a'));
});

test('a lost node that said hello is not asked for another one', t => {
	const cluster = new FakeCluster({nodes: threeNodes});
	cluster.node('node-a').cut = true;
	cluster.pass(10_000);
	const {hellos} = cluster.node('node-a');
	cluster.heal('node-a');
	cluster.pass(5_000);
	t.is(cluster.nodeObject('node-a').spec?.taints, undefined);
	t.is(cluster.node('node-a').hellos, hellos + 1);
});

// ---- the actor alone -------------------------------------------------------------------------------------------------------

const info = {machineID: '', systemUUID: '', bootID: '', kernelVersion: '', osImage: '', containerRuntimeVersion: '', kubeletVersion: ''};
const nodeInfo = {...info, kubeProxyVersion: '', operatingSystem: 'linux', architecture: 'amd64'};
const lostNode = aNode({status: {nodeInfo}, spec: {taints: [{key: unreachable, effect: 'NoExecute'}]}});
const signs = (atMs: number, overrides: Partial<SignsMessage> = {}): DetectorMessage => ({
	type: 'signs',
	atMs,
	lagMs: 0,
	canaryHeard: true,
	beats: ['node-b'],
	packets: ['node-b'],
	presences: [],
	...overrides,
});
const readings = (untilMs: number): DetectorMessage[] => Array.from({length: untilMs / signsMs + 1}, (_, round) => signs(round * signsMs));
const evictionsOf = (effects: readonly Effect[]): string[] =>
	effects.flatMap(effect => (effect.type === 'update' && effect.message.type === 'evict' ? [effect.key] : []));
const bound: Partial<Pod['status'] & object> = {conditions: [{type: 'PodScheduled', status: 'True', reason: 'BoundByScheduler'}]};

test('evictions wait until the node is committed as lost', t => {
	const pod = aReadyPod({status: bound});
	const others = [aNode({name: 'node-b', status: {nodeInfo}}), pod];
	const ready = aNode({status: {nodeInfo}});
	const before = play(detector, {localNodes: []}, readings(nodeGraceMs), contextWith(indexOf(ready, ...others)));
	t.deepEqual(
		before.effects.map(effect => effect.type === 'update' && [effect.key, effect.message.type]),
		[['nodes/_/node-a', 'found']],
	);
	const after = playFrom(detector, before.state, [{type: 'more'}], contextWith(indexOf(lostNode, ...others)));
	t.deepEqual(evictionsOf(after.effects), ['pods/default/web']);
});

function manyEvictions(): {state: DetectorState; effects: readonly Effect[]; context: ReturnType<typeof contextWith>} {
	const pods = Array.from({length: 250}, (_, i) => aPod({name: `p${i}`, spec: {nodeName: 'node-a'}, status: bound}));
	const context = contextWith(indexOf(lostNode, aNode({name: 'node-b', status: {nodeInfo}}), ...pods));
	const {state, effects} = play(detector, {localNodes: []}, readings(nodeGraceMs), context);
	return {state, effects, context};
}

test('no more writes are open than an actor may have, and nothing is asked for twice', t => {
	const {state, effects, context} = manyEvictions();
	t.is(
		evictionsOf(effects).length,
		limits.pendingWrites - effects.filter(effect => effect.type === 'update' && effect.message.type === 'found').length,
	);
	const open = {...context, pending: openWrites(effects)};
	t.deepEqual(playFrom(detector, state, [signs(nodeGraceMs + signsMs)], open).effects, []);
	const half = new Map([...openWrites(effects)].slice(0, 50));
	t.is(evictionsOf(playFrom(detector, state, [{type: 'more'}], {...context, pending: half}).effects).length, 50);
});

test('when the store is in trouble it is left alone for a second', t => {
	const {state, context} = manyEvictions();
	const outcome = {ok: false, error: {code: 'ERR_STORE', message: 'full', details: {}}} as const;
	const rest = playFrom(detector, state, [{type: 'outcome', id: 'evict/x', outcome}], context);
	t.deepEqual(rest.effects, []);
	t.deepEqual(playFrom(detector, rest.state, [signs(nodeGraceMs + signsMs)], context).effects, []);
	const later = [1, 2, 3, 4].map(round => signs(nodeGraceMs + round * signsMs));
	t.true(playFrom(detector, rest.state, later, context).effects.length > 0);
	const settled = {ok: false, error: {code: 'ERR_CONFLICT', message: 'x', details: {}}} as const;
	t.deepEqual(
		playFrom(detector, state, [{type: 'outcome', id: 'evict/x', outcome: settled}], context).effects.map(({type}) => type),
		['tell'],
	);
});

test('a node is not found again before the last pod that was taken from it is committed', t => {
	const {state, effects, context} = manyEvictions();
	const back = signs(nodeGraceMs + signsMs, {beats: ['node-a', 'node-b'], packets: ['node-a', 'node-b']});
	const foundOf = (known: readonly Effect[]): number =>
		known.filter(effect => effect.type === 'update' && effect.key === 'nodes/_/node-a').length;
	const open = new Map([...openWrites(effects)].filter(([id]) => id.startsWith('evict/')).slice(0, 1));
	const waits = playFrom(detector, state, [back], {...context, pending: open});
	t.is(foundOf(waits.effects), 0);
	t.is(foundOf(playFrom(detector, waits.state, [{type: 'more'}], context).effects), 1);
});

test('a node that was lost and is heard again says anew how its pods are, also where a user took its taint away', t => {
	const conditions = [{type: 'Ready', status: 'Unknown', reason: 'NodeLost'}] as const;
	const untainted = aNode({status: {nodeInfo, conditions}});
	const context = contextWith(indexOf(untainted, aNode({name: 'node-b', status: {nodeInfo}})));
	const back = signs(0, {beats: ['node-a', 'node-b'], packets: ['node-a', 'node-b']});
	const {effects} = play(detector, {localNodes: []}, [back], context);
	t.deepEqual(
		effects.flatMap(effect => (effect.type === 'tell' ? [effect.message.type] : [])),
		['callHello'],
	);
});
