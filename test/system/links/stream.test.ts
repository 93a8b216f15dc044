import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import type {Packet} from '../../../system/links/link.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';
import {Stream} from '../../../system/links/stream.js';

type End = {
	readonly stream: Stream;
	/** What it sends, until it is carried over. */
	readonly out: Packet[];
	readonly taken: Json[];
	readonly handedBack: Json[][];
	/** How often it said that nobody takes what it sends. */
	readonly late: () => number;
};

function anEnd(clock: ManualClock, boot: string): End {
	const out: Packet[] = [];
	const taken: Json[] = [];
	const handedBack: Json[][] = [];
	let late = 0;
	const stream = new Stream({
		boot,
		clock,
		send: packet => out.push(packet),
		deliver: body => taken.push(body),
		bytesOf: body => JSON.stringify(body).length,
		onPeerRestart: bodies => handedBack.push([...bodies]),
		onLate: () => void late++,
	});
	return {stream, out, taken, handedBack, late: () => late};
}

/** Carries packets to and fro until both are silent; the number of packets. */
function exchange(a: End, b: End): number {
	let packets = 0;
	while (a.out.length + b.out.length > 0) {
		for (const packet of a.out.splice(0)) {
			packets++;
			b.stream.receive(packet);
		}
		for (const packet of b.out.splice(0)) {
			packets++;
			a.stream.receive(packet);
		}
		if (packets > 100_000) throw new Error('it never falls silent');
	}
	return packets;
}

function joined() {
	const clock = new ManualClock();
	const [a, b] = [anEnd(clock, 'boot-a'), anEnd(clock, 'boot-b')];
	a.stream.greet();
	exchange(a, b);
	return {clock, a, b};
}

const bodiesOf = (packets: readonly Packet[]): (Json | undefined)[] => packets.filter(({sequence}) => sequence > 0).map(({body}) => body);

test('two ends that never met get to know each other in a few packets, and then fall silent', t => {
	const clock = new ManualClock();
	const [a, b] = [anEnd(clock, 'boot-a'), anEnd(clock, 'boot-b')];
	a.stream.greet();
	b.stream.greet();
	t.true(exchange(a, b) <= 8);
	t.is(a.stream.peerBoot, 'boot-b');
	t.is(b.stream.peerBoot, 'boot-a');
	clock.advance(60_000);
	t.is(exchange(a, b), 0);
	t.is(clock.nextAtMs(), undefined, 'no timer while nothing is open');
});

test('no body is sent before the peer is known', t => {
	const clock = new ManualClock();
	const [a, b] = [anEnd(clock, 'boot-a'), anEnd(clock, 'boot-b')];
	for (const body of ['x', 'y']) t.true(a.stream.offer(body, 1));
	t.deepEqual(bodiesOf(a.out), []);
	clock.advance(limits.streamResendMs);
	t.deepEqual(bodiesOf(a.out), []);
	exchange(a, b);
	t.deepEqual(b.taken, ['x', 'y']);
});

test('bodies arrive in order and once, although packets are repeated and reordered', t => {
	const {a, b} = joined();
	for (let body = 1; body <= 5; body++) a.stream.offer(body, 1);
	const packets = a.out.splice(0);
	for (const index of [4, 2, 2, 0, 3, 1, 0, 4]) {
		const packet = packets[index];
		if (packet !== undefined) b.stream.receive(packet);
	}
	t.deepEqual(b.taken, [1, 2, 3, 4, 5]);
	exchange(a, b);
	t.is(a.stream.outstanding, 0);
});

test('every value of JSON is a body, null and false too', t => {
	const {a, b} = joined();
	const bodies: Json[] = [null, false, 0, '', [], {}, {deep: [null]}];
	for (const body of bodies) a.stream.offer(body, 1);
	exchange(a, b);
	t.deepEqual(b.taken, bodies);
});

test('what is taken is acknowledged within 50 ms, many bodies by one packet', t => {
	const {clock, a, b} = joined();
	for (let body = 1; body <= 100; body++) a.stream.offer(body, 1);
	for (const packet of a.out.splice(0)) b.stream.receive(packet);
	t.deepEqual(b.out, []);
	clock.advance(limits.streamAckMs);
	t.deepEqual(
		b.out.map(({sequence, acknowledged}) => [sequence, acknowledged]),
		[[0, 100]],
	);
	exchange(a, b);
	t.is(a.stream.outstanding, 0);
	t.is(clock.nextAtMs(), undefined);
});

