// Whose a node's cache is, and what becomes of one that is damaged.

import {readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {systemClock} from '../../system/time/clock.js';
import {storePrefix} from '../../api/keys.js';
import {openNodeCache, shownPlace} from '../../cli/serving/node/node-cache.js';
import {openLevelDriver} from '../../system/store/level-store.js';
import {noMeta} from '../../system/store/meta.js';
import {withSum} from '../../system/store/record-sum.js';
import {metaFrom} from '../../system/store/store-calls.js';
import {batchOf, commitTo, loadFrom, writing} from '../system/store/store-contract.js';
import {folder} from './_rig.js';

const silent = {info: () => undefined, warn: () => undefined, error: () => undefined, fatal: () => undefined};

test('a cache is of the node that had it first, and another is told so', async t => {
	const place = path.join(await folder(t), 'cache');
	const open = (node: string) => openNodeCache(place, node, systemClock, silent);
	await (await open('a')).close();
	await t.throwsAsync(open('b'), {
		message: `the cache at ${place} belongs to node "a"; node "b" needs one of its own: choose another with --cache`,
	});
	await (await open('a')).close();
});

test('a place is shown without its password', t => {
	t.is(shownPlace('redis://me:geheim@example.test:6380/3?x=geheim'), 'redis://example.test:6380/3');
	t.is(shownPlace('rediss://:geheim@example.test/node'), 'rediss://example.test/node');
	t.is(shownPlace('/var/lib/cache'), '/var/lib/cache');
});

/** A closed cache that remembers something. */
async function filled(place: string): Promise<void> {
	const driver = await openNodeCache(place, 'a', systemClock, silent);
	const read = await metaFrom(driver);
	const meta = (read.ok ? read.meta : undefined) ?? noMeta;
	await commitTo(driver, {writes: [writing('/troupe/registry/a', 'x'.repeat(100))], expected: meta, next: {...meta, version: 1}});
	await driver.close();
}

const damages: {readonly [what: string]: (level: string) => void} = {
	'without its CURRENT': level => rmSync(path.join(level, 'CURRENT')),
	'without its FORMAT': level => rmSync(path.join(level, 'FORMAT')),
	'with an empty log': level => writeFileSync(path.join(level, logIn(level)), ''),
	'with a changed byte': level => {
		const log = path.join(level, logIn(level));
		const bytes = readFileSync(log);
		bytes[60] = (bytes[60] ?? 0) ^ 1;
		writeFileSync(log, bytes);
	},
};

const logIn = (level: string): string => readdirSync(level).find(name => name.endsWith('.log')) ?? '';

for (const [what, damage] of Object.entries(damages)) {
	test(`a cache ${what} is set aside and made again`, async t => {
		const place = path.join(await folder(t), 'cache');
		await filled(place);
		damage(path.join(place, 'level'));
		const warnings: unknown[] = [];
		const driver = await openNodeCache(place, 'b', systemClock, {...silent, warn: (line: unknown) => void warnings.push(line)});
		t.deepEqual(await loadFrom(driver, storePrefix), [{key: `${storePrefix}owner`, body: 'b'}], 'nobody has had it');
		await driver.close();
		t.true(readdirSync(`${place}-damaged`).includes('level'));
		t.regex(String(warnings), /is damaged and was set aside as "/);
	});
}

test('a damaged cache of an older version, whose records had no checksums, is set aside as well', async t => {
	const place = path.join(await folder(t), 'cache');
	const old = await openLevelDriver(place);
	const wrong = withSum('0'.repeat(32), 'x');
	await commitTo(old, batchOf(noMeta, writing(`${storePrefix}owner`, 'a'), writing('/troupe/registry/a', wrong)));
	await old.close();
	const warnings: unknown[] = [];
	const driver = await openNodeCache(place, 'a', systemClock, {...silent, warn: (line: unknown) => void warnings.push(line)});
	t.deepEqual(await loadFrom(driver, storePrefix), [{key: `${storePrefix}owner`, body: 'a'}]);
	await driver.close();
	t.regex(
		String(warnings),
		/is damaged and was set aside as "[^"]+-damaged"; [^(]+\(a record is not as written: "\/troupe\/registry\/a"[^;]*\)$/,
	);
});
