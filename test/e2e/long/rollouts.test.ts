// Deployments of real processes: rolled over, stuck, undone, scaled, paused and restarted, with both bounds at each event of the watch.

import test from 'ava';
import type {Deployment} from '../../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {line} from '../../../bench/rigs/command-line.js';
import {followObjects, type Following} from '../../../bench/rigs/cluster/waiting.js';
import {judged} from '../_judged.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test);

const manifest = (version: string, spec: object = {}, command: readonly string[] = ['sleep', '100000']) => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web', annotations: {'kubernetes.io/change-cause': version}},
	spec: {
		replicas: 6,
		strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1}},
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				terminationGracePeriodSeconds: 1,
				containers: [{name: 'main', image: 'any', command, env: [{name: 'VERSION', value: version}]}],
			},
		},
		...spec,
	},
});

test('whatever is rolled out, both bounds hold at each moment', async t => {
	const followed = await Promise.all(['deployments', 'replicasets', 'pods'].map(kind => followObjects(client(), kind)));
	t.teardown(() => {
		for (const each of followed) each.close();
	});
	const troupe = (...args: readonly string[]) => line(args, {home: cluster.home});
	const rollout = async (...args: readonly string[]): Promise<string> => {
		const ran = await troupe('rollout', ...args, 'deployment/web');
		t.is(ran.code, 0, ran.err);
		return ran.out;
	};
	const apply = async (...args: Parameters<typeof manifest>): Promise<void> => {
		const ran = await line(['apply', '-f', '-'], {home: cluster.home, input: JSON.stringify(manifest(...args))});
		t.is(ran.code, 0, ran.err);
	};
	const read = async (): Promise<Deployment> => JSON.parse((await troupe('get', 'deploy', 'web', '-o', 'json')).out) as Deployment;
	const [, sets, pods] = followed as [Following, Following, Following];
	const sizes = (): number[] => [...sets.objects.values()].map(set => (set as ReplicaSet).spec?.replicas ?? 0).sort((a, b) => a - b);

	await apply('one');
	await rollout('status', '--timeout', '60s');
	await apply('two');
	t.regex(await rollout('status', '--timeout', '60s'), /successfully rolled out\n$/);
	t.deepEqual(sizes(), [0, 6]);

	await apply('three', {progressDeadlineSeconds: 2}, ['/no/such/program']);
	const stuck = await troupe('rollout', 'status', 'deployment/web');
	t.deepEqual([stuck.code, stuck.err], [1, 'error: deployment "web" exceeded its progress deadline\n']);
	t.is((await read()).status?.availableReplicas, 5);
	t.deepEqual(sizes(), [0, 3, 5]);

	t.is((await troupe('scale', 'deployment/web', '--replicas', '14')).code, 0);
	await sets.until('both versions have their share', () => sizes().join() === '0,6,10');
	t.is(await rollout('undo'), 'deployment.apps/web rolled back\n');
	t.regex(await rollout('status', '--timeout', '60s'), /successfully rolled out\n$/);
	t.regex(await rollout('history'), /\n1 +one\n3 +three\n4 +two\n/);

	t.is(await rollout('pause'), 'deployment.apps/web paused\n');
	t.is((await troupe('rollout', 'restart', 'deployment/web')).code, 1);
	t.is((await troupe('scale', 'deployment/web', '--replicas', '5', '--wait')).code, 0);
	t.is(await rollout('resume'), 'deployment.apps/web resumed\n');
	t.is(await rollout('restart'), 'deployment.apps/web restarted\n');
	t.regex(await rollout('status', '--timeout', '60s'), /successfully rolled out\n$/);
	t.deepEqual(sizes(), [0, 0, 0, 5]);

	const judge = judged(followed);
	t.deepEqual(judge.violations, []);
	t.true(judge.voluntary >= 6 + 5);
	t.is((await troupe('delete', 'deployment/web')).code, 0);
	await pods.until('all pods to follow', objects => objects.size === 0);
});