test('an acknowledgement rides on what goes back anyway', t => {
	const {clock, a, b} = joined();
	a.stream.offer('question', 1);
	for (const packet of a.out.splice(0)) b.stream.receive(packet);
	b.stream.offer('answer', 1);
	t.like(b.out, [{sequence: 1, acknowledged: 1, body: 'answer'}]);
	t.is(b.out.length, 1);
	exchange(a, b);
	clock.advance(limits.streamAckMs);
	exchange(a, b);
	t.is(a.stream.outstanding + b.stream.outstanding, 0);
});

test('what is large is waited for as a slow wire needs, before it is sent again', t => {
	const {clock, a} = joined();
	a.stream.offer('large', limits.streamSlowBytesPerSecond);
	t.deepEqual(bodiesOf(a.out.splice(0)), ['large']);
	clock.advance(limits.streamResendMs + 999);
	t.deepEqual(a.out, []);
	clock.advance(1);
	t.deepEqual(bodiesOf(a.out), ['large']);
});

test('what is not acknowledged is sent again, ever more slowly, until it is', t => {
	const {clock, a, b} = joined();
	a.stream.offer('x', 1);
	a.out.length = 0;
	const sentAtMs: number[] = [];
	const startMs = clock.nowMs();
	while (sentAtMs.length < 8) {
		clock.fireNext();
		if (bodiesOf(a.out.splice(0)).length > 0) sentAtMs.push(clock.nowMs() - startMs);
	}
	const waits = sentAtMs.map((atMs, index) => atMs - (sentAtMs[index - 1] ?? 0));
	t.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
	clock.advance(limits.streamResendMaxMs);
	exchange(a, b);
	t.deepEqual(b.taken, ['x']);
	clock.advance(limits.streamAckMs);
	exchange(a, b);
	a.stream.offer('y', 1);
	a.out.length = 0;
	clock.advance(limits.streamResendMs);
	t.deepEqual(bodiesOf(a.out), ['y'], 'after progress the first wait is short again');
});

test('what nobody takes is told once, after a few attempts, and again when something was taken meanwhile', t => {
	const {clock, a, b} = joined();
	a.stream.offer('lost', 10);
	clock.advance(1_700);
	t.is(a.late(), 0);
	clock.advance(100);
	t.is(a.late(), 1);
	clock.advance(60_000);
	t.is(a.late(), 1);
	exchange(a, b);
	a.out.length = 0;
	a.stream.offer('lost again', 10);
	clock.advance(2_000);
	t.is(a.late(), 2);
});

test('when the way is open again, what waits is sent as soon as if it had just been offered', t => {
	const {clock, a, b} = joined();
	a.stream.offer('one', 1);
	for (let lost = 0; lost < 6; lost++) {
		a.out.length = 0;
		clock.advance(limits.streamResendMaxMs);
	}
	a.out.length = 0;
	clock.advance(limits.streamResendMs);
	t.deepEqual(bodiesOf(a.out), [], 'by now it waits much longer');
	a.stream.greet();
	clock.advance(limits.streamResendMs);
	exchange(a, b);
	t.deepEqual(b.taken, ['one']);
});

test('a repeated body is acknowledged at once: its acknowledgement was lost', t => {
	const {clock, a, b} = joined();
	a.stream.offer('x', 1);
	for (const packet of a.out.splice(0)) b.stream.receive(packet);
	clock.advance(limits.streamAckMs);
	b.out.length = 0;
	clock.advance(limits.streamResendMs);
	for (const packet of a.out.splice(0)) b.stream.receive(packet);
	t.like(b.out, [{sequence: 0, acknowledged: 1}]);
	t.deepEqual(b.taken, ['x']);
});

