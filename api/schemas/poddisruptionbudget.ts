// The schema of a PodDisruptionBudget.

import {objectWith} from './metadata.js';
import {about, conditions, count, countOrPercent, mapOf, oneOf, optional, record, selector, text, whole} from './parts.js';

export const spec = () =>
	record({
		minAvailable: optional(about('How many of its pods must stay healthy: a number or a part such as 50%.', countOrPercent())),
		maxUnavailable: optional(about('How many of its pods may be missing: a number or a part such as 25%.', countOrPercent())),
		selector: optional(
			about(
				'Which pods of its namespace it is about; an empty one selects all, none selects nothing.',
				selector({'x-kubernetes-patch-strategy': 'replace'}),
			),
		),
		unhealthyPodEvictionPolicy: optional(
			about(
				'When one that is not ready may be evicted: IfHealthyBudget (the default) or AlwaysAllow.',
				oneOf(['IfHealthyBudget', 'AlwaysAllow']),
			),
		),
	});

export const status = () =>
	record({
		disruptionsAllowed: about('How many pods may be evicted now.', count()),
		currentHealthy: about('How many of its pods are ready.', count()),
		desiredHealthy: about('How many of its pods must be ready.', count()),
		expectedPods: about('Of how many pods the part is taken.', count()),
		disruptedPods: optional(about('When pods were given to an eviction that are not deleted yet, by name.', mapOf(text()))),
		observedGeneration: optional(about('The version of the spec this is about.', whole(0, Number.MAX_SAFE_INTEGER))),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('Which pods, and how many of them must stay.', spec()));
