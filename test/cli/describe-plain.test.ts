// `describe` of what a container takes its environment from, and of kinds that have no page of their own.

import test from 'ava';
import {describeAutoscaler} from '../../cli/describe/autoscaler.js';
import {describePlain} from '../../cli/describe/plain.js';
import {describePod} from '../../cli/describe/pod.js';
import {anHpa} from '../actors/autoscaling/_autoscalers.js';
import {manifests} from '../api/_manifests.js';
import {aPodWith, committed} from '../api/_objects.js';
import type {Pod} from '../../api/kinds/pod.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const widthOf = (text: string): number => text.length;
const asYaml = (value: unknown): Promise<string> => Promise.resolve(`${JSON.stringify(value)}\n`);

test('a pod says from which ConfigMaps and Secrets all entries are taken', t => {
	const pod = aPodWith({envFrom: [{configMapRef: {name: 'settings', optional: true}, prefix: 'APP_'}, {secretRef: {name: 'login'}}]});
	const page = describePod(committed(pod) as Pod, nowMs, widthOf);
	t.regex(page, /Environment From: +ConfigMap settings \(optional\), each as APP_KEY\n +Secret login\n/);
});

test('a pod shows what its containers may take and what is put aside for them', t => {
	const page = describePod(
		committed(aPodWith({resources: {limits: {memory: '2Gi'}, requests: {cpu: '100m', memory: '64Mi'}}})) as Pod,
		nowMs,
		widthOf,
	);
	t.regex(page, /Limits: +memory: 2Gi\n +Requests: +cpu: 100m, memory: 64Mi\n/);
});

test('a container that runs shows as whom and where', t => {
	const user = {linux: {uid: 1_900_000_000, gid: 1_900_000_000, supplementalGroups: [2_000, 3_000]}};
	const process = {workingDir: '/srv', home: '/var/lib/troupe/x', path: '/usr/bin:/bin'};
	const pod = committed(aPodWith({})) as Pod;
	const name = pod.spec?.containers[0]?.name ?? '';
	const status = {name, ready: true, restartCount: 0, image: 'any', imageID: '', user, process};
	const page = describePod({...pod, status: {phase: 'Running', containerStatuses: [status]}}, nowMs, widthOf);
	t.regex(page, /User: +1900000000 \(group 1900000000, also 2000, 3000\)\n/);
	t.regex(page, /Working Dir: +\/srv\n +Home: +\/var\/lib\/troupe\/x\n +Path: +\/usr\/bin:\/bin\n/);
});

test('a kind without a page of its own shows what its writer has set', async t => {
	const config = {apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}, spec: {nodes: {grace: '9s'}}};
	t.regex(await describePlain(committed(config), nowMs, widthOf, asYaml), /^Name: +cluster\n[\s\S]*^Spec:\n.*"grace":"9s"/m);
});

test('an autoscaler says what was measured, what it decided and why, and how fast it may', t => {
	const rules = {scaleUp: {policies: [{type: 'Pods', value: 2, periodSeconds: 15}]}, scaleDown: {selectPolicy: 'Disabled'}} as const;
	const hpa = anHpa({
		spec: {behavior: rules},
		status: {
			currentReplicas: 2,
			desiredReplicas: 4,
			lastScaleTime: '2026-01-01T00:03:10Z',
			currentMetrics: [{type: 'Resource', resource: {name: 'cpu', current: {averageUtilization: 90, averageValue: '90m'}}}],
			conditions: [{type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message: 'new size'}],
			decisions: [
				{time: '2026-01-01T00:00:20Z', from: 1, to: 2, reason: 'cpu above target', measured: 'cpu: 70%/50%'},
				{time: '2026-01-01T00:03:10Z', from: 2, to: 4, reason: 'cpu above target', measured: 'cpu: 90%/50%'},
			],
		},
	});
	const page = describeAutoscaler(hpa, nowMs, widthOf);
	t.regex(page, /Reference: +Deployment\/web\n/);
	t.regex(page, /Metrics: +cpu: 90%\/50% \(measured \/ wanted\)\n/);
	t.regex(page, /Scale up: +2 pods in 15 s\nScale down: +never\n/);
	t.regex(page, /Replicas: +2 current \/ 4 desired\n/);
	t.regex(page, /Decisions:\n +WHEN +REPLICAS +MEASURED +WHY\n.* 2 -> 4 +cpu: 90%\/50% +cpu above target\n.* 1 -> 2 /);
	t.regex(page, /SucceededRescale/);
	const older = {...hpa, metadata: {...hpa.metadata, annotations: {'troupe.dev/scale-interval': '30'}}};
	t.regex(describeAutoscaler(older, nowMs, widthOf), /Steps: +one pod at most in 30s\n/);
});

test('members that stand beside the metadata are shown, too', async t => {
	const page = await describePlain(committed(manifests.EndpointSlice), nowMs, widthOf, asYaml);
	t.regex(page, /AddressType:\n {2}"IPv4"\nEndpoints:\n/);
});
