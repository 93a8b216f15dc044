// Which triggers a message of MQTT matches: found by the levels of its topic, whatever others there are.

import test from 'ava';
import fc from 'fast-check';
import {objectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import {topicMatches} from '../../api/mqtt-filter.js';
import {createTopicTriggers, type TopicTriggers} from '../../server/triggers/topic-triggers.js';

const fn = (name: string, ...filters: readonly string[]): FunctionObject =>
	({
		apiVersion: 'troupe.dev/v1',
		kind: 'Function',
		metadata: {name, namespace: 'default'},
		spec: {triggers: filters.map((topic, at) => ({name: `t${at}`, topic}))},
	}) as unknown as FunctionObject;

const keyOf = (name: string) => objectKey('functions', 'default', name);
const put = (triggers: TopicTriggers, name: string, ...filters: readonly string[]): void =>
	triggers.note(keyOf(name), fn(name, ...filters));
const matches = (triggers: TopicTriggers, topic: string): readonly string[] =>
	triggers
		.match(topic, Infinity)
		.map(each => `${each.target.name}/${each.trigger.name}`)
		.toSorted();

test('a message matches every trigger that it should, of every function', t => {
	const triggers = createTopicTriggers();
	put(triggers, 'a', 'sensors/#', 'sensors/+/temperature');
	put(triggers, 'b', 'sensors/kitchen/temperature');
	put(triggers, 'c', 'alerts');
	t.deepEqual(matches(triggers, 'sensors/kitchen/temperature'), ['a/t0', 'a/t1', 'b/t0']);
	t.deepEqual(matches(triggers, 'sensors'), ['a/t0']);
	t.deepEqual(matches(triggers, 'alerts'), ['c/t0']);
	t.deepEqual(matches(triggers, 'alerts/fire'), []);
	t.deepEqual(triggers.firstLevels(), ['sensors', 'alerts']);
});

test('a trigger is found as it is written; what names no topic is none of these', t => {
	const triggers = createTopicTriggers();
	const object = fn('a', 'x');
	const spec = {
		triggers: [
			{name: 'plain', topic: 'x'},
			{name: 'own', topic: 'x', retries: 0, deadLetterTopic: 'dead/x'},
			{name: 'nightly', schedule: '0 0 * * *'},
		],
	};
	triggers.note(keyOf('a'), {...object, spec});
	t.deepEqual(
		triggers.match('x', 10).map(({trigger}) => trigger),
		spec.triggers.slice(0, 2),
	);
});

test('a change of a function, and its end, change what matches at once and leave nothing behind', t => {
	const triggers = createTopicTriggers();
	let told = 0;
	triggers.onFirstLevels(() => (told += 1));
	put(triggers, 'a', 'x/y/z/#', 'x/+');
	put(triggers, 'a', 'x/y', 'other');
	t.deepEqual([matches(triggers, 'x/y/z'), matches(triggers, 'x/y'), matches(triggers, 'other')], [[], ['a/t0'], ['a/t1']]);
	t.is(told, 2);
	put(triggers, 'a', 'x/y', 'other');
	t.is(told, 2);
	triggers.note(keyOf('a'), undefined);
	t.deepEqual([matches(triggers, 'x/y'), triggers.firstLevels()], [[], []]);
	t.is(told, 3);
	triggers.note(keyOf('never'), undefined);
	t.is(told, 3);
});

test('no more are found than are asked for', t => {
	const triggers = createTopicTriggers();
	for (let at = 0; at < 20; at += 1) put(triggers, `f${at}`, 'a/#', 'a/+/c', 'a/b/c');
	t.is(triggers.match('a/b/c', 7).length, 7);
	t.is(triggers.match('a/b/c', 100).length, 60);
});

test('what the tree finds is what every filter by itself says, after any changes', t => {
	const level = fc.constantFrom('a', 'b', '+', '');
	const filter = fc
		.tuple(fc.constantFrom('a', 'b'), fc.array(level, {maxLength: 3}), fc.boolean())
		.map(([first, rest, all]) => [first, ...rest, ...(all ? ['#'] : [])].join('/'));
	const topic = fc.array(fc.constantFrom('a', 'b', ''), {minLength: 1, maxLength: 4}).map(levels => levels.join('/'));
	const change = fc.tuple(fc.constantFrom('f', 'g', 'h'), fc.array(filter, {maxLength: 4}));
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.array(change, {maxLength: 8}), fc.array(topic, {maxLength: 5}), (changes, topics) => {
				const triggers = createTopicTriggers();
				const now = new Map<string, readonly string[]>();
				for (const [name, filters] of changes) {
					put(triggers, name, ...filters);
					now.set(name, filters);
				}
				const all = [...now].flatMap(([name, filters]) => filters.map((each, at) => ({id: `${name}/t${at}`, filter: each})));
				return topics.every(each => {
					const expected = all.filter(({filter: wanted}) => topicMatches(wanted, each)).map(({id}) => id);
					return JSON.stringify(matches(triggers, each)) === JSON.stringify(expected.toSorted());
				});
			}),
		),
	);
});

test('ten thousand functions with 32 triggers each are no burden for a message: only what can match is looked at', t => {
	const triggers = createTopicTriggers();
	for (let at = 0; at < 10_000; at += 1)
		put(triggers, `f${at}`, ...Array.from({length: limits.objectTriggers}, (_, own) => `site/${at}/+/${own}/#`));
	t.deepEqual(matches(triggers, 'site/77/x/5/y'), ['f77/t5']);
	t.deepEqual(matches(triggers, 'site/none/x/5/y'), []);
	const startMs = process.hrtime.bigint();
	for (let at = 0; at < 10_000; at += 1) triggers.match(`site/${at}/x/5/y`, 10);
	t.log(`${Number(process.hrtime.bigint() - startMs) / 10_000_000} microseconds a message`);
	for (let at = 0; at < 10_000; at += 1) triggers.note(keyOf(`f${at}`), undefined);
	t.deepEqual(triggers.firstLevels(), []);
});
