// A kubeconfig that somebody edited: what is wrong in it is told, and is nobody's bug.

import {execFileSync} from 'node:child_process';
import {closeSync, constants, openSync} from 'node:fs';
import {symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {readConnection} from '../../cli/cluster/kubeconfig.js';
import {folder} from './_rig.js';

const cluster = 'clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]';
const context = 'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]';

test('a kubeconfig that makes no sense is told by its file and entry', async t => {
	const file = path.join(await folder(t), 'kubeconfig');
	for (const [text, says] of [
		['rubbish', /is not a kubeconfig: it must be a mapping$/],
		['{"a":', /is not a kubeconfig: /],
		['a: [', /is not a kubeconfig: /],
		['', /is not a kubeconfig: it must be a mapping$/],
		['current-context: a\ncontexts:\n-\n', /has no entry "a" under contexts$/],
		[`${context}\nusers: [{name: u, user: {}}]\nclusters: {}`, /has no entry "c" under clusters$/],
		[`${context}\nusers: [null]\n${cluster}`, /has no entry "u" under users$/],
		[`${context}\nusers: [{name: u, user: {token: "a\\nb"}}]\n${cluster}`, /the token of the user holds characters that no token has$/],
		[
			`${context}\nusers: [{name: u, user: {}}]\nclusters: [{name: c, cluster: {server: nowhere}}]`,
			/server must be an https URL, got "nowhere"$/,
		],
	] as const) {
		await writeFile(file, text);
		const sources = {flag: file, fromEnvironment: undefined, ofHome: file};
		const error = await t.throwsAsync(readConnection(sources), {code: 'ERR_USAGE', message: says}, text);
		t.true(error?.message.startsWith(file), text);
	}
	await writeFile(
		file,
		`${context}\nusers: [{name: u, user: {token: t}}]\nclusters: [{name: c, cluster: {server: "https://h:1", extensions: [null]}}]`,
	);
	t.like(await readConnection({flag: file, fromEnvironment: undefined, ofHome: file}), {token: 't', others: []});
});

test('a kubeconfig that the system does not let be looked at is told by its file', async t => {
	const file = path.join(await folder(t), 'kubeconfig');
	await symlink(file, file);
	const sources = {flag: file, fromEnvironment: undefined, ofHome: file};
	await t.throwsAsync(readConnection(sources), {code: 'ERR_USAGE', message: /kubeconfig cannot be read: ELOOP/});
});

test('a pipe that nobody writes to holds nobody up for long; what comes from one is read', async t => {
	const file = path.join(await folder(t), 'pipe');
	execFileSync('mkfifo', [file]);
	const sources = {flag: undefined, fromEnvironment: file, ofHome: file};
	await t.throwsAsync(readConnection(sources, 20), {code: 'ERR_USAGE'}, 'no writer');
	const writer = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
	await t.throwsAsync(readConnection(sources, 20), {code: 'ERR_USAGE', message: /cannot be read: nothing came from this pipe/});
	const read = readConnection(sources);
	await writeFile(file, `${context}\nusers: [{name: u, user: {token: t}}]\n${cluster}`);
	closeSync(writer);
	t.like(await read, {token: 't'});
	await writeFile(`${file}.yaml`, `${context}\nusers: [{name: u, user: {tokenFile: pipe}}]\n${cluster}`);
	await t.throwsAsync(readConnection({...sources, flag: `${file}.yaml`}), {code: 'ERR_USAGE', message: /names pipe, which is no file$/});
});
