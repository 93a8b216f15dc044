import {execFileSync} from 'node:child_process';
import {
	chmodSync,
	existsSync,
	linkSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	readlinkSync,
	renameSync,
	rmSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import {randomBytes} from 'node:crypto';
import {createServer} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {Readable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import {gunzipSync, gzipSync} from 'node:zlib';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {AppError, type ErrorCode} from '../../api/errors.js';
import {archiveBounds, type ArchiveBounds} from '../../system/archive/bounds.js';
import {packFolder} from '../../system/archive/pack.js';
import {unpackArchive} from '../../system/archive/unpack.js';

const isRoot = process.getuid?.() === 0;

function aFolder(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-archive-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	return folder;
}

/** Contents by path; a path that ends in a slash is a folder, and folders on the way are made. */
type Files = Readonly<Record<string, string | Buffer>>;

function write(folder: string, files: Files): string {
	mkdirSync(folder, {recursive: true});
	for (const [name, content] of Object.entries(files)) {
		const place = path.join(folder, name);
		mkdirSync(name.endsWith('/') ? place : path.dirname(place), {recursive: true});
		if (!name.endsWith('/')) writeFileSync(place, content);
	}
	return folder;
}

/** Everything below a folder: `mode content`, or the mode of a folder. */
function look(folder: string): Record<string, string> {
	const seen: Record<string, string> = {};
	for (const name of readdirSync(folder, {recursive: true, encoding: 'utf8'}).toSorted()) {
		const found = lstatSync(path.join(folder, name));
		const mode = (found.mode & 0o7777).toString(8);
		seen[name] = found.isDirectory() ? `${mode} folder` : `${mode} ${readFileSync(path.join(folder, name), 'latin1')}`;
	}
	return seen;
}

type Refusal = {readonly code: ErrorCode; readonly message: RegExp};

async function refuses(t: ExecutionContext, what: Promise<unknown>, {code, message}: Refusal, about = ''): Promise<void> {
	const error = await t.throwsAsync(what, undefined, about);
	t.true(error instanceof AppError, `${about}: ${error?.stack}`);
	if (!(error instanceof AppError)) return;
	t.is(error.code, code, `${about}: ${error.message}`);
	t.regex(error.message, message, about);
}

const invalid = (message: RegExp): Refusal => ({code: 'ERR_INVALID', message});
const tooLarge = (message: RegExp): Refusal => ({code: 'ERR_TOO_LARGE', message});

/** Unpacks into a new place, where nothing may be afterwards, nor beside it. */
async function refusesArchive(
	t: ExecutionContext,
	archive: Uint8Array | Readable,
	error: Refusal,
	{about = '', bounds = archiveBounds, wanted}: {about?: string; bounds?: ArchiveBounds; wanted?: string} = {},
): Promise<void> {
	const folder = aFolder(t);
	await refuses(t, unpackArchive(archive, path.join(folder, 'new'), bounds, wanted), error, about);
	t.deepEqual(readdirSync(folder), [], about);
}

type RawEntry = {
	readonly name: string | Buffer;
	readonly type?: string;
	readonly mode?: number;
	readonly content?: string | Buffer;
	/** Other than its content has. */
	readonly size?: number;
	readonly link?: string;
};

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);

/** An entry of a tar, by hand: head and content. */
function raw({name, type = '0', mode = 0o644, content = '', size = Buffer.byteLength(content), link = ''}: RawEntry): Buffer {
	const head = Buffer.alloc(512);
	Buffer.from(name).copy(head, 0, 0, 100);
	head.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
	head.write('0000000\0'.repeat(2), 108);
	// As GNU's numbers of eight bits a digit are written: the sum of its parts, negative.
	if (size < 0) head.fill(255, 124, 135).writeUInt8(256 + size - 1, 135);
	else head.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
	head.write(`${'0'.repeat(11)}\0        ${type}${link}`, 136, 'latin1');
	head.write('ustar\x0000', 257);
	const sum = head.reduce((all, byte) => all + byte, 0);
	head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
	return Buffer.concat([head, padded(Buffer.from(content))]);
}

const pax = (...records: readonly string[]): Buffer => {
	const lines = records.map(record => {
		const rest = Buffer.byteLength(record) + 2;
		const length = rest + String(rest + String(rest).length).length;
		return `${length} ${record}\n`;
	});
	return raw({name: 'PaxHeader', type: 'x', content: lines.join('')});
};

const end = Buffer.alloc(1_024);
const archiveOf = (...pieces: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...pieces, end]));

