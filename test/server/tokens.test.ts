import {readFile, stat, unlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {parse} from 'yaml';
import {limits} from '../../api/limits.js';
import {kubeconfigText, writeKubeconfig} from '../../server/kubeconfig.js';
import {passwordHash} from '../../server/mosquitto-hash.js';
import {ensureAdminToken, openTokens} from '../../server/tokens.js';
import {directory, keptInMemory, plainVault} from './support.js';

const nowMs = () => 1_700_000_000_000;

test('a token is known by its text and kept by its hash alone', async t => {
	const kept = keptInMemory();
	const tokens = openTokens(kept, nowMs);
	const token = await tokens.issue('ci', 'edit');
	t.regex(token, /^troupe-[A-Za-z0-9_-]{43}$/);
	t.like(tokens.authenticate(token), {name: 'ci', role: 'edit'});
	t.false(JSON.stringify([...kept.values]).includes(token.slice(7)));
	t.like(openTokens(kept, nowMs).authenticate(token), {name: 'ci', role: 'edit'});
	t.deepEqual(tokens.list(), [{name: 'ci', role: 'edit', createdAtMs: nowMs()}]);
	for (const wrong of [undefined, '', 'troupe-', token.slice(0, -1), `${token}x`, token.toUpperCase()])
		t.is(tokens.authenticate(wrong), undefined);
});

test('tokens that an older version has kept are good; what may be one is looked at no more than so often a second', async t => {
	const old = (name: string) => ({name, role: 'edit', createdAtMs: 1, hash: passwordHash(`troupe-${name}`)});
	let atMs = nowMs();
	const vault = plainVault();
	await vault.put('tokens', JSON.stringify([old('seen'), old('late')]));
	const tokens = openTokens(vault, () => atMs);
	const fresh = await tokens.issue('fresh', 'view');
	t.like(tokens.authenticate('troupe-seen'), {name: 'seen', role: 'edit'});
	for (let at = 1; at < limits.slowHashesPerSecond; at++) t.is(tokens.authenticate(`troupe-${at}`), undefined);
	t.is(tokens.authenticate('troupe-late'), undefined);
	t.is(tokens.authenticate('troupe-seen')?.name, 'seen', 'what is known to be good costs nothing');
	t.is(tokens.authenticate(fresh)?.name, 'fresh');
	atMs += 1_000;
	t.is(tokens.authenticate('troupe-late')?.name, 'late');
});

test("a node's token says which node it is", async t => {
	const tokens = openTokens(plainVault(), nowMs);
	t.like(tokens.authenticate(await tokens.issue('node-a', 'node')), {name: 'node-a', role: 'node', node: 'node-a'});
});

test('a name has one token: a new one takes the place of the old', async t => {
	const tokens = openTokens(plainVault(), nowMs);
	const [first, second] = await Promise.all([tokens.issue('ci', 'edit'), tokens.issue('ci', 'view')]);
	t.is(tokens.authenticate(first), undefined);
	t.like(tokens.authenticate(second), {name: 'ci', role: 'view'});
	t.true(await tokens.revoke('ci'));
	t.false(await tokens.revoke('ci'));
	t.is(tokens.authenticate(second), undefined);
});

test('a token with an end lets nobody in from then on, also one that has let in before', async t => {
	let atMs = nowMs();
	const tokens = openTokens(plainVault(), () => atMs);
	const token = await tokens.issue('ci', 'edit', {ttlMs: 1_000});
	atMs += 999;
	t.like(tokens.authenticate(token), {name: 'ci'});
	atMs += 1;
	t.is(tokens.authenticate(token), undefined);
	t.deepEqual([tokens.list(), tokens.logins()], [[], []]);
	t.regex(await tokens.issue('ci', 'edit', {isNew: true}), /^troupe-/, 'its name is free');
});

test('a token made anew under the same name is another credential, which tells nothing of it', async t => {
	const tokens = openTokens(plainVault(), nowMs);
	const first = await tokens.issue('ci', 'view');
	const before = tokens.authenticate(first)?.credential ?? '';
	t.regex(before, /^[A-Za-z0-9_-]{22}$/);
	t.is(tokens.authenticate(first)?.credential, before);
	await tokens.revoke('ci');
	t.not(tokens.authenticate(await tokens.issue('ci', 'view'))?.credential, before);
});

test('what a token may do with topics of users is kept with it, and bounded in all', async t => {
	const vault = plainVault();
	const topics = {publish: ['sensors/#'], messagesPerSecond: 5};
	const token = await openTokens(vault, nowMs).issue('gw', 'tool', {topics});
	const tokens = openTokens(vault, nowMs);
	t.deepEqual(tokens.authenticate(token)?.topics, topics);
	t.deepEqual(tokens.identityOf('gw')?.topics, topics);
	t.deepEqual(
		tokens.list().map(each => each.topics),
		[topics],
	);
	t.deepEqual(
		tokens.logins().map(each => each.topics),
		[topics],
	);
	const many = {publish: ['x'.repeat(limits.tokenTopicsInAll)]};
	await t.throwsAsync(tokens.issue('many', 'tool', {topics: many}), {message: /topics of all tokens together may have/});
	t.is(tokens.list().length, 1);
});

test('names that nobody may have are refused', async t => {
	const tokens = openTokens(plainVault(), nowMs);
	for (const name of ['control', '', 'A', '-x', 'a/b', 'a b', 'x'.repeat(64)])
		await t.throwsAsync(tokens.issue(name, 'view'), {message: /token's name must be/}, name);
});

test('a write that fails leaves the tokens as they were', async t => {
	const kept = keptInMemory();
	let isFull = false;
	const tokens = openTokens(
		{get: kept.get, put: (name, value) => (isFull ? Promise.reject(new Error('full')) : kept.put(name, value))},
		nowMs,
	);
	const token = await tokens.issue('ci', 'edit');
	isFull = true;
	await t.throwsAsync(tokens.revoke('ci'), {message: 'full'});
	t.truthy(tokens.authenticate(token));
	isFull = false;
	t.true(await tokens.revoke('ci'));
});

test('the admin token is made once, and again only when its file is lost or holds another', async t => {
	const file = path.join(await directory(t), 'admin.token');
	const vault = plainVault();
	const first = await ensureAdminToken(openTokens(vault, nowMs), file);
	t.is(first.made, 'first start');
	t.is((await stat(file)).mode & 0o777, 0o600);
	t.is(await readFile(file, 'utf8'), `${first.token}\n`);
	t.deepEqual(await ensureAdminToken(openTokens(vault, nowMs), file), {token: first.token, made: undefined});
	await unlink(file);
	const second = await ensureAdminToken(openTokens(vault, nowMs), file);
	t.is(second.made, 'the file was lost');
	t.not(second.token, first.token);
	t.is(openTokens(vault, nowMs).authenticate(first.token), undefined);
	await writeFile(file, 'troupe-something-else\n');
	t.is((await ensureAdminToken(openTokens(vault, nowMs), file)).made, 'the file was lost');
	t.is((await stat(file)).mode & 0o777, 0o600);
});

test('the kubeconfig is YAML with one context, readable by its owner alone', async t => {
	const home = await directory(t);
	const input = {server: 'https://[::1]:6443', ca: '-----BEGIN CERTIFICATE-----\nx\n', user: 'admin', token: 'troupe-"quoted"'};
	const {kubeconfig} = await writeKubeconfig(home, input);
	t.is((await stat(kubeconfig)).mode & 0o777, 0o600);
	t.is(await readFile(path.join(home, 'ca.crt'), 'utf8'), input.ca);
	const config = parse(await readFile(kubeconfig, 'utf8')) as Record<string, unknown>;
	t.is(config['current-context'], 'troupe');
	t.deepEqual(config['clusters'], [
		{name: 'troupe', cluster: {server: input.server, 'certificate-authority-data': Buffer.from(input.ca).toString('base64')}},
	]);
	t.deepEqual(config['users'], [{name: 'admin', user: {token: input.token}}]);
	t.false(kubeconfigText({...input, ca: undefined}).includes('certificate-authority'));
});
