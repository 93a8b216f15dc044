// A node's cache in a real Redis (Debian: redis-server).

import test from 'ava';
import {Redis} from 'ioredis';
import {AppError} from '../../api/errors.js';
import {openNodeCache} from '../../cli/serving/node/node-cache.js';
import {systemClock} from '../../system/time/clock.js';
import {noMeta} from '../../system/store/meta.js';
import {openRedisStore} from '../../system/store/redis-store.js';
import {batchOf, commitTo, loadFrom, metaOf, storeContract, writing} from '../system/store/store-contract.js';
import {startRedis, type RedisServer} from './_redis.js';
import {until} from '../../bench/rigs/servers/server.js';

const ends: (() => void | Promise<void>)[] = [];
let shared: RedisServer;

test.before(async () => {
	shared = await startRedis({teardown: end => void ends.push(end)});
});

test.after.always(async () => {
	for (const end of ends.reverse()) await end();
});

let prefixes = 0;

storeContract(test, 'redis-store', async t => {
	const url = `redis://127.0.0.1:${shared.port}/contract-${++prefixes}`;
	const driver = await openRedisStore(url);
	t.teardown(() => driver.close());
	const reopen = async () => {
		const again = await openRedisStore(url);
		t.teardown(() => again.close());
		return again;
	};
	return {driver, reopen};
});

test('a Redis that is not there is named, without its password', async t => {
	const error = await t.throwsAsync<AppError>(openRedisStore('redis://me:very-secret@127.0.0.1:1/cache'), {instanceOf: AppError});
	t.is(error?.code, 'ERR_NOT_REACHABLE');
	t.regex(error?.message ?? '', /127\.0\.0\.1:1/);
	t.notRegex(error?.message ?? '', /very-secret/);
});

for (const url of ['redis://', 'redis://host', 'http://host/x', 'redis://host/a/b', 'redis://host/', 'x']) {
	test(`"${url}" is refused as a place for a cache`, async t => {
		await t.throwsAsync(openRedisStore(url), {instanceOf: AppError, code: 'ERR_USAGE'});
	});
}

test('while Redis is away every call fails at once, and it is used again when it is back with what it had', async t => {
	const redis = await startRedis(t);
	const driver = await openRedisStore(`redis://127.0.0.1:${redis.port}/cache`);
	t.teardown(() => driver.close());
	const first = batchOf(noMeta, writing('/troupe/registry/a', 'kept'));
	t.is((await commitTo(driver, first)).type, 'committed');
	await redis.kill();
	const second = batchOf(first.next, writing('/troupe/registry/b', 'new'));
	await until('the connection is known to be gone', async () => (await commitTo(driver, second)).type === 'failed');
	const startedAt = performance.now();
	t.is((await commitTo(driver, second)).type, 'failed');
	t.false((await metaOf(driver)).ok);
	t.true(performance.now() - startedAt < 200);
	await redis.start();
	await until('it is used again', async () => (await metaOf(driver)).ok);
	t.deepEqual(await metaOf(driver), {ok: true, meta: first.next});
	t.is((await commitTo(driver, second)).type, 'committed');
	t.deepEqual(await loadFrom(driver, '/troupe/'), [
		{key: '/troupe/registry/a', body: 'kept'},
		{key: '/troupe/registry/b', body: 'new'},
	]);
});

test('a Redis that hangs makes outcomes unknown, and meta tells afterwards', async t => {
	const redis = await startRedis(t);
	const driver = await openRedisStore(`redis://127.0.0.1:${redis.port}/cache`);
	t.teardown(() => driver.close());
	const first = batchOf(noMeta, writing('/troupe/registry/a', '0'));
	await commitTo(driver, first);
	const batch = batchOf(first.next, writing('/troupe/registry/a', '1'));
	await redis.pause();
	t.is((await commitTo(driver, batch)).type, 'unknown');
	redis.wake();
	await until('it is used again', async () => (await metaOf(driver)).ok);
	// It was on its way, and is there in the end.
	t.deepEqual(await metaOf(driver), {ok: true, meta: batch.next});
});

test('a full Redis refuses batches whole', async t => {
	const redis = await startRedis(t, ['--maxmemory', '6mb', '--maxmemory-policy', 'noeviction']);
	const driver = await openRedisStore(`redis://127.0.0.1:${redis.port}/cache`);
	t.teardown(() => driver.close());
	let meta = noMeta;
	let refused: string | undefined;
	for (let at = 0; refused === undefined && at < 20; at++) {
		const batch = batchOf(
			meta,
			writing(`/troupe/registry/${at}/a`, 'x'.repeat(500_000)),
			writing(`/troupe/registry/${at}/b`, 'x'.repeat(500_000)),
		);
		const outcome = await commitTo(driver, batch);
		if (outcome.type === 'committed') meta = batch.next;
		else refused = outcome.type;
	}
	t.is(refused, 'failed');
	t.deepEqual(await metaOf(driver), {ok: true, meta});
	const records = await loadFrom(driver, '/troupe/');
	t.is(typeof records === 'string' ? records : records.length, meta.version);
});

const damages: {readonly [what: string]: (redis: Redis, prefix: string) => Promise<unknown>} = {
	'whose meta says nothing': (redis, prefix) => redis.set(`${prefix}:meta`, 'x'),
	'with a changed record': (redis, prefix) => redis.hset(`${prefix}:records`, '/troupe/owner', 'x'),
	'without its records': (redis, prefix) => redis.del(`${prefix}:records`),
};

for (const [what, damage] of Object.entries(damages)) {
	test(`a cache ${what} is set aside and made again`, async t => {
		const prefix = `damaged-${++prefixes}`;
		const url = `redis://127.0.0.1:${shared.port}/${prefix}`;
		const redis = new Redis(shared.port, '127.0.0.1');
		t.teardown(() => redis.quit());
		const warnings: unknown[] = [];
		const log = {info: () => undefined, warn: (line: unknown) => void warnings.push(line), error: () => undefined, fatal: () => undefined};
		for (let time = 0; time < 2; time++) {
			await (await openNodeCache(url, 'a', systemClock, log)).close();
			t.is(warnings.length, time);
			await damage(redis, prefix);
			const driver = await openNodeCache(url, 'b', systemClock, log);
			t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/owner', body: 'b'}], 'nobody has had it');
			await driver.close();
			t.true((await redis.exists(`${prefix}:damaged:meta`)) === 1);
			t.regex(String(warnings[time]), /is damaged and was set aside as "damaged-\d+:damaged:\*"; .*\([^;]*\)$/);
			await redis.del(`${prefix}:meta`, `${prefix}:records`);
		}
	});
}
