import {execFile, spawn} from 'node:child_process';
import {copyFile, mkdir, readFile, rm, symlink, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {folder} from './_rig.js';
import type {Ran} from '../../bench/rigs/command-line.js';

const root = path.resolve(import.meta.dirname, '../../..');
const lock = (version: string) => ({
	lockfileVersion: 3,
	packages: {
		'': {name: 'x'},
		'node_modules/a': {version, integrity: 'i'},
		'node_modules/other-system': {version: '1', integrity: 'j', optional: true},
	},
});

/** npm, tsc and the validators' compiler, each writing down that it ran. */
const npm = `
const fs = require('fs');
fs.appendFileSync('ran', 'npm ' + process.argv.slice(2).join(' ') + '\\n');
if (fs.existsSync('npm-fails')) process.exit(7);
fs.rmSync('node_modules', {recursive: true, force: true});
fs.mkdirSync('node_modules/typescript/bin', {recursive: true});
fs.copyFileSync('fake-tsc.js', 'node_modules/typescript/bin/tsc');
const {packages} = JSON.parse(fs.readFileSync('package-lock.json'));
fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({packages: {'node_modules/a': packages['node_modules/a']}}));
`;
const tsc = `
const fs = require('fs');
fs.appendFileSync('ran', 'tsc\\n');
if (fs.existsSync('tsc-fails')) process.exit(2);
fs.mkdirSync('build/cli/prepare', {recursive: true});
for (const name of ['main', 'extra']) if (fs.existsSync('cli/' + name + '.ts')) fs.writeFileSync('build/cli/' + name + '.js', '');
fs.writeFileSync('build/cli/prepare/compile-validators.js', "require('fs').appendFileSync('ran', 'validators\\\\n')");
`;

/** A clone in small, with nothing installed and nothing built. */
async function clone(t: ExecutionContext) {
	const dir = await folder(t);
	await mkdir(path.join(dir, 'cli/prepare'), {recursive: true});
	for (const name of ['prepare.cjs', 'node-version.cjs'])
		await copyFile(path.join(root, 'cli/prepare', name), path.join(dir, 'cli/prepare', name));
	await writeFile(path.join(dir, 'package.json'), '{}');
	await writeFile(path.join(dir, 'tsconfig.json'), '{}');
	await writeFile(path.join(dir, 'package-lock.json'), JSON.stringify(lock('1.0.0')));
	await writeFile(path.join(dir, 'cli/main.ts'), '');
	await writeFile(path.join(dir, 'fake-npm.js'), npm);
	await writeFile(path.join(dir, 'fake-tsc.js'), tsc);
	const at = (name: string) => path.join(dir, name);
	return {
		at,
		prepare: (): Promise<Ran> =>
			execute(process.execPath, [at('cli/prepare/prepare.cjs')], {
				cwd: '/',
				env: {PATH: process.env['PATH'], npm_execpath: at('fake-npm.js'), NODE_ENV: 'production'},
			}),
		/** What ran since the last look. */
		ran: async (): Promise<string[]> => {
			const text = await readFile(at('ran'), 'utf8').catch(() => '');
			await rm(at('ran'), {force: true});
			return text.split('\n').filter(line => line !== '');
		},
	};
}

function execute(program: string, args: readonly string[], options: {cwd: string; env: NodeJS.ProcessEnv}): Promise<Ran> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, options);
		let out = '';
		let err = '';
		child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
		child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
		child.once('error', reject);
		child.once('close', code => resolve({code, out, err}));
	});
}

const install = 'npm ci --include=dev --prefer-offline --no-audit --no-fund';

test('a fresh clone is installed and built, and the second time nothing is done', async t => {
	const {prepare, ran} = await clone(t);
	const {code, out} = await prepare();
	t.is(code, 0);
	t.is(out, 'installing the packages of package-lock.json (npm ci)\nbuilding (tsc)\ncompiling the validators\n');
	t.deepEqual(await ran(), [install, 'tsc', 'validators']);
	t.deepEqual(await prepare(), {code: 0, out: '', err: ''});
	t.deepEqual(await ran(), []);
});

test('packages that somebody else installed rightly are not installed again', async t => {
	const {prepare, ran, at} = await clone(t);
	await prepare();
	await rm(at('node_modules/.troupe-stamp'));
	await ran();
	t.deepEqual(await prepare(), {code: 0, out: '', err: ''});
	t.deepEqual(await ran(), []);
});

test('a changed lock file is installed, and built with', async t => {
	const {prepare, ran, at} = await clone(t);
	await prepare();
	await ran();
	await writeFile(at('package-lock.json'), JSON.stringify(lock('1.0.1')));
	t.is((await prepare()).code, 0);
	t.deepEqual(await ran(), [install, 'tsc', 'validators']);
});

