// Systems of users' own that meet at a Mosquitto: its rights, one run a name, and its death in between.

import test from 'ava';
import mqtt from 'mqtt';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openTokens} from '../../../server/tokens.js';
import {followUserSystems} from '../../../server/user-systems.js';
import {openOutsideBroker} from '../../../system/links/outside-broker.js';
import {parseOutsideUrl} from '../../../system/links/outside-url.js';
import {systemClock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';
import {main, open} from '../../cli/_user-systems.js';
import {controlSecret, startMosquitto} from '../_mosquitto.js';

test('over Mosquitto systems of a login talk, also after its death; and another login hears nothing and says nothing to them', async t => {
	const kept = new Map<string, string>();
	const tokens = openTokens({get: name => kept.get(name), put: (name, value) => Promise.resolve(void kept.set(name, value))}, () => 0);
	const [ann, bob] = [await tokens.issue('ann', 'edit'), await tokens.issue('bob', 'edit')];
	const broker = await startMosquitto(t, tokens.logins());
	const server = parseOutsideUrl(`mqtt://control:${encodeURIComponent(controlSecret)}@127.0.0.1:${broker.port}`);
	if (typeof server === 'string') throw new Error(server);
	const control = openOutsideBroker({server, boot: systemRandom.uuid()});
	t.teardown(() => control.close());
	const gone: string[] = [];
	const systems = followUserSystems({pubsub: control.pubsub, clock: systemClock, onGone: system => gone.push(system)});
	t.teardown(systems.close);
	await eventually('control is connected', () => control.connected());

	const other = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, {username: 'bob', password: bob, reconnectPeriod: 0});
	other.on('error', () => undefined);
	t.teardown(() => other.endAsync(true));
	const heard: string[] = [];
	other.on('message', topic => heard.push(topic));
	await other.subscribeAsync('#');

	const [a, b] = [open(t, broker, 'a', 'ann', {password: ann}), open(t, broker, 'b', 'ann', {password: ann})];
	await Promise.all([a.ready(), b.ready()]);
	await eventually('control sees both', () => systems.names().join() === 'a@ann,b@ann');
	a.act({type: 'ask', to: main('b@ann'), message: {type: 'question'}, as: 'answer', id: '1'});
	await a.prints('answer 1: 1');

	const forged = JSON.stringify({state: 'online', boot: 'x', sinceMs: 0, host: 'h', pid: 1, file: 'f'});
	for (const topic of ['a/presence', 'a/inbox/b', 'a/from-control', 'a/to-control', 'c/presence'])
		await other.publishAsync(`troupe/v1/users/ann/${topic}`, forged, {qos: 1, retain: true});
	await other.publishAsync('troupe/v1/users/bob/d/presence', forged, {qos: 1});
	await eventually('control sees what it may say', () => systems.has('d@bob'));
	t.deepEqual(systems.names(), ['a@ann', 'b@ann', 'd@bob']);
	t.deepEqual([...new Set(heard)], ['troupe/v1/users/bob/d/presence']);

	const second = open(t, broker, 'a', 'ann', {password: ann});
	await second.ended();
	t.is(second.ends[0]?.code, 'ERR_ALREADY_EXISTS');

	await broker.kill();
	await a.notesOf(/^the connection to the cluster is lost/);
	a.act({type: 'tell', to: main('b@ann'), message: {type: 'meanwhile'}});
	await broker.start();
	await b.prints('meanwhile 2');
	t.deepEqual([a.ends, b.ends], [[], []]);
	await a.stop();
	await eventually('control sees its end', () => gone.includes('a@ann'));
});
