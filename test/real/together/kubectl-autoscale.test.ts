// The real kubectl makes, shows, changes and deletes autoscalers, in both versions.

import {connectAsync} from 'mqtt';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {manifest, real, withKubectl} from '../_kubectl.js';

const busy = 'setInterval(() => { for (const until = Date.now() + 30; Date.now() < until;); }, 100)';

const web = {
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web'},
	spec: {
		replicas: 1,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				runtimeClassName: 'process',
				terminationGracePeriodSeconds: 1,
				containers: [{name: 'main', image: 'node', command: ['node', '-e', busy], resources: {requests: {cpu: '50m'}}}],
			},
		},
	},
};

/** kubectl forgets the version that stands behind a short name. */
const ofVersion1 = 'horizontalpodautoscaler.v1.autoscaling';

real('an autoscaler is made by kubectl, scales, and is read, changed and deleted as v1 and as v2', async t => {
	const {cluster, fine} = await withKubectl(t);
	await fine('apply', '-f', manifest(cluster, web));
	t.is(
		await fine('autoscale', 'deployment', 'web', '--min', '1', '--max', '3', '--cpu-percent', '100'),
		'horizontalpodautoscaler.autoscaling/web autoscaled\n',
	);
	let table = '';
	await eventually(
		'it has made more of it',
		async () => /^web +Deployment\/web +cpu: \d+%\/100% +1 +3 +[23] /m.test((table = await fine('get', 'hpa'))),
		() => table,
		90_000,
	);
	const page = await fine('describe', 'hpa', 'web');
	t.regex(page, /resource cpu on pods +\(as a percentage of request\): +\d+% \(\d+m\) \/ 100%/);
	t.regex(page, /AbleToScale +True[^]*ScalingActive +True +ValidMetricFound[^]*ScalingLimited/);
	t.regex(page, /SuccessfulRescale[^]*New size: [23]; reason: cpu resource utilization \(percentage of request\) above target/);
	t.regex(await fine('get', ofVersion1, 'web', '-o', 'yaml'), /^apiVersion: autoscaling\/v1\n[^]*targetCPUUtilizationPercentage: 100\n/);
	await fine('patch', 'hpa', 'web', '--type=merge', '-p', '{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":9}}}}');
	await fine('patch', ofVersion1, 'web', '-p', '{"spec":{"targetCPUUtilizationPercentage":5000}}');
	t.is(
		await fine(
			'get',
			'hpa',
			'web',
			'-o',
			'jsonpath={.spec.behavior.scaleDown.stabilizationWindowSeconds} {.spec.metrics[0].resource.target.averageUtilization}',
		),
		'9 5000',
	);
	await eventually(
		'it has made fewer of it',
		async () => /5000% +1 +3 +1 /.test((table = await fine('get', 'hpa'))),
		() => table,
		90_000,
	);
	t.is(await fine('delete', ofVersion1, 'web'), 'horizontalpodautoscaler.autoscaling "web" deleted\n');
});

real('kubectl shows metrics that come from a topic, each in its place, and v1 loses nothing of them', async t => {
	const {cluster, fine} = await withKubectl(t);
	const metrics = [
		{type: 'Pods', pods: {metric: {name: 'open'}, target: {type: 'AverageValue', averageValue: '5'}}},
		{
			type: 'External',
			external: {metric: {name: 'jobs'}, target: {type: 'AverageValue', averageValue: '10'}, source: {mqtt: {topic: 'jobs/waiting'}}},
		},
	];
	const hpa = {
		apiVersion: 'autoscaling/v2',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'web'},
		spec: {scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'}, minReplicas: 0, maxReplicas: 3, metrics},
	};
	await fine('apply', '-f', manifest(cluster, {...web, spec: {...web.spec, replicas: 0}}));
	await fine('apply', '-f', manifest(cluster, hpa));
	t.regex(await fine('get', 'hpa'), /^web +Deployment\/web +<unknown>\/5, <unknown>\/10 \(avg\) +0 +3 +0 /m);
	const client = await connectAsync(cluster.endpoints().mqtt, {username: 'admin', password: cluster.token(), reconnectPeriod: 0}, false);
	t.teardown(() => client.endAsync(true));
	await client.publishAsync('jobs/waiting', '25', {qos: 1});
	let table = '';
	await eventually(
		'there are three',
		async () => /^web +Deployment\/web +<unknown>\/5, \S+\/10 \(avg\) +0 +3 +3 /m.test((table = await fine('get', 'hpa'))),
		() => table,
		90_000,
	);
	const page = await fine('describe', 'hpa', 'web');
	t.regex(page, /"open" on pods: +<unknown> \/ 5\n +"jobs" \(target average value\): +\S+ \/ 10\n/);
	t.regex(page, /SuccessfulRescale[^]*New size: 3; reason: external metric jobs above target/);
	await fine('patch', ofVersion1, 'web', '--type=merge', '-p', '{"spec":{"maxReplicas":2}}');
	t.deepEqual(JSON.parse(await fine('get', 'hpa', 'web', '-o', 'jsonpath={.spec.metrics}')), metrics);
	t.is(await fine('get', 'hpa', 'web', '-o', 'jsonpath={.spec.minReplicas} {.spec.maxReplicas}'), '0 2');
});
