// The schema of a DaemonSet.

import {objectWith} from './metadata.js';
import {about, conditions, count, countOrPercent, oneOf, optional, record, seconds, selector, whole} from './parts.js';
import {podTemplate} from './template.js';

const updateStrategy = () =>
	record({
		type: optional(
			about('RollingUpdate (the default), or OnDelete: a pod is replaced once somebody deletes it.', oneOf(['RollingUpdate', 'OnDelete'])),
		),
		rollingUpdate: optional(
			about(
				'Of the type RollingUpdate: how far it may go meanwhile.',
				record({
					maxUnavailable: optional(
						about('On how many nodes the pod may be missing meanwhile: a number or a part such as 10%.', countOrPercent()),
					),
					maxSurge: optional(
						about('On how many nodes the new pod may start beside the old one: a number or a part such as 10%.', countOrPercent()),
					),
				}),
			),
		),
	});

export const spec = () =>
	record({
		selector: about('Which pods belong to it. It stays as it is.', selector()),
		template: about('What its pods are made from.', podTemplate()),
		updateStrategy: optional(about('How pods are replaced by new ones.', updateStrategy())),
		minReadySeconds: optional(about('How long a pod must be ready before it counts.', seconds())),
		revisionHistoryLimit: optional(about('How many earlier versions are kept; 10 when left out.', count())),
	});

export const status = () =>
	record({
		desiredNumberScheduled: about('On how many nodes there should be a pod.', count()),
		currentNumberScheduled: about('On how many of them there is one.', count()),
		numberMisscheduled: about('On how many other nodes there is one.', count()),
		numberReady: about('On how many nodes it is ready.', count()),
		updatedNumberScheduled: optional(about('On how many nodes it is of the newest template.', count())),
		numberAvailable: optional(about('On how many nodes it can be relied on.', count())),
		numberUnavailable: optional(about('On how many nodes it cannot.', count())),
		collisionCount: optional(count()),
		observedGeneration: optional(about('The version of the spec this is about.', whole(0, Number.MAX_SAFE_INTEGER))),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('A pod of which template on each node.', spec()));
