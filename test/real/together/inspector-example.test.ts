// The inspector of examples/: 50 lines of Python that know nothing but docs/topics.md, on a real cluster.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {tokensPath, type TokenAnswer} from '../../../api/join.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {openHome} from '../../e2e/_rig.js';

const program = path.resolve(import.meta.dirname, '../../../../examples/inspector/inspect.py');
/** Debian's own, for which test/real/setup installs the library. */
const python = '/usr/bin/python3';

test('an inspector of at most 50 lines in Python looks at running actors, and is told what it may not do', async t => {
	t.true(readFileSync(program, 'utf8').trimEnd().split('\n').length <= 50);
	const cluster = openHome(t);
	await cluster.up();
	await cluster.apply(podOf('web', ['sleep', '100000']));
	await pidsWhenRunning(await cluster.client(), 'web');
	const client = await cluster.client();
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {name: 'eve', role: 'view'}})) as TokenAnswer;
	const own = {TROUPE_MQTT: new URL(cluster.endpoints().mqtt).host, TROUPE_LOGIN: 'eve', TROUPE_TOKEN: token};
	const runWith = (env: {readonly [name: string]: string}, ...words: readonly string[]) =>
		cluster.startProgram(python, [program, ...words], {...own, ...env}).ended;
	const run = (...words: readonly string[]) => runWith({}, ...words);

	const systems = await run();
	t.is(systems.code, 0, systems.err);
	t.regex(systems.out, /"name": "control"[^]*"name": "vm"/);
	t.regex((await run('tree')).out, /^troupe:\/\/control\/[^]*^ {4}default\.web +[^]*^troupe:\/\/vm\//m);
	t.regex((await run('state', 'control/pods/default.web', 'at=["object", "metadata", "name"]')).out, /"state": "web"/);
	t.regex((await run('links', 'vm/pods/default.web')).out, /"childCount": \d/);
	const refused = await run('kill', 'control/scheduler');
	t.is(refused.code, 1);
	t.regex(refused.err, /^error: User "eve" cannot kill actors: that needs the role admin, and it has view$/m);
	const tracing = run('trace', 'filter={"places": ["*/pods"]}', 'count=1');
	let isOver = false;
	void tracing.finally(() => (isOver = true));
	for (let count = 0; !isOver; count++) await cluster.fine('label', 'pod', 'web', `count=${count}`, '--overwrite');
	const traced = await tracing;
	t.is(traced.code, 0, traced.err);
	t.regex(traced.out, /^\d+ troupe:\/\/(control|vm)\/pods(\/default\.web\S*)? \{/m);
	const told = [
		[
			await runWith({TROUPE_TOKEN: 'wrong'}),
			/^error: 127\.0\.0\.1 refuses the login eve: .*bad user name or password.*\(TROUPE_LOGIN, TROUPE_TOKEN\)$/m,
		],
		[await runWith({TROUPE_MQTT: '127.0.0.1:1'}), /^error: ConnectionRefusedError: .* \(--help says what it takes\)$/m],
		[await run('tree', 'depth=x'), /^error: JSONDecodeError: /m],
	] as const;
	for (const [{code, err}, said] of told) {
		t.is(code, 1);
		t.regex(err, said);
	}
	const help = await run('--help');
	t.is(help.code, 0);
	for (const name of Object.keys(own)) t.true(help.out.includes(name), name);
	t.regex((await run('stat')).err, /did you mean "state"/);
	const lines = readFileSync(path.join(cluster.home, 'audit-refused.log'), 'utf8').trim().split('\n');
	t.like(JSON.parse(lines[0] ?? '') as object, {
		login: 'eve',
		door: 'mqtt',
		verb: 'kill',
		place: 'control/scheduler',
		outcome: 'ERR_FORBIDDEN',
	});
	t.is(lines.length, 1);
});
