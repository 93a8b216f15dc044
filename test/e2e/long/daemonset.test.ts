// A DaemonSet on a node with processes and on simulated ones: a pod on each, replaced one after the other, back again after a rollback.

import test from 'ava';
import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import type {DaemonSet} from '../../../api/kinds/daemonset.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ApiObject} from '../../../api/object.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {programsOf} from '../../../bench/rigs/cluster/processes.js';
import {eventually, followObjects, until} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test, '--simulated-nodes=2');

const daemon = (argument: string, podSpec: object = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'DaemonSet',
	metadata: {name: 'each'},
	spec: {
		selector: {matchLabels: {app: 'each'}},
		template: {
			metadata: {labels: {app: 'each'}},
			spec: {terminationGracePeriodSeconds: 1, containers: [{name: 'main', image: 'any', command: ['sleep', argument]}], ...podSpec},
		},
	},
});

const podsOf = (pods: ReadonlyMap<string, ApiObject>): readonly Pod[] =>
	([...pods.values()] as Pod[]).filter(({metadata}) => metadata.labels?.['app'] === 'each');
const nodesOf = (pods: readonly Pod[]): readonly string[] => pods.map(({spec}) => spec?.nodeName ?? '').toSorted();
const runs = (pods: readonly Pod[], argument: string): boolean => pods.every(({spec}) => spec?.containers[0]?.command?.[1] === argument);

test('a pod on each node, new ones for old one at a time, none where none belongs', async t => {
	const following = await followObjects(client(), 'pods');
	t.teardown(following.close);
	await cluster.apply(daemon('100001'));
	const first = await following.until('one on each node', pods => podsOf(pods).length === 3 && podsOf(pods).every(isReady) && podsOf(pods));
	t.deepEqual(nodesOf(first), ['sim-1', 'sim-2', 'vm']);
	await eventually('one program', () => programsOf(cluster.home).length === 1);
	await eventually('the set says so', async () => /^each +3 +3 +3 +3 +3 +<none> /m.test(await cluster.fine('get', 'ds')));

	const from = following.changes.length;
	await cluster.apply(daemon('100002'));
	await following.until(
		'new ones',
		pods => podsOf(pods).length === 3 && podsOf(pods).every(isReady) && runs(podsOf(pods), '100002') && podsOf(pods),
	);
	// From the record of the watch: never two on a node, and never more than one that serves no more.
	const present = new Map(first.map(pod => [pod.metadata.uid, pod]));
	for (const {type, object} of following.changes.slice(from)) {
		if (type === 'DELETED') present.delete(object.metadata.uid);
		else if (object.metadata.labels?.['app'] === 'each') present.set(object.metadata.uid, object as Pod);
		const active = [...present.values()].filter(({metadata}) => metadata.deletionTimestamp === undefined);
		const nodes = active.map(
			({spec}) => spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0],
		);
		t.is(new Set(nodes.map(term => term?.matchFields?.[0]?.values?.[0])).size, active.length);
		t.true(active.filter(isReady).length >= 2, `${active.filter(isReady).length} serve`);
	}

	await cluster.apply(daemon('100001'));
	await until(
		client(),
		'pods',
		'the old ones again',
		pods => podsOf(pods).every(isReady) && runs(podsOf(pods), '100001') && podsOf(pods).length === 3,
	);
	const revisions = await until(client(), 'controllerrevisions', 'two revisions', found => {
		const all = [...found.values()] as ControllerRevision[];
		return all.length === 2 && Math.max(...all.map(({revision}) => revision)) === 3 && all;
	});
	t.deepEqual(revisions.map(({revision}) => revision).toSorted(), [2, 3]);

	await cluster.fine('label', 'node', 'sim-1', 'lab=yes');
	await cluster.apply(daemon('100001', {nodeSelector: {lab: 'yes'}}));
	// Of the new template: an old one that ends may for a moment be all there is.
	const isChosen = ({spec}: Pod): boolean => spec?.nodeSelector?.['lab'] === 'yes';
	const chosen = (pods: ReadonlyMap<string, ApiObject>): boolean => podsOf(pods).every(pod => isReady(pod) && isChosen(pod));
	const [only] = await until(client(), 'pods', 'one', pods => podsOf(pods).length === 1 && chosen(pods) && podsOf(pods));
	t.is(only?.spec?.nodeName, 'sim-1');
	await cluster.fine('label', 'node', 'sim-2', 'lab=yes');
	await until(client(), 'pods', 'one more', pods => podsOf(pods).length === 2 && chosen(pods));
	await cluster.fine('taint', 'node', 'sim-1', 'closed=yes:NoExecute');
	await until(
		client(),
		'pods',
		'one less',
		pods => podsOf(pods).length === 1 && podsOf(pods).every(({spec}) => spec?.nodeName === 'sim-2'),
	);
	await until(client(), 'ds', 'the status', sets => (sets.get('each') as DaemonSet | undefined)?.status?.desiredNumberScheduled === 1);
	t.regex(await cluster.fine('describe', 'ds', 'each'), /^Nodes: +1 current \/ 1 desired$/m);

	const drained = await cluster.troupe('drain', 'sim-2');
	t.regex(drained.err, /these pods are of a DaemonSet/);
	t.regex((await cluster.troupe('drain', 'sim-2', '--ignore-daemonsets')).err, /left alone, of a DaemonSet/);
	await until(client(), 'pods', 'it to stay', pods => podsOf(pods).length === 1);
	await cluster.fine('delete', 'ds', 'each');
	await until(client(), 'pods', 'nothing to be left', pods => podsOf(pods).length === 0);
	await until(client(), 'controllerrevisions', 'no history to be left', found => found.size === 0);
	t.deepEqual(programsOf(cluster.home), []);
});
