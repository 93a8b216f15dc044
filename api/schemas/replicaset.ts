// The schema of a ReplicaSet.

import type {Static} from 'typebox';
import {limits} from '../limits.js';
import type {Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {PodSpec} from '../shapes/pod.js';
import type {ReplicaSetSpec, ReplicaSetStatus} from '../shapes/replicaset.js';
import {objectWith, templateMetadata} from './metadata.js';
import {list, maxInt32, optional, record, seconds, shared, whole, type Same} from './parts.js';

const replicaSetSpec = () =>
	record({
		replicas: optional(whole(0, limits.replicas)),
		minReadySeconds: optional(seconds()),
		selector: shared<LabelSelector>('LabelSelector'),
		template: record({metadata: optional(templateMetadata()), spec: shared<PodSpec>('PodSpec')}),
	});

const count = () => whole(0, maxInt32);

export const replicaSetStatus = () =>
	record({
		replicas: count(),
		fullyLabeledReplicas: optional(count()),
		readyReplicas: optional(count()),
		availableReplicas: optional(count()),
		observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER)),
		conditions: optional(list(shared<Condition>('Condition'))),
	});

export const replicaSet = () => objectWith(replicaSetSpec());

export const specSaysTheSame: Same<Static<ReturnType<typeof replicaSetSpec>>, ReplicaSetSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof replicaSetStatus>>, ReplicaSetStatus> = true;