test('a changed, a new and a removed source are built, and leave no leftovers', async t => {
	const {prepare, ran, at} = await clone(t);
	await prepare();
	await ran();
	await utimes(at('cli/main.ts'), 1, 1);
	await prepare();
	t.deepEqual(await ran(), ['tsc', 'validators']);
	await writeFile(at('cli/extra.ts'), '');
	await prepare();
	t.deepEqual(await ran(), ['tsc', 'validators']);
	await rm(at('cli/extra.ts'));
	await prepare();
	t.deepEqual(await ran(), ['tsc', 'validators']);
	await t.throwsAsync(readFile(at('build/cli/extra.js')), {code: 'ENOENT'});
});

test('failures are handed on, and tried again the next time', async t => {
	const {prepare, ran, at} = await clone(t);
	await writeFile(at('npm-fails'), '');
	const failed = await prepare();
	t.deepEqual([failed.code, failed.err], [7, 'error: npm ci failed: exit code 7\n']);
	await rm(at('npm-fails'));
	await writeFile(at('tsc-fails'), '');
	const broken = await prepare();
	t.deepEqual([broken.code, broken.err], [2, 'error: tsc failed: exit code 2\n']);
	await rm(at('tsc-fails'));
	await ran();
	t.is((await prepare()).code, 0);
	t.deepEqual(await ran(), ['tsc', 'validators']);
});

test('two at once take turns, and the work is done once', async t => {
	const {prepare, ran} = await clone(t);
	const results = await Promise.all([prepare(), prepare(), prepare()]);
	t.deepEqual(
		results.map(({code, err}) => [code, err]),
		[
			[0, ''],
			[0, ''],
			[0, ''],
		],
	);
	t.deepEqual(await ran(), [install, 'tsc', 'validators']);
});

test('a Node that is too old is refused in one line that says how to get a newer one', async t => {
	const file = path.join(root, 'cli/prepare/node-version.cjs');
	const pretend = `Object.defineProperty(process, 'versions', {value: {node: '18.20.4'}}); require(${JSON.stringify(file)})`;
	const {code, out, err} = await execute(process.execPath, ['-e', pretend], {cwd: '/', env: {}});
	t.deepEqual([code, out], [1, '']);
	t.regex(
		err,
		/^error: troupe needs Node 20\.19 or newer, this is 18\.20\.4; get a newer one from https:\/\/nodejs\.org\S+, or with .+\n$/,
	);
	const {isOldNode} = (await import(file)) as {isOldNode: (version: string) => boolean};
	const versions = {'20.19.0': false, '20.18.3': true, '12.22.0': true, '22.0.0': false, '24.1.0': false, '8.0.0': true};
	for (const [version, isOld] of Object.entries(versions)) t.is(isOldNode(version), isOld, version);
});

/** Words of the language that a Node of ten years ago cannot parse. */
const modern = /=>|`|\b(?:const|let|async|await|class)\b|\?\.|\?\?/;

test('what runs before the version is known is plain old JavaScript', async t => {
	for (const name of ['prepare.cjs', 'node-version.cjs']) {
		const source = await readFile(path.join(root, 'cli/prepare', name), 'utf8');
		const code = source.replace(/'[^'\n]*'|\/\*[\s\S]*?\*\/|\/\/.*/g, '');
		t.notRegex(code, modern, name);
	}
});

test('the launcher works through symlinks, from anywhere, and says when nothing is built', async t => {
	const dir = await folder(t);
	await mkdir(path.join(dir, 'clone with space/build/cli'), {recursive: true});
	await mkdir(path.join(dir, 'clone with space/cli/prepare'), {recursive: true});
	const clonePath = path.join(dir, 'clone with space');
	await copyFile(path.join(root, 'troupe'), path.join(clonePath, 'troupe'));
	await copyFile(path.join(root, 'cli/prepare/node-version.cjs'), path.join(clonePath, 'cli/prepare/node-version.cjs'));
	await symlink('clone with space/troupe', path.join(dir, 'first'));
	await symlink(path.join(dir, 'first'), path.join(dir, 'second'));
	const launch = promisify(execFile);
	const notBuilt = await t.throwsAsync<Error & {code: number; stderr: string}>(launch(path.join(dir, 'second')));
	t.is(notBuilt.code, 1);
	t.regex(notBuilt.stderr, /^error: troupe is not built yet; run npm start or npm run build in .*clone with space first\n$/);
	await writeFile(path.join(clonePath, 'build/cli/main.js'), 'console.log(JSON.stringify(process.argv.slice(2)))');
	for (const [file, cwd] of [
		[path.join(dir, 'second'), '/'],
		['./troupe', clonePath],
		['./first', dir],
		['../troupe', path.join(clonePath, 'cli')],
	] as const) {
		const {stdout} = await launch(file, ['get', '--', '-x y', '$HOME'], {cwd});
		t.deepEqual(JSON.parse(stdout), ['get', '--', '-x y', '$HOME']);
	}
});
