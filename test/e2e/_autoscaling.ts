// Autoscalers as tests with a whole cluster have them: pods that only stay, what scales them, and how many there come to be.

import type {Hpa, HpaStatus} from '../../api/kinds/horizontalpodautoscaler.js';
import type {Pod} from '../../api/kinds/pod.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import type {Home} from './_rig.js';

/** A machine that does other things takes its time. */
export const patienceMs = 120_000;

export const deployment = (app: string, replicas: number): object => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: app},
	spec: {
		replicas,
		selector: {matchLabels: {app}},
		template: {
			metadata: {labels: {app}},
			spec: {
				runtimeClassName: 'process',
				terminationGracePeriodSeconds: 1,
				containers: [{name: 'main', image: 'node', command: ['node', '-e', 'setInterval(() => undefined, 60000)']}],
			},
		},
	},
});

/** Of the Deployment of that name. */
export const autoscaler = (app: string, metric: object, spec: object = {}): object => ({
	apiVersion: 'autoscaling/v2',
	kind: 'HorizontalPodAutoscaler',
	metadata: {name: app},
	spec: {
		scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: app},
		minReplicas: 0,
		maxReplicas: 4,
		metrics: [metric],
		behavior: {scaleDown: {stabilizationWindowSeconds: 1}},
		...spec,
	},
});

export const hpaOf = async (name: string, of: Home): Promise<HpaStatus> =>
	(JSON.parse(await of.fine('get', 'hpa', name, '-o', 'json')) as Hpa).status ?? {};

/** Those that are not being deleted. */
export const podsOf = async (app: string, of: Home): Promise<readonly Pod[]> =>
	(JSON.parse(await of.fine('get', 'pods', '-l', `app=${app}`, '-o', 'json')) as {readonly items: readonly Pod[]}).items.filter(
		({metadata}) => metadata.deletionTimestamp === undefined,
	);

export async function untilThereAre(app: string, wanted: number, of: Home): Promise<void> {
	let status: HpaStatus = {};
	let pods = 0;
	await eventually(
		`there are ${wanted} of ${app}`,
		async () => {
			[status, pods] = [await hpaOf(app, of), (await podsOf(app, of)).length];
			return pods === wanted && status.desiredReplicas === wanted;
		},
		() => `${pods} pods, ${JSON.stringify(status)}`,
		patienceMs,
	);
}
