// The rules for triggers of any kind: messages, times, and changes of objects.

import {isTimeZone, readSchedule} from '../cron-schedule.js';
import {limits} from '../limits.js';
import {isFilter} from '../mqtt-filter.js';
import type {Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isUserTopic} from '../topics.js';
import {parsedJson} from '../value-or.js';
import {isDnsLabel} from './names.js';
import {forbid, itemsOf, membersOf, refuse, refuseDuplicates, requireOne, textOf, type Found} from './report.js';
import {checkSelector} from './selector.js';

/** What triggers of one kind have besides. */
export type OwnMembers = {
	readonly members: readonly string[];
	/** Of each trigger, with its path. */
	readonly check: (path: string, trigger: JsonObject) => void;
};

const sources = ['topic', 'schedule', 'objects'];

/** Of a time, and of nothing else. */
const ofTimes = ['timeZone', 'params'];

export function checkTriggers(found: Found, path: string, value: Json | undefined, own: OwnMembers): void {
	const triggers = itemsOf(value).map(membersOf);
	if (triggers.length > limits.objectTriggers) refuse(found, path, `must be at most ${limits.objectTriggers}, got ${triggers.length}`);
	triggers.slice(0, limits.objectTriggers).forEach((trigger, at) => checkTrigger(found, `${path}[${at}]`, trigger, own));
	const named = triggers.flatMap(({name}, at) => (typeof name === 'string' ? [{value: name, path: `${path}[${at}].name`}] : []));
	refuseDuplicates(found, named, (name, first) => `must be another name than that of ${first}, got ${shown(name)}`);
}

function checkTrigger(found: Found, path: string, trigger: JsonObject, own: OwnMembers): void {
	const name = textOf(trigger['name']);
	if (name !== undefined && !isDnsLabel(name)) refuse(found, `${path}.name`, `must be 1 to 63 of a-z, 0-9 and "-", got ${shown(name)}`);
	requireOne(found, path, trigger, sources, ['name', ...ofTimes, ...own.members]);
	checkTopic(found, path, trigger);
	checkTimes(found, path, trigger);
	const selector = membersOf(trigger['objects'])['selector'];
	if (selector !== undefined) checkSelector(found, `${path}.objects.selector`, membersOf(selector));
	own.check(path, trigger);
}

/** No client publishes to others. */
export function checkTopicLength(found: Found, path: string, topic: string): void {
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
	if (topic !== undefined) checkTopicLength(found, `${path}.topic`, topic);
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
