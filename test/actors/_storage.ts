// Claims, volumes and pods that use them, as manifests say them.

import {hostnameLabel} from '../../api/local-storage.js';
import type {PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../api/kinds/pod.js';
import {objectAddress, objectKey, type ObjectKey} from '../../api/keys.js';
import type {Draft} from '../../api/object.js';
import type {FakeCluster} from './_cluster.js';

export const claimDraft = (name: string, spec: object = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name, namespace: 'default'},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}, ...spec},
});

/** A folder of one node that was there before. */
export const volumeDraft = (name: string, spec: object = {}, labels: {readonly [label: string]: string} = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'PersistentVolume',
	metadata: {name, labels},
	spec: {
		capacity: {storage: '1Gi'},
		accessModes: ['ReadWriteOnce'],
		hostPath: {path: `/srv/${name}`},
		storageClassName: '',
		...spec,
	},
});

export const onHost = (...names: readonly string[]) => ({
	required: {nodeSelectorTerms: [{matchExpressions: [{key: hostnameLabel, operator: 'In', values: [...names]}]}]},
});

export const podWith = (name: string, claims: readonly string[], spec: object = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, namespace: 'default'},
	spec: {
		containers: [{name: 'main', image: 'any', command: ['sleep', '1d']}],
		volumes: claims.map(claimName => ({name: claimName, persistentVolumeClaim: {claimName}})),
		...spec,
	},
});

export const claimKeyOf = (name: string): ObjectKey => objectKey('persistentvolumeclaims', 'default', name);
export const volumeKeyOf = (name: string): ObjectKey => objectKey('persistentvolumes', undefined, name);

/** What is committed in a cluster, by name. */
export const claimIn = (cluster: FakeCluster, name: string): PersistentVolumeClaim | undefined =>
	(cluster.list('persistentvolumeclaims') as readonly PersistentVolumeClaim[]).find(({metadata}) => metadata.name === name);
export const volumesIn = (cluster: FakeCluster): readonly PersistentVolume[] =>
	cluster.list('persistentvolumes') as readonly PersistentVolume[];
export const volumeIn = (cluster: FakeCluster, name: string): PersistentVolume | undefined =>
	volumesIn(cluster).find(({metadata}) => metadata.name === name);

export const nodeOfPod = (cluster: FakeCluster, name: string): string => cluster.pod(name)?.spec?.nodeName ?? '';

/** What a pod says of its scheduling. */
export const whyNot = (pod: Pod | undefined): string => pod?.status?.conditions?.find(({type}) => type === 'PodScheduled')?.message ?? '';

export const remove = (cluster: FakeCluster, key: ObjectKey): void => {
	const outcome = cluster.ask(objectAddress(key), {type: 'delete', graceSeconds: 0});
	if (!outcome.ok) throw new Error(outcome.error.message);
	cluster.pass(1_000);
};
