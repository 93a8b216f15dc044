// The schema of a HorizontalPodAutoscaler.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, list, maxInt32, oneOf, optional, quantity, record, selector, text, whole} from './parts.js';

const scaleTarget = () =>
	record({
		apiVersion: optional(about('Of the target, such as apps/v1.', text())),
		kind: about('Of the target, such as Deployment.', text()),
		name: about('Of the target.', text()),
	});

const percent = () => whole(1, maxInt32);

const metricTarget = () =>
	record({
		type: about(
			'Utilization (a part of what the pods request), AverageValue (of each pod) or Value.',
			oneOf(['Utilization', 'Value', 'AverageValue']),
		),
		averageUtilization: optional(about('In percent of what the pods request, on average.', percent())),
		averageValue: optional(about('What there should be for each pod, on average.', quantity())),
		value: optional(about('What there should be of all together.', quantity())),
	});

const target = () => about('What it should be.', metricTarget());

const metricName = () =>
	about(
		'What the metric is called.',
		record({
			name: about('As it is shown.', text()),
			selector: optional(about('Of a metric of Kubernetes, which says which of its series are meant; not beside a source.', selector())),
		}),
	);

/** What Kubernetes leaves to adapters. */
export const source = () =>
	record({
		mqtt: optional(
			about(
				'The newest message of a topic.',
				record({
					topic: about('The topic, such as jobs/length; of Pods with the level {pod}, which is the name of the pod.', text()),
					path: optional(about('Where the number is in a message that is an object of JSON, such as queue.length.', text())),
					expireSeconds: optional(
						about(
							`How long after it came a message counts; ${limits.autoscaleExpireSecondsDefault} when left out.`,
							whole(1, limits.autoscaleExpireSeconds),
						),
					),
				}),
			),
		),
		prometheus: optional(
			about(
				'What a Prometheus answers.',
				record({
					url: about('Where it is, such as http://prometheus.example:9090; autoscaling.prometheusHosts has to list the host.', text()),
					query: about('What it is asked, in PromQL.', text()),
				}),
			),
		),
	});

const sourceMember = () => optional(about('Where its value comes from.', source()));

const describedObject = () =>
	about(
		'What it is a metric of.',
		record({
			apiVersion: optional(about('Of the object, such as networking.k8s.io/v1.', text())),
			kind: about('Of the object, such as Ingress.', text()),
			name: about('Of the object.', text()),
		}),
	);

export const metric = () =>
	record({
		type: about(
			'Resource and ContainerResource (cpu or memory), Pods, Object or External.',
			oneOf(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']),
		),
		resource: optional(about('What all containers of a pod use.', record({name: about('cpu or memory.', text()), target: target()}))),
		containerResource: optional(
			about(
				'What one container of each pod uses.',
				record({name: about('cpu or memory.', text()), container: about('Its name.', text()), target: target()}),
			),
		),
		pods: optional(about('A number of each pod.', record({metric: metricName(), target: target(), source: sourceMember()}))),
		object: optional(
			about(
				'A number of one object.',
				record({describedObject: describedObject(), metric: metricName(), target: target(), source: sourceMember()}),
			),
		),
		external: optional(
			about(
				'A number that has nothing to do with an object, such as the length of a queue.',
				record({metric: metricName(), target: target(), source: sourceMember()}),
			),
		),
	});

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
		minReplicas: optional(
			about('The fewest pods; 1 when left out. 0 where one of the metrics is of type Object or External.', whole(0, limits.replicas)),
		),
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

const measured = () => record({averageUtilization: optional(count()), averageValue: optional(quantity()), value: optional(quantity())});

const shownName = () => record({name: text(), selector: optional(selector())});

/** What was measured, in the order of the spec; of one that is not known its place alone is there. `current` is as a target, without its type. */
export const metricStatus = () =>
	record({
		type: text(),
		resource: optional(record({name: text(), current: measured()})),
		containerResource: optional(record({name: text(), container: text(), current: measured()})),
		pods: optional(record({metric: shownName(), current: measured()})),
		object: optional(
			record({
				describedObject: record({apiVersion: optional(text()), kind: text(), name: text()}),
				metric: shownName(),
				current: measured(),
			}),
		),
		external: optional(record({metric: shownName(), current: measured()})),
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
