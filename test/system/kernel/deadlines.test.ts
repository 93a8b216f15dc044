import test from 'ava';
import {Deadlines} from '../../../system/kernel/deadlines.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

const bucketMs = 50;

test('a deadline rings once, never early and at most one bucket late', t => {
	const clock = new ManualClock(1_007);
	const deadlines = new Deadlines(clock);
	const rung = new Map<number, number[]>();
	for (const delayMs of [0, 1, 49, 50, 51, 99, 500, 10_000]) {
		const startMs = clock.nowMs();
		rung.set(delayMs, []);
		deadlines.after(delayMs, () => rung.get(delayMs)?.push(clock.nowMs() - startMs));
	}
	clock.advance(20_000);
	for (const [delayMs, times] of rung) {
		t.is(times.length, 1, `${delayMs}`);
		const [tookMs = -1] = times;
		t.true(tookMs >= delayMs && tookMs <= delayMs + bucketMs, `${delayMs} rang after ${tookMs}`);
	}
});

test('thousands of deadlines share a few timers, and none is armed when none is open', t => {
	let armed = 0;
	const clock = new ManualClock(0);
	const deadlines = new Deadlines({
		...clock,
		after(delayMs, callback) {
			armed++;
			const cancel = clock.after(delayMs, () => {
				armed--;
				callback();
			});
			return () => {
				armed--;
				cancel();
			};
		},
	});
	const cancels = Array.from({length: 5_000}, (_, index) => deadlines.after(index % 10_000, () => undefined));
	t.is(armed, 1);
	for (const cancel of cancels) cancel();
	t.is(armed, 0);
	t.is(clock.nextAtMs(), undefined);
});

test('the nearest deadline rings first, whatever the order of asking, and a cancelled one not at all', t => {
	const clock = new ManualClock(0);
	const deadlines = new Deadlines(clock);
	const rung: string[] = [];
	deadlines.after(1_000, () => rung.push('late'));
	const cancel = deadlines.after(400, () => rung.push('cancelled'));
	deadlines.after(100, () => {
		rung.push('early');
		cancel();
		deadlines.after(200, () => rung.push('from within'));
	});
	clock.advance(5_000);
	t.deepEqual(rung, ['early', 'from within', 'late']);
});

test('one that is cancelled by its neighbour in the same bucket does not ring', t => {
	const clock = new ManualClock(0);
	const deadlines = new Deadlines(clock);
	const rung: string[] = [];
	const cancels: (() => void)[] = [];
	deadlines.after(10, () => {
		rung.push('first');
		for (const cancel of cancels) cancel();
	});
	cancels.push(deadlines.after(20, () => rung.push('second')));
	clock.advance(1_000);
	t.deepEqual(rung, ['first']);
});

test('after clear nothing rings, and new deadlines work', t => {
	const clock = new ManualClock(0);
	const deadlines = new Deadlines(clock);
	const rung: string[] = [];
	const cancelOld = deadlines.after(100, () => rung.push('old'));
	deadlines.clear();
	t.is(clock.nextAtMs(), undefined);
	deadlines.after(100, () => rung.push('new'));
	cancelOld();
	clock.advance(1_000);
	t.deepEqual(rung, ['new']);
});
