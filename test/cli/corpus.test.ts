// Bad input at the command line: one clear line, at its place, nothing changed, in no long time. The cases are in test/corpus.

import {execFileSync} from 'node:child_process';
import {createWriteStream} from 'node:fs';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import test from 'ava';
import {faultText} from '../../cli/manifests/faults.js';
import {readManifests} from '../../cli/manifests/manifest-files.js';
import {cases} from '../corpus/cases.js';
import {aPod} from '../server/cluster.js';
import {line} from '../../bench/rigs/command-line.js';
import {folder, openCluster} from './_rig.js';

test('every case of the corpus is refused in one line, and changes nothing', async t => {
	t.timeout(120_000);
	const {cluster, home} = await openCluster(t);
	const before = cluster.control.index.version;
	const dir = await folder(t);
	for (const {name, file, bytes, doors} of cases) {
		if (doors.cli === undefined) continue;
		const {exitCode, says} = doors.cli;
		const at = path.join(dir, file);
		await writeFile(at, bytes());
		const ran = await line(['apply', '-f', at], {home});
		t.deepEqual([ran.code, ran.out], [exitCode, ''], `${name}: ${ran.err}`);
		t.regex(ran.err, /^error: [^\n]*\n$/, name);
		t.regex(ran.err.replace('error: ', '').replaceAll(`${dir}/`, '').trimEnd(), says, name);
		t.true(ran.err.length < 1_000, name);
	}
	t.is(cluster.control.index.version, before);
});

test('a byte order mark, line ends of Windows and a pipe are as good as anything', async t => {
	const {home} = await openCluster(t);
	const dir = await folder(t);
	const yaml =
		'apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: win\r\nspec:\r\n  containers:\r\n  - {name: a, image: b, command: [c]}\r\n';
	await writeFile(path.join(dir, 'a.yaml'), `\uFEFF${yaml}`);
	t.is((await line(['apply', '-f', path.join(dir, 'a.yaml')], {home})).out, 'pod/win created\n');
	await writeFile(path.join(dir, 'b.yaml'), yaml.replace('image', 'imge'));
	t.regex((await line(['apply', '-f', path.join(dir, 'b.yaml')], {home})).err, /b\.yaml:7:15: spec\.containers\[0\]\.imge: unknown field/);
	const pipe = path.join(dir, 'pipe');
	execFileSync('mkfifo', [pipe]);
	const applied = line(['apply', '-f', pipe], {home});
	const writer = createWriteStream(pipe);
	writer.end(JSON.stringify(aPod('piped')));
	t.is((await applied).out, 'pod/piped created\n');
});

test('a pipe that nobody writes to, devices, folders and links that lead nowhere are told, each at its own', async t => {
	const dir = await folder(t);
	const at = (name: string) => path.join(dir, name);
	execFileSync('mkfifo', [at('silent')]);
	await mkdir(at('empty'));
	await mkdir(at('outer/inner'), {recursive: true});
	await writeFile(at('outer/inner/a.yaml'), 'kind: A\n');
	await symlink('loop', at('loop'));
	const read = async (names: readonly string[], recursive = false) => {
		const {faults, documents} = await readManifests(names.map(at), Readable.from([]), {silenceMs: 50, recursive});
		return [documents.length, ...faults.map(fault => faultText(fault).replaceAll(`${dir}/`, ''))];
	};
	t.deepEqual(await read(['silent', 'empty', 'loop', 'nothing', 'outer']), [
		0,
		'empty: there is no .yaml, .yml or .json file in it; -R looks into folders, too',
		'loop: too many symbolic links encountered',
		'nothing: there is no such file',
		'outer: there is no .yaml, .yml or .json file in it; -R looks into folders, too',
		'silent: nothing came from this pipe for 0.05 s',
	]);
	t.deepEqual(await read(['outer'], true), [1]);
	const {faults} = await readManifests(['/dev/zero', '/dev/urandom'], Readable.from([]));
	t.is(faults.length, 2);
	for (const fault of faults) t.regex(faultText(fault), /^\/dev\/\w+: has more than \d+ bytes$/);
	await t.throwsAsync(readManifests(['/dev/null'], Readable.from([])), {message: '/dev/null: there is no object in it'});
	await t.throwsAsync(readManifests(['https://example.invalid/a.yaml'], Readable.from([])), {message: /addresses are not read/});
});

test('all that is wrong in all files is told at once, by place, with a line that sums it up', async t => {
	const {cluster, home} = await openCluster(t);
	const before = cluster.control.index.version;
	const dir = await folder(t);
	const broken = [
		'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: nowhere-at-all}\nspec:\n  containers:\n  - {name: Main, imge: x}\n',
		'apiVersion: v1\nkind: Pood\n',
		'a: 1\na: 2\n',
		JSON.stringify(aPod('fine')),
	].join('---\n');
	await writeFile(path.join(dir, 'b.yaml'), broken);
	await writeFile(path.join(dir, 'a.json'), '{"kind": "Pod",}');
	const files = ['b.yaml', 'none.yaml', 'a.json'].flatMap(file => ['-f', path.join(dir, file)]);
	const {code, out, err} = await line(['apply', ...files], {home});
	t.deepEqual([code, out], [1, '']);
	const lines = err.replaceAll(`${dir}/`, '').trimEnd().split('\n');
	t.deepEqual(
		lines.map(each => /^error: (\S+: (?:\S+: )?)/.exec(each)?.[1] ?? each),
		[
			'b.yaml:3:21: namespaces ',
			'b.yaml:6:5: spec.containers[0].image: ',
			'b.yaml:6:6: spec.containers[0].name: ',
			'b.yaml:6:18: spec.containers[0].imge: ',
			'b.yaml:9:1: kind: ',
			'b.yaml:12:1: the ',
			'none.yaml: there ',
			'a.json:1:16: is ',
			'8 problems in 3 files; nothing was changed',
		].map(each => each.replace(/ (namespaces|the|there|is) $/, ' ')),
	);
	t.is(cluster.control.index.version, before);
});
