import test from 'ava';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';

test('timers fire in order of their time, equal ones in order of their making', t => {
	const clock = new ManualClock(0);
	const fired: string[] = [];
	for (const [name, atMs] of [
		['c', 30],
		['a', 10],
		['b1', 20],
		['b2', 20],
		['now', -5],
	] as const) {
		clock.after(atMs, () => fired.push(`${name} at ${clock.nowMs()}`));
	}
	clock.advance(20);
	t.deepEqual(fired, ['now at 0', 'a at 10', 'b1 at 20', 'b2 at 20']);
	t.is(clock.nextAtMs(), 30);
	clock.advance(100);
	t.is(fired.at(-1), 'c at 30');
	t.is(clock.nowMs(), 120);
	t.is(clock.nextAtMs(), undefined);
	t.false(clock.fireNext());
});

test('a cancelled timer never fires, whenever it is cancelled', t => {
	const clock = new ManualClock(0);
	const fired: string[] = [];
	const cancelSecond = clock.after(10, () => fired.push('second'));
	const cancelFirst = clock.after(5, () => {
		fired.push('first');
		cancelSecond();
	});
	clock.after(10, () => fired.push('third'));
	clock.advance(10);
	t.deepEqual(fired, ['first', 'third']);
	cancelFirst();
	cancelSecond();
	t.is(clock.nextAtMs(), undefined);
});

test('what a timer sets falls due in the same advance', t => {
	const clock = new ManualClock(0);
	const ticks: number[] = [];
	const tick = (): void => {
		ticks.push(clock.monotonicMs());
		clock.after(10, tick);
	};
	clock.after(10, tick);
	clock.advance(45);
	t.deepEqual(ticks, [10, 20, 30, 40]);
	t.is(clock.nextAtMs(), 50);
});

test('any mixture of setting and cancelling fires what is left, in order', t => {
	for (let seed = 1; seed <= 50; seed++) {
		const random = seededRandom(seed);
		const clock = new ManualClock(0);
		const expected: [number, number][] = [];
		const fired: [number, number][] = [];
		for (let made = 0; made < 200; made++) {
			const atMs = Math.floor(random.next() * 50);
			const cancel = clock.after(atMs, () => fired.push([clock.nowMs(), made]));
			if (random.next() < 0.4) cancel();
			else expected.push([atMs, made]);
		}
		clock.advance(50);
		expected.sort(([a, x], [b, y]) => a - b || x - y);
		t.deepEqual(fired, expected, `seed ${seed}`);
	}
});
