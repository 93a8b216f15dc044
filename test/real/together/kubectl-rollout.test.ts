// The real kubectl rolls Deployments out, back, and over.

import {manifest, real, withKubectl} from '../_kubectl.js';

const web = (version: string) => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web', annotations: {'kubernetes.io/change-cause': version}},
	spec: {
		replicas: 3,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				terminationGracePeriodSeconds: 1,
				containers: [{name: 'main', image: version, command: ['sleep', '100000']}],
			},
		},
	},
});

real('a Deployment is rolled out, told of, undone, paused, resumed, restarted, given another image, and scaled', async t => {
	const {cluster, fine, kubectl} = await withKubectl(t);
	const status = (): Promise<string> => fine('rollout', 'status', 'deployment/web', '--timeout=60s');
	const done = /deployment "web" successfully rolled out\n$/;
	t.is(await fine('apply', '-f', manifest(cluster, web('one'))), 'deployment.apps/web created\n');
	t.regex(await status(), done);
	t.regex(await fine('get', 'deployments'), /^web +3\/3 +3 +3 /m);
	await fine('apply', '-f', manifest(cluster, web('two')));
	t.regex(await status(), done);
	t.regex(await fine('rollout', 'history', 'deployment/web'), /REVISION +CHANGE-CAUSE\n1 +one\n2 +two\n/);
	t.regex(await fine('rollout', 'history', 'deployment/web', '--revision=1'), /with revision #1\nPod Template:[^]*Image:\s+one\n/);
	t.is(await fine('rollout', 'undo', 'deployment/web'), 'deployment.apps/web rolled back\n');
	t.regex(await status(), done);
	t.regex(await fine('describe', 'deployment', 'web'), /NewReplicaSet: +web-\w+ \(3\/3 replicas created\)\n[^]*Scaled up replica set web-/);
	t.is(await fine('rollout', 'pause', 'deployment/web'), 'deployment.apps/web paused\n');
	t.regex((await kubectl('rollout', 'undo', 'deployment/web')).err, /cannot rollback a paused deployment/);
	t.is(await fine('set', 'image', 'deployment/web', 'main=three'), 'deployment.apps/web image updated\n');
	t.is(await fine('rollout', 'resume', 'deployment/web'), 'deployment.apps/web resumed\n');
	t.regex(await status(), done);
	t.is(await fine('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'), 'three');
	t.is(await fine('rollout', 'restart', 'deployment/web'), 'deployment.apps/web restarted\n');
	t.regex(await status(), done);
	t.is(await fine('scale', 'deployment/web', '--replicas=5'), 'deployment.apps/web scaled\n');
	t.regex(await status(), done);
	t.is(await fine('wait', '--for=condition=Available', 'deployment/web'), 'deployment.apps/web condition met\n');
	t.is(await fine('get', 'deployment', 'web', '-o', 'jsonpath={.status.availableReplicas}'), '5');
});
