// The schema of a Deployment.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {
	about,
	conditionFields,
	count,
	countOrPercent,
	flag,
	list,
	oneOf,
	optional,
	record,
	seconds,
	selector,
	text,
	whole,
} from './parts.js';
import {podTemplate} from './template.js';

const strategy = () =>
	record(
		{
			type: optional(about('RollingUpdate (the default) or Recreate.', oneOf(['RollingUpdate', 'Recreate']))),
			rollingUpdate: optional(
				about(
					'Of the type RollingUpdate: how far it may go meanwhile.',
					record({
						maxSurge: optional(about('How many pods may be too many meanwhile: a number or a part such as 25%.', countOrPercent())),
						maxUnavailable: optional(about('How many pods may be missing meanwhile: a number or a part such as 25%.', countOrPercent())),
					}),
				),
			),
		},
		{'x-kubernetes-patch-strategy': 'retainKeys'},
	);

export const spec = () =>
	record({
		replicas: optional(about('How many pods there should be; 1 when left out.', whole(0, limits.replicas))),
		selector: about('Which pods belong to it. It stays as it is.', selector()),
		template: about('What its pods are made from.', podTemplate()),
		strategy: optional(about('How pods are replaced by new ones.', strategy())),
		minReadySeconds: optional(about('How long a pod must be ready before it counts.', seconds())),
		revisionHistoryLimit: optional(about('How many earlier versions are kept; 10 when left out.', count())),
		paused: optional(about('Whether changes wait.', flag())),
		progressDeadlineSeconds: optional(about('After so long without progress an update has failed; 600 when left out.', seconds(1))),
	});

export const condition = () => record({...conditionFields(), lastUpdateTime: optional(about('When it was last said.', text()))});

export const status = () =>
	record({
		observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER)),
		replicas: optional(count()),
		updatedReplicas: optional(count()),
		readyReplicas: optional(count()),
		availableReplicas: optional(count()),
		unavailableReplicas: optional(count()),
		collisionCount: optional(count()),
		conditions: optional(list(condition())),
	});

export const schema = () => objectWith(about('How many pods of which template, and how they are replaced.', spec()));
