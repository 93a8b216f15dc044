// One reading for all who follow a file.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {createSharedReadings} from '../../../server/slurm/shared-readings.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createDeferred} from '../../../system/time/deferred.js';

function open() {
	const clock = new ManualClock();
	const share = createSharedReadings(clock);
	let count = 0;
	const ask = (text: string | undefined, key = 'a 0', most = 10): Promise<Buffer | undefined> =>
		share(key, most, () => (count++, Promise.resolve(text === undefined ? undefined : Buffer.from(text))));
	return {clock, share, ask, count: () => count};
}

test('who asks for a place of a file while it is read, or soon after it was the end, gets the same', async t => {
	const {clock, share, ask, count} = open();
	const deferred = createDeferred<Buffer | undefined>();
	const first = share('a 0', 10, () => deferred.promise);
	const second = ask('other');
	deferred.resolve(Buffer.from('begun'));
	t.deepEqual([String(await first), String(await second), count()], ['begun', 'begun', 0]);
	t.is(String(await ask('other')), 'begun');
	t.is(String(await ask('elsewhere', 'a 5')), 'elsewhere');
	clock.advance(limits.slurmLogPauseMs);
	t.is(String(await ask('other')), 'other');
	t.is(await ask(undefined, 'b 0'), undefined);
	t.is(await ask('made since', 'b 0'), undefined);
});

test('a reading that fails, one that is not at the end and very many of them are kept for nobody else', async t => {
	const {share, ask, count} = open();
	await t.throwsAsync(
		share('a 0', 10, () => Promise.reject(new Error('no SFTP'))),
		{message: 'no SFTP'},
	);
	t.is(String(await ask('ten letters'.slice(0, 10))), 'ten letter');
	t.is(String(await ask('later')), 'later');
	for (let at = 0; at < 2 * limits.slurmSharedReadings; at++) await ask('x', `c ${at}`);
	const before = count();
	for (let at = 0; at < 2 * limits.slurmSharedReadings; at++) await ask('x', `c ${at}`);
	t.true(count() - before >= limits.slurmSharedReadings, 'those beyond the bound are read again');
	t.true(count() - before < 2 * limits.slurmSharedReadings);
});
