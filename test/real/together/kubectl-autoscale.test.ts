// The real kubectl makes, shows, changes and deletes autoscalers, in both versions.

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
