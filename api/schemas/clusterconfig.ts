// The schema of the ClusterConfig.

import {runtimeClasses} from '../runtime-class.js';
import {schedulerStrategies} from '../scheduler-strategies.js';
import {objectWithOptional} from './metadata.js';
import {about, oneOf, optional, record, whole} from './parts.js';

export const spec = () =>
	record({
		scheduler: optional(
			about(
				'How pods get their nodes.',
				record({strategy: optional(about('How the scheduler chooses among the nodes that fit.', oneOf(schedulerStrategies)))}),
			),
		),
		runtime: optional(
			about(
				'What runs pods.',
				record({
					default: optional(
						about('The class of new pods that name none: process or docker. Pods that are there keep theirs.', oneOf(runtimeClasses)),
					),
				}),
			),
		),
	});

export const status = () => record({observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER))});

export const schema = () => objectWithOptional(about('Settings of the cluster.', spec()));
