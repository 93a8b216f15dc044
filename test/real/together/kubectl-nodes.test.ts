// Nodes and schemas as the real kubectl sees them.

import test from 'ava';
import {setOf} from '../../../bench/rigs/cluster/manifests.js';
import {openFileHome} from '../../e2e/_rig.js';
import {kubectlFor, manifest, realInTurn} from '../_kubectl.js';

const {cluster} = openFileHome(test, '--simulated-nodes=2');
const {fine: kubectl} = kubectlFor(cluster);
const file = (object: object): string => manifest(cluster, object);

realInTurn('kubectl explains every field that the schemas have', async t => {
	const field = await kubectl('explain', 'pod.spec.restartPolicy');
	t.regex(field, /^KIND: +Pod\nVERSION: +v1\n\nFIELD: restartPolicy <string>\nENUM:\n +Always\n +OnFailure\n +Never\n/);
	const set = await kubectl('explain', 'rs.spec');
	t.regex(set, /^GROUP: +apps\nKIND: +ReplicaSet\n/);
	t.regex(set, /^ {2}replicas\t<integer>$/m);
	t.regex(set, /^ {2}selector\t<LabelSelector> -required-$/m);
	t.regex(
		await kubectl('explain', 'pods', '--recursive'),
		/^ {2}metadata\t<ObjectMeta> -required-\n {4}annotations\t<map\[string\]string>$/m,
	);
	await t.throwsAsync(kubectl('explain', 'pod.spec.nosuch'), {message: /field "nosuch" does not exist/});
});

realInTurn('kubectl cordons a node, taints it, and drains it through evictions', async t => {
	t.is(await kubectl('taint', 'nodes', 'sim-2', 'lab=yes:NoSchedule'), 'node/sim-2 tainted\n');
	t.is(await kubectl('taint', 'nodes', 'sim-2', 'lab-'), 'node/sim-2 untainted\n');
	t.is(await kubectl('cordon', 'sim-2'), 'node/sim-2 cordoned\n');
	t.is(await kubectl('uncordon', 'sim-2'), 'node/sim-2 uncordoned\n');
	await cluster.fine('cordon', 'vm');
	await cluster.apply(setOf('web', 12));
	await cluster.fine('wait', 'rs/web', '--for', 'jsonpath={.status.readyReplicas}=12');
	const said = await kubectl('drain', 'sim-1');
	t.regex(said, /^pod\/web-\w+ evicted$/m);
	t.regex(said, /^node\/sim-1 drained$/m);
	t.is(await kubectl('get', 'pods', '--field-selector=spec.nodeName=sim-1', '-o', 'name'), '');
});

