// The schema of a PersistentVolume.

import {nodeTerm} from './affinity.js';
import {objectWith} from './metadata.js';
import {nfs} from './nfs.js';
import {about, list, mapOf, oneOf, optional, quantity, record, text} from './parts.js';
import {accessModes} from './persistentvolumeclaim.js';
import {hostPath} from './pod.js';

export const spec = () =>
	record(
		{
			capacity: about('storage: how large it is.', mapOf(quantity())),
			accessModes: about('Who may use it at once.', list(oneOf(accessModes))),
			persistentVolumeReclaimPolicy: optional(
				about('What becomes of it when its claim is gone: Retain (the default) or Delete.', oneOf(['Retain', 'Delete'])),
			),
			storageClassName: optional(about('Claims of this class may get it.', text())),
			volumeMode: optional(about('Filesystem, the default.', oneOf(['Filesystem']))),
			claimRef: optional(
				about(
					'The claim that has it, or is to have it.',
					record({
						kind: optional(about('PersistentVolumeClaim.', text())),
						apiVersion: optional(about('v1.', text())),
						namespace: about('Of the claim.', text()),
						name: about('Of the claim.', text()),
						uid: optional(about('Set once it is bound.', text())),
						resourceVersion: optional(about('Not used.', text())),
						fieldPath: optional(about('Not used.', text())),
					}),
				),
			),
			nodeAffinity: optional(
				about(
					'The nodes on which it can be used.',
					record({required: about('One of them must hold.', record({nodeSelectorTerms: about('Any of these.', list(nodeTerm()))}))}),
				),
			),
			nfs: optional(nfs()),
			local: optional(about('A folder of one node.', record({path: about('Where it is; absolute.', text())}, {'x-not-yet': ['fsType']}))),
			hostPath: optional(hostPath()),
		},
		{
			'x-not-yet': [
				'awsElasticBlockStore',
				'azureDisk',
				'azureFile',
				'cephfs',
				'cinder',
				'csi',
				'fc',
				'flexVolume',
				'flocker',
				'gcePersistentDisk',
				'glusterfs',
				'iscsi',
				'mountOptions',
				'photonPersistentDisk',
				'portworxVolume',
				'quobyte',
				'rbd',
				'scaleIO',
				'storageos',
				'volumeAttributesClassName',
				'vsphereVolume',
			],
		},
	);

export const status = () =>
	record({
		phase: about('Pending, Available, Bound, Released or Failed.', oneOf(['Pending', 'Available', 'Bound', 'Released', 'Failed'])),
		message: optional(about('Why, and how much of it is used.', text())),
		reason: optional(about('The same in a word.', text())),
		used: optional(
			about(
				'storage: what it takes of the disk, as its node counted last. Of class local alone; no field of Kubernetes.',
				mapOf(quantity()),
			),
		),
	});

export const schema = () => objectWith(about('What it is, and for whom.', spec()));
