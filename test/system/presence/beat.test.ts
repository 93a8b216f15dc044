import test from 'ava';
import {limits} from '../../../api/limits.js';
import {startBeat, stillnessOf} from '../../../system/presence/beat.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

function beating() {
	const clock = new ManualClock();
	let movement = 0;
	const beats: string[] = [];
	const {end: stop} = startBeat({
		node: 'node-a',
		boot: 'boot-1',
		clock,
		stillMs: stillnessOf(() => movement, clock),
		publish: (topic, payload, {retain}) => beats.push(`${topic} ${payload} ${String(retain)}`),
	});
	return {clock, beats, stop, move: () => movement++};
}

test('a beat goes out at once and then every half second, numbered, until it is stopped', t => {
	const {clock, beats, stop} = beating();
	clock.advance(2 * limits.beatMs);
	t.deepEqual(
		beats,
		[1, 2, 3].map(sequence => `troupe/v1/nodes/node-a/beat {"boot":"boot-1","sequence":${sequence}} false`),
	);
	stop();
	t.is(clock.nextAtMs(), undefined);
});

test('a beat ends when the main loop has not moved for ten seconds, and goes on when it moves', t => {
	const {clock, beats, move} = beating();
	const during = (ms: number): number => {
		const before = beats.length;
		clock.advance(ms);
		return beats.length - before;
	};
	t.is(during(limits.stillAgentMs - 1), limits.stillAgentMs / limits.beatMs - 1);
	t.is(during(60_000), 0);
	move();
	t.is(during(limits.beatMs), 1);
	for (let second = 0; second < 30; second++) {
		move();
		t.is(during(1_000), 2);
	}
});
