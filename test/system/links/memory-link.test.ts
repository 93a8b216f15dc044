import test from 'ava';
import type {Packet} from '../../../system/links/link.js';
import {createMemoryNetwork} from '../../../system/links/memory-link.js';
import {linkContract} from './link-contract.js';

linkContract(test, {
	name: 'memory',
	join(t) {
		const network = createMemoryNetwork({defer: setImmediate});
		const links = {a: network.link('a'), b: network.link('b'), c: network.link('c')};
		t.teardown(() => Promise.all(Object.values(links).map(link => link.close())));
		return Promise.resolve(links);
	},
});

const packet: Packet = {boot: 'x', sequence: 1, acknowledged: 0, body: {some: 'thing'}};

test('memory: who defers decides the order of deliveries, and packets pass by reference', t => {
	const deferred: (() => void)[] = [];
	const network = createMemoryNetwork({defer: callback => deferred.push(callback)});
	const [a, b] = [network.link('a'), network.link('b')];
	const arrived: Packet[] = [];
	b.onPacket((_from, one) => arrived.push(one));
	a.send('b', packet);
	a.send('b', {...packet, sequence: 2});
	t.deepEqual(arrived, []);
	for (const deliver of deferred.reverse()) deliver();
	t.deepEqual(
		arrived.map(({sequence}) => sequence),
		[2, 1],
	);
	t.is(arrived[1], packet);
});

test('memory: a name that is joined again belongs to the newer link', async t => {
	const deferred: (() => void)[] = [];
	const network = createMemoryNetwork({defer: callback => deferred.push(callback)});
	const [a, old] = [network.link('a'), network.link('b')];
	const heard: string[] = [];
	old.onPacket(() => heard.push('old'));
	a.send('b', packet);
	network.link('b').onPacket(() => heard.push('new'));
	await old.close();
	for (const deliver of deferred) deliver();
	t.deepEqual(heard, ['new']);
});
