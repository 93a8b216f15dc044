import test from 'ava';
import {createMemoryNetwork} from '../../../system/links/memory-link.js';
import {createPartition} from '../../../system/links/partition.js';
import type {Link, Packet} from '../../../system/links/link.js';
import {linkContract} from './link-contract.js';

linkContract(test, {
	name: 'partition that is not cut',
	join(t) {
		const network = createMemoryNetwork({defer: setImmediate});
		const join = (name: string): Link => createPartition({control: network.link(name)}).links.control;
		const links = {a: join('a'), b: join('b'), c: join('c')};
		t.teardown(() => Promise.all(Object.values(links).map(link => link.close())));
		return Promise.resolve(links);
	},
});

const packet = (sequence: number): Packet => ({boot: 'x', sequence, acknowledged: 0});

test('partition: what is sent and what comes while it is cut is lost, both ways and on both lanes; whoever listens hears when it is mended', t => {
	const ways = [createMemoryNetwork({defer: callback => callback()}), createMemoryNetwork({defer: callback => callback()})] as const;
	const connected: string[] = [];
	let verified = 0;
	const own: Link = {...ways[0].link('a'), onConnected: () => connected.push('told of the link itself'), verify: () => void verified++};
	const {links, cut, mend} = createPartition({control: own, bulk: ways[1].link('a')});
	const others = ways.map(network => network.link('b'));
	const arrived: string[] = [];
	others.forEach((link, lane) => link.onPacket((_from, {sequence}) => arrived.push(`b${lane} ${sequence}`)));
	[links.control, links.bulk].forEach((link, lane) => link.onPacket((_from, {sequence}) => arrived.push(`a${lane} ${sequence}`)));
	links.control.onConnected?.(() => connected.push('mended'));
	const talk = (sequence: number): readonly string[] => {
		for (const link of [links.control, links.bulk]) link.send('b', packet(sequence));
		for (const link of others) link.send('a', packet(sequence));
		return arrived.splice(0);
	};
	t.deepEqual(talk(1), ['b0 1', 'b1 1', 'a0 1', 'a1 1']);
	cut();
	t.deepEqual(talk(2), []);
	links.control.verify?.(1);
	t.is(verified, 0, 'a connection that is well is not made anew');
	mend();
	t.deepEqual(talk(3), ['b0 3', 'b1 3', 'a0 3', 'a1 3']);
	t.deepEqual(connected, ['told of the link itself', 'mended']);
	links.control.verify?.(1);
	t.is(verified, 1);
});
