// Whom a beat dials when it is not answered, and how often: over dials of thought and a clock that is moved.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {openBeatLine, type BeatLineOptions} from '../../../system/presence/beat-line.js';
import type {BeatConnectionEvents} from '../../../system/presence/beat-dialler.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';

type Dialled = {
	readonly on: BeatConnectionEvents;
	readonly atMs: number;
	readonly url: string;
	readonly lane: string;
	/** When it said a beat. */
	readonly saidMs: number[];
	ended: 'no' | 'closed' | 'abandoned';
};

function beating(options: Partial<BeatLineOptions> = {}, seed = 1) {
	const clock = new ManualClock();
	const startMs = clock.monotonicMs();
	const sinceStartMs = (): number => clock.monotonicMs() - startMs;
	const dialled: Dialled[] = [];
	const told: string[] = [];
	const cancel = openBeatLine({
		servers: () => ['one'],
		dial(url, lane, on) {
			const connection: Dialled = {on, url, lane, atMs: sinceStartMs(), saidMs: [], ended: 'no'};
			dialled.push(connection);
			return {
				say: () => void connection.saidMs.push(sinceStartMs()),
				close: () => (connection.ended = 'closed'),
				abandon: () => (connection.ended = 'abandoned'),
			};
		},
		clock,
		random: seededRandom(seed),
		node: 'node-a',
		boot: 'boot-1',
		stillMs: () => 0,
		onLine: stands => told.push(stands ? 'stands' : 'lost'),
		onSilent: () => told.push('silent'),
		...options,
	});
	const at = (index: number): Dialled => {
		const found = dialled.at(index);
		if (found === undefined) throw new Error(`there is no dial ${index}`);
		return found;
	};
	/** Goes on for so long; whoever stands answers. */
	const answered = (connection: Dialled, ms: number): void => {
		for (const endMs = sinceStartMs() + ms; sinceStartMs() < endMs;) {
			clock.advance(limits.beatMs);
			connection.on.heard();
		}
	};
	const underWay = (): Dialled[] => dialled.filter(({ended}) => ended === 'no');
	return {clock, dialled, told, at, answered, underWay, sinceStartMs, cancel};
}

/** A line that stands and is answered. */
function standing(options: Partial<BeatLineOptions> = {}, seed = 1) {
	const rig = beating(options, seed);
	const first = rig.at(0);
	first.on.reached();
	first.on.ready();
	rig.answered(first, 10_000);
	return {...rig, first};
}

const latestMs = limits.beatAnswerMs + limits.beatSpreadMs + limits.beatMs;

test('as long as each beat is answered nobody else is dialled', t => {
	const {answered, first, dialled, told} = standing();
	answered(first, 600_000);
	t.is(dialled.length, 1);
	t.deepEqual(told, ['stands']);
});

test('a beat without an answer for a second has a second connection dialled; the first stays until that works', t => {
	const {clock, dialled, first, at, told} = standing();
	clock.advance(limits.beatAnswerMs - 1);
	t.is(dialled.length, 1);
	clock.advance(latestMs - limits.beatAnswerMs + 1);
	t.true(dialled.length > 1);
	t.is(first.ended, 'no');
	const second = at(-1);
	for (const {lane} of dialled.slice(1)) t.not(lane, first.lane, 'the broker would end the first for it');
	second.on.reached();
	t.is(first.ended, 'no');
	const before = first.saidMs.length;
	clock.advance(limits.beatMs);
	t.true(first.saidMs.length > before, 'it may still get through');
	second.on.ready();
	t.is(first.ended, 'abandoned');
	t.is(second.saidMs.length, 1, 'it beats at once');
	t.deepEqual(told, ['stands', 'silent'], 'the others are looked at, the line was never lost');
});

test('a late answer ends what is dialled, and has the others looked at', t => {
	const {clock, dialled, first, underWay, told, answered} = standing();
	clock.advance(latestMs);
	const dials = dialled.length;
	t.true(dials > 1);
	first.on.heard();
	t.deepEqual(underWay(), [first]);
	t.deepEqual(told, ['stands', 'silent']);
	answered(first, 60_000);
	t.is(dialled.length, dials);
});

test('an attempt that reaches nobody is given up after a second and does not hold up the next; there are not many at a time', t => {
	for (let seed = 1; seed <= 20; seed++) {
		const {clock, dialled, underWay, sinceStartMs} = standing({}, seed);
		const fromMs = sinceStartMs();
		for (const untilMs = fromMs + limits.nodeGraceMs; sinceStartMs() < untilMs;) {
			clock.advance(10);
			t.true(underWay().length <= limits.beatDials + 1);
			for (const {atMs, ended} of dialled.slice(1)) t.true(ended !== 'no' || sinceStartMs() - atMs <= limits.beatConnectMs);
		}
		const atMs = dialled.slice(1).map(each => each.atMs);
		const gaps = atMs.slice(1).map((ms, index) => ms - (atMs[index] ?? 0));
		t.true(Math.max(...gaps) <= 4 * limits.beatDialMs, `a gap of ${Math.max(...gaps)} ms`);
		t.true(new Set(gaps.map(Math.round)).size > 3, 'they are no regular beat themselves');
	}
});