realInTurn('kubectl makes a disruption budget, shows it, and its drain waits for it', async t => {
	const fine: typeof cluster.fine = (...words) => cluster.fine(...words);
	await fine('uncordon', 'sim-1');
	await cluster.apply(setOf('few', 2));
	await fine('wait', 'rs/few', '--for', 'jsonpath={.status.readyReplicas}=2');
	const budget = {
		apiVersion: 'policy/v1',
		kind: 'PodDisruptionBudget',
		metadata: {name: 'few'},
		spec: {minAvailable: 2, selector: {matchLabels: {app: 'few'}}},
	};
	t.is(await kubectl('create', '-f', file(budget)), 'poddisruptionbudget.policy/few created\n');
	await fine('wait', 'pdb/few', '--for', 'jsonpath={.status.currentHealthy}=2');
	t.regex(await kubectl('get', 'pdb'), /^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\nfew +2 +N\/A +0 +\d/);
	t.regex(
		await kubectl('describe', 'pdb', 'few'),
		/Min available: +2\nSelector: +app=few\nStatus:\n +Allowed disruptions: +0\n +Current: +2\n +Desired: +2\n +Total: +2\n/,
	);
	const [pod = ''] = (await kubectl('get', 'pods', '-l', 'app=few', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
	const node = await kubectl('get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}');
	await t.throwsAsync(kubectl('drain', node, '--pod-selector=app=few', '--timeout=2s'), {
		message: /Cannot evict pod as it would violate the pod's disruption budget\./,
	});
	await t.throwsAsync(fine('drain', node, '--pod-selector=app=few', '--timeout=1s'), {
		message: /The disruption budget few needs 2 healthy pods and has 2 currently/,
	});
	// With another pod there is one to spare, and the drain that waits goes on by itself.
	const draining = fine('drain', node, '--pod-selector=app=few', '--timeout=30s');
	await fine('scale', 'rs/few', '--replicas=4');
	t.regex(await draining, /^pod\/few-\w+ evicted$/m);
	t.is(await kubectl('get', 'pods', '-l', 'app=few', `--field-selector=spec.nodeName=${node}`, '-o', 'name'), '');
	await fine('uncordon', node);
});

realInTurn('kubectl shows limits and quotas, what they give and refuse, and a set that does not fit says why', async t => {
	const list = (...items: readonly object[]): string => file({apiVersion: 'v1', kind: 'List', items});
	const shared = {namespace: 'shared'};
	await kubectl(
		'create',
		'-f',
		list(
			{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'shared'}},
			{
				apiVersion: 'v1',
				kind: 'LimitRange',
				metadata: {name: 'sizes', ...shared},
				spec: {limits: [{type: 'Container', default: {memory: '64Mi'}, max: {memory: '1Gi'}}]},
			},
			{
				apiVersion: 'v1',
				kind: 'ResourceQuota',
				metadata: {name: 'budget', ...shared},
				spec: {hard: {pods: '2', 'limits.memory': '1Gi', 'count/replicasets.apps': '1'}},
			},
		),
	);
	t.regex(await kubectl('get', 'limits', '-n', 'shared'), /^NAME +CREATED AT\nsizes +\d{4}-\d\d-\d\dT[\d:]+Z\n$/);
	await kubectl('create', '-n', 'shared', '-f', file(setOf('many', 3)));
	await cluster.fine('wait', '-n', 'shared', 'quota/budget', '--for', 'jsonpath={.status.used.pods}=2');
	t.regex(await kubectl('get', 'quota', '-n', 'shared'), /count\/replicasets\.apps: 1\/1, pods: 2\/2 +limits\.memory: 128Mi\/1Gi/);
	t.regex(
		await kubectl('describe', 'ns', 'shared'),
		/Resource Quotas\n +Name: +budget\n[^]*pods +2 +2\n[^]*Resource Limits\n[^]*Container +memory +- +1Gi +64Mi +64Mi +-/,
	);
	await t.throwsAsync(kubectl('create', '-n', 'shared', '-f', file(setOf('more', 1))), {
		message:
			/replicasets\.apps "more" is forbidden: exceeded quota: budget, requested: count\/replicasets\.apps=1, used: count\/replicasets\.apps=1, limited: count\/replicasets\.apps=1/,
	});
	const {template} = setOf('x', 1).spec;
	const pod = (limit: string): object => ({
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: 'large'},
		spec: {...template.spec, containers: template.spec.containers.map(each => ({...each, resources: {limits: {memory: limit}}}))},
	});
	await t.throwsAsync(kubectl('create', '-n', 'shared', '-f', file(pod('2Gi'))), {
		message: /pods "large" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi/,
	});
	await t.throwsAsync(kubectl('create', '-n', 'shared', '-f', file(pod('1Gi'))), {
		message:
			/pods "large" is forbidden: exceeded quota: budget, requested: limits\.memory=1Gi,pods=1, used: limits\.memory=128Mi,pods=2, limited: limits\.memory=1Gi,pods=2/,
	});
	await cluster.fine('wait', '-n', 'shared', 'rs/many', '--for', 'condition=ReplicaFailure');
	t.regex(
		await cluster.fine('describe', 'rs', 'many', '-n', 'shared'),
		/ReplicaFailure +True +FailedCreate +pods "many-\w+" is forbidden: exceeded quota: budget, requested: pods=1, used: pods=2, limited: pods=2/,
	);
	t.regex(
		await cluster.fine('describe', 'ns', 'shared'),
		/Resource Quotas:\n[^]*budget +pods +2 +2\n[^]*Resource Limits:\n[^]*Container +memory/,
	);
	await kubectl('delete', 'ns', 'shared');
});
