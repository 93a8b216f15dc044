// The schema of a StatefulSet.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {
	about,
	anyObject,
	conditions,
	count,
	countOrPercent,
	labels,
	list,
	oneOf,
	optional,
	record,
	seconds,
	selector,
	text,
	whole,
} from './parts.js';
import {spec as claimSpec} from './persistentvolumeclaim.js';
import {podTemplate} from './template.js';

const updateStrategy = () =>
	record({
		type: optional(
			about('RollingUpdate (the default), or OnDelete: a pod is replaced once somebody deletes it.', oneOf(['RollingUpdate', 'OnDelete'])),
		),
		rollingUpdate: optional(
			about(
				'Of the type RollingUpdate: how far it goes.',
				record({
					partition: optional(about('Pods of lower ordinals stay as they are; 0 when left out.', count())),
					maxUnavailable: optional(
						about('How many pods may be missing meanwhile: a number or a part such as 10%; 1 when left out.', countOrPercent()),
					),
				}),
			),
		),
	});

const claimTemplate = () =>
	record({
		apiVersion: optional(about('v1.', oneOf(['v1']))),
		kind: optional(about('PersistentVolumeClaim.', oneOf(['PersistentVolumeClaim']))),
		metadata: about(
			'Its name, and what is said about each claim.',
			record({
				name: about('How containers name the volume; claims are called <name>-<pod>.', text()),
				namespace: optional(about('Accepted: claims are in the namespace of their set.', text())),
				creationTimestamp: optional(about('Accepted; it means nothing.', text())),
				labels: optional(about('Of each claim, beside the labels that the set selects by.', labels())),
				annotations: optional(about('Further texts about each claim.', labels())),
			}),
		),
		spec: about('What each claim asks for.', claimSpec()),
		status: optional(about('Accepted; it means nothing.', anyObject())),
	});

const retention = () => oneOf(['Retain', 'Delete']);

const claimRetention = () =>
	record({
		whenDeleted: optional(about('Retain (the default): claims stay when the set is deleted. Delete: they go with it.', retention())),
		whenScaled: optional(
			about('Retain (the default): claims of pods that are too many stay. Delete: they go with those pods.', retention()),
		),
	});

export const spec = () =>
	record({
		replicas: optional(about('How many pods there should be; 1 when left out.', whole(0, limits.replicas))),
		selector: about('Which pods belong to it. It stays as it is.', selector()),
		template: about('What its pods are made from.', podTemplate()),
		serviceName: optional(about('The headless Service that names its pods. It stays as it is.', text())),
		podManagementPolicy: optional(
			about('OrderedReady (the default): one after the other; Parallel: all at once.', oneOf(['OrderedReady', 'Parallel'])),
		),
		updateStrategy: optional(about('How pods are replaced by new ones.', updateStrategy())),
		minReadySeconds: optional(about('How long a pod must be ready before it counts.', seconds())),
		revisionHistoryLimit: optional(about('How many earlier versions are kept; 10 when left out.', count())),
		ordinals: optional(
			about('How its pods are numbered.', record({start: optional(about('The number of the first; 0 when left out.', count()))})),
		),
		volumeClaimTemplates: optional(
			about(
				'Claims of which each pod has its own, by the name of a volume. They stay as they are, and outlive their pods.',
				list(claimTemplate()),
			),
		),
		persistentVolumeClaimRetentionPolicy: optional(about('What becomes of those claims.', claimRetention())),
	});

export const status = () =>
	record({
		replicas: about('How many pods there are.', count()),
		readyReplicas: optional(about('How many are ready.', count())),
		availableReplicas: optional(about('How many can be relied on.', count())),
		currentReplicas: optional(about('How many are of the current revision.', count())),
		updatedReplicas: optional(about('How many are of the newest revision.', count())),
		currentRevision: optional(about('The revision of pods that an update has not come to.', text())),
		updateRevision: optional(about('The newest revision.', text())),
		collisionCount: optional(count()),
		observedGeneration: optional(about('The version of the spec this is about.', whole(0, Number.MAX_SAFE_INTEGER))),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('How many pods of which template, each with a name of its own.', spec()));
