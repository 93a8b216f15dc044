// The promise of the stream over a link that drops, repeats and reorders, for many seeds. A failing seed prints itself.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import type {Packet} from '../../../system/links/link.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';
import {Stream} from '../../../system/links/stream.js';

type Body = {readonly from: string; readonly number: number};

/** One incarnation of one end. */
type Life = {
	readonly boot: string;
	readonly stream: Stream;
	alive: boolean;
	offered: number;
	readonly taken: Body[];
	readonly handedBack: Body[];
};

class Pair {
	readonly clock = new ManualClock(0);
	readonly lives: Record<'a' | 'b', Life[]> = {a: [], b: []};
	readonly #random: () => number;
	faulty = true;
	packets = 0;

	constructor(seed: number) {
		this.#random = seededRandom(seed).next;
		this.start('a');
		this.start('b');
	}

	chance(share: number): boolean {
		return this.#random() < share;
	}

	pick(end: number): number {
		return Math.floor(this.#random() * end);
	}

	now(side: 'a' | 'b'): Life {
		const life = this.lives[side].at(-1);
		if (life === undefined) throw new Error(`no ${side}`);
		return life;
	}

	/** Ends the present life of a side, and begins the next. */
	start(side: 'a' | 'b'): void {
		const former = this.lives[side].at(-1);
		if (former !== undefined) {
			former.alive = false;
			former.stream.close();
		}
		const boot = `${side}${this.lives[side].length + 1}`;
		const taken: Body[] = [];
		const handedBack: Body[] = [];
		const stream = new Stream({
			boot,
			clock: this.clock,
			send: packet => this.#send(side, packet),
			deliver: body => taken.push(body as Body),
			onPeerRestart: bodies => handedBack.push(...(bodies as Body[])),
		});
		this.lives[side].push({boot, stream, alive: true, offered: 0, taken, handedBack});
		stream.greet();
	}

	offer(side: 'a' | 'b'): void {
		const life = this.now(side);
		const body: Json = {from: life.boot, number: life.offered + 1};
		if (life.stream.offer(body, 10)) life.offered++;
	}

	#send(side: 'a' | 'b', packet: Packet): void {
		this.packets++;
		if (this.faulty && this.chance(0.3)) return;
		const copies = this.faulty && this.chance(0.2) ? 2 : 1;
		for (let copy = 0; copy < copies; copy++) {
			const delayMs = this.faulty ? this.pick(400) : 1;
			this.clock.after(delayMs, () => this.now(side === 'a' ? 'b' : 'a').stream.receive(packet));
		}
	}
}

/** Random offers and passing time; with `restarts`, ends die now and then. Then the link heals. */
function history(seed: number, restarts: boolean): Pair {
	const pair = new Pair(seed);
	for (let step = 0; step < 150; step++) {
		for (let offers = pair.pick(4); offers > 0; offers--) pair.offer(pair.chance(0.5) ? 'a' : 'b');
		if (restarts && pair.chance(0.03)) pair.start(pair.chance(0.5) ? 'a' : 'b');
		pair.clock.advance(pair.pick(100));
	}
	pair.faulty = false;
	pair.clock.advance(60_000);
	return pair;
}

const numbers = (bodies: readonly Body[], from: string): number[] => bodies.filter(body => body.from === from).map(({number}) => number);
const upTo = (count: number): number[] => Array.from({length: count}, (_, index) => index + 1);

test('over any link everything arrives, in order, once', t => {
	for (let seed = 1; seed <= 150; seed++) {
		const pair = history(seed, false);
		for (const [from, to] of [
			['a', 'b'],
			['b', 'a'],
		] as const) {
			const sender = pair.now(from);
			t.deepEqual(numbers(pair.now(to).taken, sender.boot), upTo(sender.offered), `seed ${seed}, ${from} to ${to}`);
			t.is(sender.stream.outstanding, 0, `seed ${seed}`);
			t.deepEqual(sender.handedBack, [], `seed ${seed}`);
		}
		t.is(pair.clock.nextAtMs(), undefined, `seed ${seed}: it falls silent`);
	}
});

test('whoever restarts, no body is taken twice or out of order, and what is not taken is handed back to a sender that lives', t => {
	for (let seed = 1; seed <= 150; seed++) {
		const pair = history(seed, true);
		for (const [from, to] of [
			['a', 'b'],
			['b', 'a'],
		] as const) {
			for (const sender of pair.lives[from]) {
				const taken = pair.lives[to].flatMap(receiver => numbers(receiver.taken, sender.boot));
				const sorted = [...new Set(taken)].sort((x, y) => x - y);
				t.deepEqual(taken, sorted, `seed ${seed}: ${sender.boot} in order and once`);
				if (!sender.alive) continue;
				const known = new Set([...taken, ...numbers(sender.handedBack, sender.boot)]);
				t.deepEqual(
					[...known].sort((x, y) => x - y),
					upTo(sender.offered),
					`seed ${seed}: ${sender.boot} loses nothing in silence`,
				);
				t.is(sender.stream.outstanding, 0, `seed ${seed}`);
			}
		}
		t.is(pair.clock.nextAtMs(), undefined, `seed ${seed}: it falls silent`);
	}
});

test('a peer that is away costs a packet now and then, not a storm', t => {
	const pair = new Pair(7);
	pair.faulty = false;
	pair.clock.advance(1_000);
	pair.now('b').stream.close();
	pair.lives.b.push({...pair.now('b'), stream: {receive: () => undefined} as unknown as Stream});
	for (let offers = 0; offers < 10; offers++) pair.offer('a');
	pair.packets = 0;
	pair.clock.advance(600_000);
	t.true(pair.packets <= (600_000 / limits.streamResendMaxMs + 10) * 10, `${pair.packets} packets`);
});
