// The load proofs of bench/broker-load.ts in small: what is bounded stays bounded, and who is well is never cut. No time is judged.

import test, {type ExecutionContext} from 'ava';
import {limits} from '../../../api/limits.js';
import {openHost} from '../../../bench/rigs/load/host.js';
import {openPeers} from '../../../bench/rigs/load/peers.js';
import {runSlowNode} from '../../../bench/rigs/load/slow-node.js';
import {createPace} from '../../../system/broker/pace.js';
import {publishPacket} from '../../../system/broker/publish-packet.js';
import {hearing, loggedIn, settled, startBroker, stuckSubscriber} from './broker-rig.js';
import {firstOf} from './mqtt/_wire.js';

const objects = 'troupe/v1/objects/#';

async function aStage(t: ExecutionContext) {
	const host = await openHost();
	const peers = openPeers();
	t.teardown(async () => {
		peers.end();
		await host.close();
	});
	return {host, peers, port: host.port()};
}

test.serial('twenty stuck tools are cut at their time, a stuck node only at its own; who reads gets everything', async t => {
	const {broker, port, clock} = await startBroker(t, {
		may: () => true,
	});
	for (let at = 0; at < 20; at += 1) await stuckSubscriber(t, port, at % 2 === 0 ? 'admin' : 'watcher', 'a', `stuck-${at}`);
	await stuckSubscriber(t, port, 'node-a', 'a');
	const reader = await loggedIn(t, port, 'node-b');
	const {until} = hearing(reader);
	await reader.subscribeAsync('a');
	// More than sockets take, less than the buffer.
	const payload = Buffer.alloc(100_000, 'x');
	for (let at = 0; at < 75; at += 1) {
		broker.publish('a', payload, {retain: false});
		await new Promise(resolve => setImmediate(resolve));
	}
	await until(all => all.length === 75);
	clock.advance(limits.toolStallMs - 1);
	await settled(reader);
	t.deepEqual([broker.counters().cutStalled, broker.counters().cutOverflow], [0, 0]);
	clock.advance(1);
	await settled(reader);
	t.is(broker.counters().cutStalled, 20);
	t.deepEqual(broker.connected(), ['node-a', 'node-b']);
	clock.advance(limits.nodeStallMs - limits.toolStallMs - 1);
	await settled(reader);
	t.is(broker.counters().cutStalled, 20);
	clock.advance(1);
	await settled(reader);
	t.deepEqual([broker.counters().cutStalled, broker.connected()], [21, ['node-b']]);
});

test.serial('many subscribers of many objects all get each of them, and a node’s messages go on between', async t => {
	const {host, peers, port} = await aStage(t);
	host.fill({count: 3_000, bytes: 100});
	const trips = peers.trips({port, ms: 500, everyMs: 5});
	const readers = openPeers();
	t.teardown(() => readers.end());
	await readers.open({port, count: 30, name: 'tool', filter: objects, stuck: false});
	t.true(await readers.until({messages: 3_000, withinMs: 30_000}));
	t.is((await trips).lost, 0);
	await host.change({count: 100, perTurn: 10, everyMs: 0, bytes: 100});
	t.true(await readers.until({messages: 3_100, withinMs: 30_000}));
	t.deepEqual([readers.counts().fewest, readers.counts().most, readers.counts().closed], [3_100, 3_100, 0]);
	t.is(host.counters().outboxDropped, 0);
});

test.serial('a burst of 20 MB to one client arrives, commit by commit, and so does one by one client', async t => {
	const {host, peers, port} = await aStage(t);
	await peers.open({port, count: 1, name: 'tool', filter: objects, stuck: false});
	await host.change({count: 20, perTurn: 1, everyMs: 2, bytes: 1_000_000});
	t.true(await peers.until({messages: 20, withinMs: 30_000}));
	t.is(host.counters().cutOverflow, 0);
	const others = openPeers();
	t.teardown(() => others.end());
	await others.open({port, count: 1, name: 'tool-other', filter: 'troupe/v1/nodes/#', stuck: false});
	await others.flood({port, name: 'writer', topic: 'troupe/v1/nodes/writer/presence', count: 20, bytes: 1_000_000});
	t.true(await others.until({messages: 20, withinMs: 30_000}));
	t.deepEqual([peers.counts().closed, others.counts().closed], [0, 0]);
});

test.serial('what is under way to a slow node is a window and one value at most, and it gets in step over one connection', async t => {
	const podBytes = 60_000;
	const figures = await runSlowNode(t, {pods: 12, podBytes, bytesPerSecond: 2_000_000, withinMs: 50_000});
	t.true(figures.mostUnderWayBytes > podBytes);
	t.true(figures.mostUnderWayBytes <= limits.nodeSyncWindowBytes + 2 * podBytes, String(figures.mostUnderWayBytes));
	t.deepEqual([figures.cut, figures.connects], [0, 1]);
});

test('work of many is done in order, for a while in each turn, at least one piece', async t => {
	let nowMs = 0;
	const done: number[] = [];
	const pace = createPace(() => nowMs, {node: 4, tool: 4});
	const turns: number[] = [];
	for (let at = 0; at < 10; at += 1)
		pace(() => {
			nowMs += at < 8 ? 1 : 100;
			done.push(at);
		});
	while (done.length < 10) {
		await new Promise(resolve => setImmediate(resolve));
		turns.push(done.length);
	}
	t.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
	t.deepEqual(
		[...new Set(turns)].filter(count => count > 0),
		[5, 9, 10],
	);
});

test('a retained packet made here reads as one, whatever its length', t => {
	for (const length of [0, 1, 121, 122, 123, 16_377, 16_378, 16_379, 2_097_145, 2_097_146]) {
		const payload = 'z'.repeat(length);
		const bytes = publishPacket('ä/b', Buffer.from(payload), true);
		t.deepEqual(firstOf(bytes), {words: `publish q0 r1 d0 ä/b ${payload}`, length: bytes.length}, String(length));
	}
});
