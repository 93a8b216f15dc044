// Functions in a cluster: uploaded, called at every door, on as many instances as their calls need, replaced without a lost call.

import {request} from 'node:http';
import {readFileSync} from 'node:fs';
import test from 'ava';
import {parsedJson} from '../../api/value-or.js';
import type {FunctionFigures, FunctionsAnswer} from '../../api/function-figures.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Pod} from '../../api/kinds/pod.js';
import {containerOf, pidOf as hostPidOf} from '../../bench/rigs/cluster/pods.js';
import {signal} from '../../bench/rigs/cluster/processes.js';
import {eventually, followObjects, type Following} from '../../bench/rigs/cluster/waiting.js';
import {call as callOf, deploy as deployTo, manifestOf, valueOf, type Answer, type CallOptions} from './_functions.js';
import {openFileHome} from './_rig.js';

const {cluster, client} = openFileHome(test);

const deploy = (name: string, code: string, spec: object = {}): Promise<string> => deployTo(cluster, name, code, spec);
const call = (name: string, body: unknown, options: CallOptions = {}): Promise<Answer> => callOf(cluster, name, body, options);

const statusOf = (functions: Following, name: string): FunctionObject['status'] =>
	(functions.objects.get(name) as FunctionObject | undefined)?.status;

const add = 'export default ({x, y}) => ({sum: x + y});\n';

test.serial('a function is uploaded, and called by the command and over HTTP', async t => {
	t.regex(await deploy('add', add), /function\.troupe\.dev\/add created/);
	t.is(await cluster.fine('execute', 'default/add', '{"x": 1, "y": 2}'), '{"sum":3}\n');
	t.is(await cluster.fine('trigger', 'add', '-d', '{"x": 5, "y": 2}'), '{"sum":7}\n');
	const answer = await call('add', {x: 20, y: 22});
	t.deepEqual([answer.status, valueOf(answer)], [200, {sum: 42}]);
	t.regex(await cluster.fine('get', 'functions'), /^add +nodejs +1\/1 +10 +1 /m);
	t.regex(await cluster.fine('get', 'pods'), /^add-\S+ +1\/1 +Running +0 /m);
});

test.serial('nobody calls without a token, what is not there is not found, and no token gets to the function', async t => {
	t.is((await call('add', {}, {token: null})).status, 401);
	t.is((await call('add', {}, {token: 'wrong'})).status, 401);
	const unknown = await call('no-such', {});
	t.deepEqual([unknown.status, (valueOf(unknown) as {message: string}).message], [404, 'functions.troupe.dev "no-such" not found']);
	await deploy('echo', 'export default (params, {method, path, headers}) => ({method, path, headers});\n');
	const seen = valueOf(await call('echo/a/b?c=d', {}, {headers: {'x-own': 'kept'}})) as {path: string; headers: Record<string, string>};
	t.is(seen.path, '/a/b?c=d');
	t.is(seen.headers['x-own'], 'kept');
	t.false('authorization' in seen.headers);
});

test.serial('an error is told with its traceback, and one that takes too long with its time', async t => {
	await deploy('broken', 'export default params => params.no.such;\n');
	const {code, err} = await cluster.troupe('execute', 'broken');
	t.is(code, 1);
	t.regex(err, /TypeError: Cannot read properties of undefined \(reading 'such'\)\n.*func\.mjs:1/s);
	await deploy('late', 'export default () => new Promise(() => undefined);\n', {timeout: '500ms'});
	const late = await call('late', {});
	t.deepEqual([late.status, (valueOf(late) as {error: {code: string}}).error.code], [504, 'ERR_TIMEOUT']);
});

test.serial('code that cannot be loaded is told to its callers, long before they have waited for their time', async t => {
	await deploy('unloadable', 'import "no-such-module";\nexport default () => null;\n');
	const answer = await call('unloadable', {});
	t.is(answer.status, 503);
	t.regex((valueOf(answer) as {message: string}).message, /no instance took the call within \d\.?\d* s: .*no-such-module/s);
	await deploy('unloadable', 'export default () => "now";\n');
	t.is(valueOf(await call('unloadable', {})), 'now');
});

test.serial('a function that blocks its instance is cut off in its time, and the next call gets another instance', async t => {
	await deploy('blocks', 'const id = Math.random();\nexport default ({blocks}) => { while (blocks); return id; };\n', {
		timeout: '500ms',
		max: 1,
	});
	const first = valueOf(await call('blocks', {}));
	t.is((await call('blocks', {blocks: true})).status, 504);
	const next = await call('blocks', {});
	t.is(next.status, 200);
	t.not(valueOf(next), first);
});

