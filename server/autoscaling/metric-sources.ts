// The edge that reads the sources of metrics for autoscalers, for one leader's term: topics of MQTT, and queries of Prometheus.

import type {LookupFunction} from 'node:net';
import {
	wishKey,
	type MetricWish,
	type ReadMetrics,
	type Reading,
	type Readings,
	type ValuesCame,
} from '../../actors/control/autoscaling/autoscaling-message.js';
import {wishOf} from '../../actors/control/autoscaling/metric-answer.js';
import {autoscalersAddress, clusterConfigKey, podKey} from '../../actors/addresses.js';
import {succeeded} from '../../api/errors.js';
import {objectKey, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {prometheusHostsOf, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import {limits} from '../../api/limits.js';
import type {Change} from '../../system/index/object-index.js';
import type {Command} from '../../system/kernel/behavior.js';
import {nothingPerforms, type Perform} from '../../system/kernel/performs.js';
import type {PubSub} from '../../system/links/pubsub.js';
import type {Clock} from '../../system/time/clock.js';
import type {ControlPlane} from '../control-plane.js';
import {createMetricTopics} from './metric-topics.js';
import {podsIn, totalIn} from './prometheus-answer.js';
import {createPrometheusQueries} from './prometheus-queries.js';

export type MetricSourcesOptions = {
	readonly control: Pick<ControlPlane, 'index' | 'tell'>;
	readonly clock: Clock;
	readonly subscribe: PubSub['subscribe'];
	readonly lookup?: LookupFunction | undefined;
};

export type MetricSources = {
	/** Of `readMetrics`, with `Readings`. */
	readonly perform: Perform;
	/** Begins with the autoscalers that there are. */
	readonly begin: () => void;
	/** Of every committed change, in order. */
	readonly hear: (change: Change) => void;
	readonly close: () => void;
};

const plural = 'horizontalpodautoscalers';

export const isReadMetrics = (command: Command): command is ReadMetrics => command.type === 'readMetrics';

export function createMetricSources({control, clock, subscribe, lookup}: MetricSourcesOptions): MetricSources {
	const {index} = control;
	let isOpen = true;
	/** Those that have news, told together: a thousand may have one topic. */
	const news = new Set<ObjectKey>();
	const tellNews = (): void => {
		const message: ValuesCame = {type: 'valuesCame', hpas: [...news]};
		news.clear();
		if (isOpen) control.tell(autoscalersAddress, message, 'metrics');
	};
	const topics = createMetricTopics({
		subscribe,
		clock,
		isPod: (namespace, name) => index.get(podKey({namespace, name})) !== undefined,
		onValue(hpa) {
			if (news.size === 0) clock.after(limits.autoscaleNewsMs, tellNews);
			news.add(hpa);
		},
	});
	const prometheus = createPrometheusQueries({
		hosts: () => prometheusHostsOf(index.get(clusterConfigKey) as ClusterConfig | undefined),
		clock,
		lookup,
	});
	const follow = (key: ObjectKey): void => {
		const hpa = index.get(key) as Hpa | undefined;
		topics.set(
			key,
			parseObjectKey(key).namespace,
			(hpa?.spec?.metrics ?? []).flatMap(metric => wishOf(metric) ?? []),
		);
	};
	const read = async (hpa: ObjectKey, {isOfPods, source}: MetricWish): Promise<Reading> => {
		const {namespace} = parseObjectKey(hpa);
		if (source.mqtt !== undefined) return topics.read(hpa, namespace, isOfPods, source.mqtt);
		if (source.prometheus === undefined) return {type: 'unknown', why: 'its source is empty'};
		const answer = await prometheus.ask(source.prometheus);
		return isOfPods ? podsIn(answer, namespace) : totalIn(answer);
	};
	return {
		perform(command, done) {
			if (!isReadMetrics(command)) return nothingPerforms(command, done);
			const {hpa, wishes} = command;
			// It may be listened to now what was one too many before.
			follow(hpa);
			void Promise.all(wishes.map(async wish => [wishKey(wish), await read(hpa, wish)] as const)).then(entries => {
				const readings: Readings = new Map(entries);
				if (isOpen) done(succeeded(readings));
			});
		},
		begin() {
			for (const {metadata} of index.list(plural)) follow(objectKey(plural, metadata.namespace, metadata.name));
		},
		hear({key, before, after}) {
			if (parseObjectKey(key).plural !== plural) return;
			const [was, is] = [before?.object.metadata, after?.object.metadata];
			if (was?.uid !== is?.uid || was?.generation !== is?.generation) follow(key);
		},
		close() {
			isOpen = false;
			topics.close();
			prometheus.close();
		},
	};
}
