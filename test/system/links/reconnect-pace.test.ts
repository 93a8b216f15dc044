// Who lost the same broker comes back to it in the same time, but not at the same moment.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {aboutMs, reconnectWaitMs} from '../../../system/links/reconnect-pace.js';
import {seededRandom} from '../../../system/time/random.js';

const nodes = 200;

/** When each node reaches a broker that comes back so long after it was lost. */
function arrivals(awayMs: number, random: (node: number) => {readonly next: () => number}): number[] {
	return Array.from({length: nodes}, (_, node) => {
		const chance = random(node);
		let atMs = 0;
		for (let rounds = 0; rounds === 0 || atMs < awayMs; rounds++) atMs += reconnectWaitMs(rounds, chance);
		return atMs;
	});
}

const mostWithin = (times: readonly number[], windowMs: number): number =>
	Math.max(...times.map(from => times.filter(at => at >= from && at < from + windowMs).length));

/** As long as the same number every time. */
const middle = {next: () => 0.5};

test('200 nodes whose broker was away do not come back at one', t => {
	for (let seed = 1; seed <= 20; seed++) {
		const seeded = (node: number) => seededRandom(seed * 1_000 + node);
		for (const [awayMs, windowMs] of [
			[0, 10],
			[1_000, 100],
			[10_000, 1_000],
		] as const) {
			t.is(
				mostWithin(
					arrivals(awayMs, () => middle),
					windowMs,
				),
				nodes,
				'without chance all of them would',
			);
			const most = mostWithin(arrivals(awayMs, seeded), windowMs);
			t.true(most < nodes / 3, `${most} within ${windowMs} ms, ${awayMs} ms after the loss`);
		}
	}
});

test('on average they wait as long as without chance, and none waits half as long again', t => {
	const random = seededRandom(7);
	for (let rounds = 0; rounds < 12; rounds++) {
		const baseMs = Math.min(limits.linkReconnectFirstMs * 2 ** rounds, limits.linkReconnectMaxMs);
		t.is(reconnectWaitMs(rounds, middle), baseMs);
		const waits = Array.from({length: 1_000}, () => reconnectWaitMs(rounds, random));
		t.true(Math.min(...waits) >= baseMs / 2 && Math.max(...waits) < baseMs * 1.5);
		const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
		t.true(Math.abs(mean - baseMs) < baseMs * 0.05, `${mean} of ${baseMs}`);
	}
	t.is(aboutMs(100, {next: () => 0}), 50);
});
