// Autoscalers of containers: they come while they burn processors or hold memory, and go when they rest, by manifests of Kubernetes and of both older
// dialects. What they use is read from their control groups.

import test from 'ava';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import type {Pod} from '../../api/kinds/pod.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {sharedDockerd} from './_dockerd.js';
import {dockerCluster} from './_docker-cluster.js';

const dockerd = sharedDockerd(test);
const cluster = dockerCluster(test, dockerd);

const app = 'burns';
const burning = 'while :; do if [ -e /tmp/rest ]; then sleep 1; fi; done';
// Half as much again as it asks for, in a file system of memory.
const holding = `
while :; do
	if [ -e /tmp/rest ]; then rm -f /dev/shm/held; elif [ ! -e /dev/shm/held ]; then dd if=/dev/zero of=/dev/shm/held bs=1M count=24; fi
	sleep 1
done`;

const workload = (kind: 'Deployment' | 'ReplicaSet', app: string, script: string): object => ({
	apiVersion: 'apps/v1',
	kind,
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
});

const scaledBy = (name: 'cpu' | 'memory', app: string): object => ({
	apiVersion: 'autoscaling/v2',
	kind: 'HorizontalPodAutoscaler',
	metadata: {name: app},
	spec: {
		scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: app},
		maxReplicas: 3,
		metrics: [{type: 'Resource', resource: {name, target: {type: 'Utilization', averageUtilization: 100}}}],
		behavior: {scaleDown: {stabilizationWindowSeconds: 5}},
	},
});

const listed = async <Item>(...words: readonly string[]): Promise<readonly Item[]> =>
	(JSON.parse(await cluster.ask('get', ...words, '-o', 'json')) as {readonly items: readonly Item[]}).items;
const running = async (app: string): Promise<readonly Pod[]> =>
	(await listed<Pod>('pods', '-l', `app=${app}`)).filter(
		({metadata, status}) => metadata.deletionTimestamp === undefined && status?.phase === 'Running',
	);

const untilThereAre = (app: string, wanted: number): Promise<void> => {
	let status = '';
	return eventually(
		`${wanted} containers of ${app} run`,
		async () => {
			const found = (await listed<Hpa>('hpa')).find(({metadata}) => metadata.name === app);
			status = JSON.stringify(found?.status);
			return (await running(app)).length === wanted && found?.status?.desiredReplicas === wanted;
		},
		() => status,
		150_000,
	);
};

/** Each of them does nothing from now on. */
async function rest(app: string): Promise<void> {
	for (const {metadata} of await running(app)) await cluster.fine('exec', metadata.name, '--', 'touch', '/tmp/rest');
}

test.serial('containers come while they burn processors', async t => {
	await cluster.up();
	await cluster.apply(workload('Deployment', app, burning), scaledBy('cpu', app));
	await untilThereAre(app, 3);
	t.regex(await cluster.ask('get', 'hpa'), /^burns +Deployment\/burns +cpu: [1-9]\d*%\/100% +1 +3 +\d /m);
	t.regex(await cluster.ask('describe', 'hpa', app), /1 -> \d +cpu: [1-9]\d*%\/100% /);
});

test.serial('they go when they rest', async t => {
	await rest(app);
	// One that stays rests, too: the youngest go first.
	await untilThereAre(app, 1);
	t.regex(await cluster.ask('why', `hpa/${app}`), /its last change was from \d to 1: All metrics below target/);
	await cluster.fine('delete', `hpa/${app}`, `deployment/${app}`);
});

const dialects = {
	'by-kubernetes': scaledBy('memory', 'by-kubernetes'),
	'by-a': {
		apiVersion: 'v1',
		kind: 'Hpa',
		metadata: {name: 'by-a'},
		spec: {
			minReplicas: 1,
			maxReplicas: 3,
			workload: {kind: 'Deployment', metadata: {name: 'by-a'}},
			adjustInterval: '2s',
			metrics: {memPercent: 1},
		},
	},
	'by-b': {
		apiVersion: 'autoscaling/v1',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'by-b'},
		spec: {
			minReplicas: 1,
			maxReplicas: 3,
			scaleTargetRef: {apiVersion: 'v1', kind: 'Deployment', metadata: {name: 'by-b', namespace: 'default'}},
			scaleInterval: 2,
			metrics: {MemoryUtilizationPercentage: 100},
		},
	},
};
const apps = Object.keys(dialects);

test.serial(
	'containers come while they hold memory, and go when they have given it back, in the words of Kubernetes and of both dialects',
	async t => {
		for (const each of apps) await cluster.apply(workload('Deployment', each, holding));
		await cluster.apply(...Object.values(dialects));
		await Promise.all(apps.map(each => untilThereAre(each, 3)));
		t.regex(await cluster.ask('get', 'hpa'), /^by-kubernetes +Deployment\/by-kubernetes +memory: 1[3-7]\d%\/100% +1 +3 +\d /m);
		for (const each of apps) {
			await rest(each);
			await untilThereAre(each, 1);
			t.regex(await cluster.ask('why', `hpa/${each}`), /its last change was from \d to 1: All metrics below target/);
		}
	},
);
