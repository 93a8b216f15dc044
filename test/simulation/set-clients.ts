// People with StatefulSets and DaemonSets: what they ask for, and what has to be there once all is quiet.

import {isConditionTrue} from '../../api/conditions.js';
import {objectKey} from '../../api/keys.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {SimulatedCluster} from './cluster.js';
import type {Deed} from './plan.js';

type Made = Extract<Deed, {type: 'createStateful' | 'createDaemon'}>;
type Changed = Extract<Deed, {type: 'changeNamed'}>;

const pluralOf = {createStateful: 'statefulsets', createDaemon: 'daemonsets'} as const;

const template = (set: string, version: number): JsonObject => ({
	metadata: {labels: {set}, annotations: {version: String(version)}},
	spec: {containers: [{name: 'main', image: 'program', command: ['serve']}], terminationGracePeriodSeconds: 1},
});

function specOf(deed: Made): JsonObject {
	const common = {selector: {matchLabels: {set: deed.set}}, template: template(deed.set, 0), revisionHistoryLimit: 1};
	if (deed.type === 'createDaemon')
		return {...common, updateStrategy: {rollingUpdate: deed.surges === true ? {maxUnavailable: 0, maxSurge: 1} : {}}};
	const sized = {...common, replicas: deed.replicas, podManagementPolicy: deed.parallel === true ? 'Parallel' : 'OrderedReady'};
	return deed.claims === undefined
		? sized
		: {...sized, volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy: deed.claims};
}

const claimTemplate = {metadata: {name: 'data'}, spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}}};

export class SetClients {
	readonly #cluster: SimulatedCluster;
	/** Keys of the sets that were asked for. */
	readonly #keys: string[] = [];

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	create(deed: Made): void {
		const plural = pluralOf[deed.type];
		const kind = deed.type === 'createDaemon' ? 'DaemonSet' : 'StatefulSet';
		const key = objectKey(plural, 'default', deed.set);
		this.#keys.push(key);
		this.#cluster.create(
			plural,
			{apiVersion: 'apps/v1', kind, metadata: {name: deed.set, namespace: 'default'}, spec: specOf(deed)},
			outcome => {
				this.#cluster.note(`create ${key}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
				if (outcome.ok) this.#cluster.invariants.onAcknowledged(key, outcome.value);
			},
		);
	}

	change({set, replicas, version}: Changed): void {
		const key = this.#chosen(set);
		if (key === undefined) return;
		const spec: JsonObject = {
			...(version === undefined ? {} : {template: {metadata: {annotations: {version: String(version)}}}}),
			...(replicas === undefined || key.startsWith('daemonsets/') ? {} : {replicas}),
		};
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec}};
		this.#cluster.askRecord(key, patch, outcome =>
			this.#cluster.note(`change ${key}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`),
		);
	}

	delete(set: number): void {
		const key = this.#chosen(set);
		if (key !== undefined) this.#cluster.askRecord(key, {type: 'delete'}, () => undefined);
	}

	#chosen(share: number): string | undefined {
		return this.#keys[Math.floor(share * this.#keys.length)];
	}

	/** I5: what is not as it should be once all is quiet. */
	unsettled(): string[] {
		const {cluster, pods, nodes} = {
			cluster: this.#cluster,
			pods: this.#cluster.pods(),
			nodes: this.#cluster.objects('nodes') as NodeObject[],
		};
		return this.#keys.flatMap(key => {
			const [plural, , name = ''] = key.split('/');
			const set = cluster.objects(plural ?? '').find(({metadata}) => metadata.name === name);
			const own = pods.filter(({metadata}) => metadata.labels?.['set'] === name);
			if (set === undefined) return own.map(({metadata}) => `I5: pod ${metadata.name} is left of ${key}`);
			const claims = cluster.objects('persistentvolumeclaims') as PersistentVolumeClaim[];
			const found =
				plural === 'daemonsets'
					? ofDaemon(set as DaemonSet, own, nodes)
					: [...ofStateful(set as StatefulSet, own), ...ofClaims(set as StatefulSet, claims)];
			return [...found.map(what => `I5: ${key}: ${what}`), ...ofHistory(set, cluster.objects('controllerrevisions'))];
		});
	}
}

