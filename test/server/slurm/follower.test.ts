// Looks at Slurm's queue: one for all jobs, or as many as what is said of them has room in.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {createFollower} from '../../../server/slurm/follower.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

test('jobs are looked at together, and arrays of very many in looks of their own', async t => {
	const clock = new ManualClock();
	const looks: number[] = [];
	const ssh = {
		run: (_command: string, {input}: {readonly input: string}) => {
			const ids = (/ -j ([\d,]+)/.exec(input)?.[1] ?? '').split(',');
			looks.push(ids.length);
			const out = [...ids.map(id => `troupe:q ${id}|RUNNING|N/A|n1|None`), 'troupe:looked'].join('\n');
			return Promise.resolve({code: 0, out, errors: ''});
		},
	};
	const follower = createFollower(ssh, clock);
	const next = (count: number, parts: number) =>
		Promise.all(
			Array.from({length: count}, (_, index) =>
				follower.next({id: String(index + 1), isWaiting: false, parts}, new AbortController().signal),
			),
		);
	const few = next(100, 1);
	clock.advance(limits.slurmPauseMs);
	t.deepEqual(
		(await few)[99]?.rows.map(({state}) => state),
		['RUNNING'],
	);
	await new Promise(resolve => setImmediate(resolve));
	const many = next(25, limits.slurmArrayJobs);
	clock.advance(limits.slurmPauseMs);
	t.is((await many).length, 25);
	t.deepEqual(looks, [100, 10, 10, 5]);
	follower.close();
});
