// What outside tools see of the cluster on MQTT: every committed change of every object, its events, what happens in runs, and the lives of actors.
//
// A change is published with the version of the change before it in the same plural and namespace, so a tool that missed one
// knows it. The retained documents are served from the index as they are asked for; nothing is stored twice.

import {objectKey, parseObjectKey, type ObjectKey} from '../api/keys.js';
import {filtersOverlap} from '../api/mqtt-filter.js';
import type {JsonObject} from '../api/object.js';
import {membersOf} from '../api/rules/report.js';
import {formatTopic, isLevel, objectTopic, parseTopic, topicPrefix} from '../api/topics.js';
import type {Broker, RetainedMessage, RetainedSource} from '../system/broker/broker.js';
import type {Change, Entry, ObjectIndex} from '../system/index/object-index.js';
import type {ObjectEvent} from './control-plane.js';
import {publicText} from './public-text.js';

export type TopicsOptions = {
	readonly broker: Pick<Broker, 'publish'>;
	/** Of the term that is on. */
	readonly epoch: () => number;
};

export type Topics = {
	/** Called by the pipeline once per committed change, in order of version. */
	readonly onChange: (change: Change) => void;
	readonly onEvent: (key: ObjectKey, event: ObjectEvent) => void;
	/** Crashed, restarted, parked, escalated and so on, of one actor of one system. */
	readonly onLifecycle: (system: string, path: string, record: JsonObject) => void;
};

const nothing = Buffer.alloc(0);

export function createTopics({broker, epoch}: TopicsOptions): Topics {
	return {
		onChange({key, version, previous, after, history}) {
			const topic = topicOf(key);
			if (history !== undefined) broker.publish(historyTopicOf(key), recordOf(epoch(), history), {retain: false});
			if (after !== undefined) return broker.publish(topic, documentOf(epoch(), after), {retain: true});
			// Not retained, so that the clearing message after it never takes its place in a queue.
			const deletion = {epoch: epoch(), rv: version, prev: previous, deleted: true};
			broker.publish(topic, JSON.stringify(deletion), {retain: false});
			broker.publish(topic, nothing, {retain: true});
		},
		onEvent(key, event) {
			broker.publish(formatTopic({type: 'events', ...parseObjectKey(key)}), JSON.stringify({epoch: epoch(), ...event}), {retain: false});
		},
		onLifecycle(system, path, record) {
			broker.publish(formatTopic({type: 'lifecycle', system, path}), JSON.stringify(record), {retain: false});
		},
	};
}

/** `{epoch, rv, prev, object}` around the text that store, list and watch share; only what is withheld from tools is serialised again. */
const documentOf = (epoch: number, entry: Entry): string =>
	`{"epoch":${epoch},"rv":${entry.version},"prev":${entry.previous},"object":${publicText(entry)}}`;

function topicOf(key: ObjectKey): string {
	const {plural, namespace, name} = parseObjectKey(key);
	return objectTopic(plural, namespace, name);
}

const historyTopicOf = (key: ObjectKey): string => formatTopic({type: 'history', ...parseObjectKey(key)});

/** A record of a history as `GET …/history` shows it. */
const recordOf = (epoch: number, {number, value}: NonNullable<Change['history']>): string =>
	JSON.stringify({epoch, number, ...membersOf(value)});

/** The retained documents under `objects/…`, live from the index. */
export function retainedObjects(index: ObjectIndex, epoch: () => number): RetainedSource {
	const payload = (key: ObjectKey): Buffer => {
		const entry = index.entry(key);
		return entry === undefined ? nothing : Buffer.from(documentOf(epoch(), entry));
	};
	return {
		owns: topic => parseTopic(topic)?.type === 'object',
		*match(filter): Generator<RetainedMessage> {
			for (const key of candidates(index, filter)) yield {topic: objectsPrefix + key, payload: () => payload(key)};
		},
	};
}

/** An object's key is the rest of its topic. */
const objectsPrefix = `${topicPrefix}objects/`;

/** The keys a filter may match. While they are walked the index may change: what goes meanwhile is passed over, what comes may be met. */
function candidates(index: ObjectIndex, filter: string): Iterable<ObjectKey> {
	if (!filtersOverlap(filter, `${objectsPrefix}+/+/+`)) return [];
	const exact = parseTopic(filter);
	if (exact?.type === 'object') return [objectKey(exact.plural, exact.namespace, exact.name)];
	const [plural, namespace] = filter.startsWith(objectsPrefix) ? filter.slice(objectsPrefix.length).split('/') : [];
	if (plural === undefined || !isLevel(plural)) return everyKey(index);
	return index.entries(plural, namespace !== undefined && isLevel(namespace) ? namespace : undefined).map(entry => entry.key);
}

/** Without a list of its own: of a hundred thousand keys, two hundred subscribers would hold two hundred. */
function* everyKey(index: ObjectIndex): Generator<ObjectKey> {
	for (const {key} of index.all()) yield key;
}

/** A message about an object as a tool has parsed it, and whether it came as a retained one. */
export type TopicMessage = {
	readonly epoch: number;
	readonly rv: number;
	readonly prev: number;
	readonly retained: boolean;
};

/** Changes after `from` and up to `to` may have been missed; the answer is a list over HTTP. */
export type Gap = {
	readonly from: number;
	readonly to: number;
	/**
	 * `restarted`: the epoch changed, so `from` may belong to another history. `contradiction`: a message names a predecessor
	 * older than what was seen already; no publisher in order does that.
	 */
	readonly reason: 'missed' | 'restarted' | 'contradiction';
};

/**
 * The gaps that messages of one plural and namespace show, in order of arrival. Live messages form a chain by `prev`; the
 * first one begins it. Retained messages say how things stand and belong to no chain: they never tell of a deletion, so
 * they must not close a gap either. A live message that is older than one seen is a repetition and changes nothing.
 */
export function gapsIn(messages: readonly TopicMessage[]): readonly Gap[] {
	const gaps: Gap[] = [];
	let last: TopicMessage | undefined;
	for (const message of messages) {
		if (message.retained) continue;
		const gap = last === undefined ? undefined : gapBetween(last, message);
		if (gap !== undefined) gaps.push(gap);
		if (last === undefined || message.epoch !== last.epoch || message.rv > last.rv) last = message;
	}
	return gaps;
}

function gapBetween(last: TopicMessage, message: TopicMessage): Gap | undefined {
	const from = last.rv;
	const to = message.prev;
	if (message.epoch !== last.epoch) return {from, to, reason: 'restarted'};
	if (to === from || message.rv <= from) return undefined;
	return {from, to, reason: to > from ? 'missed' : 'contradiction'};
}
