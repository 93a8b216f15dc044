// The rules for what calls a function besides its callers: messages, times, and changes of objects.

import {isTimeZone, readSchedule} from '../cron-schedule.js';
import {limits} from '../limits.js';
import {isFilter, isTopic, topicMatches} from '../mqtt-filter.js';
import type {Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isUserTopic} from '../topics.js';
import {parsedJson} from '../value-or.js';
import {isDnsLabel} from './names.js';
import {forbid, itemsOf, membersOf, refuse, refuseDuplicates, requireOne, textOf, type Found} from './report.js';
import {checkSelector} from './selector.js';

const sources = ['topic', 'schedule', 'objects'];

const besides = ['name', 'timeZone', 'params', 'retries', 'deadLetterTopic'];

/** Of a time, and of nothing else. */
const ofTimes = ['timeZone', 'params'];

export function checkTriggers(found: Found, path: string, value: Json | undefined): void {
	const triggers = itemsOf(value).map(membersOf);
	if (triggers.length > limits.functionTriggers) refuse(found, path, `must be at most ${limits.functionTriggers}, got ${triggers.length}`);
	triggers.slice(0, limits.functionTriggers).forEach((trigger, at) => checkTrigger(found, `${path}[${at}]`, trigger));
	const topics = triggers.flatMap(({topic}) => textOf(topic) ?? []);
	triggers.forEach(({deadLetterTopic}, at) => {
		const dead = textOf(deadLetterTopic);
		if (dead !== undefined && topics.some(topic => topicMatches(topic, dead)))
			refuse(found, `${path}[${at}].deadLetterTopic`, `must not be a topic that calls this function, got ${shown(dead)}`);
	});
	const named = triggers.flatMap(({name}, at) => (typeof name === 'string' ? [{value: name, path: `${path}[${at}].name`}] : []));
	refuseDuplicates(found, named, (name, first) => `must be another name than that of ${first}, got ${shown(name)}`);
}

function checkTrigger(found: Found, path: string, trigger: JsonObject): void {
	const name = textOf(trigger['name']);
	if (name !== undefined && !isDnsLabel(name)) refuse(found, `${path}.name`, `must be 1 to 63 of a-z, 0-9 and "-", got ${shown(name)}`);
	requireOne(found, path, trigger, sources, besides);
	checkTopic(found, path, trigger);
	checkTimes(found, path, trigger);
	const selector = membersOf(trigger['objects'])['selector'];
	if (selector !== undefined) checkSelector(found, `${path}.objects.selector`, membersOf(selector));
	const dead = textOf(trigger['deadLetterTopic']);
	if (dead !== undefined) checkLength(found, `${path}.deadLetterTopic`, dead);
	if (dead !== undefined && !(isTopic(dead) && isUserTopic(dead)))
		refuse(found, `${path}.deadLetterTopic`, `must be a topic without "+" and "#", and not below troupe/ or $, got ${shown(dead)}`);
}

/** No client publishes to others. */
function checkLength(found: Found, path: string, topic: string): void {
	const [levels, bytes] = [topic.split('/').length, new TextEncoder().encode(topic).length];
	if (levels <= limits.brokerTopicLevels && bytes <= limits.brokerTopicBytes) return;
	refuse(
		found,
		path,
		`must be at most ${limits.brokerTopicLevels} levels and ${limits.brokerTopicBytes} bytes, got ${levels} and ${bytes}`,
	);
}

function checkTopic(found: Found, path: string, trigger: JsonObject): void {
	const topic = textOf(trigger['topic']);
	if (topic !== undefined) checkLength(found, `${path}.topic`, topic);
	if (topic !== undefined && !(isFilter(topic) && isUserTopic(topic)))
		refuse(
			found,
			`${path}.topic`,
			`must be a filter of MQTT topics, and begin with a word that is not troupe or $..., got ${shown(topic)}`,
		);
}

function checkTimes(found: Found, path: string, trigger: JsonObject): void {
	const schedule = textOf(trigger['schedule']);
	if (schedule === undefined) {
		for (const member of ofTimes) if (trigger[member] !== undefined) forbid(found, `${path}.${member}`, 'belongs to a schedule');
		return;
	}
	const zone = textOf(trigger['timeZone']);
	const isZone = zone === undefined || isTimeZone(zone);
	if (!isZone) refuse(found, `${path}.timeZone`, `must be a time zone such as "Europe/Berlin" or "UTC", got ${shown(zone)}`);
	const read = readSchedule(schedule, isZone ? zone : undefined);
	if (!read.ok) refuse(found, `${path}.schedule`, read.message);
	const params = textOf(trigger['params']);
	if (params !== undefined && parsedJson(params) === undefined) refuse(found, `${path}.params`, 'must be JSON, such as {"x": 1}');
	if (params !== undefined && Buffer.byteLength(params) > limits.deliveryBytes)
		refuse(found, `${path}.params`, `must be at most ${limits.deliveryBytes} bytes, got ${Buffer.byteLength(params)}`);
}
