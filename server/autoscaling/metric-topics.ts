// The topics that metrics of autoscalers come from: of each the newest number is kept, with the time at which it came.
//
// What the broker had retained before somebody listened is no value: nobody knows how old it is, and pods that go because of it may be needed. So after a
// start of the control plane nothing is known until the next message.

import type {MetricWish, Reading} from '../../actors/control/autoscaling/autoscaling-message.js';
import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {metricFilterOf, podOfTopic, type MqttSource} from '../../api/metric-source.js';
import {parsedJson} from '../../api/value-or.js';
import type {PubSub} from '../../system/links/pubsub.js';
import type {Clock} from '../../system/time/clock.js';
import {metricValueIn, type MetricValue} from './metric-value.js';

export type MetricTopicsOptions = {
	readonly subscribe: PubSub['subscribe'];
	readonly clock: Clock;
	/** Messages of others are not kept. */
	readonly isPod: (namespace: string, name: string) => boolean;
	/** A value came for this autoscaler, the first since it read. */
	readonly onValue: (hpa: ObjectKey) => void;
};

export type MetricTopics = {
	/** From now on it has these metrics; none: nothing is listened to for it any more. */
	readonly set: (hpa: ObjectKey, namespace: string, wishes: readonly MetricWish[]) => void;
	readonly read: (hpa: ObjectKey, namespace: string, isOfPods: boolean, source: MqttSource) => Reading;
	/** How much is listened to and kept: for tests, and whoever looks. */
	readonly counts: () => {readonly topics: number; readonly values: number};
	readonly close: () => void;
};

/** What is read of a topic, or of those of a namespace's pods. */
type Reader = {
	readonly path: string | undefined;
	/** Undefined: it is not of pods. */
	readonly namespace: string | undefined;
	/** By pod, or the only one by an empty name. */
	readonly values: Map<string, {readonly value: MetricValue; readonly atMs: number}>;
	/** Whose it is. */
	readonly hpas: Set<ObjectKey>;
	/** Those that were told of no value since they read: with each message only these are gone through. */
	readonly untold: Set<ObjectKey>;
};

type Ear = {readonly filter: string; readonly readers: Map<string, Reader>; readonly end: () => void};

type Place = {readonly filter: string; readonly key: string; readonly path: string | undefined; readonly namespace: string | undefined};

function placeOf(namespace: string, isOfPods: boolean, {topic, path}: MqttSource): Place | undefined {
	const filter = metricFilterOf(topic, isOfPods);
	const own = isOfPods ? namespace : undefined;
	return filter === undefined ? undefined : {filter, key: JSON.stringify([own ?? null, path ?? null]), path, namespace: own};
}