test('the window takes so many bodies, and no more until some are acknowledged', t => {
	const {clock, a, b} = joined();
	for (let body = 0; body < limits.streamWindowMessages; body++) t.true(a.stream.offer(body, 1));
	t.false(a.stream.offer('one too many', 1));
	exchange(a, b);
	clock.advance(limits.streamAckMs);
	exchange(a, b);
	t.true(a.stream.offer('room again', 1));
});

test('the window takes so many bytes; a larger body goes alone', t => {
	const {clock, a, b} = joined();
	const most = limits.streamWindowBytes;
	t.true(a.stream.offer('half', most / 2));
	t.true(a.stream.offer('the other half', most / 2));
	t.false(a.stream.offer('a byte', 1));
	const empty = (): void => {
		exchange(a, b);
		clock.advance(limits.streamAckMs);
		exchange(a, b);
	};
	empty();
	t.true(a.stream.offer('a giant', 2 * most));
	t.false(a.stream.offer('a byte', 1));
	empty();
	t.true(a.stream.offer('a byte', 1));
	t.false(a.stream.offer('a giant', 2 * most));
});

test('a packet far ahead of what is expected is dropped, not stored', t => {
	const {a, b} = joined();
	const far: Packet = {boot: 'boot-a', peerBoot: 'boot-b', sequence: limits.streamWindowMessages + 1, acknowledged: 0, body: 'far'};
	b.stream.receive(far);
	for (let body = 1; body <= limits.streamWindowMessages; body++) {
		a.stream.offer(body, 1);
		exchange(a, b);
	}
	t.is(b.taken.at(-1), limits.streamWindowMessages);
	t.false(b.taken.includes('far'));
});

test('what arrives early is kept up to the bytes of a window, the rest comes again', t => {
	const {clock, a, b} = joined();
	const body = 'x'.repeat(limits.streamWindowBytes / 8);
	for (let count = 0; count < 8; count++) a.stream.offer(body, body.length);
	const [first, ...others] = a.out.splice(0);
	const hostile = Array.from({length: 100}, (_, index) => ({...others[0], sequence: 100 + index}) as Packet);
	for (const packet of [...hostile, ...others]) b.stream.receive(packet);
	t.true(b.stream.early.bytes <= limits.streamWindowBytes);
	t.true(b.stream.early.bodies < 8);
	if (first !== undefined) b.stream.receive(first);
	for (let round = 0; round < 10; round++) {
		exchange(a, b);
		clock.advance(limits.streamResendMaxMs);
	}
	t.is(b.taken.length, 8);
	t.is(a.stream.outstanding, 0);
});

test('whatever a hostile peer sends, this end holds no more than a window of it', t => {
	const random = seededRandom(7);
	const {clock, a, b} = joined();
	const number = (): number => Math.floor(random.next() * 3 * limits.streamWindowMessages);
	for (let count = 0; count < 20_000; count++) {
		const body = 'y'.repeat(Math.floor(random.next() * 5_000));
		const boot = random.next() < 0.01 ? 'boot-evil' : 'boot-a';
		b.stream.receive({boot, peerBoot: 'boot-b', sequence: 2 + number(), acknowledged: number(), body});
		b.out.length = 0;
	}
	t.true(b.stream.early.bytes <= limits.streamWindowBytes, `${b.stream.early.bytes} bytes`);
	t.true(b.stream.early.bodies < limits.streamWindowMessages);
	t.deepEqual(b.taken, []);
	const reborn = anEnd(clock, 'boot-a2');
	reborn.stream.offer('after all', 1);
	exchange(reborn, b);
	t.deepEqual(b.taken, ['after all']);
	t.deepEqual(b.stream.early, {bodies: 0, bytes: 0});
	t.is(a.taken.length, 0);
});

test('an acknowledgement of what was never sent does no harm', t => {
	const {a, b} = joined();
	a.stream.offer('x', 1);
	a.stream.receive({boot: 'boot-b', peerBoot: 'boot-a', sequence: 0, acknowledged: 1_000_000});
	t.is(a.stream.outstanding, 0);
	a.stream.offer('y', 1);
	exchange(a, b);
	t.deepEqual(b.taken, ['x', 'y']);
});

// ---- restarts ----------------------------------------------------------------------------------------------------------------------

