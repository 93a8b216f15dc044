// `troupe apply` and its kin with Functions: what is packed, uploaded, refused and left alone.

import {mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {FunctionObject} from '../../api/kinds/function.js';
import {folder, openCluster} from './_rig.js';

async function opened(t: ExecutionContext) {
	const cluster = await openCluster(t);
	const dir = await folder(t);
	const write = (name: string, text: string): string => {
		const file = path.join(dir, name);
		mkdirSync(path.dirname(file), {recursive: true});
		writeFileSync(file, text);
		return file;
	};
	const ran = async (...args: readonly string[]) => {
		const {code, out, err} = await cluster.troupe(args);
		return {code, out, err: err.replaceAll(`${dir}/`, '')};
	};
	const specOf = (name: string) => (cluster.cluster.control.index.get(`functions/default/${name}`) as FunctionObject | undefined)?.spec;
	write('hello/func.py', 'def main(params):\n    return 1\n');
	return {...cluster, dir, write, ran, specOf};
}

const manifest = (name: string, ...lines: readonly string[]): string =>
	['apiVersion: troupe.dev/v1', 'kind: Function', 'metadata:', `  name: ${name}`, 'spec:', ...lines.map(line => `  ${line}`), ''].join(
		'\n',
	);

const hello = manifest('hello', 'userUploadFilePath: hello');

test('the folder of a Function is uploaded beside its manifest, once, and again when it is another one', async t => {
	const {write, ran, specOf, artifacts} = await opened(t);
	const file = write('hello.yaml', hello);
	t.deepEqual(await ran('apply', '-f', file), {
		code: 0,
		out: 'function.troupe.dev/hello created\n',
		err: 'uploaded hello/ (1 kB) for function "hello"\n',
	});
	const [first] = artifacts.store.list();
	t.like(specOf('hello'), {userUploadFilePath: 'hello', artifact: first?.digest, runtime: 'python'});
	t.deepEqual(await ran('apply', '-f', file), {code: 0, out: 'function.troupe.dev/hello unchanged\n', err: ''});
	t.is((await ran('diff', '-f', file)).code, 0);

	write('hello/func.py', 'def main(params):\n    return 2\n');
	const different = await ran('diff', '-f', file);
	t.deepEqual([different.code, different.err], [1, '']);
	t.regex(different.out, /-\s+artifact: sha256:\w+\n\+\s+artifact: sha256:\w+\n/);
	t.is(artifacts.store.list().length, 1, 'diff uploads nothing');
	t.is((await ran('apply', '-f', file)).out, 'function.troupe.dev/hello configured\n');
	t.is(artifacts.store.list().length, 2);
	t.not(specOf('hello')?.artifact, first?.digest);
});

test('a folder with a program is uploaded as it is, and a program without a folder has nothing to upload', async t => {
	const {write, ran, specOf, artifacts} = await opened(t);
	write('served/serve', '#!/bin/sh\n');
	const file = write('served.yaml', manifest('served', 'userUploadFilePath: served', 'command: [./serve]'));
	t.is((await ran('apply', '-f', file)).err, 'uploaded served/ (1 kB) for function "served"\n');
	t.like(specOf('served'), {artifact: artifacts.store.list()[0]?.digest, command: ['./serve'], runtime: undefined});
	const bare = write('bare.yaml', manifest('bare', 'command: [python3, -m, http.server]'));
	t.deepEqual(await ran('apply', '-f', bare), {code: 0, out: 'function.troupe.dev/bare created\n', err: ''});
	t.is(specOf('bare')?.artifact, undefined);
});

test('create and replace upload the code of a Function, too', async t => {
	const {write, ran, specOf} = await opened(t);
	const file = write('hello.yaml', hello);
	t.is((await ran('create', '-f', file)).err, 'uploaded hello/ (1 kB) for function "hello"\n');
	const before = specOf('hello')?.artifact;
	rmSync(path.join(path.dirname(file), 'hello/func.py'));
	write('hello/func.mjs', 'export default () => 1;\n');
	t.is((await ran('replace', '-f', file)).err, 'uploaded hello/ (1 kB) for function "hello"\n');
	t.is(specOf('hello')?.runtime, 'nodejs');
	t.not(specOf('hello')?.artifact, before);
});

test('a dry run packs the code of a Function, and uploads nothing', async t => {
	const {write, ran, specOf, artifacts} = await opened(t);
	const file = write('hello.yaml', hello);
	for (const how of ['client', 'server']) {
		const {code, out, err} = await ran('apply', '-f', file, `--dry-run=${how}`, '-o', 'json');
		t.deepEqual([code, err], [0, '']);
		t.regex(out, /"artifact": "sha256:[0-9a-f]{64}"/);
	}
	t.deepEqual([artifacts.store.list(), specOf('hello')], [[], undefined]);
});

test('folders of Functions that are not right are told by file, line and field, all of them, and nothing is changed', async t => {
	const {write, ran, dir, artifacts, cluster} = await opened(t);
	write('empty/notes', '');
	write('both/func.py', '');
	write('both/func.js', '');
	write('linked/func.py', '');
	symlinkSync('/etc/passwd', path.join(dir, 'linked/a'));
	symlinkSync('/etc/passwd', path.join(dir, 'linked/b'));
	const broken = ['missing', 'empty', 'both', 'linked'].map(name => manifest(name, `userUploadFilePath: ${name}`));
	const file = write('all.yaml', [hello, ...broken, manifest('other', 'runtime: nodejs', 'userUploadFilePath: hello')].join('---\n'));
	const version = cluster.control.index.version;
	const {code, out, err} = await ran('apply', '-f', file);
	t.deepEqual([code, out], [1, '']);
	const field = 'spec.userUploadFilePath';
	t.is(
		err,
		[
			`error: all.yaml:13:3: ${field}: "missing" is no folder`,
			`error: all.yaml:20:3: ${field}: empty: there is no func.py or func.mjs or func.js in it`,
			`error: all.yaml:27:3: ${field}: both: has func.py or func.mjs or func.js; spec.runtime says which one is called`,
			`error: all.yaml:34:3: ${field}: "a" is a symbolic link, and an archive has none: put a copy of what it leads to in its place`,
			`error: all.yaml:34:3: ${field}: "b" is a symbolic link, and an archive has none: put a copy of what it leads to in its place`,
			`error: all.yaml:42:3: ${field}: hello: there is no func.mjs or func.js in it`,
			'6 problems in 1 file; nothing was changed',
			'',
		].join('\n'),
	);
	t.deepEqual([artifacts.store.list(), cluster.control.index.version], [[], version]);
});

test('what is wrong with another object keeps the code of a Function from being uploaded', async t => {
	const {write, ran, artifacts} = await opened(t);
	const file = write('all.yaml', `${hello}---\n${manifest('wrong', 'userUploadFilePath: hello', 'max: 0')}`);
	const {code, err} = await ran('apply', '-f', file);
	t.is(code, 1);
	t.regex(err, /spec\.max/);
	t.deepEqual(artifacts.store.list(), []);
	for (const line of ['runtime: ruby', 'userUploadFilePath: 7', 'userUploadFilePath: ""']) {
		const lines = line.startsWith('runtime') ? [line, 'userUploadFilePath: hello'] : [line];
		t.is((await ran('apply', '-f', write('one.yaml', manifest('one', ...lines)))).code, 1, line);
	}
});

test('a Function that names its artifact and no folder is left alone, and a folder wins over an artifact', async t => {
	const {write, ran, specOf, artifacts} = await opened(t);
	const artifact = `sha256:${'a'.repeat(64)}`;
	const named = await ran('apply', '-f', write('named.yaml', manifest('named', `artifact: ${artifact}`, 'runtime: python')));
	t.deepEqual([named.code, named.err], [0, '']);
	t.like(specOf('named'), {artifact, runtime: 'python'});
	t.deepEqual(artifacts.store.list(), []);
	t.is((await ran('apply', '-f', write('both.yaml', manifest('both', `artifact: ${artifact}`, 'userUploadFilePath: ./hello/')))).code, 0);
	t.is(specOf('both')?.artifact, artifacts.store.list()[0]?.digest);
});

test('code that the cluster does not take is told where it is named, and nothing is changed', async t => {
	const {write, ran, specOf, artifacts} = await opened(t);
	artifacts.takes(0);
	const {code, out, err} = await ran('apply', '-f', write('hello.yaml', hello));
	t.deepEqual([code, out, specOf('hello')], [1, '', undefined]);
	t.regex(
		err,
		/^error: hello\.yaml:6:3: spec\.userUploadFilePath: .*the disk is full\nerror: nothing was changed: the files of function "hello"/,
	);
});

test('a manifest from stdin names a folder from where the command stands', async t => {
	const {dir, troupe, specOf} = await opened(t);
	const {code, err} = await troupe(['apply', '-f', '-'], {cwd: dir, input: hello});
	t.deepEqual([code, err], [0, 'uploaded hello/ (1 kB) for function "hello"\n']);
	t.is(specOf('hello')?.runtime, 'python');
});