test.serial('what a function takes of memory is bounded, and its caller is told', async t => {
	const code =
		'export default ({mb}) => { const all = []; for (let i = 0; i < mb; i++) all.push(Buffer.alloc(1 << 20, 1)); return all.length; };\n';
	await deploy('greedy', code, {timeout: '20s', max: 1, concurrency: 1});
	t.is(valueOf(await call('greedy', {mb: 100})), 100);
	t.regex(await cluster.fine('describe', 'function/greedy'), /Limits: +memory: 512Mi/);
	const greedy = await call('greedy', {mb: 10_000});
	t.true([500, 502].includes(greedy.status), greedy.text);
	// A call that meets the dying instance is not made twice.
	await eventually('its next start is called', async () => valueOf(await call('greedy', {mb: 10})) === 10);
});

test.serial('an answer that is large costs the server no more memory than a small one', async t => {
	const code = `const chunk = Buffer.alloc(1 << 20, 'x');
export default ({mb}, request) => request.answer((function* () { for (let i = 0; i < mb; i++) yield chunk; })());
`;
	await deploy('large', code, {timeout: '60s'});
	const answer = await fetch(`${cluster.endpoints().web}/functions/default/large`, {
		method: 'POST',
		headers: {authorization: `Bearer ${cluster.token()}`, 'content-type': 'application/json'},
		body: JSON.stringify({mb: 512}),
	});
	let bytes = 0;
	for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length;
	t.is(bytes, 512 << 20);
	const status = readFileSync(`/proc/${cluster.endpoints().pid}/status`, 'utf8');
	t.true(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) < 400_000, status);
});

test.serial('an answer may stream, and be of any type', async t => {
	await deploy('stream', 'export default function* ({n}) { for (let i = 0; i < n; i++) yield i; }\n');
	const {text, headers} = await call('stream', {n: 3});
	t.deepEqual([text, headers['content-type']], ['0\n1\n2\n', 'application/x-ndjson']);
	t.is(await cluster.fine('execute', 'stream', '{"n": 2}'), '0\n1\n');
});

test.serial('many calls at once of a function at rest are all answered, by as many instances as they need and may have', async t => {
	const functions = await followObjects(client(), 'functions');
	await deploy('many', 'export default ({n}) => new Promise(done => setTimeout(() => done({n}), 50));\n', {max: 3, idle: '1s'});
	const answers = await Promise.all(Array.from({length: 60}, (_, n) => call('many', {n})));
	t.deepEqual(
		answers.map(valueOf),
		Array.from({length: 60}, (_, n) => ({n})),
	);
	await functions.until('none is left', () => statusOf(functions, 'many')?.instances === 0);
	const sizes = functions.changes.flatMap(({object}) =>
		object.metadata.name === 'many' ? [(object as FunctionObject).status?.instances ?? 0] : [],
	);
	t.is(Math.max(...sizes), 3);
	functions.close();
});

/** In place of a runner: it says what it was sent, and 500 where it is told to. */
const program = `import http from 'node:http';
import fs from 'node:fs';
http.createServer(async (request, response) => {
	let text = '';
	for await (const piece of request) text += piece;
	const {method, url, headers} = request;
	response.writeHead(url.startsWith('/fails') ? 500 : 200, {'x-own': 'kept'});
	response.end(JSON.stringify({method, url, bytes: text.length, id: headers['x-request-id'], beside: fs.readdirSync('.')}));
}).listen(Number(process.env.PORT));
`;

/** A call whose body says no length, and may have no end. */
function streamed(name: string, bytes: number, ends: boolean): Promise<{readonly status: number; readonly value: unknown}> {
	return new Promise((resolve, reject) => {
		const url = `${cluster.endpoints().web}/functions/default/${name}`;
		const asked = request(url, {method: 'POST', headers: {authorization: `Bearer ${cluster.token()}`}}, answer => {
			let text = '';
			answer.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
			answer.once('end', () => resolve({status: answer.statusCode ?? 0, value: parsedJson(text)}));
		});
		asked.once('error', reject);
		asked.write(Buffer.alloc(bytes));
		if (ends) asked.end();
	});
}

