// DaemonSets and StatefulSets as the real kubectl sees them: made, rolled out, their history, undone.

import test from 'ava';
import {openFileHome} from '../../e2e/_rig.js';
import {kubectlFor, manifest, realInTurn} from '../_kubectl.js';

const {cluster} = openFileHome(test, '--simulated-nodes=2');
const {fine: kubectl} = kubectlFor(cluster);
const file = (object: object): string => manifest(cluster, object);

const daemon = (argument: string) => ({
	apiVersion: 'apps/v1',
	kind: 'DaemonSet',
	metadata: {name: 'each', annotations: {'kubernetes.io/change-cause': `sleeps for ${argument}`}},
	spec: {
		selector: {matchLabels: {app: 'each'}},
		template: {
			metadata: {labels: {app: 'each'}},
			spec: {terminationGracePeriodSeconds: 1, containers: [{name: 'main', image: 'any', command: ['sleep', argument]}]},
		},
	},
});

const commandOf = (kind: string): Promise<string> =>
	kubectl('get', kind, '-o', 'jsonpath={.items[*].spec.template.spec.containers[0].command[1]}');

realInTurn('a DaemonSet is applied, rolled out, looked at in its history, undone and restarted', async t => {
	t.is(await kubectl('apply', '-f', file(daemon('100001'))), 'daemonset.apps/each created\n');
	t.regex(await kubectl('rollout', 'status', 'ds/each', '--timeout=30s'), /daemon set "each" successfully rolled out\n$/);
	t.regex(
		await kubectl('get', 'ds'),
		/^NAME +DESIRED +CURRENT +READY +UP-TO-DATE +AVAILABLE +NODE SELECTOR +AGE\neach +3 +3 +3 +3 +3 +<none> /,
	);
	t.regex(await kubectl('describe', 'ds', 'each'), /Desired Number of Nodes Scheduled: 3\n[^]*Pods Status: +3 Running/);
	t.is(await kubectl('apply', '-f', file(daemon('100002'))), 'daemonset.apps/each configured\n');
	await kubectl('rollout', 'status', 'ds/each', '--timeout=30s');
	t.regex(await kubectl('rollout', 'history', 'ds/each'), /\n1 +sleeps for 100001\n2 +sleeps for 100002\n/);
	t.regex(await kubectl('rollout', 'history', 'ds/each', '--revision=1'), /Command:\n +sleep\n +100001\n/);
	t.regex(
		await kubectl('get', 'controllerrevisions'),
		/^NAME +CONTROLLER +REVISION +AGE\n(each-\w+ +daemonset\.apps\/each +[12] .*\n){2}$/,
	);
	t.is(await commandOf('ds'), '100002');
	t.is(await kubectl('rollout', 'undo', 'ds/each'), 'daemonset.apps/each rolled back\n');
	await kubectl('rollout', 'status', 'ds/each', '--timeout=30s');
	t.is(await commandOf('ds'), '100001');
	t.regex(await kubectl('rollout', 'history', 'ds/each'), /\n2 +sleeps for 100002\n3 +sleeps for 100001\n/);
	t.is(await kubectl('rollout', 'undo', 'ds/each', '--to-revision=2'), 'daemonset.apps/each rolled back\n');
	await kubectl('rollout', 'status', 'ds/each', '--timeout=30s');
	t.is(await commandOf('ds'), '100002');
	t.is(await kubectl('rollout', 'restart', 'ds/each'), 'daemonset.apps/each restarted\n');
	t.regex(await kubectl('rollout', 'status', 'ds/each', '--timeout=30s'), /successfully rolled out\n$/);
});

realInTurn('kubectl drain leaves pods of a DaemonSet alone when it is told to', async t => {
	await t.throwsAsync(kubectl('drain', 'sim-1'), {message: /cannot delete DaemonSet-managed Pods/});
	t.regex(await kubectl('drain', 'sim-1', '--ignore-daemonsets'), /node\/sim-1 drained/);
	t.is(await kubectl('get', 'pods', '--field-selector=spec.nodeName=sim-1', '-o', 'jsonpath={.items[*].status.phase}'), 'Running');
	await kubectl('uncordon', 'sim-1');
	t.is(await kubectl('delete', 'ds', 'each'), 'daemonset.apps "each" deleted\n');
	await kubectl('wait', '--for=delete', 'pod', '-l', 'app=each', '--timeout=20s');
});

const member = (argument: string) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db', annotations: {'kubernetes.io/change-cause': `sleeps for ${argument}`}},
	spec: {
		serviceName: 'db',
		replicas: 2,
		selector: {matchLabels: {app: 'db'}},
		template: {
			metadata: {labels: {app: 'db'}},
			spec: {terminationGracePeriodSeconds: 1, containers: [{name: 'main', image: 'any', command: ['sleep', argument]}]},
		},
	},
});

realInTurn('a StatefulSet is applied, scaled, rolled out, looked at in its history, undone and deleted', async t => {
	t.is(await kubectl('apply', '-f', file(member('100001'))), 'statefulset.apps/db created\n');
	t.regex(await kubectl('rollout', 'status', 'sts/db', '--timeout=30s'), /roll ?out complete/);
	t.regex(await kubectl('get', 'sts'), /^NAME +READY +AGE\ndb +2\/2 /);
	t.regex(await kubectl('describe', 'sts', 'db'), /Replicas: +2 desired \| 2 total\n[^]*Pods Status: +2 Running/);
	t.is(await kubectl('get', 'pods', '-l', 'app=db', '-o', 'name'), 'pod/db-0\npod/db-1\n');
	t.is(await kubectl('scale', 'sts/db', '--replicas=3'), 'statefulset.apps/db scaled\n');
	await kubectl('wait', '--for=jsonpath={.status.readyReplicas}=3', 'sts/db', '--timeout=30s');
	t.is(await kubectl('apply', '-f', file(member('100002'))), 'statefulset.apps/db configured\n');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.regex(await kubectl('rollout', 'history', 'sts/db'), /\n1 +sleeps for 100001\n2 +sleeps for 100002\n/);
	t.is(await kubectl('rollout', 'undo', 'sts/db'), 'statefulset.apps/db rolled back\n');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.is(await commandOf('sts'), '100001');
	t.is(await kubectl('rollout', 'restart', 'sts/db'), 'statefulset.apps/db restarted\n');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.is(await kubectl('delete', 'sts', 'db'), 'statefulset.apps "db" deleted\n');
	await kubectl('wait', '--for=delete', 'pod', '-l', 'app=db', '--timeout=20s');
});
