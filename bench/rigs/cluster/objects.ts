// The API calls that benchmarks make.

import type {Client} from '../../../cli/client.js';
import type {Json} from '../../../api/object.js';

export type SeenPod = {
	readonly metadata: {readonly name: string; readonly labels?: PodLabels};
	readonly spec?: {readonly nodeName?: string};
	readonly status?: {readonly phase?: string; readonly containerStatuses?: readonly {readonly containerID?: string}[]};
};

export type SeenReplicaSet = {readonly status?: {readonly replicas?: number; readonly readyReplicas?: number}};

export type SeenDeployment = {
	readonly metadata: {readonly generation: number};
	readonly status?: {
		readonly observedGeneration?: number;
		readonly replicas?: number;
		readonly updatedReplicas?: number;
		readonly availableReplicas?: number;
	};
};

export const podsPath = '/api/v1/namespaces/default/pods';
const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

export const podPath = (name: string): string => `${podsPath}/${name}`;
export const replicaSetPath = (name: string): string => `${replicaSets}/${name}`;

/** A pod of one container that runs these words. */
export const podSpec = (command: readonly string[]): Json => ({
	terminationGracePeriodSeconds: 5,
	// In a manifest `$$` stands for one dollar.
	containers: [{name: 'main', image: 'sh', command: command.map(word => word.replaceAll('$', () => '$$'))}],
});

type PodLabels = {readonly [name: string]: string};

export const createPod = (client: Client, name: string, command: readonly string[], labels: PodLabels = {}): Promise<unknown> =>
	client.json({
		method: 'POST',
		path: podsPath,
		body: {apiVersion: 'v1', kind: 'Pod', metadata: {name, labels}, spec: podSpec(command)},
	});

export const deletePod = (client: Client, name: string): Promise<unknown> => client.json({method: 'DELETE', path: podPath(name)});

/** A ReplicaSet of no replicas yet; its pods have the label `set`. */
export const createReplicaSet = (client: Client, name: string, command: readonly string[]): Promise<unknown> => {
	const labels = {set: name};
	const template = {metadata: {labels}, spec: podSpec(command)};
	const spec = {replicas: 0, selector: {matchLabels: labels}, template};
	return client.json({method: 'POST', path: replicaSets, body: {apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: {name}, spec}});
};

export const deploymentPath = (name: string): string => `${deployments}/${name}`;

export type Rollout = {readonly maxSurge: string | number; readonly maxUnavailable: string | number};

/** Its pods have the labels `set`, the name, and `version`. */
export const createDeployment = (
	client: Client,
	name: string,
	{replicas, version, rollout, command}: DeploymentOptions,
): Promise<unknown> => {
	const template = {metadata: {labels: {set: name, version}}, spec: podSpec(command)};
	const strategy = {type: 'RollingUpdate', rollingUpdate: rollout};
	const spec = {replicas, strategy, selector: {matchLabels: {set: name}}, template};
	return client.json({method: 'POST', path: deployments, body: {apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name}, spec}});
};

export type DeploymentOptions = {
	readonly replicas: number;
	readonly version: string;
	readonly rollout: Rollout;
	readonly command: readonly string[];
};

/** Another version of its pods. */
export const rollOver = (client: Client, name: string, version: string): Promise<unknown> =>
	client.json({
		method: 'PATCH',
		path: deploymentPath(name),
		contentType: 'application/merge-patch+json',
		body: {spec: {template: {metadata: {labels: {version}}}}},
	});

/** All pods are of the present version, there are no others, and all can be relied on. */
export async function isRolledOut(client: Client, name: string, replicas: number): Promise<boolean> {
	const {metadata, status} = (await client.json({path: deploymentPath(name)})) as SeenDeployment;
	const {observedGeneration, ...counts} = status ?? {};
	return (
		observedGeneration === metadata.generation &&
		[counts.replicas, counts.updatedReplicas, counts.availableReplicas].every(count => count === replicas)
	);
}

export const scale = (client: Client, name: string, replicas: number): Promise<unknown> =>
	client.json({
		method: 'PATCH',
		path: `${replicaSetPath(name)}/scale`,
		contentType: 'application/merge-patch+json',
		body: {spec: {replicas}},
	});

export type PodWatch = {
	/** Resolves when this holds of the pods that are there; at once when it does. */
	readonly until: (holds: (pods: ReadonlyMap<string, SeenPod>) => boolean) => Promise<void>;
	readonly close: () => void;
};

type WatchEvent = {readonly type: string; readonly object: SeenPod};

/** Follows the pods of a label selector, from those that are there on. */
export async function watchPods(client: Client, labelSelector: string): Promise<PodWatch> {
	const abort = new AbortController();
	const seen = new Map<string, SeenPod>();
	const waiting = new Set<() => void>();
	let failure: Error | undefined;
	const stream = await client.stream({path: podsPath, query: {watch: true, labelSelector}, signal: abort.signal});
	const follow = async (): Promise<void> => {
		for await (const {type, object} of eventsIn(stream)) {
			if (type === 'DELETED') seen.delete(object.metadata.name);
			else if (type === 'ADDED' || type === 'MODIFIED') seen.set(object.metadata.name, object);
			for (const look of [...waiting]) look();
		}
	};
	const end = (reason: Error): void => {
		failure = reason;
		for (const look of [...waiting]) look();
	};
	void follow().then(
		() => end(new Error('the watch ended')),
		(error: unknown) => end(error instanceof Error ? error : new Error(String(error))),
	);
	return {
		until: holds =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					const isOver = holds(seen);
					if (!isOver && failure === undefined) return;
					waiting.delete(look);
					if (isOver) resolve();
					else reject(failure ?? new Error('the watch ended'));
				};
				waiting.add(look);
				look();
			}),
		close: () => abort.abort(),
	};
}

async function* eventsIn(stream: AsyncIterable<Uint8Array>): AsyncIterable<WatchEvent> {
	const decoder = new TextDecoder();
	let rest = '';
	for await (const chunk of stream) {
		const lines = (rest + decoder.decode(chunk, {stream: true})).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent;
	}
}