test.serial('a program of its own takes calls at its port, with its path, headers, failures and bounds', async t => {
	t.regex(await deploy('own', program, {command: [process.execPath, 'func.mjs'], timeout: '5s'}), /own created/);
	const answer = await call('own/a/b?c=d', {x: 1}, {headers: {'x-request-id': 'mine'}});
	t.deepEqual([answer.status, answer.headers['x-own']], [200, 'kept'], answer.text);
	t.deepEqual(valueOf(answer), {method: 'POST', url: '/a/b?c=d', bytes: 7, id: 'mine', beside: ['func.mjs']});
	t.is((await call('own/fails', {})).status, 500);
	t.like(await streamed('own', 100_000, true), {status: 200, value: {bytes: 100_000}});
	t.like(await streamed('own', limits.functionBodyBytes + 1, false), {
		status: 413,
		value: {message: `the body is larger than ${limits.functionBodyBytes} bytes`},
	});
	await eventually('its instance is told as ready', async () =>
		/^own +program +1\/1 /m.test(await cluster.fine('get', 'functions', 'own')),
	);
	t.like(parsedJson(await cluster.fine('execute', 'own', '{}')), {method: 'POST', url: '/'});
});

test.serial('where the only instance dies, what has not reached it is answered by its next start', async t => {
	await deploy('alone', 'export default ({n}) => ({n, pid: process.pid});\n', {max: 1});
	const pidOf = (answer: Answer): number => (valueOf(answer) as {pid?: number}).pid ?? 0;
	const pods = await followObjects(client(), 'pods');
	const first = await call('alone', {n: 0});
	const pod = [...pods.objects.values()].find(({metadata}) => metadata.name.startsWith('alone-')) as Pod | undefined;
	const runner = hostPidOf(pod) ?? 0;
	signal(runner, 'SIGKILL');
	await pods.until('its death is known', found => (containerOf(found.get(pod?.metadata.name ?? ''))?.restartCount ?? 0) > 0);
	const answers = await Promise.all(Array.from({length: 5}, (_, n) => call('alone', {n})));
	t.deepEqual(
		answers.map(({status}) => status),
		answers.map(() => 200),
		answers.map(({text}) => text).join('\n'),
	);
	t.true(pidOf(first) > 0);
	pods.close();
});

test.serial('another version takes over without a lost call', async t => {
	const code = (version: number): string => `export default ({n}) => ({n, version: ${version}});\n`;
	await deploy('versions', code(1));
	let isOver = false;
	const answers: Answer[] = [];
	const calling = Array.from({length: 4}, async () => {
		for (let n = 0; !isOver; n++) answers.push(await call('versions', {n}));
	});
	const answered = (version: number): Promise<void> =>
		eventually(`version ${version} answers`, () => answers.some(answer => (valueOf(answer) as {version?: number}).version === version));
	await answered(1);
	t.regex(await deploy('versions', code(2)), /configured/);
	await answered(2);
	t.regex(await cluster.fine('apply', '-f', manifestOf(cluster, 'versions')), /unchanged/);
	isOver = true;
	await Promise.all(calling);
	t.deepEqual(
		answers.filter(({status}) => status !== 200),
		[],
	);
});

test.serial('an undone version is called again without an upload, and history and description say which versions there are', async t => {
	t.is(
		await cluster.fine('rollout', 'history', 'fn/versions'),
		'function.troupe.dev/versions\nREVISION   CHANGE-CAUSE\n1          <none>\n2          <none>\n\n',
	);
	t.is(await cluster.fine('rollout', 'undo', 'function/versions'), 'function.troupe.dev/versions rolled back\n');
	t.regex(await cluster.fine('rollout', 'status', 'function/versions', '--timeout', '30s'), /successfully rolled out|is at rest/);
	t.is(await cluster.fine('execute', 'versions', '{"n": 1}'), '{"n":1,"version":1}\n');
	t.is(
		await cluster.fine('rollout', 'undo', 'function/versions', '--to-revision', '3'),
		'function.troupe.dev/versions skipped rollback (current template already matches revision 3)\n',
	);
	const described = await cluster.fine('describe', 'function', 'versions');
	t.regex(described, /^Source Folder: +versions\nArtifact: +sha256:[0-9a-f]{64}\n/m);
	t.regex(described, /^Versions:\n.*\n +3 +versions-\w+ +\d\/1\n +2 +versions-\w+ +\d\/0\nInstances:\n/m);
	t.regex(described, /^ +versions-\w+-\w+ +yes +\S+$/m);
});

test.serial('what instances write is followed, also of those that come later', async t => {
	await deploy('writer', 'export default ({n}) => { console.log(`n is ${n}`); return n; };\n');
	const follower = cluster.start(['logs', '-f', 'function/writer']);
	await follower.notes(/there are no pods of function\/writer; waiting/);
	t.is(await cluster.fine('execute', 'writer', '{"n": 7}'), '7\n');
	await follower.says(/\[writer-\S+\/function\] \[\S+\] n is 7\n/);
	follower.kill('SIGINT');
	await follower.ended;
	t.regex(await cluster.fine('logs', 'fn/writer', '--tail', '1'), /^\[\S+\] n is 7\n$/);
});

