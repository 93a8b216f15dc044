import test from 'ava';
import {limits} from '../../api/limits.js';
import {formatBeat, formatPresence, type Presence} from '../../api/presence.js';
import {topicMatches} from '../../api/mqtt-filter.js';
import type {SignsMessage} from '../../actors/control/nodes/detector.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import type {PubSub} from '../../system/links/pubsub.js';
import {startNodeSigns} from '../../server/node-signs.js';

/** Topics in memory, delivered at once or after a while. */
function aPubSub(clock: ManualClock): PubSub & {delayMs: number | undefined; listeners: () => number} {
	const subscriptions = new Set<{filter: string; listener: (topic: string, payload: string) => void}>();
	const deliver = (topic: string, payload: string): void => {
		for (const {filter, listener} of subscriptions) if (topicMatches(filter, topic)) listener(topic, payload);
	};
	return {
		delayMs: 1,
		publish(topic, payload) {
			if (this.delayMs !== undefined) clock.after(this.delayMs, () => deliver(topic, payload));
		},
		subscribe(filter, listener) {
			const subscription = {filter, listener};
			subscriptions.add(subscription);
			return () => subscriptions.delete(subscription);
		},
		listeners: () => subscriptions.size,
	};
}

function listening(nodes: readonly string[]) {
	const clock = new ManualClock();
	const pubsub = aPubSub(clock);
	const remote = new Set(nodes);
	const told: SignsMessage[] = [];
	const heard = new Map<string, number>();
	const signs = startNodeSigns({
		serverId: 'server-1',
		pubsub,
		clock,
		heardSince: atMs => [...heard].filter(([, ms]) => ms >= atMs).map(([name]) => name),
		isRemote: node => remote.has(node),
		anyRemote: () => remote.size > 0,
		tell: message => told.push(message),
	});
	const say = (topic: string, payload = ''): void => pubsub.publish(`troupe/v1/${topic}`, payload, {retain: false});
	const beat = (node: string, boot = 'x'): void => say(`nodes/${node}/beat`, formatBeat({boot, sequence: 1}));
	const presence = (node: string, said: Presence): void => say(`nodes/${node}/presence`, formatPresence(said));
	return {clock, pubsub, remote, told, heard, signs, say, beat, presence};
}

test('every 250 ms the detector is told what was heard since, and nothing twice', t => {
	const {clock, told, heard, beat, presence} = listening(['a', 'b']);
	beat('a');
	beat('a', 'y');
	presence('b', {state: 'online', boot: 'x', connection: 1});
	heard.set('b', clock.monotonicMs());
	const startMs = clock.monotonicMs();
	clock.advance(2 * limits.signsMs);
	t.deepEqual(told, [
		{
			type: 'signs',
			atMs: startMs + limits.signsMs,
			lagMs: 0,
			canaryHeard: true,
			beats: ['a'],
			boots: {a: 'y'},
			packets: ['b'],
			presences: [{node: 'b', state: 'online', boot: 'x', connection: 1}],
		},
		{type: 'signs', atMs: startMs + 2 * limits.signsMs, lagMs: 0, canaryHeard: true, beats: [], boots: {}, packets: [], presences: []},
	]);
});

test('presences of a node come in their order, and no more than the newest of a flood', t => {
	const {clock, told, presence, say} = listening(['a']);
	for (let connection = 1; connection <= 1_000; connection++) presence('a', {state: 'online', boot: 'x', connection});
	presence('a', {state: 'offline', boot: 'x', connection: 1_000});
	say('nodes/a/presence', 'garbage');
	clock.advance(limits.signsMs);
	const presences = told[0]?.presences ?? [];
	t.is(presences.length, limits.presencesPerReading);
	t.deepEqual(
		presences.slice(-2).map(({state, connection}) => [state, connection]),
		[
			['online', 1_000],
			['offline', 1_000],
		],
	);
});

test('a beat that does not say of which boot it is is one all the same', t => {
	const {clock, told, say} = listening(['a', 'b']);
	say('nodes/a/beat', 'garbage');
	say('nodes/b/beat', JSON.stringify({boot: 'x'.repeat(1_000), sequence: 1}));
	clock.advance(limits.signsMs);
	t.like(told[0], {beats: ['a', 'b'], boots: {}});
});

test('nothing is told of nodes that are not known, or are in this process', t => {
	const {clock, told, heard, beat, presence} = listening(['a']);
	for (const stranger of ['local', 'nobody']) {
		beat(stranger);
		presence(stranger, {state: 'online', boot: 'x', connection: 1});
		heard.set(stranger, clock.monotonicMs());
	}
	clock.advance(limits.signsMs);
	t.like(told[0], {beats: [], boots: {}, packets: [], presences: []});
});

test('a canary that is lost or late is no proof of good hearing', t => {
	const {clock, pubsub, told} = listening(['a']);
	const heardNow = (): boolean | undefined => {
		clock.advance(limits.signsMs);
		return told.at(-1)?.canaryHeard;
	};
	t.true(heardNow());
	pubsub.delayMs = undefined;
	heardNow();
	t.false(heardNow());
	pubsub.delayMs = limits.observerLagMs;
	for (let count = 0; count < 8; count++) t.false(heardNow());
	pubsub.delayMs = 1;
	heardNow();
	t.true(heardNow());
});

test('a loop that stood still says for how long', t => {
	const clock = new ManualClock();
	const told: SignsMessage[] = [];
	let stoodStillMs = 0;
	const signs = startNodeSigns({
		serverId: 's',
		pubsub: aPubSub(clock),
		// Timers of a loop that stands still fire late.
		clock: {...clock, monotonicMs: () => clock.monotonicMs() + stoodStillMs, after: clock.after, nowMs: clock.nowMs},
		heardSince: () => [],
		isRemote: () => true,
		anyRemote: () => true,
		tell: message => told.push(message),
	});
	clock.advance(limits.signsMs);
	stoodStillMs = 3_000;
	clock.advance(2 * limits.signsMs);
	t.deepEqual(
		told.map(({lagMs}) => lagMs),
		[0, 3_000, 0],
	);
	signs.close();
});

test('without anything elsewhere nothing ticks; a beat or a wake begins it, and closing ends everything', t => {
	const {clock, pubsub, remote, told, signs, beat} = listening([]);
	t.is(clock.nextAtMs(), undefined);
	remote.add('a');
	beat('a');
	clock.advance(1 + limits.signsMs);
	t.deepEqual(told.at(-1)?.beats, ['a']);
	remote.clear();
	clock.advance(limits.signsMs);
	const count = told.length;
	t.is(clock.nextAtMs(), undefined);
	remote.add('b');
	signs.wake();
	signs.wake();
	clock.advance(limits.signsMs);
	t.is(told.length, count + 1);
	signs.close();
	clock.advance(1_000);
	t.is(told.length, count + 1);
	t.is(clock.nextAtMs(), undefined);
	t.is(pubsub.listeners(), 0);
});