const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');
const versionOf = (pod: Pod): string | undefined => pod.metadata.annotations?.['version'];
const wantedVersion = ({spec}: DaemonSet | StatefulSet): string | undefined => spec?.template.metadata?.annotations?.['version'];
const notGood = (set: DaemonSet | StatefulSet, pods: readonly Pod[]): string[] =>
	pods.filter(pod => !isReady(pod) || versionOf(pod) !== wantedVersion(set)).map(({metadata}) => `${metadata.name} is not ready, or old`);

function ofDaemon(set: DaemonSet, pods: readonly Pod[], nodes: readonly NodeObject[]): string[] {
	const places = pods.map(({spec}) => spec?.nodeName ?? '').toSorted();
	const wanted = nodes.map(({metadata}) => metadata.name).toSorted();
	const found = notGood(set, pods);
	if (JSON.stringify(places) !== JSON.stringify(wanted)) found.push(`pods are on ${places.join()}, the nodes are ${wanted.join()}`);
	const {desiredNumberScheduled, numberReady, numberAvailable, updatedNumberScheduled, observedGeneration} = set.status ?? {};
	const counts = [desiredNumberScheduled, numberReady, numberAvailable, updatedNumberScheduled];
	if (counts.some(count => count !== wanted.length) || observedGeneration !== set.metadata.generation)
		found.push(`its status says ${JSON.stringify(set.status)}`);
	return found;
}

function ofStateful(set: StatefulSet, pods: readonly Pod[]): string[] {
	const replicas = set.spec?.replicas ?? 1;
	const names = pods.map(({metadata}) => metadata.name).toSorted();
	const wanted = Array.from({length: replicas}, (_, ordinal) => `${set.metadata.name}-${ordinal}`).toSorted();
	const found = notGood(set, pods);
	if (JSON.stringify(names) !== JSON.stringify(wanted)) found.push(`there are ${names.join()}, wanted are ${wanted.join()}`);
	const {readyReplicas, updatedReplicas, currentReplicas, currentRevision, updateRevision} = set.status ?? {};
	const isCounted = [readyReplicas, updatedReplicas, currentReplicas].every(count => count === replicas);
	if (!isCounted || currentRevision !== updateRevision) found.push(`its status says ${JSON.stringify(set.status)}`);
	return found;
}

/** Each pod has its claim, whose owner is who shall be. */
function ofClaims({metadata: {name}, spec}: StatefulSet, claims: readonly PersistentVolumeClaim[]): string[] {
	if (spec?.volumeClaimTemplates === undefined) return [];
	const wanted = Array.from({length: spec.replicas ?? 1}, (_, ordinal) => `data-${name}-${ordinal}`);
	const owner = spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete' ? 'StatefulSet' : undefined;
	return wanted.flatMap(each => {
		const claim = claims.find(({metadata}) => metadata.name === each);
		if (claim === undefined) return [`there is no claim ${each}`];
		const owners = (claim.metadata.ownerReferences ?? []).map(({kind}) => kind);
		if (owners.join() !== (owner ?? '')) return [`claim ${each} is of ${owners.join() || 'nobody'}`];
		return claim.status?.phase === 'Bound' ? [] : [`claim ${each} is ${claim.status?.phase}`];
	});
}

/** The present revision is there, and one before it at most. */
function ofHistory({metadata: {uid, name}}: ApiObject, revisions: readonly ApiObject[]): string[] {
	const own = revisions.filter(({metadata}) => metadata.ownerReferences?.[0]?.uid === uid);
	return own.length === 1 || own.length === 2 ? [] : [`I5: ${name} has ${own.length} revisions`];
}
