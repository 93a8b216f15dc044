import {readdir, readFile, stat, unlink, writeFile, chmod} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {AppError} from '../../api/errors.js';
import {isForeignKey, openVault} from '../../server/vault.js';
import {directory, keptInMemory} from './support.js';

test('a value comes back as it was put, also through a second vault with the same key', async t => {
	const keyFile = path.join(await directory(t), 'cluster.key');
	const kept = keptInMemory();
	const vault = await openVault(keyFile, kept);
	await vault.put('tokens', 'geheim ☃');
	t.is(vault.get('tokens'), 'geheim ☃');
	t.is((await openVault(keyFile, kept)).get('tokens'), 'geheim ☃');
	t.is(vault.get('nothing'), undefined);
});

test('what is kept shows nothing of the value, and the same value looks different each time', async t => {
	const kept = keptInMemory();
	const vault = await openVault(path.join(await directory(t), 'cluster.key'), kept);
	await vault.put('a', 'MARKER');
	const first = kept.values.get('a') ?? '';
	await vault.put('a', 'MARKER');
	t.false(Buffer.from(first.slice(3), 'base64url').includes('MARKER'));
	t.not(kept.values.get('a'), first);
});

test('the key is made once, readable by its owner alone, and leaves nothing beside it', async t => {
	const home = await directory(t);
	const keyFile = path.join(home, 'cluster.key');
	await Promise.all([openVault(keyFile, keptInMemory()), openVault(keyFile, keptInMemory())]);
	const key = await readFile(keyFile);
	t.is(key.length, 32);
	t.is((await stat(keyFile)).mode & 0o777, 0o600);
	t.deepEqual(await readdir(home), ['cluster.key']);
	await chmod(keyFile, 0o644);
	await openVault(keyFile, keptInMemory());
	t.deepEqual(await readFile(keyFile), key);
	t.is((await stat(keyFile)).mode & 0o777, 0o600);
});

test('two first starts at once agree on one key', async t => {
	const keyFile = path.join(await directory(t), 'cluster.key');
	const kept = keptInMemory();
	const [a, b] = await Promise.all([openVault(keyFile, kept), openVault(keyFile, kept)]);
	await a.put('x', '1');
	t.is(b.get('x'), '1');
});

test('a changed, swapped or foreign value is refused, and the refusal holds nothing of it', async t => {
	const home = await directory(t);
	const keyFile = path.join(home, 'cluster.key');
	const kept = keptInMemory();
	const vault = await openVault(keyFile, kept);
	await vault.put('a', 'one');
	await vault.put('b', 'two');
	const sealed = kept.values.get('a') ?? '';
	kept.values.set('b', sealed);
	const swapped = t.throws(() => vault.get('b'), {instanceOf: AppError});
	t.false(swapped.message.includes('one'));
	for (const broken of ['', 'v1.', 'v1.AAAA', `${sealed.slice(0, -3)}AAA`, sealed.slice(3)]) {
		kept.values.set('a', broken);
		t.throws(() => vault.get('a'), {instanceOf: AppError}, broken);
	}
	kept.values.set('a', sealed);
	await unlink(keyFile);
	const stranger = await openVault(keyFile, kept);
	t.throws(() => stranger.get('a'), {message: /another store/});
});

test('a server without the key of those before it does not begin, and makes none', async t => {
	const home = await directory(t);
	const kept = keptInMemory();
	await (await openVault(path.join(home, 'ours'), kept)).put('tokens', 'geheim');
	const sealed = kept.values.get('tokens');
	await t.throwsAsync(openVault(path.join(home, 'none'), kept, 'tokens'), {
		message: /none does not hold the key that the servers of this store share/,
	});
	t.false((await readdir(home)).includes('none'));
	await openVault(path.join(home, 'another'), keptInMemory());
	const refused = await t.throwsAsync(openVault(path.join(home, 'another'), kept, 'tokens'), {message: /does not hold the key/});
	t.true(isForeignKey(refused));
	t.is(kept.values.get('tokens'), sealed);
	t.is((await openVault(path.join(home, 'ours'), kept, 'tokens')).get('tokens'), 'geheim');
});

test('a key file of the wrong length is an error, not a new key', async t => {
	const keyFile = path.join(await directory(t), 'cluster.key');
	await writeFile(keyFile, 'short');
	await t.throwsAsync(openVault(keyFile, keptInMemory()), {message: /must hold 32 bytes, found 5/});
	t.is(await readFile(keyFile, 'utf8'), 'short');
});
