// The store on a real etcd (Debian: etcd-server).

import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {ensureCertificates} from '../../server/certificates.js';
import {connectEtcd} from '../../system/store/etcd-client.js';
import {createEtcdStore} from '../../system/store/etcd-store.js';
import {parseEtcdUrl} from '../../system/store/etcd-url.js';
import {systemClock} from '../../system/time/clock.js';
import {noMeta} from '../../system/store/meta.js';
import type {CommitOutcome, Meta, StoreDriver} from '../../system/store/store.js';
import {batchOf, commitTo, fill, loadFrom, metaOf, storeContract, writing} from '../system/store/store-contract.js';
import {vaults} from '../server/support.js';
import {answers, startEtcd, type Etcd} from '../../bench/rigs/servers/etcd.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {folder, proxyTo, until} from '../../bench/rigs/servers/server.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {clientCertificates, giveUser} from './_etcd-users.js';

const ends: (() => void | Promise<void>)[] = [];
let shared: Etcd;

test.before(async () => {
	shared = await startEtcd({teardown: end => void ends.push(end)});
});

test.after.always(async () => {
	for (const end of ends.reverse()) await end();
});

const opened = (t: Owner, url: string): StoreDriver => {
	const driver = createEtcdStore(connectEtcd(url, systemClock), systemClock);
	t.teardown(() => driver.close());
	return driver;
};

let prefixes = 0;

storeContract(test, 'etcd-store', t => {
	const url = `${shared.url}/contract-${++prefixes}`;
	return Promise.resolve({driver: opened(t, url), reopen: () => Promise.resolve(opened(t, url))});
});

test('clusters of different prefixes do not see each other, even where one name begins with the other', async t => {
	const [a, b] = [opened(t, `${shared.url}/x`), opened(t, `${shared.url}/x-2`)];
	await commitTo(a, batchOf(noMeta, writing('/troupe/registry/a', 'of x')));
	t.deepEqual(await metaOf(b), {ok: true, meta: undefined});
	t.deepEqual(await loadFrom(b, '/troupe/'), []);
	t.is((await commitTo(b, batchOf(noMeta))).type, 'committed');
});

test('a thousand records of 100 kB are loaded although they do not fit into one answer', async t => {
	const driver = opened(t, `${shared.url}/large`);
	let meta: Meta = noMeta;
	for (let at = 0; at < 100; at++) {
		const writes = Array.from({length: 10}, (_, each) =>
			writing(`/troupe/registry/${String(at * 10 + each).padStart(4, '0')}`, 'x'.repeat(100_000)),
		);
		const batch = batchOf(meta, ...writes);
		t.is((await commitTo(driver, batch)).type, 'committed');
		meta = batch.next;
	}
	const records = await loadFrom(driver, '/troupe/');
	t.is(typeof records === 'string' ? records : records.length, 1_000);
});

