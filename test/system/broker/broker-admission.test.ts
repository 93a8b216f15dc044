// Who may be there together, and what a connection that was taken over leaves.

import test from 'ava';
import {endedBy, formatClientId} from '../../../api/client-id.js';
import {limits} from '../../../api/limits.js';
import {isNewer, parsePresence, type Presence} from '../../../api/presence.js';
import type {Identity} from '../../../api/roles.js';
import type {BrokerOptions} from '../../../system/broker/broker.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {event, loggedIn, newClient, refusalOf, settled, startBroker} from './broker-rig.js';

const presenceTopic = 'troupe/v1/nodes/node-a/presence';

const oneAgent: Partial<BrokerOptions<Identity>> = {
	endedBy: ({role}, clientId, others) => (role === 'node' ? endedBy(clientId, others, limits.agentAliveMs) : []),
};

const idOf = (boot: string, what: string): string => formatClientId('node-a', boot, what);
const willOf = (boot: string, connection: number) => ({
	topic: presenceTopic,
	payload: Buffer.from(JSON.stringify({state: 'offline', boot, connection})),
	retain: true,
	qos: 0 as const,
});

test('the connections of one agent are there together, and other roles have as many as they like', async t => {
	const {broker, port} = await startBroker(t, oneAgent);
	for (const what of ['control', 'bulk', 'beat']) await loggedIn(t, port, 'node-a', {clientId: idOf('1', what)});
	await loggedIn(t, port, 'admin', {clientId: 'one'});
	await loggedIn(t, port, 'admin', {clientId: 'two'});
	t.deepEqual(broker.connected(), ['admin', 'node-a']);
	t.is(broker.counters().loginsRefused, 0);
});

test('a second agent of a node is refused with code 2 while the first lives, and the first notices nothing', async t => {
	const {broker, port, clock} = await startBroker(t, oneAgent);
	const first = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'control')});
	clock.advance(limits.agentAliveMs - 1);
	t.is(await refusalOf(newClient(t, port, 'node-a', {clientId: idOf('2', 'control')})), 2);
	await settled(first);
	clock.advance(limits.agentAliveMs - 1);
	t.is(await refusalOf(newClient(t, port, 'node-a', {clientId: idOf('2', 'beat')})), 2);
	t.true(first.connected);
	t.is(broker.counters().loginsRefused, 2);
});

test('a second agent comes in when nothing came from the first for its time, and the first is cut', async t => {
	const {port, clock} = await startBroker(t, oneAgent);
	const first = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'control')});
	const firstBeat = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'beat')});
	clock.advance(limits.agentAliveMs);
	const cut = Promise.all([event(first, 'close'), event(firstBeat, 'close')]);
	const second = await loggedIn(t, port, 'node-a', {clientId: idOf('2', 'control')});
	await cut;
	await settled(second);
	t.is(await refusalOf(newClient(t, port, 'node-a', {clientId: idOf('1', 'control')})), 2);
});

test('an agent takes its own half-dead connection over at once, and its old will is known as old', async t => {
	const {broker, port} = await startBroker(t, oneAgent);
	const said: Presence[] = [];
	let check: (() => void) | undefined;
	broker.subscribe(presenceTopic, (_topic, payload) => {
		const presence = parsePresence(payload.toString());
		if (presence !== undefined) said.push(presence);
		check?.();
	});
	const half = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'control'), will: willOf('1', 1)});
	await half.publishAsync(presenceTopic, JSON.stringify({state: 'online', boot: '1', connection: 1}), {retain: true});
	const closed = event(half, 'close');
	const whole = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'control'), will: willOf('1', 2)});
	await whole.publishAsync(presenceTopic, JSON.stringify({state: 'online', boot: '1', connection: 2}), {retain: true});
	await closed;
	await new Promise<void>(resolve => {
		check = () => said.length === 3 && resolve();
		check();
	});
	const will = said.find(({state}) => state === 'offline');
	t.like(will, {boot: '1', connection: 1});
	t.is(said.filter(({state}) => state === 'offline').length, 1);
	t.false(will === undefined || isNewer(will, {state: 'online', boot: '1', connection: 2}));
	t.true(whole.connected);
});

test('a will of somebody else’s presence is refused at the login', async t => {
	const {port} = await startBroker(t, oneAgent);
	const will = {...willOf('1', 1), topic: 'troupe/v1/nodes/node-b/presence'};
	t.is(await refusalOf(newClient(t, port, 'node-a', {clientId: idOf('1', 'control'), will})), 5);
});

test('whether a client has subscribed to something is known as long as it has', async t => {
	const {broker, port} = await startBroker(t, oneAgent);
	const tool = await loggedIn(t, port, 'watcher');
	const isWanted = (filter: string): boolean => broker.isWanted(`troupe/v1/${filter}`);
	broker.subscribe('troupe/v1/#', () => undefined);
	t.false(isWanted('nodes/+/beat'));
	await tool.subscribeAsync('troupe/v1/nodes/node-a/+');
	t.deepEqual([isWanted('nodes/+/beat'), isWanted('objects/+/+/+'), isWanted('nodes/node-b/beat')], [true, false, false]);
	await tool.unsubscribeAsync('troupe/v1/nodes/node-a/+');
	t.false(isWanted('nodes/+/beat'));
	await tool.subscribeAsync('troupe/v1/nodes/#');
	t.true(isWanted('nodes/+/beat'));
	await tool.endAsync();
	await eventually('its connection is gone', () => !isWanted('nodes/+/beat'));
});

test('what came of a login on any of its connections is known by the time', async t => {
	const {broker, port, clock} = await startBroker(t, oneAgent);
	const control = await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'control')});
	await loggedIn(t, port, 'node-a', {clientId: idOf('1', 'bulk')});
	const node = await loggedIn(t, port, 'node-b');
	clock.advance(1_000);
	const sinceMs = clock.monotonicMs();
	t.deepEqual(broker.heardSince(sinceMs), []);
	await settled(control);
	t.deepEqual(broker.heardSince(sinceMs), ['node-a']);
	// What is refused is a sign of life all the same, and costs the node's connection nothing.
	await node.publishAsync(presenceTopic, 'forged', {qos: 1});
	t.deepEqual([...broker.heardSince(sinceMs)].sort(), ['node-a', 'node-b']);
	t.true(node.connected);
	t.is(broker.counters().publishesRefused, 1);
	clock.advance(1);
	t.deepEqual(broker.heardSince(clock.monotonicMs()), []);
});
