// Where the value of a metric of type Pods, Object or External comes from: a topic of MQTT, or a query of a Prometheus. Pure.

import {isTopic} from './mqtt-filter.js';
import type {source} from './schemas/horizontalpodautoscaler.js';
import type {ShapeOf} from './schemas/parts.js';
import {isUserTopic} from './topics.js';

export type MetricSource = ShapeOf<typeof source>;
export type MqttSource = NonNullable<MetricSource['mqtt']>;
export type PrometheusSource = NonNullable<MetricSource['prometheus']>;

/** The level of a topic that is the name of a pod. */
export const podLevel = '{pod}';

/** What is listened to: a topic, or of pods a filter of one topic each. Undefined: the text is neither. */
export function metricFilterOf(topic: string, isOfPods: boolean): string | undefined {
	const levels = topic.split('/');
	const ofPods = levels.filter(level => level === podLevel).length;
	if (!isTopic(topic) || ofPods !== (isOfPods ? 1 : 0)) return undefined;
	const filter = levels.map(level => (level === podLevel ? '+' : level)).join('/');
	return isUserTopic(filter) ? filter : undefined;
}

/** The name of the pod that a message is of; undefined where the topic is that of no pod. */
export const podOfTopic = (topic: string, filter: string): string | undefined => topic.split('/')[filter.split('/').indexOf('+')];

/** The address that is asked; undefined where the text is none that may be: everyone who may read the autoscaler would see a password in it. */
export function queryUrlOf({url, query}: PrometheusSource): string | undefined {
	if (!/^https?:\/\/[^/?#]/.test(url) || /[?#]/.test(url) || !URL.canParse(url)) return undefined;
	const {username, password, origin, pathname} = new URL(url);
	if (username !== '' || password !== '') return undefined;
	return `${origin}${pathname.replace(/\/+$/, '')}/api/v1/query?query=${encodeURIComponent(query)}`;
}
