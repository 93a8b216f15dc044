import test from 'ava';
import {checkFunctionTriggers} from '../../api/rules/function-triggers.js';
import {isUserTopic} from '../../api/topics.js';
import type {Json} from '../../api/object.js';
import type {Found} from '../../api/rules/report.js';

function problemsOf(triggers: Json): readonly string[] {
	const found: Found = [];
	checkFunctionTriggers(found, 'spec.triggers', triggers);
	return found.map(({path, message}) => `${path}: ${message}`);
}

test('topics of users are those that begin with a word of theirs', t => {
	for (const topic of ['sensors', 'sensors/+/temperature', 'a/#', 'troupes/x', 'sensors/']) t.true(isUserTopic(topic), topic);
	for (const topic of ['', '/a', '+/a', '#', '$SYS/a', 'troupe', 'troupe/v1/objects', 'a+/b']) t.false(isUserTopic(topic), topic);
});

test('messages, times and changes are triggers', t => {
	t.deepEqual(
		problemsOf([
			{name: 'warm', topic: 'sensors/+/temperature', retries: 3, deadLetterTopic: 'sensors/lost'},
			{name: 'nightly', schedule: '0 3 * * *', timeZone: 'Europe/Berlin', params: '{"x": 1}'},
			{name: 'pods', objects: {kind: 'Pod', selector: {matchLabels: {app: 'web'}}, changes: ['created']}},
		]),
		[],
	);
});

test('each has one source, a name of its own, and what belongs to it', t => {
	const cases: readonly (readonly [Json, RegExp])[] = [
		[[{name: 'a', topic: 'a', schedule: '* * * * *'}], /spec.triggers\[0\]/],
		[[{name: 'a'}], /topic, schedule/],
		[
			[
				{name: 'a', topic: 'a'},
				{name: 'a', topic: 'b'},
			],
			/\[1\]\.name: must be another name than that of spec\.triggers\[0\]\.name/,
		],
		[[{name: 'A_', topic: 'a'}], /\.name: must be 1 to 63/],
		[[{name: 'a', topic: 'troupe/v1/objects/#'}], /\.topic: must be a filter/],
		[[{name: 'a', topic: '#'}], /\.topic: must be a filter/],
		[[{name: 'a', topic: 'a', deadLetterTopic: 'a/+'}], /\.deadLetterTopic: must be a topic/],
		[[{name: 'a', topic: `a${'/b'.repeat(16)}`}], /\.topic: must be at most 16 levels and 1024 bytes, got 17/],
		[
			[{name: 'a', topic: 'a', deadLetterTopic: 'ä'.repeat(513)}],
			/\.deadLetterTopic: must be at most 16 levels and 1024 bytes, got 1 and 1026/,
		],
		[[{name: 'a', topic: 'a/#', deadLetterTopic: 'a/lost'}], /\.deadLetterTopic: must not be a topic that calls this function/],
		[[{name: 'a', schedule: 'often'}], /\.schedule: /],
		[[{name: 'a', schedule: '* * * * *', timeZone: 'Mars'}], /\.timeZone: must be a time zone/],
		[[{name: 'a', schedule: '* * * * *', params: '{'}], /\.params: must be JSON/],
		[[{name: 'a', topic: 'a', params: '{}'}], /\.params: belongs to a schedule/],
		[Array.from({length: 33}, (_, at) => ({name: `a${at}`, topic: 'a'})), /must be at most 32, got 33/],
	];
	for (const [triggers, wanted] of cases) t.regex(problemsOf(triggers).join('\n'), wanted);
});
