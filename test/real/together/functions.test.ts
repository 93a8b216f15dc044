// Functions in Python in a cluster: dialect A's form, by the command, by curl, and many at once of one that is at rest.

import {execFile} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {call, valueOf} from '../../e2e/_functions.js';
import {openFileHome} from '../../e2e/_rig.js';

const run = promisify(execFile);
const {cluster} = openFileHome(test);

test.serial('dialect A: a folder with func.py is uploaded, and called by the command and by curl', async t => {
	const folder = path.join(cluster.folder, 'example-1');
	mkdirSync(folder);
	writeFileSync(path.join(folder, 'func.py'), 'def main(params):\n    return {"sum": params["x"] + params["y"]}\n');
	const manifest = path.join(cluster.folder, 'function.yaml');
	writeFileSync(manifest, `apiVersion: v1\nkind: Function\nmetadata: {name: add}\nspec: {userUploadFilePath: ${JSON.stringify(folder)}}\n`);
	t.regex(await cluster.fine('apply', '-f', manifest), /function\.troupe\.dev\/add created/);
	t.is(await cluster.fine('execute', 'default/add', '{"x": 1, "y": 2}'), '{"sum":3}\n');
	const url = `${cluster.endpoints().web}/functions/default/add`;
	const {stdout} = await run('curl', ['-s', '-H', `Authorization: Bearer ${cluster.token()}`, url, '-d', '{"x": 20, "y": 22}']);
	t.deepEqual(JSON.parse(stdout), {sum: 42});
	const failed = await cluster.troupe('execute', 'add', '{}');
	t.is(failed.code, 1);
	t.regex(failed.err, /Traceback.*func\.py", line 2.*KeyError: 'x'/s);
});

test.serial('200 calls at once of a function at rest: 200 right answers', async t => {
	const folder = path.join(cluster.folder, 'double');
	mkdirSync(folder);
	writeFileSync(path.join(folder, 'func.py'), 'def main(params):\n    return {"n": 2 * params["n"]}\n');
	const manifest = path.join(cluster.folder, 'double.yaml');
	writeFileSync(manifest, 'apiVersion: troupe.dev/v1\nkind: Function\nmetadata: {name: double}\nspec: {userUploadFilePath: double}\n');
	await cluster.fine('apply', '-f', manifest);
	const answers = await Promise.all(Array.from({length: 200}, (_, n) => call(cluster, 'double', {n})));
	t.deepEqual(
		answers.map(valueOf),
		Array.from({length: 200}, (_, n) => ({n: 2 * n})),
	);
});
