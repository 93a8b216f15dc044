// `--install`: what requirements.txt or package.json names is installed by the real pip and npm, from packages on this disk, into a copy of the folder.

import {execFile} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {Readable} from 'node:stream';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {hexOfDigest} from '../../api/function-instance.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {isAlive} from '../../cli/files/processes.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {unpackArchive} from '../../system/archive/unpack.js';
import {folder, openCluster, run} from './_rig.js';

const execute = promisify(execFile);

/** A wheel is an archive of a module and of what is said of it: PEP 427. */
const wheel = `
import sys, zipfile
name = "greet-1.0"
with zipfile.ZipFile(sys.argv[1] + "/" + name + "-py3-none-any.whl", "w") as archive:
    archive.writestr("greet.py", "def greeting(name): return 'Hello, ' + name")
    archive.writestr(name + ".dist-info/METADATA", "Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n")
    archive.writestr(name + ".dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr(name + ".dist-info/RECORD", "greet.py,,\\n" + name + ".dist-info/METADATA,,\\n" + name + ".dist-info/WHEEL,,\\n" + name + ".dist-info/RECORD,,\\n")
`;

type Files = Readonly<Record<string, string>>;

const nodeFiles: Files = {
	'func.mjs': "import {greeting} from 'greeter';\nexport default ({name}) => greeting(name);\n",
	'package.json': JSON.stringify({name: 'hello', private: true, dependencies: {greeter: 'file:./greeter'}}),
	'greeter/package.json': JSON.stringify({name: 'greeter', version: '1.0.0', type: 'module', main: 'index.js', bin: 'index.js'}),
	'greeter/index.js': "export const greeting = name => 'Hello, ' + name;\n",
};

async function pythonFiles(dir: string): Promise<Files> {
	mkdirSync(path.join(dir, 'wheels'));
	await execute('python3', ['-c', wheel, path.join(dir, 'wheels')]);
	return {
		'func.py': 'import greet\n\ndef main(params):\n    return greet.greeting(params["name"])\n',
		'requirements.txt': `--no-index\n--find-links ${path.join(dir, 'wheels')}\ngreet\n`,
	};
}

/** A folder `hello` with these files, a manifest beside it, and an empty one for temporary files. */
async function opened(t: ExecutionContext, filesIn: (dir: string) => Files | Promise<Files>) {
	const dir = await folder(t);
	const files = await filesIn(dir);
	const place = (name: string): string => path.join(dir, name);
	for (const [name, text] of Object.entries(files)) {
		mkdirSync(path.dirname(place(`hello/${name}`)), {recursive: true});
		writeFileSync(place(`hello/${name}`), text);
	}
	mkdirSync(place('tmp'));
	writeFileSync(
		place('hello.yaml'),
		'apiVersion: troupe.dev/v1\nkind: Function\nmetadata: {name: hello}\nspec: {userUploadFilePath: hello}\n',
	);
	const namesIn = (name: string): readonly string[] => readdirSync(place(name), {recursive: true, encoding: 'utf8'}).sort();
	return {
		dir,
		place,
		namesIn,
		around: {
			cwd: dir,
			env: {TMPDIR: place('tmp'), npm_config_cache: place('npm'), npm_config_update_notifier: 'false', PIP_CACHE_DIR: place('pip')},
		},
	};
}

