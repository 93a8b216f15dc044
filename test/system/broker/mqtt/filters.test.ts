import test from 'ava';
import {limits} from '../../../../api/limits.js';
import {prove, type Rig} from './_rig.js';
import {publishPacket, subscribePacket} from '../../../../bench/rigs/mqtt/packets.js';

/** Which of some topics a filter lets through. */
async function through({join}: Rig, filter: string, topics: readonly string[]): Promise<readonly string[]> {
	const wire = await join();
	wire.send(subscribePacket(1, [filter, 0], ['m/a/r/k', 0]));
	await wire.next();
	wire.send(...topics.map(topic => publishPacket(topic, '.')), publishPacket('m/a/r/k', ''));
	const heard: string[] = [];
	for (let words = await wire.next(); !words.includes(' m/a/r/k '); words = await wire.next()) heard.push(words.slice(17, -2));
	wire.socket.destroy();
	return heard;
}

/** `refused`, `closed` or `granted`. */
async function fate({join}: Rig, filter: string): Promise<string> {
	const wire = await join();
	wire.send(subscribePacket(1, [filter, 0]));
	const words = await wire.next();
	wire.socket.destroy();
	return words === 'closed' ? words : words === 'suback 1: 128' ? 'refused' : 'granted';
}

prove(test, 'filters', {
	'# matches what follows and the level above': async (t, rig) => {
		const topics = ['a', 'a/', 'a/b', 'a/b/c', 'ab', 'b'];
		t.deepEqual(await through(rig, 'a/#', topics), ['a', 'a/', 'a/b', 'a/b/c']);
		t.deepEqual(await through(rig, '#', topics), topics);
	},
	'+ is one level, also an empty one': async (t, rig) => {
		const topics = ['a', 'a/', 'a/b', 'a/b/c', '/b', '/'];
		t.deepEqual(await through(rig, 'a/+', topics), ['a/', 'a/b']);
		t.deepEqual(await through(rig, '+', topics), ['a']);
		t.deepEqual(await through(rig, '+/+', topics), ['a/', 'a/b', '/b', '/']);
		t.deepEqual(await through(rig, '+/b/#', topics), ['a/b', 'a/b/c', '/b']);
	},
	'a slash at the front or at the end makes a level of its own': async (t, rig) => {
		const topics = ['a', '/a', 'a/', '/a/', 'a//b', 'a/b'];
		t.deepEqual(await through(rig, 'a', topics), ['a']);
		t.deepEqual(await through(rig, '/a', topics), ['/a']);
		t.deepEqual(await through(rig, '/+', topics), ['/a']);
		t.deepEqual(await through(rig, 'a//b', topics), ['a//b']);
	},
	'# must be the last level and alone in it, + alone in its level: others end the connection or are refused': async (t, rig) => {
		for (const filter of ['a/#/b', 'a#', 'a/b#', '#/a', 'a+', 'a/+b', '+a', 'a+/b', '##', '++', 'a/##'])
			t.not(await fate(rig, filter), 'granted', filter);
		for (const filter of ['#', '+', 'a/#', '+/+/#', '/', '//']) t.is(await fate(rig, filter), 'granted', filter);
	},
	'upper and lower case are different, and blanks count': async (t, rig) => {
		t.deepEqual(await through(rig, 'a b', ['a b', 'A b', 'a  b', 'a b ']), ['a b']);
	},
	'a wildcard at the front does not match topics that begin with $': async (t, rig) => {
		const heard: string[] = [];
		rig.broker.subscribe('#', topic => heard.push(topic));
		const topics = ['$SYS/a', '$x', 'a/$x'];
		t.deepEqual(await through(rig, '#', topics), ['a/$x']);
		t.deepEqual(await through(rig, '+/a', topics), []);
		t.deepEqual(await through(rig, '+', topics), []);
		t.false(heard.some(topic => topic.startsWith('$')));
	},
	'nobody may subscribe to topics that begin with $: 128': async (t, rig) => {
		for (const filter of ['$SYS/#', '$SYS/+/new/clients', '$share/group/a', '$refused', '$'])
			t.is(await fate(rig, filter), 'refused', filter);
	},
	'what a client publishes to a topic that begins with $ is heard by nobody': async (t, {join, broker}) => {
		const wire = await join();
		wire.send(publishPacket('$SYS/broker/version', 'forged', {qos: 1, id: 3, retain: true}));
		t.is(await wire.next(), 'puback 3');
		t.is(broker.counters().publishesRefused, 1);
	},
	'filters and topics of more than 16 levels are refused': async (t, rig) => {
		const deep = (levels: number): string => Array.from({length: levels}, () => 'x').join('/');
		t.is(await fate(rig, deep(limits.brokerTopicLevels)), 'granted');
		t.is(await fate(rig, deep(limits.brokerTopicLevels + 1)), 'refused');
		t.not(await fate(rig, deep(2_000)), 'granted');
		t.deepEqual(await through(rig, '#', [deep(limits.brokerTopicLevels + 1), deep(limits.brokerTopicLevels)]), [
			deep(limits.brokerTopicLevels),
		]);
	},
});
