// Archives between here and a container: what goes in comes out, and one that means harm does none.

import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readFileSync,
	readdirSync,
	readlinkSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {pack} from '../../cli/cp/pack.js';
import {readCopy} from '../../cli/cp/places.js';
import {blockBytes, headBlock, paddingOf, readHead, type TarHead} from '../../cli/cp/tar-format.js';
import {readTar} from '../../cli/cp/tar-reader.js';
import {staysWithin, unpack} from '../../cli/cp/unpack.js';
import {folder} from './_rig.js';

type Made = Partial<TarHead> & {readonly name: string; readonly text?: string};

/** An archive of these entries, whatever they say. */
function archive(...entries: readonly Made[]): Buffer {
	const blocks = entries.flatMap(({text = '', ...head}) => [
		headBlock({type: '0', mode: 0o644, size: text.length, link: '', ...head}, 0),
		Buffer.from(text, 'latin1'),
		Buffer.alloc(paddingOf(text.length)),
	]);
	return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

/** In pieces that fit nothing. */
async function* piecesOf(bytes: Buffer, size = 333): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function unpacked(bytes: Buffer | AsyncIterable<Uint8Array>, to: string, base = 'web') {
	const skipped: string[] = [];
	const source = Buffer.isBuffer(bytes) ? piecesOf(bytes) : bytes;
	const count = await unpack(readTar(source), {base, to, onBytes: () => undefined, onSkipped: why => skipped.push(why)});
	return {count, skipped};
}

const quiet = {onBytes: () => undefined, onSkipped: () => undefined};

async function refused(t: ExecutionContext, bytes: Buffer, message: RegExp): Promise<string> {
	const home = await folder(t);
	const to = path.join(home, 'to', 'web');
	mkdirSync(path.dirname(to));
	await t.throwsAsync(unpacked(bytes, to), {message});
	t.deepEqual(readdirSync(home), ['to'], 'nothing is written elsewhere');
	return to;
}

test('a folder with odd names, empty folders, links and long names comes out as it went in', async t => {
	const home = await folder(t);
	const from = path.join(home, 'from');
	const long = 'x'.repeat(150);
	mkdirSync(path.join(from, 'empty folder'), {recursive: true});
	mkdirSync(path.join(from, long, long), {recursive: true});
	const contents: Readonly<Record<string, string>> = {
		'-n': 'a flag',
		'two\nlines': '',
		ünïcode: 'x'.repeat(1_000),
		exact: 'y'.repeat(512),
		[`${long}/${long}/deep`]: 'deep',
	};
	for (const [name, text] of Object.entries(contents)) writeFileSync(path.join(from, name), text);
	writeFileSync(Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0xff, 0xfe])]), 'no text');
	symlinkSync('exact', path.join(from, 'link'));
	symlinkSync(`${long}/${long}/deep`, path.join(from, 'long link'));
	chmodSync(path.join(from, 'exact'), 0o750);
	const to = path.join(home, 'to');
	const {skipped} = await unpacked(pack({from, base: 'web', ...quiet}), to);
	t.deepEqual(skipped, []);
	for (const [name, text] of Object.entries(contents)) t.is(readFileSync(path.join(to, name), 'utf8'), text, name);
	t.deepEqual(readdirSync(to, {encoding: 'buffer'}), readdirSync(from, {encoding: 'buffer'}));
	t.deepEqual(readdirSync(path.join(to, 'empty folder')), []);
	t.is(readlinkSync(path.join(to, 'link')), 'exact');
	t.is(readlinkSync(path.join(to, 'long link')), `${long}/${long}/deep`);
	t.is(statSync(path.join(to, 'exact')).mode & 0o777, 0o750);
	t.is((await unpacked(pack({from, base: 'web', ...quiet}), to)).count, 12, 'a second time replaces the first');
});

test('one file is itself, under whatever name', async t => {
	const home = await folder(t);
	writeFileSync(path.join(home, 'a'), 'text');
	await unpacked(pack({from: path.join(home, 'a'), base: 'b', ...quiet}), path.join(home, 'c'), 'b');
	t.is(readFileSync(path.join(home, 'c'), 'utf8'), 'text');
});

test('heads hold what does not fit octal digits, and the forms of other programs are read', async t => {
	const head: TarHead = {name: 'x', type: '0', mode: 0o644, size: 2 ** 40, link: ''};
	t.deepEqual(readHead(headBlock(head, 0)), head);
	t.is(readHead(Buffer.alloc(blockBytes, 'x')), undefined);
	const to = path.join(await folder(t), 'to');
	const record = Buffer.from('18 path=web/päxy\n', 'utf8').toString('latin1');
	await unpacked(
		Buffer.concat([
			archive({name: 'web/', type: '5', mode: 0o755}).subarray(0, -2 * blockBytes),
			archive({name: 'PaxHeader', type: 'x', text: record}).subarray(0, -2 * blockBytes),
			archive({name: 'web/short', text: 'hi'}),
		]),
		to,
	);
	t.deepEqual(readdirSync(to), ['päxy']);
});

