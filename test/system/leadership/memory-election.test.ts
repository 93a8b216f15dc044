import test from 'ava';
import {createLeaseStore, createMemoryElection} from '../../../system/leadership/memory-election.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {electionContract} from './election-contract.js';

electionContract(test, () => {
	const clock = new ManualClock();
	const leases = createLeaseStore(clock);
	return Promise.resolve({
		candidate() {
			let reaches = true;
			const election = createMemoryElection({leases, clock, reaches: () => reaches});
			return Promise.resolve({
				election,
				nowMs: clock.monotonicMs,
				cut: () => void (reaches = false),
				heal: () => void (reaches = true),
			});
		},
		until(what, holds) {
			for (let passed = 0; !holds(); passed += 10) {
				if (passed > 10_000) return Promise.reject(new Error(`not within 10 s: ${what}`));
				clock.advance(10);
			}
			return Promise.resolve();
		},
	});
});

test('a process that was paused finds its term over before it does anything', async t => {
	const [world, own] = [new ManualClock(), new ManualClock()];
	const leases = createLeaseStore(world);
	const seen: string[] = [];
	let untilMs = (): number => 0;
	const paused = createMemoryElection({leases, clock: own, reaches: () => true});
	paused.run(
		{id: 'a', api: ''},
		{
			elected(term) {
				({untilMs} = term);
				seen.push('a elected');
			},
			lost: () => seen.push('a lost'),
			changed: () => undefined,
		},
	);
	own.advance(0);
	const other = createMemoryElection({leases, clock: world, reaches: () => true});
	other.run({id: 'b', api: ''}, {elected: () => seen.push('b elected'), lost: () => seen.push('b lost'), changed: () => undefined});
	world.advance(4_000);
	t.deepEqual(seen, ['a elected', 'b elected']);
	t.true(own.monotonicMs() + 4_000 > untilMs());
	own.advance(4_000);
	t.deepEqual(seen, ['a elected', 'b elected', 'a lost']);
	t.is(paused.leader()?.id, 'b');
	await other.close();
});