test('a thousand nodes that lose one switch do not dial at once', t => {
	const firstMs = Array.from({length: 1_000}, (_, seed) => {
		const {clock, dialled, sinceStartMs, cancel} = standing({}, seed);
		const fromMs = sinceStartMs();
		clock.advance(latestMs);
		cancel();
		return (dialled[1]?.atMs ?? 0) - fromMs;
	});
	const inTens = new Map<number, number>();
	for (const ms of firstMs) inTens.set(Math.floor(ms / 10), (inTens.get(Math.floor(ms / 10)) ?? 0) + 1);
	t.true(Math.max(...inTens.values()) < 100, `${Math.max(...inTens.values())} in 10 ms`);
});

test('of what costs the server something there is one, and the next only after ever longer', t => {
	for (let seed = 1; seed <= 20; seed++) {
		const {clock, dialled, underWay, sinceStartMs} = standing({}, seed);
		let reached = 0;
		const fromMs = sinceStartMs();
		for (const untilMs = fromMs + 20_000; sinceStartMs() < untilMs;) {
			clock.advance(10);
			for (const each of underWay().slice(1)) {
				if (each.atMs !== sinceStartMs() && each.saidMs.length === 0) {
					each.saidMs.push(0); // Reached once.
					each.on.reached();
					reached += 1;
				}
			}
		}
		t.true(reached >= 3, 'it does not give up');
		t.true(reached <= 10, `${reached} handshakes in 20 s`);
		t.true(dialled.length <= 14, `${dialled.length} dials`);
	}
});

test('a server that refuses is asked again after a growing wait', t => {
	const {clock, at, dialled, sinceStartMs} = beating();
	for (let count = 0; sinceStartMs() < 60_000 && count < 1_000; count++) {
		at(-1).on.closed();
		const before = dialled.length;
		while (dialled.length === before) clock.advance(10);
	}
	const waits = dialled.slice(1).map(({atMs}, index) => atMs - (dialled[index]?.atMs ?? 0));
	t.true(dialled.length < 40, `${dialled.length} in a minute`);
	t.true(Math.max(...waits) <= 1.5 * limits.linkReconnectMaxMs + 10);
	t.true(Math.max(...waits.slice(-5)) > limits.beatReconnectMaxMs);
});

test('every other attempt goes where the beat was taken last, the rest to all in turn', t => {
	const {clock, dialled} = standing({servers: () => ['one', 'two', 'three']});
	clock.advance(4_000);
	const urls = dialled.slice(1).map(({url}) => url);
	t.true(urls.filter(url => url === 'one').length >= urls.length / 2);
	t.deepEqual([...new Set(urls)].sort(), ['one', 'three', 'two']);
});

test('what was silent for long is given up, and dialling goes on with patience', t => {
	const {clock, first, told, underWay, dialled} = standing();
	clock.advance(limits.beatSilenceMs - limits.controlAnswerMs - 1);
	t.deepEqual(told, ['stands', 'silent'], 'the others have to answer before one of them beats');
	clock.advance(limits.controlAnswerMs + 1);
	t.is(first.ended, 'abandoned');
	t.deepEqual(told, ['stands', 'silent', 'lost']);
	clock.advance(60_000);
	const before = dialled.length;
	clock.advance(60_000);
	t.true(dialled.length > before);
	t.true(dialled.length - before < 30, `${dialled.length - before} in a minute`);
	t.true(underWay().length <= 1);
});

test('while the host’s own cable is out nothing is said or dialled, and both at once when it is back', t => {
	let away = false;
	const {clock, first, dialled, sinceStartMs} = standing({isAway: () => away});
	away = true;
	const said = first.saidMs.length;
	clock.advance(3_000);
	t.is(first.saidMs.length, said);
	t.is(dialled.length, 1);
	away = false;
	const backMs = sinceStartMs();
	clock.advance(2 * limits.beatAwayMs);
	t.is(first.saidMs.length, said + 1);
	t.true((dialled[1]?.atMs ?? Infinity) <= backMs + 2 * limits.beatAwayMs);
});

test('the first answer may take as long as the connection did', t => {
	const {clock, dialled, at, answered} = beating();
	const first = at(0);
	first.on.reached();
	clock.advance(3_000);
	first.on.ready();
	const dials = dialled.length;
	clock.advance(2_900);
	t.is(dialled.length, dials);
	first.on.heard();
	answered(first, 10_000);
	t.is(dialled.length, dials);
	clock.advance(latestMs);
	t.true(dialled.length > dials, 'the next one may not');
});

test('whoever cancels ends all that is under way', t => {
	const {clock, cancel, underWay, first} = standing();
	clock.advance(3_000);
	cancel();
	t.deepEqual(underWay(), []);
	t.is(first.ended, 'closed');
	clock.advance(60_000);
	t.deepEqual(underWay(), []);
	t.is(clock.nextAtMs(), undefined);
});
