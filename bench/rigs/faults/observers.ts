// What is seen from outside while something is killed: events of the Engine, and changes that watches of the API tell. Both are opened again when
// what they talk to is there again.

import type {Pod} from '../../../api/kinds/pod.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import type {List} from '../../../cli/cluster/lists.js';
import {pathOf, resourceOf} from '../../../cli/cluster/resources.js';
import {watch} from '../../../cli/cluster/watch.js';
import {pause} from '../../harness/pause.js';
import type {Scope} from '../../harness/scope.js';
import type {EngineApi} from '../servers/engine-api.js';

const againMs = 20;

/** How a pod is called in what is noted; undefined: nobody looks at it. */
export type NameOf = (pod: string) => string | undefined;

type Note = (what: string) => void;

/** Notes starts and ends of containers of pods. */
export function observeEngine(scope: Scope, engine: EngineApi, nameOf: NameOf, note: Note): void {
	const follow = async (): Promise<void> => {
		const ended: {resolve: () => void} = {resolve: () => undefined};
		const over = new Promise<void>(resolve => void (ended.resolve = resolve));
		const close = await engine.follow(({Action: action, Actor: {Attributes: said}}) => {
			const pod = nameOf(said['troupe.dev/pod'] ?? '');
			if (pod === undefined || (action !== 'die' && action !== 'start')) return;
			const container = said['troupe.dev/container'] ?? '';
			note(`Engine: ${action} of ${pod}, ${container === '_infra' ? 'its infra container' : container}`);
		}, ended.resolve);
		scope.defer(close);
		await over;
	};
	repeat(scope, follow);
}

/** Notes what changes of pods, Nodes and Deployments, and when the API goes and comes. */
export async function observeApi(scope: Scope, client: Client, nameOf: NameOf, note: Note): Promise<void> {
	const sources = [
		['pods', (now: ApiObject, before: ApiObject | undefined) => changesOfPod(now as Pod, before as Pod | undefined, nameOf)],
		['nodes', changesOfNode],
		['deployments', changesOfDeployment],
	] as const;
	const first = sources.map(([kind, changesOf], index) => {
		const known = new Map<string, ApiObject>();
		let isLost = false;
		const opened = {resolve: () => undefined as void};
		const open = new Promise<void>(resolve => void (opened.resolve = resolve));
		const take = (object: ApiObject): void => {
			const {name, uid} = object.metadata;
			const before = known.get(name);
			known.set(name, object);
			for (const change of changesOf(object, before?.metadata.uid === uid ? before : undefined)) note(`API: ${change}`);
		};
		repeat(scope, async () => {
			const path = pathOf(resourceOf(kind), 'default');
			const abort = new AbortController();
			scope.defer(() => abort.abort());
			try {
				const list = (await client.json({path})) as List;
				if (isLost && index === 0) note('API: answers again');
				isLost = false;
				for (const object of list.items ?? []) take(object);
				opened.resolve();
				const query = {resourceVersion: list.metadata?.resourceVersion};
				for await (const {type, object} of watch(client, {path, query, signal: abort.signal})) {
					const {name} = (object as ApiObject).metadata;
					if (type !== 'DELETED') take(object as ApiObject);
					else known.delete(name);
					if (type === 'DELETED' && kind === 'pods' && nameOf(name) !== undefined) note(`API: ${nameOf(name)} is gone`);
				}
			} finally {
				if (!isLost && index === 0 && !scope.isClosing()) note('API: a watch ends');
				isLost = true;
			}
		});
		return open;
	});
	await Promise.all(first);
}

/** Again and again, whatever becomes of it, until the scope closes. */
function repeat(scope: Scope, run: () => Promise<void>): void {
	const loop = async (): Promise<void> => {
		while (!scope.isClosing()) {
			await run().catch(() => undefined);
			await pause(againMs);
		}
	};
	void loop();
}

type Conditions = {readonly conditions?: readonly Pick<Condition, 'type' | 'status' | 'reason'>[]};

const conditionOf = (object: ApiObject | undefined, type: string): string => {
	const found = ((object?.status ?? {}) as Conditions).conditions?.find(condition => condition.type === type);
	return found === undefined ? 'none' : `${found.status}${found.reason === undefined || found.reason === '' ? '' : `, ${found.reason}`}`;
};

function changesOfPod(now: Pod, before: Pod | undefined, nameOf: NameOf): readonly string[] {
	const name = nameOf(now.metadata.name);
	if (name === undefined) return [];
	const changes: string[] = [];
	if (now.status?.phase !== before?.status?.phase) changes.push(`${name} is ${now.status?.phase ?? 'without a phase'}`);
	if (isPodReady(now) !== isPodReady(before)) changes.push(`${name} is ${isPodReady(now) ? 'ready' : 'not ready'}`);
	if (before !== undefined && now.status?.podIP !== before.status?.podIP) changes.push(`${name} has another address`);
	for (const container of now.status?.containerStatuses ?? []) {
		const former = before?.status?.containerStatuses?.find(({name: other}) => other === container.name);
		const [is, was] = [stateOf(container), former === undefined ? '' : stateOf(former)];
		if (is !== was) changes.push(`${name}, ${container.name} ${is}`);
	}
	return changes;
}

type Container = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function stateOf({state, restartCount}: Container): string {
	if (state?.running !== undefined) return `runs${restartCount > 0 ? `, restarted ${restartCount} times` : ''}`;
	if (state?.terminated !== undefined) return `has ended: ${state.terminated.reason ?? ''} ${state.terminated.exitCode}`;
	return `waits: ${state?.waiting?.reason ?? ''}`;
}

const isPodReady = (pod: Pod | undefined): boolean => conditionOf(pod, 'Ready').startsWith('True');

function changesOfNode(now: ApiObject, before: ApiObject | undefined): readonly string[] {
	return ['Ready', 'DockerNotReady'].flatMap(type => {
		const [is, was] = [conditionOf(now, type), conditionOf(before, type)];
		return is === was ? [] : [`the node's ${type} is ${is}`];
	});
}

function changesOfDeployment(now: ApiObject, before: ApiObject | undefined): readonly string[] {
	const available = (object: ApiObject | undefined): number =>
		((object?.status ?? {}) as {readonly availableReplicas?: number}).availableReplicas ?? 0;
	return available(now) === available(before) ? [] : [`${available(now)} of the Deployment are available`];
}
