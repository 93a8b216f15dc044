// Publishes to users' topics: so many a second of each login, the rest waits at the client; nobody is cut for it.

import {once} from 'node:events';
import test from 'ava';
import {isMetered, type Identity} from '../../../api/roles.js';
import {limits} from '../../../api/limits.js';
import {createPublishRate, createPublishRates, unlimited} from '../../../system/broker/publish-rate.js';
import {nodeQuota, toolQuota, toolQuotaOf} from '../../../system/broker/quotas.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {connectPacket, openSocket, passwordOf, publishPacket, startBroker} from './broker-rig.js';

const turnOver = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
const topics = {publish: ['sensors/#'], messagesPerSecond: 10};

const gateway: Identity = {name: 'gw', role: 'tool', topics};
const authenticate = (name: string | undefined, password: string | undefined): Identity | undefined =>
	name === 'gw' && password === passwordOf('gw') ? gateway : undefined;
const quotaOf = (identity: Identity) => (identity.role === 'node' ? nodeQuota : toolQuotaOf(identity.topics));

test('who publishes faster than its token says is held back, loses nothing and is not cut, however long', async t => {
	const {broker, port, clock} = await startBroker(t, {authenticate, quotaOf, metered: isMetered});
	const heard: string[] = [];
	broker.subscribe('sensors/#', (_, payload) => void heard.push(payload.toString()));
	const socket = await openSocket(t, port);
	socket.write(connectPacket('gw', 'gw'));
	await once(socket, 'data');
	const count = 300;
	socket.write(Buffer.concat(Array.from({length: count}, (_, at) => publishPacket('sensors/a', String(at)))));
	// The rate of a second at once, a turn or two that are owed, and ten a second from then on.
	const most = (seconds: number): number => 10 + 3 * limits.brokerSlowTurnWork + 10 * seconds;
	let seconds = 0;
	while (heard.length < count && seconds < count) {
		for (let turn = 0; turn < 10; turn += 1) await turnOver();
		t.true(heard.length <= most(seconds), `${heard.length} after ${seconds} s`);
		clock.advance(1_000);
		seconds += 1;
	}
	t.true(seconds * 1_000 > 2 * limits.brokerGreedyMs);
	t.deepEqual(
		heard,
		Array.from({length: count}, (_, at) => String(at)),
	);
	t.is(broker.counters().cutGreedy, 0);
});

test('a rate is owed in full, in messages and in bytes', t => {
	const clock = new ManualClock();
	const rate = createPublishRate(clock, {messagesPerSecond: 2, bytesPerSecond: 100});
	let released = 0;
	const ask = (): void => rate.whenLeft(() => (released += 1));
	ask();
	for (let at = 0; at < 6; at += 1) rate.spend(1);
	ask();
	clock.advance(2_000);
	t.is(released, 1);
	clock.advance(600);
	t.is(released, 2);
	rate.spend(400);
	ask();
	clock.advance(2_000);
	t.is(released, 2);
	clock.advance(1_500);
	t.is(released, 3);
	clock.advance(60_000);
	t.true(rate.isWhole());
});

test('all connections of a login share its rate, as long as any is open', t => {
	const clock = new ManualClock();
	const rates = createPublishRates(clock);
	const rate = rates.of('gw', toolQuota.rate);
	rates.tidy(new Set(['gw']));
	t.is(rates.of('gw', toolQuota.rate), rate);
	t.not(rates.of('other', toolQuota.rate), rate);
	t.not(rates.of('gw', toolQuotaOf(topics).rate), rate);
	rates.tidy(new Set());
	t.not(rates.of('gw', toolQuota.rate), rate);
	t.is(rates.of('node-a', nodeQuota.rate), unlimited);
});
