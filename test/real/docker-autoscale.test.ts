// An autoscaler of containers: they come while they burn processors, and go when they rest. What they use is read from their control groups.

import test from 'ava';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import type {Pod} from '../../api/kinds/pod.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {sharedDockerd} from './_dockerd.js';
import {dockerCluster} from './_docker-cluster.js';

const dockerd = sharedDockerd(test);
const cluster = dockerCluster(test, dockerd);

const app = 'burns';
const script = 'while :; do if [ -e /tmp/rest ]; then sleep 1; fi; done';

const deployment = {
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: app},
	spec: {
		replicas: 1,
		selector: {matchLabels: {app}},
		template: {
			metadata: {labels: {app}},
			spec: {
				runtimeClassName: 'docker',
				terminationGracePeriodSeconds: 0,
				containers: [
					{
						name: 'main',
						image: 'busybox',
						imagePullPolicy: 'IfNotPresent',
						command: ['sh', '-c', script],
						resources: {requests: {cpu: '50m', memory: '16Mi'}, limits: {cpu: '200m'}},
					},
				],
			},
		},
	},
};

const hpa = {
	apiVersion: 'autoscaling/v2',
	kind: 'HorizontalPodAutoscaler',
	metadata: {name: app},
	spec: {
		scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: app},
		maxReplicas: 3,
		metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 100}}}],
		behavior: {scaleDown: {stabilizationWindowSeconds: 5}},
	},
};

const listed = async <Item>(...words: readonly string[]): Promise<readonly Item[]> =>
	(JSON.parse(await cluster.ask('get', ...words, '-o', 'json')) as {readonly items: readonly Item[]}).items;
const running = async (): Promise<readonly Pod[]> =>
	(await listed<Pod>('pods', '-l', `app=${app}`)).filter(
		({metadata, status}) => metadata.deletionTimestamp === undefined && status?.phase === 'Running',
	);

const untilThereAre = (wanted: number): Promise<void> => {
	let status = '';
	return eventually(
		`${wanted} containers run`,
		async () => {
			const [found] = await listed<Hpa>('hpa');
			status = JSON.stringify(found?.status);
			return (await running()).length === wanted && found?.status?.desiredReplicas === wanted;
		},
		() => status,
		150_000,
	);
};

test.serial('containers come while they burn processors', async t => {
	await cluster.up();
	await cluster.apply(deployment, hpa);
	await untilThereAre(3);
	t.regex(await cluster.ask('get', 'hpa'), /^burns +Deployment\/burns +cpu: [1-9]\d*%\/100% +1 +3 +\d /m);
	t.regex(await cluster.ask('describe', 'hpa', app), /1 -> \d +cpu: [1-9]\d*%\/100% /);
});

test.serial('they go when they rest', async t => {
	for (const {metadata} of await running()) await cluster.fine('exec', metadata.name, '--', 'touch', '/tmp/rest');
	// One that stays rests, too: the youngest go first.
	await untilThereAre(1);
	t.regex(await cluster.ask('why', `hpa/${app}`), /its last change was from \d to 1: All metrics below target/);
});