test('a batch that etcd would never take has failed, not vanished', async t => {
	const driver = opened(t, `${shared.url}/refused`);
	const many = batchOf(noMeta, ...Array.from({length: 130}, (_, at) => writing(`/troupe/registry/${at}`, '')));
	t.like(await commitTo(driver, many), {type: 'failed'});
	t.like(await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/a', 'x'.repeat(2_000_000)))), {type: 'failed'});
	t.deepEqual(await metaOf(driver), {ok: true, meta: undefined});
});

test('an etcd that is away fails writes at once with its reason, and is used again when it is back with all it had', async t => {
	const etcd = await startEtcd(t);
	const driver = opened(t, `${etcd.url}/x`);
	const meta = await fill(driver, ['/troupe/registry/a']);
	await etcd.members[0]?.kill();
	const batch = batchOf(meta, writing('/troupe/registry/b', 'new'));
	let outcome: CommitOutcome = {type: 'unknown', message: ''};
	await until('it is known to be away', async () => (outcome = await commitTo(driver, batch)).type === 'failed');
	t.regex('message' in outcome ? outcome.message : '', /ECONNREFUSED/);
	await etcd.members[0]?.start();
	await answers(etcd.url);
	await until('it is used again', async () => (await metaOf(driver)).ok);
	t.deepEqual(await metaOf(driver), {ok: true, meta});
	t.is((await commitTo(driver, batch)).type, 'committed');
});

test('an etcd that is killed and comes back loses nothing that was acknowledged', async t => {
	const etcd = await startEtcd(t);
	const driver = opened(t, `${etcd.url}/x`);
	let meta: Meta = noMeta;
	for (let life = 0; life < 3; life++) {
		// However long this machine takes to the first of them, some are acknowledged before.
		const wanted = meta.version + 20;
		let killed: Promise<void> | undefined;
		for (let outcome: CommitOutcome = {type: 'committed'}; outcome.type === 'committed';) {
			const batch = batchOf(meta, writing(`/troupe/registry/${meta.version}`, 'kept'));
			outcome = await commitTo(driver, batch);
			if (outcome.type === 'committed') meta = batch.next;
			if (meta.version >= wanted) killed ??= etcd.members[0]?.kill();
		}
		await (killed ?? etcd.members[0]?.kill());
		await etcd.members[0]?.start();
		await answers(etcd.url);
		let found = await metaOf(driver);
		await until('it is read again', async () => (found = await metaOf(driver)).ok);
		if (!found.ok || found.meta === undefined) return t.fail('the counter is gone');
		// The one whose outcome was not told may be there.
		t.true(found.meta.version === meta.version || found.meta.version === meta.version + 1);
		({meta} = found as {meta: Meta});
		const records = await loadFrom(driver, '/troupe/');
		t.is(typeof records === 'string' ? records : records.length, meta.version);
	}
	t.log(`${meta.version} acknowledged writes, 3 kills`);
});

test('an etcd that hangs makes outcomes unknown within the deadline, and meta tells afterwards', async t => {
	const etcd = await startEtcd(t);
	const driver = opened(t, `${etcd.url}/x`);
	const meta = await fill(driver, ['/troupe/registry/a']);
	await etcd.members[0]?.pause();
	const batch = batchOf(meta, writing('/troupe/registry/a', 'late'));
	const startedAt = performance.now();
	t.is((await commitTo(driver, batch)).type, 'unknown');
	t.true(performance.now() - startedAt < 3_000);
	etcd.members[0]?.wake();
	await until('it answers', async () => (await metaOf(driver)).ok);
	const found = await metaOf(driver);
	t.true(found.ok && [meta.version, batch.next.version].includes(found.meta?.version ?? -1));
});

test('a line that is cut makes outcomes unknown, and a healed one is used again', async t => {
	const proxy = await proxyTo(t, shared.ports[0] ?? 0);
	const driver = opened(t, `etcd://127.0.0.1:${proxy.port}/cut`);
	const meta = await fill(driver, ['/troupe/registry/a']);
	proxy.cut();
	const batch = batchOf(meta, writing('/troupe/registry/b', 'new'));
	t.is((await commitTo(driver, batch)).type, 'unknown');
	proxy.heal();
	await until('it is used again', async () => (await metaOf(driver)).ok);
	t.deepEqual(await metaOf(driver), {ok: true, meta});
	t.is((await commitTo(driver, batch)).type, 'committed');
});

test('a member that is away is not asked twice: the others serve at once', async t => {
	const etcd = await startEtcd(t, {members: 3});
	const driver = opened(t, `${etcd.url}/x`);
	let meta = await fill(driver, ['/troupe/registry/a']);
	for (const gone of [0, 1, 2]) {
		await etcd.members[gone]?.kill();
		// A new leader of etcd's own takes it a second or two.
		await until('a write is taken', async () => {
			const batch = batchOf(meta, writing(`/troupe/registry/${gone}`, 'new'));
			const {type} = await commitTo(driver, batch);
			if (type === 'committed') meta = batch.next;
			else {
				const found = await metaOf(driver);
				if (found.ok && found.meta !== undefined) ({meta} = found as {meta: Meta});
			}
			return type === 'committed';
		});
		const startedAt = performance.now();
		for (let at = 0; at < 20; at++) meta = await fill(driver, ['/troupe/registry/a'], meta);
		t.true(performance.now() - startedAt < 2_000);
		await etcd.members[gone]?.start();
		await answers(`etcd://127.0.0.1:${etcd.ports[gone]}`);
	}
});

test('a quorum that is lost fails or does not decide writes, and nothing is lost when it is back', async t => {
	const etcd = await startEtcd(t, {members: 3});
	const driver = opened(t, `${etcd.url}/x`);
	const meta = await fill(driver, ['/troupe/registry/a', '/troupe/registry/b']);
	await Promise.all([etcd.members[1]?.kill(), etcd.members[2]?.kill()]);
	for (let at = 0; at < 3; at++) {
		const outcome = await commitTo(driver, batchOf(meta, writing('/troupe/registry/c', 'new')));
		t.true(['unknown', 'failed'].includes(outcome.type), outcome.type);
		t.log('message' in outcome ? outcome.message : '');
	}
	await Promise.all([etcd.members[1]?.start(), etcd.members[2]?.start()]);
	await answers(etcd.url);
	// Another member may have answered than the one that the driver asks.
	let records: Awaited<ReturnType<typeof loadFrom>> = [];
	await eventually(
		'the records are loaded',
		async () => typeof (records = await loadFrom(driver, '/troupe/')) !== 'string',
		() => (typeof records === 'string' ? records : ''),
	);
	t.true(records.length >= 2);
});

test('a full disk: writes fail or stay unknown, and after SIGKILL and room nothing acknowledged is missing', async t => {
	if (process.getuid?.() !== 0) return t.fail('this test mounts a small disk, which only root may');
	const disk = mkdtempSync(path.join(tmpdir(), 'troupe-etcd-disk-'));
	// The log of etcd takes 64 MB from the start.
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=150m', 'troupe-etcd', disk]);
	t.teardown(() => {
		execFileSync('umount', ['--lazy', disk]);
		rmSync(disk, {recursive: true});
	});
	const etcd = await startEtcd(t, {data: disk});
	const driver = opened(t, `${etcd.url}/x`);
	let meta: Meta = noMeta;
	let outcome: CommitOutcome = {type: 'committed'};
	while (outcome.type === 'committed') {
		const batch = batchOf(meta, writing(`/troupe/registry/${String(meta.version).padStart(6, '0')}`, `${meta.version};`.repeat(100_000)));
		outcome = await commitTo(driver, batch);
		if (outcome.type === 'committed') meta = batch.next;
	}
	t.log(`full after ${meta.version} writes: ${outcome.type}, ${outcome.message}`);
	await etcd.members[0]?.kill();
	execFileSync('mount', ['-o', 'remount,size=600m', disk]);
	await etcd.members[0]?.start();
	await answers(etcd.url);
	const found = await metaOf(driver);
	t.true(found.ok && (found.meta?.version === meta.version || found.meta?.version === meta.version + 1), JSON.stringify(found));
	const records = await loadFrom(driver, '/troupe/');
	if (typeof records === 'string') return t.fail(records);
	t.true(records.length >= meta.version);
	for (const [at, {body}] of records.entries()) if (body !== `${at};`.repeat(100_000)) t.fail(`record ${at} is torn`);
});

test('what was overwritten is forgotten after a while, so that the space of etcd does not run out', async t => {
	const etcd = await startEtcd(t);
	let nowMs = 0;
	const client = connectEtcd(`${etcd.url}/x`, systemClock);
	const driver = createEtcdStore(client, {...systemClock, monotonicMs: () => nowMs});
	t.teardown(() => driver.close());
	const meta = await fill(driver, ['/troupe/registry/a']);
	const {revision} = await client.range({key: '/'});
	const again = await fill(driver, ['/troupe/registry/a'], meta);
	t.is((await client.range({key: '/troupe/registry/a'}, {revision})).records.length, 1);
	nowMs = limits.storeCompactMs;
	const last = await fill(driver, ['/troupe/registry/b'], again);
	nowMs *= 2;
	await fill(driver, ['/troupe/registry/c'], last);
	await until('the old revision is gone', () =>
		client.range({key: '/troupe/registry/a'}, {revision}).then(
			() => false,
			(error: unknown) => error instanceof Error && error.message.includes('compacted'),
		),
	);
	const records = await loadFrom(driver, '/troupe/');
	t.is(typeof records === 'string' ? records : records.length, 3);
});

test('over TLS etcd proves who it is, and nothing is sent to one that cannot', async t => {
	const directory = folder(t, 'etcd-tls');
	const made = await ensureCertificates(vaults(), {names: [], nowMs: Date.now()});
	const files = {ca: path.join(directory, 'ca'), cert: path.join(directory, 'cert'), key: path.join(directory, 'key')};
	for (const name of ['ca', 'cert', 'key'] as const) writeFileSync(files[name], made[name]);
	const etcd = await startEtcd(t, {tls: files});
	const driver = opened(t, `${etcd.url}/x?ca=${files.ca}`);
	await fill(driver, ['/troupe/registry/a']);
	t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/registry/a', body: '/troupe/registry/a'}]);
	// Who knows only other authorities, and who speaks without TLS.
	for (const url of [`${etcd.url}/x`, `${etcd.url.replace('etcds', 'etcd')}/x`]) {
		const outcome = await commitTo(opened(t, url), batchOf(noMeta));
		t.is(outcome.type, 'failed', url);
	}
});

test('etcd that asks for certificates and users: who has both is served, nobody else, and a restart that forgets tokens is no trouble', async t => {
	const tls = clientCertificates(folder(t, 'etcd-users'));
	const passwordFile = path.join(path.dirname(tls.ca), 'password');
	writeFileSync(passwordFile, 'correct horse\n');
	const etcd = await startEtcd(t, {tls});
	const trust = `ca=${tls.ca}&cert=${tls.client.cert}&key=${tls.client.key}`;
	await giveUser(etcd, tls, {name: 'troupe', password: 'correct horse', prefix: '/x/'});
	const url = `${etcd.url}/x?${trust}&user=troupe&passwordFile=${passwordFile}`;
	const driver = opened(t, url);
	let meta = await fill(driver, ['/troupe/registry/a']);

	const wrong = path.join(path.dirname(tls.ca), 'wrong');
	writeFileSync(wrong, 'incorrect donkey');
	const refused = {
		'without a certificate': `${etcd.url}/x?ca=${tls.ca}&user=troupe&passwordFile=${passwordFile}`,
		'without a user': `${etcd.url}/x?${trust}`,
		'with a wrong password': `${etcd.url}/x?${trust}&user=troupe&passwordFile=${wrong}`,
		'in a prefix of others': `${etcd.url}/y?${trust}&user=troupe&passwordFile=${passwordFile}`,
	};
	for (const [how, each] of Object.entries(refused)) {
		const outcome = await commitTo(opened(t, each), batchOf(noMeta));
		t.is(outcome.type, 'failed', how);
		t.notRegex('message' in outcome ? outcome.message : '', /horse|donkey/);
		t.log(how, 'message' in outcome ? outcome.message : '');
	}
	t.throws(() => connectEtcd(`${etcd.url}/x?${trust}&user=troupe&passwordFile=/nowhere`, systemClock), {
		code: 'ERR_USAGE',
		message: /"\/nowhere"/,
	});

	await etcd.members[0]?.kill();
	await etcd.members[0]?.start();
	await answers(url);
	await until('the store is used again', async () => (await metaOf(driver)).ok);
	meta = await fill(driver, ['/troupe/registry/b'], meta);
	t.is(meta.version, 2);
});

test('URLs', t => {
	t.deepEqual(parseEtcdUrl('etcd://a,b:1,[::1]:2/x/y/'), {
		hosts: ['a:2379', 'b:1', '[::1]:2'],
		prefix: '/x/y',
		secure: false,
		files: {},
		user: undefined,
	});
	t.like(parseEtcdUrl('etcds://a?ca=/ca.pem'), {prefix: '', secure: true, files: {ca: '/ca.pem'}});
	t.deepEqual(parseEtcdUrl('etcds://a?ca=ca.pem').files, {ca: path.resolve('ca.pem')}, 'also once the process is elsewhere');
	for (const url of [
		'http://a',
		'etcd://',
		'etcd://a:99999',
		'etcd://a b',
		'etcd://a/ü',
		'etcd://a?ca=x',
		'etcds://a?cert=x',
		'etcds://a?x=1',
		'etcds://a?user=x',
		'etcds://a?passwordFile=x',
		'etcds://a?user=&passwordFile=x',
		'etcd://a?user=x&passwordFile=x',
	])
		t.throws(() => parseEtcdUrl(url), {instanceOf: AppError, code: 'ERR_USAGE'}, url);
});
