// The pool of connections that have not logged in, with addresses and a clock of the test's own.

import {EventEmitter} from 'node:events';
import type {Socket} from 'node:net';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {isWholeHello} from '../../../system/broker/client-hello.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createNewcomers} from '../../../system/broker/newcomers.js';

let ports = 0;

/** What the pool looks at of a socket. */
class Peer extends EventEmitter {
	destroyed = false;
	readonly localPort = 1;
	readonly remotePort = (ports += 1);
	readonly remoteAddress: string;
	constructor(remoteAddress: string) {
		super();
		this.remoteAddress = remoteAddress;
	}
	destroy(): void {
		this.destroyed = true;
		this.emit('close');
	}
}

const asSocket = (peer: Peer): Socket => peer as unknown as Socket;
const some = (count: number, address: string): Peer[] => Array.from({length: count}, () => new Peer(address));
const cutOf = (peers: readonly Peer[]): number[] => peers.flatMap(({destroyed}, index) => (destroyed ? [index] : []));

function pool(connections: number) {
	const clock = new ManualClock();
	const cuts: string[] = [];
	const bounds = {connections, loginMs: 1_000};
	const newcomers = createNewcomers({clock, bounds, onCut: (why, address) => cuts.push(`${why} ${address}`)});
	const add = (peer: Peer): void => newcomers.add(asSocket(peer));
	return {clock, cuts, newcomers, add};
}

test('where there are too many, the oldest of the address that has most goes', t => {
	const {add, cuts} = pool(4);
	const [lone, many, last] = [some(1, '192.0.2.1'), some(4, '192.0.2.2'), some(1, '192.0.2.3')];
	for (const peer of [...lone, ...many, ...last]) add(peer);
	t.deepEqual([cutOf(lone), cutOf(many), cutOf(last)], [[], [0, 1], []]);
	t.deepEqual(cuts, ['crowded 192.0.2.2', 'crowded 192.0.2.2']);
});

test('a network of IPv6 counts as one address', t => {
	const {add, cuts} = pool(3);
	const lone = some(1, '2001:db8:0:2::1');
	const many = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3', '2001:db8:0:0:1:2:3:4'].map(address => new Peer(address));
	for (const peer of [...lone, ...many]) add(peer);
	t.deepEqual([cutOf(lone), cutOf(many)], [[], [0, 1]]);
	t.deepEqual(new Set(cuts), new Set(['crowded 2001:db8:0:0']));
});

test('each has its time; who has logged in has left the pool', t => {
	const {add, clock, newcomers} = pool(2);
	const peers = some(4, '192.0.2.1');
	const [first, second] = peers;
	if (first === undefined || second === undefined) return t.fail();
	add(first);
	newcomers.admit(asSocket(first));
	for (const peer of peers.slice(1)) add(peer);
	t.deepEqual(cutOf(peers), [1]);
	clock.advance(1_000);
	t.deepEqual(cutOf(peers), [1, 2, 3]);
	t.is(clock.nextAtMs(), undefined);
});

test('handshakes have a share of the time; addresses take turns, and of each the newest comes first', t => {
	const {clock, newcomers} = pool(100);
	const begun: string[] = [];
	const costMs = 2;
	let busyMs = 0;
	const want = (name: string, address: string): Peer => {
		const peer = new Peer(address);
		newcomers.whenTurn(asSocket(peer), () => {
			begun.push(name);
			busyMs += costMs;
			clock.advance(costMs);
		});
		return peer;
	};
	const beganMs = clock.monotonicMs();
	const all = Array.from({length: 50}, (_, index) => want(`a${index}`, '192.0.2.1'));
	t.deepEqual(begun, ['a0', 'a1', 'a2', 'a3', 'a4']);
	want('b0', '192.0.2.2');
	all[49]?.destroy();
	while (begun.length < 49) {
		clock.advance(1);
		const passedMs = clock.monotonicMs() - beganMs;
		t.true(busyMs <= limits.handshakeTurnMs + costMs + (passedMs * limits.handshakePercent) / 100, `${busyMs} of ${passedMs}`);
	}
	t.true(begun.indexOf('b0') < 8);
	t.deepEqual(begun.filter(name => name !== 'b0').slice(5, 8), ['a48', 'a47', 'a46']);
	t.false(begun.includes('a49'));
});

test('a hello is whole when its message is, whatever records it comes in', t => {
	const record = (...bytes: number[]): number[] => [22, 3, 1, 0, bytes.length, ...bytes];
	const whole = (...bytes: number[]): boolean => isWholeHello(Buffer.from(bytes));
	t.false(whole(...record(1)));
	t.false(whole(...record(1, 0, 0, 2, 7)));
	t.true(whole(...record(1, 0, 0, 2, 7, 7)));
	t.true(whole(...record(1), ...record(), ...record(0, 0), ...record(1, 7)));
	t.false(whole(...record(1), ...record(0, 0), ...record(1)));
	t.false(whole(22, 3, 1, 0, 6, 1, 0, 0, 2, 7));
	t.true(whole(...record(1), 21, 3, 1, 0, 2));
});
