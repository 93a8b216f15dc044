import {once} from 'node:events';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {connectPacket, event, hearing, loggedIn, newClient, openSocket, refusalOf, settled, startBroker} from './broker-rig.js';

test('a known login is connected under its name', async t => {
	const {broker, port} = await startBroker(t);
	await loggedIn(t, port, 'watcher');
	await loggedIn(t, port, 'admin');
	t.deepEqual(broker.connected(), ['admin', 'watcher']);
});

test('a wrong password is refused with code 4, an unknown name too, nobody at all with code 5', async t => {
	const {broker, port} = await startBroker(t);
	t.is(await refusalOf(newClient(t, port, 'admin', {password: 'guess'})), 4);
	t.is(await refusalOf(newClient(t, port, 'mallory')), 4);
	const socket = await openSocket(t, port);
	socket.write(Buffer.from([0x10, 13, 0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, 1, 0x61]));
	const [answer] = (await once(socket, 'data')) as [Buffer];
	t.deepEqual([...answer], [0x20, 2, 0, 5]);
	t.deepEqual(broker.connected(), []);
	t.is(broker.counters().loginsRefused, 3);
});

test('an empty client id with a session to keep is refused with code 2', async t => {
	const {port} = await startBroker(t);
	const socket = await openSocket(t, port);
	const login = connectPacket('admin', '');
	// The flag for a clean session, after protocol name and level.
	login[9] = (login[9] ?? 0) & ~2;
	socket.write(login);
	const [answer] = (await once(socket, 'data')) as [Buffer];
	t.deepEqual([...answer], [0x20, 2, 0, 2]);
	await once(socket, 'close');
});

test('another login never takes over a connection by its client id', async t => {
	const {broker, port} = await startBroker(t);
	const first = await loggedIn(t, port, 'node-a', {clientId: 'shared'});
	t.is(await refusalOf(newClient(t, port, 'node-b', {clientId: 'shared'})), 2);
	await settled(first);
	t.deepEqual(broker.connected(), ['node-a']);
});

test('the same login takes its own client id over', async t => {
	const {broker, port} = await startBroker(t);
	const first = await loggedIn(t, port, 'node-a', {clientId: 'same'});
	const closed = event(first, 'close');
	const second = await loggedIn(t, port, 'node-a', {clientId: 'same'});
	await closed;
	await settled(second);
	t.deepEqual(broker.connected(), ['node-a']);
});

test('who does not log in within the time is cut', async t => {
	const {broker, port, clock} = await startBroker(t);
	const socket = await openSocket(t, port);
	const other = await loggedIn(t, port, 'admin');
	clock.advance(limits.newcomerMs);
	await once(socket, 'close');
	await settled(other);
	t.deepEqual(broker.connected(), ['admin']);
});

test('a will is published when the connection breaks, and not when it is closed', async t => {
	const {port} = await startBroker(t);
	const watcher = await loggedIn(t, port, 'watcher');
	const {heard, until} = hearing(watcher);
	await watcher.subscribeAsync('troupe/v1/nodes/#');
	const will = {topic: 'troupe/v1/nodes/node-a/presence', payload: Buffer.from('offline'), qos: 0 as const, retain: true};
	const broken = await loggedIn(t, port, 'node-a', {will});
	broken.stream.destroy();
	await until(all => all.length === 1);
	const polite = await loggedIn(t, port, 'node-b', {will: {...will, topic: 'troupe/v1/nodes/node-b/presence'}});
	await polite.endAsync();
	await settled(watcher);
	t.deepEqual(heard, [{topic: will.topic, text: 'offline', retain: false}]);
	const late = await loggedIn(t, port, 'admin');
	const kept = hearing(late);
	await late.subscribeAsync('troupe/v1/nodes/+/presence');
	t.deepEqual(await kept.until(all => all.length === 1), [{topic: will.topic, text: 'offline', retain: true}]);
});

test('a will that its client may not publish is refused at the login', async t => {
	const {port} = await startBroker(t);
	const will = {topic: 'troupe/v1/nodes/node-b/presence', payload: Buffer.from('gone'), qos: 0 as const, retain: true};
	t.is(await refusalOf(newClient(t, port, 'node-a', {will})), 5);
});

test('closing cuts everybody and frees the port', async t => {
	const {broker, port} = await startBroker(t);
	const client = await loggedIn(t, port, 'admin');
	const socket = await openSocket(t, port);
	const gone = Promise.all([event(client, 'close'), once(socket, 'close')]);
	await broker.close();
	await gone;
	const again = await startBroker(t);
	const second = await again.broker.listen('127.0.0.1', port);
	t.is(second.port, port);
});

test('a port that is taken is an error of listen', async t => {
	const {port} = await startBroker(t);
	const other = await startBroker(t);
	await t.throwsAsync(other.broker.listen('127.0.0.1', port), {code: 'EADDRINUSE'});
});
