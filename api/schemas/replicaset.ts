// The schema of a ReplicaSet.

import type {Static} from 'typebox';
import {limits} from '../limits.js';
import type {Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {ReplicaSetSpec, ReplicaSetStatus} from '../shapes/replicaset.js';
import {objectWith} from './metadata.js';
import {about, count, list, optional, record, seconds, shared, whole, type Same} from './parts.js';
import {podTemplate} from './template.js';

const replicaSetSpec = () =>
	record({
		replicas: optional(about('How many pods there should be; 1 when left out.', whole(0, limits.replicas))),
		minReadySeconds: optional(about('How long a pod must be ready before it counts.', seconds())),
		selector: about('Which pods belong to it. It stays as it is.', shared<LabelSelector>('LabelSelector')),
		template: about('What its pods are made from.', podTemplate()),
	});

export const replicaSetStatus = () =>
	record({
		replicas: about('How many pods there are.', count()),
		fullyLabeledReplicas: optional(about('How many of them have all labels of the template.', count())),
		readyReplicas: optional(about('How many are ready.', count())),
		availableReplicas: optional(about('How many can be relied on.', count())),
		observedGeneration: optional(about('The version of the spec this is about.', whole(0, Number.MAX_SAFE_INTEGER))),
		conditions: optional(about('What holds of it.', list(shared<Condition>('Condition')))),
	});

export const replicaSet = () => objectWith(about('How many pods of which template.', replicaSetSpec()));

export const specSaysTheSame: Same<Static<ReturnType<typeof replicaSetSpec>>, ReplicaSetSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof replicaSetStatus>>, ReplicaSetStatus> = true;
