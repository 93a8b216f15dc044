import test from 'ava';
import type {Link, Links, Packet} from '../../../system/links/link.js';
import {routedLinks} from '../../../system/links/routed-links.js';

type Probe = Link & {readonly sent: string[]; hear: (from: string) => void; connect: () => void; closed: number};

function probe(canBeLost: boolean): Probe {
	let listener: (from: string, packet: Packet) => void = () => undefined;
	let connected = (): void => undefined;
	const made: Probe = {
		sent: [],
		closed: 0,
		send: to => void made.sent.push(to),
		onPacket: next => void (listener = next),
		...(canBeLost ? {onConnected: (next: () => void) => void (connected = next)} : {}),
		close: () => Promise.resolve(void (made.closed += 1)),
		hear: from => listener(from, packet),
		connect: () => connected(),
	};
	return made;
}

const packet: Packet = {boot: 'x', sequence: 1, acknowledged: 0};
const isHere = (peer: string): boolean => peer === 'own';

function routed() {
	const here = {control: probe(false), bulk: probe(false)};
	const elsewhere = {control: probe(true), bulk: probe(true)};
	return {here, elsewhere, links: routedLinks(isHere, here, elsewhere)};
}

const lanes = ['control', 'bulk'] as const satisfies readonly (keyof Links)[];

test('on each lane a packet takes the way of its receiver', t => {
	const {here, elsewhere, links} = routed();
	for (const lane of lanes) {
		links[lane].send('own', packet);
		links[lane].send('far', packet);
		t.deepEqual([here[lane].sent, elsewhere[lane].sent], [['own'], ['far']], lane);
	}
});

test('each lane is heard once, and nobody speaks in the name of a peer of the other side', t => {
	const {here, elsewhere, links} = routed();
	const heard: string[] = [];
	for (const lane of lanes) links[lane].onPacket(from => heard.push(`${lane} ${from}`));
	for (const lane of lanes) for (const side of [here, elsewhere]) for (const from of ['own', 'far']) side[lane].hear(from);
	t.deepEqual(heard, ['control own', 'control far', 'bulk own', 'bulk far']);
});

test('that a link is there again is passed on; closing closes both', async t => {
	const {here, elsewhere, links} = routed();
	let connects = 0;
	for (const lane of lanes) links[lane].onConnected?.(() => (connects += 1));
	for (const lane of lanes) elsewhere[lane].connect();
	t.is(connects, 2);
	for (const lane of lanes) await links[lane].close();
	t.deepEqual(
		[here, elsewhere].flatMap(side => lanes.map(lane => side[lane].closed)),
		[1, 1, 1, 1],
	);
});
