// The schema of a HorizontalPodAutoscaler.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, list, maxInt32, oneOf, optional, quantity, record, text, whole} from './parts.js';

const scaleTarget = () =>
	record({
		apiVersion: optional(about('Of the target, such as apps/v1.', text())),
		kind: about('Of the target, such as Deployment.', text()),
		name: about('Of the target.', text()),
	});

const percent = () => whole(1, maxInt32);

const metricTarget = () =>
	record({
		type: about('Utilization (a part of what the pods request) or AverageValue.', oneOf(['Utilization', 'Value', 'AverageValue'])),
		averageUtilization: optional(about('In percent of what the pods request, on average.', percent())),
		averageValue: optional(about('What each pod should use, on average.', quantity())),
		value: optional(about('What all of them should use.', quantity())),
	});

const metric = () =>
	record(
		{
			type: about('Resource: cpu or memory.', oneOf(['Resource', 'ContainerResource', 'Pods', 'Object', 'External'])),
			resource: optional(
				about(
					'What is measured, and what it should be.',
					record({name: about('cpu or memory.', text()), target: about('What it should be.', metricTarget())}),
				),
			),
		},
		{'x-not-yet': ['containerResource', 'external', 'object', 'pods']},
	);

const scalingRules = () =>
	record({
		stabilizationWindowSeconds: optional(about('How far back the careful choice is looked for.', whole(0, 3_600))),
		selectPolicy: optional(
			about('Which policy counts: the one that allows most (Max), least (Min), none (Disabled).', oneOf(['Max', 'Min', 'Disabled'])),
		),
		policies: optional(
			about(
				'How much may change in how long.',
				list(
					record({
						type: about('What the value counts.', oneOf(['Pods', 'Percent'])),
						value: about('How much may change.', whole(1, maxInt32)),
						periodSeconds: about('In how long.', whole(1, 1_800)),
					}),
				),
			),
		),
		tolerance: optional(
			about(
				'How far what is measured may be from what is wanted, as a part of that, before anything is changed; 0.1 when left out.',
				quantity(),
			),
		),
	});

export const spec = () =>
	record({
		scaleTargetRef: about('What is made larger and smaller.', scaleTarget()),
		minReplicas: optional(about('The fewest pods; 1 when left out.', whole(1, limits.replicas))),
		maxReplicas: about('The most pods.', whole(1, limits.replicas)),
		metrics: optional(about('What is measured; cpu at 80 percent when left out.', list(metric()))),
		behavior: optional(
			about(
				'How fast it may change.',
				record({
					scaleUp: optional(about('Towards more pods.', scalingRules())),
					scaleDown: optional(about('Towards fewer.', scalingRules())),
				}),
			),
		),
	});

/** What was measured, and when; `current` as in a target, without its type. */
const metricStatus = () =>
	record({
		type: text(),
		resource: optional(
			record({
				name: text(),
				current: record({averageUtilization: optional(count()), averageValue: optional(quantity()), value: optional(quantity())}),
			}),
		),
	});

/** One that changed something. */
const decision = () =>
	record({
		time: about('When it was made.', text()),
		from: about('The replicas there were.', count()),
		to: about('Those there are to be.', count()),
		reason: about('Why.', text()),
		measured: optional(about('What was measured then, and what it should be.', text())),
	});

export const status = () =>
	record({
		observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER)),
		lastScaleTime: optional(text()),
		currentReplicas: optional(count()),
		desiredReplicas: optional(count()),
		currentMetrics: optional(list(metricStatus())),
		conditions: optional(conditions()),
		decisions: optional(about('The last that changed something, the newest last.', list(decision()))),
	});

export const schema = () => objectWith(about('What is scaled, between which bounds, by what.', spec()));
