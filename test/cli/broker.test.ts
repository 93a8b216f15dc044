// `troupe broker config`: what it shows, what it writes and to whom, and what it leaves alone.

import {mkdir, readFile, readdir, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {brokerConfigPath, brokerFileMark} from '../../api/broker-config.js';
import {answer, folder, openScript} from './_rig.js';

const files = {conf: `# ${brokerFileMark}\nlistener 1\n`, acl: `# ${brokerFileMark}\n`, passwords: `# ${brokerFileMark}\ncontrol:x\n`};

const open = (t: ExecutionContext, more: object = {}) =>
	openScript(t, (_seen, response) => answer(response, 200, {...files, tls: false, ...more}));

const queryOf = (url = ''): Record<string, string> => Object.fromEntries(new URL(url, 'http://x').searchParams);

test('all three files are shown, each under the name it is to have', async t => {
	const {troupe, requests} = await open(t);
	const {code, out, err} = await troupe(['broker', 'config']);
	t.is(code, 0, err);
	const names = [...out.matchAll(/^==> (.*) <==$/gm)].map(([, name]) => name);
	t.deepEqual(
		names,
		['mosquitto.conf', 'acl', 'passwords'].map(name => `/etc/mosquitto/troupe/${name}`),
	);
	for (const text of Object.values(files)) t.true(out.includes(text));
	t.regex(err, /^note: mosquitto -c \/etc\/mosquitto\/troupe\/mosquitto\.conf starts the broker; .* SIGHUP: .*\n$/);
	t.regex(requests[0]?.url ?? '', new RegExp(`^${brokerConfigPath}\\?`));
	t.deepEqual(queryOf(requests[0]?.url), {folder: '/etc/mosquitto/troupe'});
});

test('a password that was made is shown once, with the place where servers find the broker', async t => {
	const {troupe, requests} = await open(t, {tls: true, controlPassword: 'made-for-this'});
	const {out, err} = await troupe(['broker', 'config', '--listen', '0.0.0.0:8883']);
	t.false(out.includes('made-for-this'));
	t.regex(err, /^note: this is the only time .*: TROUPE_BROKER=mqtts:\/\/control:made-for-this@HOST:8883 for each server/m);
	t.regex(err, /^note: it speaks TLS: .*cert\.pem and .*key\.pem$/m);
	t.deepEqual(queryOf(requests[0]?.url), {folder: '/etc/mosquitto/troupe', host: '0.0.0.0', port: '8883'});
});

test('files are written for one reader, again and again, and nothing of somebody else is replaced unasked', async t => {
	const {troupe, requests} = await open(t);
	const made = path.join(await folder(t), 'to', 'make');
	const first = await troupe(['broker', 'config', made]);
	t.is(first.code, 0, first.err);
	t.is(first.out, ['mosquitto.conf', 'acl', 'passwords'].map(name => `${path.join(made, name)} written\n`).join(''));
	t.deepEqual(queryOf(requests[0]?.url), {folder: made});
	t.is((await stat(made)).mode & 0o777, 0o700);
	for (const name of await readdir(made)) t.is((await stat(path.join(made, name))).mode & 0o777, 0o600);
	t.is((await troupe(['broker', 'config', made])).code, 0);

	const theirs = path.join(await folder(t), 'theirs');
	await mkdir(theirs);
	await writeFile(path.join(theirs, 'acl'), 'user somebody\n');
	const refused = await troupe(['broker', 'config', theirs]);
	t.is(refused.code, 1);
	t.is(refused.err, `error: ${theirs}/acl was not made by this command; --force replaces it\n`);
	t.deepEqual(await readdir(theirs), ['acl']);
	t.is((await troupe(['broker', 'config', theirs, '--force'])).code, 0);
	t.is(await readFile(path.join(theirs, 'acl'), 'utf8'), files.acl);
	t.deepEqual((await readdir(theirs)).toSorted(), ['acl', 'mosquitto.conf', 'passwords']);
});

test('what cannot be is refused in words', async t => {
	const {troupe, requests} = await open(t);
	for (const [args, message] of [
		[[], /^error: broker takes what to do, as in: troupe broker config$/m],
		[['confg'], /^error: unknown verb "confg" of broker; did you mean "config"\?$/m],
		[['config', 'a', 'b'], /^error: config takes one folder at most/m],
		[['config', '--listen', '8883'], /^error: --listen must be HOST:PORT such as 0\.0\.0\.0:8883, got "8883"$/m],
		[['config', '--listen', 'h:0'], /^error: --listen must be HOST:PORT/m],
	] as const) {
		const {code, err} = await troupe(['broker', ...args]);
		t.is(code, 2);
		t.regex(err, message);
	}
	t.is(requests.length, 0);
	const file = path.join(await folder(t), 'file');
	await writeFile(file, '');
	const {code, err} = await troupe(['broker', 'config', path.join(file, 'under')]);
	t.is(code, 1);
	t.regex(err, /^error: .*file\/under.* cannot be (read|written): /m);
});