for (const [language, filesIn, installed] of [
	['python', pythonFiles, 'site-packages/greet.py'],
	['nodejs', () => nodeFiles, 'node_modules/greeter/index.js'],
] as const) {
	test(`apply --install uploads code of ${language} with what it requires, and leaves its folder as it was`, async t => {
		const {cluster, artifacts, start: begin} = await openCluster(t);
		const {place, namesIn, around} = await opened(t, filesIn);
		const before = namesIn('hello');
		const {code, out, err} = await begin(['apply', '--install', '-f', 'hello.yaml'], around).ended;
		t.deepEqual([code, out], [0, 'function.troupe.dev/hello created\n'], err);
		t.regex(
			err,
			/^installing what hello\/(requirements\.txt|package\.json) names: (python3 -m pip|npm) install .*\n[^]*\nuploaded hello\/ \(/,
		);
		t.deepEqual(namesIn('hello'), before);
		t.deepEqual(namesIn('tmp'), []);
		const digest = (cluster.control.index.get('functions/default/hello') as FunctionObject).spec?.artifact ?? '';
		const read = artifacts.store.read(digest);
		t.not(read, undefined, hexOfDigest(digest));
		await unpackArchive(Readable.from(read ?? []), place('unpacked'), archiveBounds, digest);
		t.true(namesIn('unpacked').includes(installed), namesIn('unpacked').join('\n'));
		t.regex((await begin(['apply', '--install', '-f', 'hello.yaml'], around).ended).out, /unchanged/, 'the same makes the same');
		t.is((await begin(['diff', '--install', '-f', 'hello.yaml'], around).ended).code, 0);
	});

	test(`function run --install calls code of ${language} with what it requires`, async t => {
		const {namesIn, around, dir} = await opened(t, filesIn);
		const {code, out, err} = await run(t, ['function', 'run', '--install', 'hello', '{"name": "Ada"}'], {home: dir, ...around});
		t.deepEqual([code, out], [0, '"Hello, Ada"\n'], err);
		t.deepEqual(namesIn('tmp'), []);
	});
}

test('what cannot be installed is told by pip itself, and nothing is uploaded or changed', async t => {
	const {cluster, artifacts, start: begin} = await openCluster(t);
	const {namesIn, around} = await opened(t, async dir => ({
		...(await pythonFiles(dir)),
		'requirements.txt': '--no-index\nno-such-package\n',
	}));
	const version = cluster.control.index.version;
	for (const words of [['apply'], ['create'], ['apply', '--dry-run=client']]) {
		const {code, out, err} = await begin([...words, '--install', '-f', 'hello.yaml'], around).ended;
		t.deepEqual([code, out], [1, '']);
		t.regex(
			err,
			/No matching distribution found for no-such-package[^]*\nerror: what hello\/requirements\.txt names was not installed: python3 -m pip ended with exit code 1; nothing was changed\n$/,
		);
	}
	t.deepEqual([artifacts.store.list(), cluster.control.index.version, namesIn('tmp')], [[], version, []]);
});

test('a lockfile is obeyed by npm ci, and one that does not fit is refused', async t => {
	const {around, dir} = await opened(t, () => ({
		...nodeFiles,
		'package-lock.json': '{"name": "hello", "lockfileVersion": 3, "packages": {}}',
	}));
	const {code, err} = await run(t, ['function', 'run', '--install', 'hello'], {home: dir, ...around});
	t.is(code, 1);
	t.regex(err, /^installing what hello\/package\.json names: npm ci --omit=dev /);
	t.regex(
		err,
		/can only install packages when your package\.json[^]*\nerror: what hello\/package\.json names was not installed: npm ci --omit=dev ended with/,
	);
});

test('a folder that requires nothing is packed as it is, and a program that is missing is named', async t => {
	const {around, dir} = await opened(t, () => ({'func.mjs': 'export default () => 1;\n'}));
	t.deepEqual(await run(t, ['function', 'run', '--install', 'hello'], {home: dir, ...around}), {code: 0, out: '1\n', err: ''});
	const other = await opened(t, () => nodeFiles);
	const env = {...other.around.env, PATH: '/nonexistent'};
	const {code, err} = await run(t, ['function', 'run', '--install', 'hello'], {home: other.dir, ...other.around, env});
	t.is(code, 1);
	t.regex(
		err,
		/\nerror: what hello\/package\.json names was not installed: npm install --omit=dev cannot be started: there is no such program in PATH\n$/,
	);
});

for (const [signal, exitCode] of [
	['SIGINT', 130],
	['SIGTERM', 143],
] as const) {
	test(`${signal} ends an installation with all that it has begun, and nothing is left or changed`, async t => {
		const {cluster, artifacts, start: begin} = await openCluster(t);
		const {place, namesIn, around} = await opened(t, dir => ({
			...nodeFiles,
			'package.json': JSON.stringify({name: 'hello', scripts: {preinstall: `echo $$ > ${path.join(dir, 'pid')}; exec sleep 1000`}}),
		}));
		const version = cluster.control.index.version;
		const command = begin(['apply', '--install', '-f', 'hello.yaml'], around);
		const pidNow = (): number => Number(readFileSync(place('pid'), {encoding: 'utf8', flag: 'a+'}));
		await eventually('npm runs a script', () => pidNow() > 0);
		command.kill(signal);
		t.is((await command.ended).code, exitCode);
		await eventually('the script has ended', () => !isAlive(pidNow()));
		t.deepEqual([artifacts.store.list(), cluster.control.index.version, namesIn('tmp')], [[], version, []]);
	});
}
