// Nodes as a person minds them from the command line: cordon, taint, drain; and waiting for what becomes of pods.

import test from 'ava';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {getNode} from '../../../cli/objects/nodes.js';
import {podOf, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {openFileHome} from '../_rig.js';
import {until} from '../../../bench/rigs/cluster/waiting.js';

const {cluster, client} = openFileHome(test, '--simulated-nodes=2');

const count = 24;
const nodeOf = (name: string): Promise<NodeObject> => getNode(client(), name);
const onNode = (name: string) => ({nodeSelector: {'kubernetes.io/hostname': name}});

/** The pods of a label that are ready, by the node they are on. */
const spread = (label: string, wanted: (nodes: readonly string[]) => boolean): Promise<readonly string[]> =>
	until(client(), 'pods', `the pods of ${label} where they belong`, pods => {
		const own = ([...pods.values()] as readonly Pod[]).filter(({metadata}) => metadata.labels?.['app'] === label);
		const ready = own.filter(({status}) => status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') === true);
		const nodes = ready.map(({spec}) => spec?.nodeName ?? '');
		return ready.length === count && wanted(nodes) && nodes;
	});

test.serial('nodes are cordoned and tainted in the words of kubectl, and what is wrong with one spares the others', async t => {
	const cordoned = await cluster.troupe('cordon', 'vm', 'vn', 'sim-1');
	t.deepEqual([cordoned.code, cordoned.out], [3, 'node/vm cordoned\nnode/sim-1 cordoned\n']);
	t.is(cordoned.err, 'error: nodes "vn" not found; did you mean "vm"?\n');
	t.is(await cluster.fine('uncordon', 'sim-1', 'sim-2'), 'node/sim-1 uncordoned\nnode/sim-2 already uncordoned\n');
	t.is((await nodeOf('vm')).spec?.unschedulable, true);
	t.is((await nodeOf('sim-1')).spec?.unschedulable, undefined);
	t.is(await cluster.fine('taint', 'nodes', 'sim-1', 'gpu=yes:NoSchedule', 'old:NoExecute'), 'node/sim-1 tainted\n');
	const refused = await cluster.troupe('taint', 'node/sim-1', 'gpu=no:NoSchedule');
	t.deepEqual([refused.code, refused.out], [1, '']);
	t.regex(refused.err, /^error: node "sim-1": gpu:NoSchedule is there already, with the value "yes"; --overwrite replaces it\n$/);
	t.is(await cluster.fine('taint', 'node', 'sim-1', 'gpu-', 'old:NoExecute-', '--dry-run'), 'node/sim-1 untainted (dry run)\n');
	t.is((await nodeOf('sim-1')).spec?.taints?.length, 2, 'a trial changes nothing');
	t.is(await cluster.fine('taint', 'node', 'sim-1', 'gpu-', 'old:NoExecute-'), 'node/sim-1 untainted\n');
	t.is((await nodeOf('sim-1')).spec?.taints, undefined);
	t.is((await cluster.troupe('taint', 'nodes', 'vm', 'a:NoWay', 'b')).code, 2);
});

test.serial('a drain refuses what would be lost, gives up the rest, and is safe to repeat', async t => {
	await cluster.fine('cordon', 'vm');
	await cluster.apply(setOf('web', count), podOf('bare', ['sleep', '1000'], onNode('sim-1')));
	const before = await spread('web', nodes => nodes.includes('sim-1') && nodes.includes('sim-2'));
	await cluster.fine('wait', 'pod/bare', '--for', 'condition=Ready');
	const evicted = before.filter(node => node === 'sim-1').length;

	const refused = await cluster.troupe('drain', 'sim-1');
	t.deepEqual([refused.code, refused.out], [1, '']);
	t.regex(refused.err, /nothing was changed:\nerror: no controller makes these pods anew .*: default\/bare\n$/);
	t.is((await nodeOf('sim-1')).spec?.unschedulable, undefined, 'what is refused leaves the node as it was');

	const drained = await cluster.fine('drain', 'sim-1', '--force');
	const lines = drained.trimEnd().split('\n');
	t.deepEqual([lines[0], lines.at(-1)], ['node/sim-1 cordoned', 'node/sim-1 drained']);
	t.is(lines.filter(line => /^pod\/\S+ evicted$/.test(line)).length, evicted + 1);
	t.true(lines.includes('pod/bare evicted'));
	await spread('web', nodes => nodes.every(node => node === 'sim-2'));
	t.is(await cluster.fine('drain', 'sim-1'), 'node/sim-1 already cordoned\nnode/sim-1 drained\n');
	t.is(
		await cluster.fine('drain', 'sim-2', '--pod-selector', 'app=none', '--dry-run'),
		'node/sim-2 cordoned (dry run)\nnode/sim-2 drained (dry run)\n',
	);
});

test.serial('a drain that is interrupted or takes too long leaves the node cordoned, and says who did not go', async t => {
	await cluster.fine('uncordon', 'vm');
	const stubborn = podOf('stubborn', ['sh', '-c', `trap '' TERM; echo deaf; while :; do sleep 0.1; done`], {
		...onNode('vm'),
		terminationGracePeriodSeconds: 600,
	});
	await cluster.apply(stubborn);
	await cluster.start(['logs', '-f', 'stubborn']).says(/deaf/);
	const late = await cluster.troupe('drain', 'vm', '--force', '--timeout', '1500ms');
	t.deepEqual([late.code, late.out], [1, 'node/vm cordoned\n']);
	t.regex(late.err, /timed out after 1500ms waiting for 1 of 1 pods to go: default\/stubborn \(terminating\)/);
	t.regex(late.err, /node "vm" stays cordoned; troupe uncordon vm lets pods in again/);

	const interrupted = cluster.start(['drain', 'vm', '--force']);
	await interrupted.says(/already cordoned/);
	interrupted.kill('SIGINT');
	const {code, err} = await interrupted.ended;
	t.is(code, 130);
	t.regex(err, /^interrupted: .*node "vm" stays cordoned/);
	t.is((await nodeOf('vm')).spec?.unschedulable, true);

	// In this process, so that it has seen the pod before that is gone: a deaf program takes up the whole second that it is given.
	const waiting = cluster.fine('wait', 'pod/stubborn', '--for', 'delete');
	t.is(await cluster.fine('delete', 'pod', 'stubborn', '--now'), 'pod "stubborn" deleted\n');
	t.is(await waiting, 'pod/stubborn condition met\n');
});

test.serial('waiting begins before there is anything, and ends in the words of kubectl', async t => {
	const born = cluster.start(['wait', 'pods', '-l', 'app=late', '--for', 'create', '--timeout', '20s']);
	const named = cluster.start(['wait', 'pod/late', '--for', 'create']);
	await cluster.fine('uncordon', 'sim-1');
	await cluster.apply(podOf('late', ['sleep', '1000'], {...onNode('sim-1'), labels: {app: 'late'}}));
	for (const {code, out} of [await born.ended, await named.ended]) t.deepEqual([code, out], [0, 'pod/late condition met\n']);
	t.is(
		await cluster.fine('wait', 'pod/late', '--for', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}=True'),
		'pod/late condition met\n',
	);
	const some = await cluster.troupe('wait', 'pod/late', 'pod/none', '--for=condition=Never', '--timeout=1500ms');
	t.deepEqual([some.code, some.out], [3, '']);
	t.is(some.err, 'error: pods "none" not found\nerror: timed out waiting for the condition on pods/late\n');
	const none = await cluster.troupe('wait', 'pods', '-l', 'app=nobody', '--for', 'condition=Ready');
	t.deepEqual([none.code, none.err], [1, 'error: no matching resources found\n']);
});

test.serial('a cluster of nodes that only pretend ends when it is told to, whatever their programs would still do', async t => {
	t.regex(await cluster.fine('down', '--pods'), /^the cluster is stopped/);
});
