// Topics of users' own on a real cluster: who may publish and read them, over TCP and WebSocket, retained, as last wills, and kept for a session.

import test from 'ava';
import {connect, connectAsync, type IClientOptions, type MqttClient} from 'mqtt';
import type {Owner} from '../../bench/rigs/owner.js';
import {systemClock} from '../../system/time/clock.js';
import {openEar} from './_ear.js';
import {call} from './_functions.js';
import {openFileHome} from './_rig.js';

const {cluster} = openFileHome(test);

async function tokenOf(name: string, ...flags: readonly string[]): Promise<string> {
	return (await cluster.fine('token', 'create', name, ...flags)).trim();
}

async function connected(owner: Owner, username: string, password: string, options: IClientOptions = {}): Promise<MqttClient> {
	const client = await connectAsync(cluster.endpoints().mqtt, {username, password, reconnectPeriod: 0, ...options}, false);
	client.on('error', () => undefined);
	owner.teardown(() => client.endAsync(true));
	return client;
}

test.serial('a token publishes and reads what it says, and an admin everything, also over WebSocket', async t => {
	const token = await tokenOf('gateway', '--role', 'tool', '--publish', 'sensors/#', '--subscribe', 'alerts/+');
	const gateway = await connected(t, 'gateway', token);
	const admin = await openEar(t, cluster, 'web');
	await admin.listen('#');
	await gateway.publishAsync('sensors/kitchen', '21', {qos: 1});
	await gateway.publishAsync('secret/kitchen', 'forged', {qos: 1});
	await gateway.publishAsync('alerts/fire', 'forged', {qos: 2});
	await gateway.publishAsync('sensors/cellar', '12', {qos: 2});
	await admin.until('what the gateway may say', heard => heard.some(({topic}) => topic === 'sensors/cellar'));
	t.deepEqual(
		admin.heard.filter(({topic}) => !topic.startsWith('troupe/')).map(({topic, text}) => [topic, text]),
		[
			['sensors/kitchen', '21'],
			['sensors/cellar', '12'],
		],
	);
	await t.throwsAsync(gateway.subscribeAsync('sensors/#'));
	const ear = await openEar(t, cluster, 'mqtt', 'gateway', token);
	await ear.listen('#');
	await admin.client.publishAsync('sensors/kitchen', '22', {qos: 1});
	await admin.client.publishAsync('alerts/fire', 'now', {qos: 1});
	await ear.until('the alert', heard => heard.some(({topic}) => topic === 'alerts/fire'));
	t.false(ear.heard.some(({topic}) => topic.startsWith('sensors/')));
});

test.serial('what a token says of topics changes nothing over HTTP, and is shown', async t => {
	t.regex(await cluster.fine('token', 'list', '-o', 'wide'), /^gateway +tool .* sensors\/# +alerts\/\+ +1000 +4194304$/m);
	const token = await tokenOf('writer', '--role', 'view', '--publish', 'any/#');
	t.is((await call(cluster, 'any', {}, {token})).status, 403);
	const refused = await cluster.troupe('token', 'create', 'wrong', '--role', 'tool', '--publish', 'troupe/v1/#');
	t.is(refused.code, 2);
	t.regex(refused.err, /--publish must be filters such as/);
});

test.serial('a session that is kept gets what was published at QoS 1 while it was away, in order, and what is retained', async t => {
	const options = {clientId: 'kept-one', clean: false};
	const admin = await connected(t, 'admin', cluster.token());
	const first = await connected(t, 'admin', cluster.token(), options);
	await first.subscribeAsync('sensors/#', {qos: 1});
	await first.endAsync();
	for (const text of ['1', '2', '3']) await admin.publishAsync('sensors/away', text, {qos: 1});
	await admin.publishAsync('sensors/state', 'on', {qos: 1, retain: true});
	// It is sent as soon as the session is there again.
	const again = connect(cluster.endpoints().mqtt, {username: 'admin', password: cluster.token(), reconnectPeriod: 0, ...options});
	t.teardown(() => again.endAsync(true));
	const heard: string[] = [];
	await new Promise<void>((resolve, reject) => {
		again.on('error', reject);
		again.on('message', (_, payload) => {
			heard.push(payload.toString());
			if (heard.length === 4) resolve();
		});
	});
	t.deepEqual(heard, ['1', '2', '3', 'on']);
	const newcomer = await openEar(t, cluster);
	await newcomer.listen('sensors/#');
	await newcomer.until('what is retained', all => all.some(({topic, retained}) => topic === 'sensors/state' && retained));
});

test.serial('a last will goes to a topic that its login may publish to, and no other is let in', async t => {
	const token = await tokenOf('dying', '--role', 'tool', '--publish', 'gone/#');
	const ear = await openEar(t, cluster);
	await ear.listen('gone/#');
	const will = (topic: string) => ({will: {topic, payload: Buffer.from('bye'), qos: 1 as const, retain: false}});
	await t.throwsAsync(connected(t, 'dying', token, will('other/dying')), {message: /Not authorized/});
	const client = await connected(t, 'dying', token, will('gone/dying'));
	client.stream.destroy();
	await ear.until('the last will', heard => heard.some(({topic, text}) => topic === 'gone/dying' && text === 'bye'));
});

test.serial('who publishes faster than its token says waits, and nothing is lost', async t => {
	const token = await tokenOf('slow', '--role', 'tool', '--publish', 'slow/#', '--messages-per-second', '20');
	const ear = await openEar(t, cluster);
	await ear.listen('slow/#');
	const client = await connected(t, 'slow', token);
	const sinceMs = systemClock.monotonicMs();
	await Promise.all(Array.from({length: 70}, (_, at) => client.publishAsync('slow/a', String(at), {qos: 1})));
	await ear.until('all of it', heard => heard.length === 70);
	t.deepEqual(
		ear.heard.map(({text}) => Number(text)),
		Array.from({length: 70}, (_, at) => at),
	);
	t.log(`70 messages at 20 a second: ${Math.round(systemClock.monotonicMs() - sinceMs)} ms`);
});