const some: Files = {
	'handler.py': 'def handle(event):\n\treturn event\n',
	'lib/data.bin': Buffer.from(Array.from({length: 70_000}, (_, index) => (index * index) % 251)),
	'lib/empty.txt': '',
	'run.sh': '#!/bin/sh\n',
	'nothing/': '',
};

// The umask is the process's own.
test.serial('an archive depends on names, contents and executability alone', async t => {
	const folder = aFolder(t);
	const one = write(path.join(folder, 'one'), some);
	chmodSync(path.join(one, 'run.sh'), 0o700);
	const first = await packFolder(one, archiveBounds);
	const before = process.umask(0o077);
	t.teardown(() => process.umask(before));
	const other = write(path.join(folder, 'other'), Object.fromEntries(Object.entries(some).toReversed()));
	chmodSync(path.join(other, 'run.sh'), 0o4755);
	chmodSync(path.join(other, 'handler.py'), 0o666);
	for (const name of ['handler.py', 'lib', 'lib/data.bin']) utimesSync(path.join(other, name), 1_000, 2_000);
	const second = await packFolder(other, archiveBounds);
	t.is(first.digest, second.digest);
	t.deepEqual(first.bytes, second.bytes);
	// What is stored by its digest must be found again by later versions.
	t.is(first.digest, 'sha256:7a6cf40d538a681aedf9ec995bd36ff5b9f64c798640938b4b4b5288ebd37e39');
	t.deepEqual([...first.bytes.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

	t.deepEqual(await unpackArchive(first.bytes, path.join(folder, 'back'), archiveBounds, first.digest), {
		digest: first.digest,
		entries: 6,
		bytes: gunzipSync(first.bytes).length,
	});
	const back = look(path.join(folder, 'back'));
	t.is((lstatSync(path.join(folder, 'back')).mode & 0o7777).toString(8), '755');
	t.is(back['handler.py'], '644 def handle(event):\n\treturn event\n');
	t.is(back['run.sh'], '755 #!/bin/sh\n');
	t.is(back['nothing'], '755 folder');
	t.is(back['lib/empty.txt'], '644 ');
	t.deepEqual((await packFolder(path.join(folder, 'back'), archiveBounds)).bytes, first.bytes);
	for (const [name, content] of [
		['handler.py', 'other'],
		['nothing/new', ''],
	] as const) {
		write(one, {[name]: content});
		t.not((await packFolder(one, archiveBounds)).digest, first.digest);
	}
});

test('names of every kind come back: long ones, letters of all sorts, odd characters', async t => {
	const folder = aFolder(t);
	const names = [
		'a b\\c"d\n',
		'-rf',
		'...',
		'ünïcode/日本語.py',
		'u\u0308',
		'😀'.repeat(60),
		'x'.repeat(255),
		`${'y'.repeat(100)}/`,
		`${'z'.repeat(99)}/${'f'.repeat(100)}`,
		`${'long/'.repeat(55)}${'g'.repeat(101)}`,
		`${'é'.repeat(120)}/${'ü'.repeat(120)}/`,
		...[91, 92, 93, 94, 95, 991, 992, 993, 994, 995].map(length => `é${'/n'.repeat(20)}/`.padEnd(length, 'm').slice(0, 200)),
	];
	const from = write(path.join(folder, 'from'), Object.fromEntries(names.map((name, index) => [name, `file ${index}`])));
	const {bytes, digest} = await packFolder(from, archiveBounds);
	await unpackArchive(bytes, path.join(folder, 'to'), archiveBounds, digest);
	t.deepEqual(look(path.join(folder, 'to')), look(from));
});

test('an empty folder is an archive, too; a link to a folder stands for it where it is named itself', async t => {
	const folder = aFolder(t);
	const empty = write(path.join(folder, 'empty'), {});
	symlinkSync('empty', path.join(folder, 'link'));
	const {bytes, digest} = await packFolder(path.join(folder, 'link'), archiveBounds);
	t.is((await packFolder(empty, archiveBounds)).digest, digest);
	t.deepEqual(await unpackArchive(bytes, path.join(folder, 'back'), archiveBounds), {digest, entries: 0, bytes: 1_024});
	t.deepEqual(readdirSync(path.join(folder, 'back')), []);
});

test('hard links are files, and what nobody wants in an archive is left out', async t => {
	const folder = write(aFolder(t), {
		'a.py': 'a',
		'.git/HEAD': 'ref',
		'__pycache__/a.cpython.pyc': '',
		'lib/__pycache__/b': '',
		'lib/c.pyc': '',
		'.DS_Store': '',
		'.gitignore': '*.log',
		'lib/pyc': '',
	});
	linkSync(path.join(folder, 'a.py'), path.join(folder, 'b.py'));
	const {bytes} = await packFolder(folder, archiveBounds);
	const to = path.join(aFolder(t), 'to');
	await unpackArchive(bytes, to, archiveBounds);
	t.deepEqual(Object.keys(look(to)), ['.gitignore', 'a.py', 'b.py', 'lib', 'lib/pyc']);
});

test('links and everything else that is neither file nor folder are refused by name, all at once', async t => {
	const folder = write(aFolder(t), {'a.py': '', 'lib/': ''});
	symlinkSync('../a.py', path.join(folder, 'lib/inside'));
	symlinkSync('/etc', path.join(folder, 'outside'));
	execFileSync('mkfifo', [path.join(folder, 'pipe')]);
	const server = createServer().listen(path.join(folder, 'socket'));
	t.teardown(() => server.close());
	await refuses(
		t,
		packFolder(folder, archiveBounds),
		invalid(
			/^"lib\/inside" is a symbolic link.*copy.*\n"outside" is a symbolic link.*\n"pipe" is neither a file nor a folder.*\n"socket" is neither a file nor a folder[^\n]*$/,
		),
	);
});

test('what is no folder, is not there or has names that are no text is refused in one line', async t => {
	const folder = write(aFolder(t), {file: '', 'odd/': ''});
	await refuses(t, packFolder(path.join(folder, 'none'), archiveBounds), invalid(/^"\S*\/none" is not there$/));
	await refuses(t, packFolder(path.join(folder, 'file'), archiveBounds), invalid(/^"\S*\/file" is no folder$/));
	await refuses(t, packFolder(path.join(folder, 'file/x'), archiveBounds), invalid(/^"\S*\/x" cannot be read: ENOTDIR: not a directory$/));
	writeFileSync(Buffer.concat([Buffer.from(`${folder}/odd/`), Buffer.from([0x66, 0xfc])]), '');
	await refuses(t, packFolder(path.join(folder, 'odd'), archiveBounds), invalid(/^"f\ufffd" has a name that is no valid UTF-8$/));
});

(isRoot ? test.skip : test)('what may not be read is named', async t => {
	const folder = write(aFolder(t), {'file/secret': 'x', 'folder/closed/': ''});
	chmodSync(path.join(folder, 'file/secret'), 0);
	chmodSync(path.join(folder, 'folder/closed'), 0);
	await refuses(t, packFolder(path.join(folder, 'file'), archiveBounds), invalid(/^"secret" cannot be read: EACCES: permission denied$/));
	await refuses(t, packFolder(path.join(folder, 'folder'), archiveBounds), invalid(/^"closed" cannot be read: EACCES: permission denied$/));
	chmodSync(path.join(folder, 'folder/closed'), 0o700);
});

/** Whether this process has a file open. */
const isOpen = (file: string): boolean =>
	readdirSync('/proc/self/fd').some(each => {
		try {
			return readlinkSync(`/proc/self/fd/${each}`) === file;
		} catch {
			return false;
		}
	});

test('a file that becomes another, or a link, while it is packed is refused', async t => {
	const changes: Readonly<Record<string, (file: string) => void>> = {
		link(file) {
			rmSync(file);
			symlinkSync('/etc/hostname', file);
		},
		other(file) {
			writeFileSync(`${file}.new`, 'z'.repeat(9));
			renameSync(`${file}.new`, file);
		},
		gone: file => rmSync(file),
		longer: file => writeFileSync(file, 'longer than it was'),
		shorter: file => truncateSync(file, 1),
		pipe(file) {
			rmSync(file);
			execFileSync('mkfifo', [file]);
		},
		folder(file) {
			rmSync(file);
			mkdirSync(file);
		},
	};
	for (const [about, change] of Object.entries(changes)) {
		const folder = write(aFolder(t), {'a.bin': randomBytes(6_000_000), 'b.txt': 'was there'});
		const packing = packFolder(folder, archiveBounds);
		// All has been found by then, and the second file is not read yet.
		while (!isOpen(path.join(folder, 'a.bin'))) await setImmediate();
		change(path.join(folder, 'b.txt'));
		await refuses(t, packing, invalid(/^"b.txt" was changed while it was packed; try again$/), about);
	}
});

test('each bound holds where a folder is packed and where it is unpacked', async t => {
	const folder = write(aFolder(t), {'one/two/three.txt': 'x'.repeat(1_000), 'other.txt': 'y'});
	const whole = await packFolder(folder, archiveBounds);
	const {length} = gunzipSync(whole.bytes);
	const cases: readonly [Partial<ArchiveBounds>, Partial<ArchiveBounds>, RegExp][] = [
		[{entries: 4}, {entries: 3}, /^there are more than 3 files and folders/],
		[{depth: 3}, {depth: 2}, /^"one\/two\/three.txt" is deeper than 2/],
		[{pathCharacters: 17}, {pathCharacters: 16}, /^"one\/two\/three.txt" is longer than 16 characters$/],
		[{fileBytes: 1_000}, {fileBytes: 999}, /^"one\/two\/three.txt" has 1000 bytes; a file may have 999$/],
		[{bytes: length}, {bytes: length - 1}, /all files together have more than/],
		[{packedBytes: whole.bytes.length}, {packedBytes: whole.bytes.length - 1}, /more than \d+ bytes/],
		[{ratio: 100, ratioFromBytes: 100}, {ratio: 2, ratioFromBytes: 100}, /more than 2 times as large/],
	];
	for (const [enough, tooLittle, message] of cases) {
		const about = JSON.stringify(tooLittle);
		const bounds = {...archiveBounds, ...enough};
		t.is((await packFolder(folder, bounds)).digest, whole.digest, about);
		t.is((await unpackArchive(whole.bytes, path.join(aFolder(t), 'new'), bounds)).digest, whole.digest, about);
		await refuses(t, packFolder(folder, {...archiveBounds, ...tooLittle}), tooLarge(message), about);
		for (const archive of [whole.bytes, Readable.from([whole.bytes])])
			await refusesArchive(t, archive, tooLarge(message), {about, bounds: {...archiveBounds, ...tooLittle}});
	}
});

test('names that lead elsewhere, collide or are no text are refused', async t => {
	const cases: readonly [RegExp, ...Buffer[]][] = [
		[/begins at the root/, raw({name: '/etc/passwd', content: 'x'})],
		[/begins at the root/, raw({name: '//', type: '5'})],
		[/"\." or "\.\."/, raw({name: '../out', content: 'x'})],
		[/"\." or "\.\."/, raw({name: 'a/', type: '5'}), raw({name: 'a/../../out', content: 'x'})],
		[/"\." or "\.\."/, raw({name: '..', type: '5'})],
		[/"\." or "\.\."/, raw({name: './', type: '5'})],
		[/empty name/, raw({name: '', content: 'x'})],
		[/empty name/, raw({name: '', type: '5'})],
		[/empty name/, raw({name: 'a//', type: '5'})],
		[/empty name/, raw({name: 'a/', type: '5'}), raw({name: 'a//b', content: 'x'})],
		[/empty name/, raw({name: 'a/', content: 'a file with a slash'})],
		[/zero byte/, pax('path=a\0b'), raw({name: 'a', content: 'x'})],
		[/no valid UTF-8/, raw({name: Buffer.from([0x61, 0xff, 0xfe]), content: 'x'})],
		[/twice/, raw({name: 'a', content: 'x'}), raw({name: 'a', content: 'y'})],
		[/twice/, raw({name: 'a', type: '5'}), raw({name: 'a/', type: '5'})],
		[/twice/, raw({name: 'a', content: 'x'}), raw({name: 'a/', type: '5'})],
		[/twice/, raw({name: 'a/', type: '5'}), raw({name: 'a', content: 'x'})],
		[/without a folder/, raw({name: 'a', content: 'x'}), raw({name: 'a/b', content: 'y'})],
		[/without a folder/, raw({name: 'a/b', content: 'y'})],
		[/too long a name/, pax(`path=${'n'.repeat(256)}`), raw({name: 'n', content: 'x'})],
	];
	for (const [message, ...entries] of cases) await refusesArchive(t, archiveOf(...entries), invalid(message), {about: String(message)});
});

test('links, devices and every other type are refused', async t => {
	const before = raw({name: 'a', content: 'x'});
	for (const type of ['1', '2', '3', '4', '6', '7', 'S', 'V', 'Z', '\x01'])
		await refusesArchive(t, archiveOf(before, raw({name: 'b', type, link: 'a'})), invalid(/is neither a file nor a folder/), {about: type});
	await refusesArchive(t, archiveOf(raw({name: 'd/', type: '5', content: 'x'.repeat(600)})), invalid(/folder with a content/));
});

test('what says more than a path of an entry, or stands between entries, is refused', async t => {
	const file = raw({name: 'a', content: 'x'});
	const cases: readonly [RegExp, ...Buffer[]][] = [
		[/says more/, pax('size=3'), file],
		[/says more/, pax('path=b', 'mtime=1'), file],
		[/says more/, pax('linkpath=b'), file],
		[/says more/, pax('path='), file],
		[/says more/, pax('comment=b'), file],
		[/does not belong/, pax('path=c'), pax('path=b'), file],
		[/does not belong/, raw({name: 'PaxHeader', type: 'g', content: '12 comment=b\n'}), file],
		[/does not belong/, raw({name: '././@LongLink', type: 'L', content: 'long'}), file],
		[/does not belong/, Buffer.alloc(512), file],
		[/does not belong/, file, end, raw({name: 'b', content: 'y'})],
		[/something behind/, file, Buffer.alloc(512)],
		[/something behind/, file, pax('path=b')],
		[/damaged one/, file, Buffer.alloc(512, 'x')],
		[/damaged one/, raw({name: 'a', size: -1})],
		[/ends too early/, raw({name: 'a', size: 100_000, content: 'x'})],
	];
	for (const [message, ...pieces] of cases) await refusesArchive(t, archiveOf(...pieces), invalid(message), {about: String(message)});
	const marked = Buffer.concat([file, end]);
	marked.writeUInt8(1, file.length + 150);
	await refusesArchive(t, gzipSync(marked), invalid(/something behind/));
	await refusesArchive(t, archiveOf(raw({name: 'a', size: 2 ** 32, content: 'x'})), tooLarge(/a file may have/));
});

test('modes are 0644, 0755 and nothing else, whatever the archive says', async t => {
	const to = path.join(aFolder(t), 'to');
	await unpackArchive(
		archiveOf(
			raw({name: 'd', type: '5', mode: 0o7000}),
			raw({name: 'd/set', mode: 0o6755, content: 's'}),
			raw({name: 'd/none', mode: 0, content: 'n'}),
			raw({name: 'd/all', mode: 0o1666, content: 'a'}),
		),
		to,
		archiveBounds,
	);
	t.deepEqual(look(to), {d: '755 folder', 'd/all': '644 a', 'd/none': '644 n', 'd/set': '755 s'});
});

test('bombs are refused before they are written', async t => {
	const zeros = Buffer.alloc(8_000_000);
	await refusesArchive(t, gzipSync(zeros), tooLarge(/more than 200 times as large/));
	await refusesArchive(t, Readable.from([gzipSync(zeros)]), tooLarge(/more than 200 times as large/));
	await refusesArchive(t, archiveOf(raw({name: 'zeros', content: zeros})), tooLarge(/more than 200 times as large/));
	const bounds = {...archiveBounds, ratio: 1_000_000, bytes: 1_000_000, fileBytes: 100_000};
	await refusesArchive(t, gzipSync(zeros), tooLarge(/more than 1000000 bytes/), {bounds});
	await refusesArchive(t, archiveOf(raw({name: 'zeros', content: zeros})), tooLarge(/a file may have 100000/), {bounds});
	const many = Array.from({length: 30}, (_, index) => raw({name: `f${index}`, content: zeros.subarray(0, 90_000)}));
	await refusesArchive(t, archiveOf(...many), tooLarge(/more than 1000000 bytes/), {bounds});
	const folder = write(aFolder(t), {zeros});
	await refuses(t, packFolder(folder, archiveBounds), tooLarge(/more than 200 times as large/));
});

test('an archive that is cut, damaged, or followed by anything is refused', async t => {
	const {bytes, digest} = await packFolder(write(aFolder(t), some), archiveBounds);
	for (const length of [0, 1, 9, 10, 11, 100, bytes.length >> 1, bytes.length - 9, bytes.length - 8, bytes.length - 1])
		for (const archive of [bytes.subarray(0, length), Readable.from([bytes.subarray(0, length)])])
			await refusesArchive(t, archive, invalid(/ends too early/), {about: `cut at ${length}`});
	const tar = gunzipSync(bytes);
	for (const length of [0, 100, 512, 1_024, 5_000, tar.length - 1_024, tar.length - 1_023, tar.length - 512, tar.length - 1])
		await refusesArchive(t, gzipSync(tar.subarray(0, length)), invalid(/ends too early|something behind/), {about: `tar cut at ${length}`});
	for (let at = 12; at < bytes.length; at += bytes.length >> 4) {
		const flipped = Buffer.from(bytes);
		flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at);
		await refusesArchive(t, flipped, invalid(/./), {about: `flipped at ${at}`, wanted: digest});
	}
	for (const more of [Buffer.from('x'), Buffer.alloc(1), Buffer.alloc(100_000), Buffer.alloc(100_000, 'x'), gzipSync('x'), bytes]) {
		const about = `followed by ${more.subarray(0, 10).toString('hex')}`;
		// A single byte may be the begin of another head of gzip.
		const error = invalid(/damaged one|something behind|does not belong|ends too early/);
		await refusesArchive(t, Buffer.concat([bytes, more]), error, {about});
		await refusesArchive(t, Readable.from([bytes, more, more]), error, {about});
	}
	for (const garbage of ['', 'garbage', '\x1f\x8b', 'x'.repeat(10_000)])
		await refusesArchive(t, Buffer.from(garbage), invalid(/damaged one|ends too early/), {about: garbage.slice(0, 10)});
	await refusesArchive(t, tar, invalid(/damaged one/));
});

test('an archive of another digest than the one that is wanted is refused', async t => {
	const {bytes, digest} = await packFolder(write(aFolder(t), some), archiveBounds);
	await refusesArchive(t, bytes, invalid(/has the digest sha256:[\da-f]{64}, and "sha256:0" is wanted/), {wanted: 'sha256:0'});
	await refusesArchive(t, bytes, invalid(/is wanted/), {wanted: digest.toUpperCase()});
});

test('what is there already stays as it is, and the stream is let go', async t => {
	const {bytes} = await packFolder(write(aFolder(t), some), archiveBounds);
	const folder = write(aFolder(t), {'empty/': '', file: 'mine'});
	symlinkSync('nowhere', path.join(folder, 'link'));
	for (const name of ['empty', 'file', 'link']) {
		const stream = Readable.from([bytes]);
		await refuses(t, unpackArchive(stream, path.join(folder, name), archiveBounds), invalid(/is there already$/), name);
		t.true(stream.destroyed);
	}
	t.deepEqual(readdirSync(folder).toSorted(), ['empty', 'file', 'link']);
	t.deepEqual(readdirSync(path.join(folder, 'empty')), []);
	await t.throwsAsync(unpackArchive(bytes, path.join(folder, 'none/new'), archiveBounds), {code: 'ENOENT'});
});

test('a stream that breaks says why itself, and one that is refused is not read on', async t => {
	const {bytes} = await packFolder(write(aFolder(t), some), archiveBounds);
	const folder = aFolder(t);
	const breaking = Readable.from(
		(function* () {
			yield bytes.subarray(0, 500);
			throw new Error('the connection broke');
		})(),
	);
	await t.throwsAsync(unpackArchive(breaking, path.join(folder, 'new'), archiveBounds), {message: 'the connection broke'});
	let pieces = 0;
	const endless = Readable.from(
		(function* () {
			yield archiveOf(raw({name: '../out'}));
			for (;;) {
				pieces++;
				yield Buffer.alloc(65_536);
			}
		})(),
	);
	await refuses(t, unpackArchive(endless, path.join(folder, 'new'), archiveBounds), invalid(/"\.\."|behind/));
	t.true(endless.destroyed);
	t.true(pieces < 100);
	t.deepEqual(readdirSync(folder), []);
});

test('a stream that stands still after what is refused is not waited for', async t => {
	const {bytes} = await packFolder(write(aFolder(t), some), archiveBounds);
	const flipped = Buffer.from(bytes).fill(255, 20, 40);
	const cases: readonly [Buffer, Refusal][] = [
		[archiveOf(raw({name: '../out', content: randomBytes(100_000)})), invalid(/"\.\."/)],
		[gzipSync(Buffer.alloc(8_000_000)), tooLarge(/more than 200 times/)],
		[flipped, invalid(/damaged one/)],
		[Buffer.from('garbage, and no archive'), invalid(/damaged one/)],
		[archiveOf(raw({name: 'a', content: 'x'}), Buffer.alloc(512, 'x')), invalid(/damaged one/)],
		[Buffer.alloc(200), tooLarge(/more than 100 bytes/)],
	];
	for (const [given, error] of cases) {
		const stream = new Readable({read: () => undefined});
		stream.push(given);
		const bounds = given.length === 200 ? {...archiveBounds, packedBytes: 100} : archiveBounds;
		await refusesArchive(t, stream, error, {about: String(error.message), bounds});
		t.true(stream.destroyed);
	}
});

test('pieces of any size make the same folder', async t => {
	const {bytes, digest} = await packFolder(write(aFolder(t), some), archiveBounds);
	for (const size of [1, 7, 511, 4_096]) {
		const to = path.join(aFolder(t), 'to');
		const pieces = Array.from({length: Math.ceil(bytes.length / size)}, (_, index) => bytes.subarray(index * size, (index + 1) * size));
		t.is((await unpackArchive(Readable.from(pieces), to, archiveBounds, digest)).entries, 6);
		t.true(existsSync(path.join(to, 'lib/data.bin')));
	}
});

test('any tree of files comes back as it was, under the same digest', async t => {
	const name = fc
		.string({unit: 'grapheme', minLength: 1, maxLength: 40})
		.map(text => text.replaceAll(/[/\0\ufffd]/g, '_'))
		.filter(text => text !== '.' && text !== '..' && !text.endsWith('.pyc') && !['.git', '__pycache__', '.DS_Store'].includes(text));
	type Tree = {readonly [name: string]: Tree | Uint8Array};
	const {tree} = fc.letrec<{tree: Tree; node: Tree | Uint8Array}>(tie => ({
		node: fc.oneof({maxDepth: 4, depthSize: 'small'}, fc.uint8Array({maxLength: 2_000}), tie('tree')),
		tree: fc.dictionary(name, tie('node'), {maxKeys: 6, noNullPrototype: true}),
	}));
	const make = (at: string, {...members}: Tree): void => {
		mkdirSync(at);
		for (const [each, content] of Object.entries(members))
			if (content instanceof Uint8Array) writeFileSync(path.join(at, each), content);
			else make(path.join(at, each), content);
	};
	const folder = aFolder(t);
	let run = 0;
	await fc.assert(
		fc.asyncProperty(tree, async drawn => {
			const at = path.join(folder, String(run++));
			make(at, drawn);
			const {bytes, digest} = await packFolder(at, archiveBounds);
			await unpackArchive(bytes, `${at}-back`, archiveBounds, digest);
			t.deepEqual(look(`${at}-back`), look(at));
			t.is((await packFolder(`${at}-back`, archiveBounds)).digest, digest);
		}),
		{numRuns: 30},
	);
});
