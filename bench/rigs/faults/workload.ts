// The pods that stand while something is killed: a Deployment of three on Docker, a process beside it, an exclusive pod on Docker; and how they stand.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Client} from '../../../cli/client.js';
import type {List} from '../../../cli/cluster/lists.js';
import {eventually} from '../cluster/waiting.js';
import {deploymentPath, podPath, podsPath} from '../cluster/objects.js';
import {pidOfContainer, type EngineApi} from '../servers/engine-api.js';
import {journalWords} from './journals.js';

export const replicas = 3;
const longMs = 60_000;

const deployments = deploymentPath('').replace(/\/$/, '');

function specOf(runtime: 'docker' | 'process', journals: string, containers: readonly string[]) {
	const mount = {volumeMounts: [{name: 'journals', mountPath: journals}]};
	const probe = {exec: {command: ['true']}, periodSeconds: 2, timeoutSeconds: 5};
	return {
		runtimeClassName: runtime,
		terminationGracePeriodSeconds: 2,
		...(runtime === 'docker' ? {volumes: [{name: 'journals', hostPath: {path: journals}}]} : {}),
		containers: containers.map(name => ({
			name,
			image: 'busybox',
			imagePullPolicy: 'IfNotPresent',
			command: journalWords(journals, name),
			env: [{name: 'POD', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}}],
			...(runtime === 'docker' ? mount : {}),
			...(name === 'b' ? {livenessProbe: probe} : {}),
		})),
	};
}

/** Makes them; resolves when all are ready. */
export async function createPods(client: Client, journals: string): Promise<void> {
	const labels = {app: 'web'};
	const template = {metadata: {labels}, spec: specOf('docker', journals, ['a', 'b'])};
	const web = {
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {name: 'web'},
		spec: {replicas, selector: {matchLabels: labels}, template},
	};
	const podOf = (name: string, runtime: 'docker' | 'process', annotations: {readonly [name: string]: string}) => ({
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name, annotations},
		spec: specOf(runtime, journals, ['a']),
	});
	await client.json({method: 'POST', path: deployments, body: web});
	await client.json({method: 'POST', path: podsPath, body: podOf('process', 'process', {})});
	await client.json({method: 'POST', path: podsPath, body: podOf('exclusive', 'docker', {'troupe.dev/exclusive': 'true'})});
	await untilReady(client);
}

/** Removes them; resolves when they are gone. */
export async function deletePods(client: Client): Promise<void> {
	await client.json({method: 'DELETE', path: deploymentPath('web')});
	for (const name of ['process', 'exclusive']) await client.json({method: 'DELETE', path: podPath(name)});
	let left: readonly Pod[] = [];
	const none = async (): Promise<boolean> => (left = await podsOf(client)).length === 0;
	await eventually('all pods are gone', none, () => JSON.stringify(left), longMs);
}

const podsOf = async (client: Client): Promise<readonly Pod[]> => ((await client.json({path: podsPath})) as List).items as readonly Pod[];

const isReady = ({status, metadata}: Pod): boolean =>
	metadata.deletionTimestamp === undefined && status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') === true;

/** All of them are ready, and so is the node. */
export async function untilReady(client: Client): Promise<void> {
	let seen: readonly unknown[] = [];
	await eventually(
		'all pods are ready',
		async () => {
			const pods = await podsOf(client);
			seen = pods;
			if (pods.length !== replicas + 2 || !pods.every(isReady)) return false;
			const {items} = (await client.json({path: '/api/v1/nodes'})) as List;
			seen = items ?? [];
			const conditions = (items ?? []).flatMap(({status}) => ((status ?? {}) as NonNullable<Pod['status']>).conditions ?? []);
			return conditions.every(({type, status}) => (type === 'Ready' ? status === 'True' : type !== 'DockerNotReady' || status !== 'True'));
		},
		() => JSON.stringify(seen),
		longMs,
	);
}

export type StandingContainer = {readonly id: string; readonly restartCount: number; readonly pid: number};

/** One pod: which containers and processes it is. */
export type Standing = {
	readonly uid: string;
	readonly podIP: string;
	/** Of a process there is none. */
	readonly infra: string;
	readonly containers: {readonly [name: string]: StandingContainer};
};

/** By the pods' names. */
export async function standingOf(client: Client, engine: EngineApi): Promise<Map<string, Standing>> {
	const listed = (await engine.call('GET', '/containers/json')) as readonly {
		readonly Id: string;
		readonly Labels: {readonly [label: string]: string};
	}[];
	const entries = (await podsOf(client)).map(async ({metadata: {name, uid}, status}): Promise<[string, Standing]> => {
		const infra = listed.find(({Labels: said}) => said['troupe.dev/pod-uid'] === uid && said['troupe.dev/container'] === '_infra');
		const containers = (status?.containerStatuses ?? []).map(async each => {
			const {containerID: id = '', restartCount} = each;
			const [, ofDocker] = /^docker:\/\/(.+)$/.exec(id) ?? [];
			// One that is just being replaced may be gone.
			const pid =
				ofDocker === undefined
					? Number(/^process:\/\/(\d+)/.exec(id)?.[1])
					: await pidOfContainer(engine, ofDocker).catch(() => Number.NaN);
			return [each.name, {id, restartCount, pid}] as const;
		});
		return [name, {uid, podIP: status?.podIP ?? '', infra: infra?.Id ?? '', containers: Object.fromEntries(await Promise.all(containers))}];
	});
	return new Map(await Promise.all(entries));
}
