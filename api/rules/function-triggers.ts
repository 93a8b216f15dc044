// The rules for what calls a function besides its callers, and for what becomes of what it could not be called with.

import {isTopic, topicMatches} from '../mqtt-filter.js';
import type {Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {isUserTopic} from '../topics.js';
import {itemsOf, membersOf, refuse, textOf, type Found} from './report.js';
import {checkTopicLength, checkTriggers} from './triggers.js';

export function checkFunctionTriggers(found: Found, path: string, value: Json | undefined): void {
	checkTriggers(found, path, value, {
		members: ['retries', 'deadLetterTopic'],
		check: (at, trigger) => checkDeadLetters(found, at, trigger),
	});
	const triggers = itemsOf(value).map(membersOf);
	const topics = triggers.flatMap(({topic}) => textOf(topic) ?? []);
	triggers.forEach(({deadLetterTopic}, at) => {
		const dead = textOf(deadLetterTopic);
		if (dead !== undefined && topics.some(topic => topicMatches(topic, dead)))
			refuse(found, `${path}[${at}].deadLetterTopic`, `must not be a topic that calls this function, got ${shown(dead)}`);
	});
}

function checkDeadLetters(found: Found, path: string, trigger: JsonObject): void {
	const dead = textOf(trigger['deadLetterTopic']);
	if (dead === undefined) return;
	checkTopicLength(found, `${path}.deadLetterTopic`, dead);
	if (!(isTopic(dead) && isUserTopic(dead)))
		refuse(found, `${path}.deadLetterTopic`, `must be a topic without "+" and "#", and not below troupe/ or $, got ${shown(dead)}`);
}