test('a peer that restarted gets nothing of what its former self did not take: that is handed back, oldest first', t => {
	const {clock, a, b} = joined();
	a.stream.offer('taken', 1);
	exchange(a, b);
	clock.advance(limits.streamAckMs);
	exchange(a, b);
	for (const body of ['lost 1', 'lost 2']) a.stream.offer(body, 1);
	const inFlight = a.out.splice(0);
	const reborn = anEnd(clock, 'boot-b2');
	for (const packet of inFlight) reborn.stream.receive(packet);
	exchange(a, reborn);
	t.deepEqual(reborn.taken, []);
	t.deepEqual(a.handedBack, [['lost 1', 'lost 2']]);
	t.is(a.stream.outstanding, 0);
	a.stream.offer('new', 1);
	exchange(a, reborn);
	t.deepEqual(reborn.taken, ['new']);
});

test('a restarted end begins anew, and its peer takes its bodies from the first', t => {
	const {clock, a, b} = joined();
	for (const body of ['a1', 'a2']) a.stream.offer(body, 1);
	b.stream.offer('never acknowledged', 1);
	b.out.length = 0;
	exchange(a, b);
	const reborn = anEnd(clock, 'boot-a2');
	reborn.stream.offer('after', 1);
	exchange(reborn, b);
	clock.advance(limits.streamAckMs);
	exchange(reborn, b);
	t.deepEqual(b.taken, ['a1', 'a2', 'after']);
	t.deepEqual(b.handedBack, [['never acknowledged']]);
	t.deepEqual(reborn.handedBack, []);
	t.is(reborn.stream.outstanding, 0);
});

test('late packets of a former incarnation change nothing, however late', t => {
	const {clock, a, b} = joined();
	a.stream.offer('old', 1);
	const late = a.out.splice(0);
	const reborn = anEnd(clock, 'boot-a2');
	reborn.stream.greet();
	exchange(reborn, b);
	reborn.stream.offer('new', 1);
	exchange(reborn, b);
	for (const packet of [...late, ...late]) b.stream.receive(packet);
	t.true(exchange(reborn, b) < 20);
	t.deepEqual(b.taken, ['new']);
	t.is(b.stream.peerBoot, 'boot-a2');
	t.is(b.handedBack.length, 1);
	reborn.stream.offer('newer', 1);
	exchange(reborn, b);
	t.deepEqual(b.taken, ['new', 'newer']);
});

test('a late packet of a dead incarnation does not make its successor lose anything', t => {
	const clock = new ManualClock();
	const [a, b] = [anEnd(clock, 'boot-a'), anEnd(clock, 'boot-b')];
	a.stream.offer('for whoever lives', 1);
	a.out.length = 0;
	// The dead one's greeting arrives first; it is asked, and does not answer.
	a.stream.receive({boot: 'boot-b0', sequence: 0, acknowledged: 0});
	a.out.length = 0;
	clock.advance(limits.streamResendMs);
	exchange(a, b);
	t.deepEqual(b.taken, ['for whoever lives']);
	t.deepEqual(a.handedBack, []);
});

test('both may restart at the same time', t => {
	const {clock, a, b} = joined();
	a.stream.offer('x', 1);
	b.stream.offer('y', 1);
	const [fromA, fromB] = [a.out.splice(0), b.out.splice(0)];
	const [a2, b2] = [anEnd(clock, 'boot-a2'), anEnd(clock, 'boot-b2')];
	for (const packet of fromA) b2.stream.receive(packet);
	for (const packet of fromB) a2.stream.receive(packet);
	a2.stream.offer('from a2', 1);
	b2.stream.offer('from b2', 1);
	exchange(a2, b2);
	clock.advance(limits.streamResendMs);
	exchange(a2, b2);
	t.deepEqual([a2.taken, b2.taken], [['from b2'], ['from a2']]);
	t.deepEqual([a2.handedBack, b2.handedBack], [[], []]);
});

test('a closed end keeps no timer', t => {
	const {clock, a, b} = joined();
	a.stream.offer('x', 1);
	for (const packet of a.out.splice(0)) b.stream.receive(packet);
	a.stream.close();
	b.stream.close();
	t.is(clock.nextAtMs(), undefined);
});
