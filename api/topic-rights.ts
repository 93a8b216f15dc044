// What a token may do with the users' own topics beyond its role, and how fast it may publish. A filter never reaches Troupe's own topics:
// its first level is a word.

import {limits} from './limits.js';
import {isFilter, topicMatches} from './mqtt-filter.js';
import {isObject, type Json, type JsonObject} from './object.js';
import {shown} from './shown.js';
import {isUserTopic} from './topics.js';

export type TopicRights = {
	/** Filters of the topics that it may publish to, and of those that it may read. */
	readonly publish?: readonly string[];
	readonly subscribe?: readonly string[];
	/** Of publishes to users' topics and to functions, all connections together; else as `limits` say. */
	readonly messagesPerSecond?: number;
	readonly bytesPerSecond?: number;
};

/** Whether one of the filters matches the topic. */
export const matchesAny = (filters: readonly string[] | undefined, topic: string): boolean =>
	filters?.some(filter => topicMatches(filter, topic)) === true;

const members = ['publish', 'subscribe', 'messagesPerSecond', 'bytesPerSecond'];

/** Rights as somebody has written them: undefined where there are none, else what is wrong with them, or they. */
export function readTopicRights(
	value: unknown,
): {readonly ok: true; readonly value: TopicRights | undefined} | {readonly ok: false; readonly message: string} {
	if (value === undefined || value === null) return {ok: true, value: undefined};
	const problem = isObject(value) ? problemOf(value) : `topics must be an object, got ${shown(value)}`;
	return problem === undefined ? {ok: true, value} : {ok: false, message: problem};
}

function problemOf(rights: JsonObject): string | undefined {
	const other = Object.keys(rights).find(name => !members.includes(name));
	if (other !== undefined) return `topics has no member ${shown(other)}; it has ${members.join(', ')}`;
	return (
		filtersProblem('publish', rights['publish']) ??
		filtersProblem('subscribe', rights['subscribe']) ??
		rateProblem('messagesPerSecond', rights['messagesPerSecond'], limits.userMessagesLeast, limits.userMessagesMost) ??
		rateProblem('bytesPerSecond', rights['bytesPerSecond'], limits.userBytesLeast, limits.userBytesMost)
	);
}

function filtersProblem(name: string, value: Json | undefined): string | undefined {
	if (value === undefined) return undefined;
	if (!Array.isArray(value)) return `${name} must be a list of filters, got ${shown(value)}`;
	if (value.length > limits.tokenTopics) return `${name} must be at most ${limits.tokenTopics} filters, got ${value.length}`;
	const filters: readonly Json[] = value;
	const wrong = filters.find(each => !isUserFilter(each));
	return wrong === undefined
		? undefined
		: `${name} must be filters such as sensors/# or alerts/+: at most ${limits.tokenTopicCharacters} characters and ${limits.brokerTopicLevels} levels, ` +
				`the first a word that is not troupe or $..., no blanks at the ends and no control characters; got ${shown(wrong)}`;
}

/** Each becomes a line of a broker's file elsewhere, so it has to be one. */
const isUserFilter = (value: unknown): boolean =>
	typeof value === 'string' &&
	value.length <= limits.tokenTopicCharacters &&
	value.split('/').length <= limits.brokerTopicLevels &&
	value === value.trim() &&
	!/[\p{Cc}\p{Zl}\p{Zp}\uFFFD]/u.test(value) &&
	isFilter(value) &&
	isUserTopic(value);

function rateProblem(name: string, value: Json | undefined, least: number, most: number): string | undefined {
	if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most)) return undefined;
	return `${name} must be a whole number from ${least} to ${most}, got ${shown(value)}`;
}