export function createMetricTopics({subscribe, clock, isPod, onValue}: MetricTopicsOptions): MetricTopics {
	const ears = new Map<string, Ear>();
	const placesOf = new Map<ObjectKey, readonly Place[]>();
	let kept = 0;

	const hear = (ear: Ear, topic: string, payload: string): void => {
		const json = once(() => parsedJson(payload));
		for (const {path, namespace, values, untold} of ear.readers.values()) {
			const pod = namespace === undefined ? '' : podOfTopic(topic, ear.filter);
			if (pod === undefined || (namespace !== undefined && !isPod(namespace, pod))) continue;
			if (!values.has(pod)) {
				if (kept >= limits.autoscaleValues) continue;
				kept++;
			}
			const isTooLarge = Buffer.byteLength(payload) > limits.autoscaleMessageBytes;
			const value = isTooLarge ? `has more than ${limits.autoscaleMessageBytes} bytes` : metricValueIn(json, path);
			values.set(pod, {value, atMs: clock.monotonicMs()});
			for (const hpa of untold) onValue(hpa);
			untold.clear();
		}
	};
	const open = (filter: string): Ear | undefined => {
		const present = ears.get(filter);
		if (present !== undefined || ears.size >= limits.autoscaleTopics) return present;
		const ear: Ear = {
			filter,
			readers: new Map(),
			end: subscribe(filter, (topic, payload, isRetained = false) => {
				if (!isRetained) hear(ear, topic, payload);
			}),
		};
		ears.set(filter, ear);
		return ear;
	};
	const join = (hpa: ObjectKey, {filter, key, path, namespace}: Place): void => {
		const ear = open(filter);
		if (ear === undefined) return;
		const reader = ear.readers.get(key) ?? {path, namespace, values: new Map(), hpas: new Set(), untold: new Set()};
		if (!ear.readers.has(key) && ear.readers.size >= limits.autoscaleTopicReaders) return;
		ear.readers.set(key, reader);
		if (!reader.hpas.has(hpa)) reader.untold.add(hpa);
		reader.hpas.add(hpa);
	};
	const leave = (hpa: ObjectKey, {filter, key}: Place): void => {
		const ear = ears.get(filter);
		const reader = ear?.readers.get(key);
		reader?.hpas.delete(hpa);
		reader?.untold.delete(hpa);
		if (ear === undefined || reader === undefined || reader.hpas.size > 0) return;
		kept -= reader.values.size;
		ear.readers.delete(key);
		if (ear.readers.size > 0) return;
		ears.delete(filter);
		ear.end();
	};
	const valueNow = (reader: Reader, pod: string, source: MqttSource): MetricValue | undefined => {
		const {value, atMs} = reader.values.get(pod) ?? {};
		return value === undefined || atMs === undefined || clock.monotonicMs() - atMs > secondsOf(source) * 1_000 ? undefined : value;
	};
	const ofPods = (reader: Reader, namespace: string, source: MqttSource): Reading => {
		const values = new Map<string, number>();
		for (const pod of reader.values.keys()) {
			if (!isPod(namespace, pod)) {
				reader.values.delete(pod);
				kept--;
				continue;
			}
			const value = valueNow(reader, pod, source);
			if (typeof value === 'number') values.set(pod, value);
		}
		return {type: 'pods', values};
	};
	return {
		set(hpa, namespace, wishes) {
			const places = wishes.flatMap(({isOfPods, source: {mqtt}}) => (mqtt === undefined ? [] : (placeOf(namespace, isOfPods, mqtt) ?? [])));
			const isWished = ({filter, key}: Place): boolean => places.some(place => place.filter === filter && place.key === key);
			for (const place of placesOf.get(hpa) ?? []) if (!isWished(place)) leave(hpa, place);
			for (const place of places) join(hpa, place);
			if (places.length === 0) placesOf.delete(hpa);
			else placesOf.set(hpa, places);
		},
		read(hpa, namespace, isOfPods, source) {
			const place = placeOf(namespace, isOfPods, source);
			const reader = place === undefined ? undefined : ears.get(place.filter)?.readers.get(place.key);
			if (reader?.hpas.has(hpa) !== true) return unknown(`"${source.topic}" is not listened to: there are too many topics`);
			reader.untold.add(hpa);
			if (isOfPods) return ofPods(reader, namespace, source);
			const value = valueNow(reader, '', source);
			if (value === undefined) return unknown(`no message came on "${source.topic}" in the last ${secondsOf(source)} s`);
			return typeof value === 'number' ? {type: 'total', value} : unknown(`the last message on "${source.topic}" ${value}`);
		},
		counts: () => ({topics: ears.size, values: kept}),
		close() {
			for (const {end} of ears.values()) end();
			ears.clear();
			placesOf.clear();
		},
	};
}

const secondsOf = ({expireSeconds}: MqttSource): number => expireSeconds ?? limits.autoscaleExpireSecondsDefault;

const unknown = (why: string): Reading => ({type: 'unknown', why});

/** Made when it is asked for first. */
function once<Value>(make: () => Value): () => Value {
	let made: {readonly value: Value} | undefined;
	return () => (made ??= {value: make()}).value;
}
