// The schema of a ReplicaSet.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, optional, record, seconds, selector, whole} from './parts.js';
import {podTemplate} from './template.js';

export const spec = () =>
	record({
		replicas: optional(about('How many pods there should be; 1 when left out.', whole(0, limits.replicas))),
		minReadySeconds: optional(about('How long a pod must be ready before it counts.', seconds())),
		selector: about('Which pods belong to it. It stays as it is.', selector()),
		template: about('What its pods are made from.', podTemplate()),
	});

export const status = () =>
	record({
		replicas: about('How many pods there are.', count()),
		fullyLabeledReplicas: optional(about('How many of them have all labels of the template.', count())),
		readyReplicas: optional(about('How many are ready.', count())),
		availableReplicas: optional(about('How many can be relied on.', count())),
		observedGeneration: optional(about('The version of the spec this is about.', whole(0, Number.MAX_SAFE_INTEGER))),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('How many pods of which template.', spec()));
