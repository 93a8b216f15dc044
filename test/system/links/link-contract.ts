// What every link between systems holds to; run over each implementation.

import type {ExecutionContext, TestFn} from 'ava';
import type {Link, Links, Packet} from '../../../system/links/link.js';

export type Joined = {readonly a: Link; readonly b: Link; readonly c: Link};

export type LinkContract = {
	readonly name: string;
	/** Three systems called `a`, `b` and `c`, connected; torn down by the test. */
	readonly join: (t: ExecutionContext) => Promise<Joined>;
};

export type LanesContract = {
	readonly name: string;
	/** Two systems called `a` and `b`, on both lanes. */
	readonly join: (t: ExecutionContext) => Promise<{readonly a: Required<Links>; readonly b: Required<Links>}>;
};

/** What holds where a system has a link per lane. */
export function lanesContract(test: TestFn, {name, join}: LanesContract): void {
	test(`${name}: what is sent on one lane arrives on that lane only, each in its order`, async t => {
		const {a, b} = await join(t);
		const lanes = {control: arriving(b.control), bulk: arriving(b.bulk)};
		for (let i = 1; i <= 100; i += 1) a[i % 3 === 0 ? 'control' : 'bulk'].send('b', numbered(i));
		const [control, bulk] = await Promise.all([lanes.control.until(33), lanes.bulk.until(67)]);
		const sequences = (arrived: readonly Arrived[]): number[] => arrived.map(({packet}) => packet.sequence);
		const wanted = Array.from({length: 100}, (_, i) => i + 1);
		t.deepEqual(
			sequences(control),
			wanted.filter(i => i % 3 === 0),
		);
		t.deepEqual(
			sequences(bulk),
			wanted.filter(i => i % 3 !== 0),
		);
		t.true([...control, ...bulk].every(({from}) => from === 'a'));
	});

	test(`${name}: a lane that is closed takes the other one with it no more than the peer's`, async t => {
		const {a, b} = await join(t);
		const {until} = arriving(b.control);
		await a.bulk.close();
		t.notThrows(() => a.bulk.send('b', numbered(1)));
		a.control.send('b', numbered(2));
		t.deepEqual(
			(await until(1)).map(({packet}) => packet.sequence),
			[2],
		);
	});
}

const bare = (acknowledged: number): Packet => ({boot: 'boot-a', sequence: 0, acknowledged});
const numbered = (sequence: number, body: Packet['body'] = sequence): Packet => ({
	boot: 'boot-a',
	peerBoot: 'boot-b',
	sequence,
	acknowledged: 0,
	body: body ?? null,
});

type Arrived = {readonly from: string; readonly packet: Packet};

/** All that arrives at a link, and a way to wait for so many. */
function arriving(link: Link): {readonly arrived: Arrived[]; readonly until: (count: number) => Promise<readonly Arrived[]>} {
	const arrived: Arrived[] = [];
	let check: (() => void) | undefined;
	link.onPacket((from, packet) => {
		arrived.push({from, packet});
		check?.();
	});
	return {
		arrived,
		until: count =>
			new Promise(resolve => {
				check = () => {
					if (arrived.length >= count) resolve(arrived);
				};
				check();
			}),
	};
}

export function linkContract(test: TestFn, {name, join}: LinkContract): void {
	test(`${name}: a packet arrives as it was sent, with the sender's name`, async t => {
		const {a, b} = await join(t);
		const {until} = arriving(b);
		const body = {text: 'grüße ✓ \u0000 "quoted"', list: [null, true, 1.5, -0.25, 1e21], empty: {}, deep: {a: {b: [[[]]]}}};
		const packets = [bare(3), numbered(1, body), numbered(2, null), numbered(3, false), numbered(4, '')];
		for (const packet of packets) a.send('b', packet);
		t.deepEqual(
			await until(packets.length),
			packets.map(packet => ({from: 'a', packet})),
		);
	});

	test(`${name}: nothing is delivered inside send`, async t => {
		const {a} = await join(t);
		const {arrived, until} = arriving(a);
		a.send('a', numbered(1));
		t.deepEqual(arrived, []);
		t.is((await until(1)).length, 1);
	});

	test(`${name}: packets of one sender arrive in order, and only at their receiver`, async t => {
		const {a, b, c} = await join(t);
		const atB = arriving(b);
		const atC = arriving(c);
		for (let i = 1; i <= 500; i += 1) {
			a.send('b', numbered(i));
			if (i % 10 === 0) a.send('c', numbered(i));
		}
		const sequences = (await atB.until(500)).map(({packet}) => packet.sequence);
		t.deepEqual(
			sequences,
			Array.from({length: 500}, (_, i) => i + 1),
		);
		t.is((await atC.until(50)).length, 50);
	});

	test(`${name}: both directions go on at the same time`, async t => {
		const {a, b} = await join(t);
		let trips = 0;
		const done = new Promise<void>(resolve => {
			b.onPacket((from, packet) => b.send(from, packet));
			a.onPacket((_from, packet) => {
				trips += 1;
				if (packet.sequence === 200) resolve();
				else a.send('b', numbered(packet.sequence + 1));
			});
		});
		a.send('b', numbered(1));
		await done;
		t.is(trips, 200);
	});

	test(`${name}: a body of a megabyte passes`, async t => {
		const {a, b} = await join(t);
		const {until} = arriving(b);
		const body = 'x'.repeat(1_048_576);
		a.send('b', numbered(1, body));
		const [arrived] = await until(1);
		t.is(arrived?.packet.body, body);
	});

	test(`${name}: what is sent to nobody, or to a name that is none, is forgotten`, async t => {
		const {a, b} = await join(t);
		const {until} = arriving(b);
		for (const nobody of ['absent', '', '#', '+', 'b/inbox/x', 'é\u0000']) t.notThrows(() => a.send(nobody, numbered(1)));
		a.send('b', numbered(2));
		t.deepEqual(
			(await until(1)).map(({packet}) => packet.sequence),
			[2],
		);
	});

	test(`${name}: a closed link hears nothing, sends nothing and does not throw`, async t => {
		const {a, b, c} = await join(t);
		const atB = arriving(b);
		const atC = arriving(c);
		await b.close();
		await b.close();
		a.send('b', numbered(1));
		t.notThrows(() => b.send('c', numbered(2)));
		a.send('c', numbered(3));
		const heard = await atC.until(1);
		t.deepEqual(
			heard.map(({from, packet}) => [from, packet.sequence]),
			[['a', 3]],
		);
		t.deepEqual(atB.arrived, []);
	});
}