test.serial('top tells calls, failures and cold starts', async t => {
	const {functions} = parsedJson(await cluster.fine('top', 'functions', '-o', 'json')) as FunctionsAnswer;
	const of = (name: string): FunctionFigures | undefined => functions.find(each => each.name === name);
	t.like(of('many'), {calls: 0, held: 0, answered: 60, failed: 0});
	t.like(of('broken'), {answered: 0, failed: 1, coldStarts: 1});
	t.true((of('many')?.coldStarts ?? 0) > 0 && (of('many')?.coldStartMs ?? 0) > 0);
	for (const {name, coldStartMs, coldPhases} of functions) {
		const {placeMs, startMs, readyMs, slotMs} = coldPhases;
		t.is(placeMs + startMs + readyMs + slotMs, coldStartMs, name);
	}
	const {placeMs = 0, startMs = 0} = of('many')?.coldPhases ?? {};
	t.true(placeMs > 0 && startMs > 0);
	t.regex(
		await cluster.fine('top', 'functions', 'many', '-o', 'wide'),
		/^NAME .* PLACE +START +READY +SLOT +CALLS\(15m\)\nmany .* 60 +0 .*( +[\d.]+m?s){5} +[▁▂▃▄▅▆▇]*█.*\n$/,
	);
	t.regex(await cluster.fine('top', 'functions', 'broken'), /^NAME .*\nbroken +0 +0 +\d\/\d +0 +1 +1 +\S+\n$/);
});

test.serial('versions share the calls by weight and header, changed without a lost call', async t => {
	const code = (version: number): string => `export default () => ({version: ${version}});\n`;
	await deploy('shared', code(1));
	t.deepEqual(valueOf(await call('shared', {})), {version: 1});
	const canary = {name: 'x-canary', exact: 'yes'};
	await deploy('shared', code(2), {traffic: [{revision: 1}, {match: {header: canary}}]});
	t.deepEqual(valueOf(await call('shared', {})), {version: 1});
	t.deepEqual(valueOf(await call('shared', {}, {headers: {'x-canary': 'yes'}})), {version: 2});
	t.regex(await cluster.fine('describe', 'function/shared'), /Traffic: +revision 1: weight 1\n +newest: weight 0, header x-canary = yes/);
	const patched = (traffic: object | null): Promise<string> =>
		cluster.fine('patch', 'function', 'shared', '--type=merge', '-p', JSON.stringify({spec: {traffic}}));
	const answers: Answer[] = [];
	let isOver = false;
	const callers = Array.from({length: 3}, async () => {
		while (!isOver) answers.push(await call('shared', {}));
	});
	const versionsAfter = (from: number): ReadonlySet<number> =>
		new Set(answers.slice(from).map(answer => (valueOf(answer) as {version: number}).version));
	await patched([{revision: 1, weight: 50}, {weight: 50}]);
	const half = answers.length;
	await eventually('both versions answer', () => versionsAfter(half).size === 2);
	await patched(null);
	await eventually('the newest takes all', () => answers.slice(-40).every(answer => (valueOf(answer) as {version: number}).version === 2));
	isOver = true;
	await Promise.all(callers);
	t.true(answers.every(({status}) => status === 200));
	t.regex(await cluster.fine('rollout', 'status', 'function/shared'), /successfully rolled out/);
});

test.serial('after a death of the cluster functions are called again, and what ran runs on', async t => {
	// It may have been idle for long enough meanwhile.
	await call('add', {x: 1, y: 1});
	const before = await cluster.fine('get', 'pods', '-o', 'name');
	t.regex(before, /pod\/add-/);
	await cluster.killCluster();
	await cluster.up();
	const answer = await call('add', {x: 1, y: 1});
	t.deepEqual([answer.status, valueOf(answer)], [200, {sum: 2}]);
	const add = (text: string): string | undefined => /pod\/add-\S+/.exec(text)?.[0];
	t.is(add(await cluster.fine('get', 'pods', '-o', 'name')), add(before));
});

test.serial('a function that is deleted takes its instances with it', async t => {
	const pods = await followObjects(await cluster.client(), 'pods');
	await cluster.fine('delete', 'function', 'add');
	await pods.until('its pods are gone', found => ![...found.keys()].some(name => name.startsWith('add-')));
	t.is((await call('add', {x: 1, y: 1})).status, 404);
	pods.close();
});
