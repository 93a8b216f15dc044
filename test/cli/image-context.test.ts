import {execFile} from 'node:child_process';
import {chmod, mkdir, symlink, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {readContext} from '../../cli/image/context.js';
import {folder} from './_rig.js';

const build = {tag: 'a', dockerfile: 'Dockerfile', args: {}, labels: {}};

async function aFolder(t: ExecutionContext): Promise<string> {
	const dir = path.join(await folder(t), 'context');
	await mkdir(path.join(dir, 'src/deep'), {recursive: true});
	for (const [name, text] of Object.entries({Dockerfile: 'FROM a\n', 'src/a.js': 'a', 'src/deep/b.js': 'b', 'log.txt': 'l', ü: 'u'}))
		await writeFile(path.join(dir, name), text);
	await symlink('src/a.js', path.join(dir, 'link'));
	return dir;
}

async function namesIn(t: ExecutionContext, archive: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
	const file = path.join(await folder(t), 'archive.tar');
	const pieces: Uint8Array[] = [];
	for await (const piece of archive) pieces.push(piece);
	await writeFile(file, Buffer.concat(pieces));
	const {stdout} = await promisify(execFile)('tar', ['-tf', file, '--quoting-style=literal']);
	return stdout.split('\n').filter(Boolean).sort();
}

test('a folder is sent whole, but for what its .dockerignore says; the files that the Engine reads stay', async t => {
	const dir = await aFolder(t);
	const all = ['./', './Dockerfile', './link', './log.txt', './src/', './src/a.js', './src/deep/', './src/deep/b.js', './ü'];
	t.deepEqual(await namesIn(t, (await readContext(dir, build)).archive()), all.sort());
	await writeFile(path.join(dir, '.dockerignore'), '*\n!src/deep\n');
	t.deepEqual(await namesIn(t, (await readContext(dir, build)).archive()), [
		'./',
		'./.dockerignore',
		'./Dockerfile',
		'./src/deep/',
		'./src/deep/b.js',
	]);
	await writeFile(path.join(dir, '.dockerignore'), 'src\nü');
	t.deepEqual(await namesIn(t, (await readContext(dir, build)).archive()), [
		'./',
		'./.dockerignore',
		'./Dockerfile',
		'./link',
		'./log.txt',
	]);
});

test('its hash is another one for other contents, names, modes, links and builds, and the same at another time', async t => {
	const dir = await aFolder(t);
	const hash = async (change = {}): Promise<string> => (await readContext(dir, {...build, ...change})).hash;
	const seen = [await hash()];
	t.regex(seen[0] ?? '', /^sha256:[0-9a-f]{64}$/);
	await utimes(path.join(dir, 'src/a.js'), 1, 1);
	await utimes(dir, 1, 1);
	t.is(await hash(), seen[0] ?? '');
	const differs = async (what: string, change = {}): Promise<void> => {
		const next = await hash(change);
		t.false(seen.includes(next), what);
		seen.push(next);
	};
	await differs('another argument', {args: {A: '1'}});
	await differs('another target', {target: 'x'});
	await writeFile(path.join(dir, 'src/a.js'), 'A');
	await differs('contents');
	await chmod(path.join(dir, 'src/a.js'), 0o755);
	await differs('mode');
	await symlink('nowhere', path.join(dir, 'other'));
	await differs('a link');
	await writeFile(path.join(dir, '.dockerignore'), 'log.txt');
	await differs('what is left out');
	await writeFile(path.join(dir, 'log.txt'), 'another');
	t.is(await hash(), seen.at(-1) ?? '', 'of what is left out nothing counts');
});

test('what cannot be sent is told', async t => {
	const dir = await aFolder(t);
	await t.throwsAsync(readContext(path.join(dir, 'nosuch'), build), {message: /nosuch: there is no such file/});
	await t.throwsAsync(readContext(path.join(dir, 'link'), build), {message: /is no folder/});
	await t.throwsAsync(readContext(dir, {...build, dockerfile: 'src/Dockerfile'}), {message: /there is no file src\/Dockerfile in /});
});