test('an archive that names what was not asked for is refused, and nothing is written elsewhere', async t => {
	for (const name of ['web/../../out', '../out', '/out', 'other/file', 'web/a/../../../out', 'webx', 'web/./../..'])
		await refused(t, archive({name, text: 'x'}), /which was not asked for; nothing more is copied$/);
	await refused(t, archive({name: 'web/', type: '5', mode: 0o755}, {name: 'web/h', type: '1', link: '/etc/passwd'}), /not asked for/);
	await refused(t, archive({name: 'web/', type: '5', mode: 0o755}, {name: 'web/h', type: '1', link: 'web/none'}), /which is not in it$/);
});

test('nothing is written through a link, one of the archive or one that is there', async t => {
	const through = archive({name: 'web/', type: '5', mode: 0o755}, {name: 'web/a', type: '2', link: 'b'}, {name: 'web/a/file', text: 'x'});
	const to = await refused(t, through, /is a folder here and is none in the container$/);
	t.true(lstatSync(path.join(to, 'a')).isDirectory());
	const home = await folder(t);
	mkdirSync(path.join(home, 'outside'));
	mkdirSync(path.join(home, 'to'));
	symlinkSync('../outside', path.join(home, 'to', 'a'));
	const inside = archive({name: 'web/a/file', text: 'x'});
	await t.throwsAsync(unpacked(inside, path.join(home, 'to')), {message: /is there already and is no folder$/});
	writeFileSync(path.join(home, 'kept'), 'kept');
	symlinkSync('../kept', path.join(home, 'to', 'b'));
	await unpacked(archive({name: 'web/b', text: 'new'}), path.join(home, 'to'));
	t.is(readFileSync(path.join(home, 'kept'), 'utf8'), 'kept', 'the link is replaced, not what it leads to');
	t.deepEqual(readdirSync(path.join(home, 'outside')), []);
});

test('links that lead out, devices and set-user-id are left out', async t => {
	const to = path.join(await folder(t), 'to');
	const {skipped} = await unpacked(
		archive(
			{name: 'web/', type: '5', mode: 0o755},
			{name: 'web/out', type: '2', link: '../../etc'},
			{name: 'web/far', type: '2', link: '/etc/passwd'},
			{name: 'web/in', type: '2', link: 'file'},
			{name: 'web/dev', type: '3'},
			{name: 'web/file', text: 'x', mode: 0o6755},
			{name: 'web/same', type: '1', link: 'web/file'},
		),
		to,
	);
	t.is(skipped.length, 3);
	t.deepEqual(readdirSync(to), ['file', 'in', 'same']);
	t.is(statSync(path.join(to, 'file')).mode & 0o7000, 0);
	t.is(readFileSync(path.join(to, 'same'), 'utf8'), 'x');
});

test('a link stays within when it goes up first, not too far, and then down', t => {
	for (const link of ['a', 'a/b', './a', '../a', '../../x', '..', 'a//b', '...']) t.true(staysWithin(['d', 'e', 'link'], link), link);
	for (const link of ['', '/a', '../../../x', 'a/../b', 'a/..', '../a/../../..', 'a\0b'])
		t.false(staysWithin(['d', 'e', 'link'], link), link);
	t.false(staysWithin([], 'a'), 'what is copied is the link itself');
});

test('a folder that is closed to others in the container is so here, too', async t => {
	const to = path.join(await folder(t), 'to');
	t.teardown(() => chmodSync(path.join(to, 'in'), 0o700)); // Else only root could remove it.
	const closed = archive({name: 'web/', type: '5', mode: 0o700}, {name: 'web/in', type: '5', mode: 0o500}, {name: 'web/in/key', text: 'x'});
	await unpacked(closed, to);
	t.deepEqual(
		[to, path.join(to, 'in')].map(name => statSync(name).mode & 0o777),
		[0o700, 0o500],
	);
	t.is(readFileSync(path.join(to, 'in', 'key'), 'utf8'), 'x');
});

test('what is no archive, or ends too early, is said', async t => {
	await refused(t, Buffer.from('x'.repeat(2_000)), /^what came from the container is no tar archive$/);
	const whole = archive({name: 'web', text: 'x'.repeat(2_000)});
	await refused(t, whole.subarray(0, 1_500), /ends too early$/);
	await refused(t, archive({name: 'x', type: 'L', size: 2 ** 30}), /no tar archive$/);
	const to = path.join(await folder(t), 'to');
	t.is((await unpacked(Buffer.alloc(0), to)).count, 0);
	t.false(existsSync(to));
});

test('from where to where', t => {
	t.deepEqual(readCopy(['web:/a', '.']), {type: 'down', from: {namespace: undefined, pod: 'web', path: '/a'}, to: '.'});
	t.deepEqual(readCopy(['./a:b', 'shop/web:x']), {type: 'up', from: './a:b', to: {namespace: 'shop', pod: 'web', path: 'x'}});
	t.deepEqual(readCopy(['pod/web:x', '/tmp']), {type: 'down', from: {namespace: undefined, pod: 'web', path: 'x'}, to: '/tmp'});
	for (const [words, message] of [
		[['a'], /takes a source and a destination/],
		[['a', 'b', 'c'], /takes a source and a destination/],
		[['a', 'b'], /one of the two is in a pod/],
		[['a:b', 'c:d'], /from pod to pod is not one step/],
		[['web:', 'b'], /which path in the pod/],
		[[':x', 'b'], /must be POD:PATH/],
		[['a/b/c:x', 'b'], /must be POD:PATH/],
	] as const)
		t.throws(() => readCopy(words), {message});
});
