// Instances whose calls a program of their own takes, as the process runtime runs them: told a port, ready when it takes connections there.

import net from 'node:net';
import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {functionNode} from './_instance.js';

/** Says what it has been sent, and where it is. Where there is a FIFO, it waits for its end first. */
const serve = `#!/usr/bin/env python3
import http.server, json, os
home = os.environ["HOME"]
with open(os.path.join(home, "port"), "w") as file:
    file.write(os.environ["PORT"])
if os.path.exists(os.path.join(home, "go")):
    open(os.path.join(home, "go")).read()

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        said = {"path": self.path, "body": json.loads(body), "beside": sorted(os.listdir(".")), "secret": os.environ.get("SECRET"), "pid": os.getpid()}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())
    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
`;
const files = {serve, 'data.txt': ''};
const argv = ['./serve'];
const id = {uid: 'uid-1', container: 'function'};

type Node = ReturnType<typeof functionNode>;

/** Of a program in its container. */
async function saysIn({value, exec, hearAll}: Node, words: string): Promise<string> {
	const {session} = await value(exec(id, ['sh', '-c', `cd "$HOME" && ${words}`]));
	return (await hearAll(session)).stdout.trim();
}

test('a program of the folder serves calls of this process and of sessions, with the environment of its pod', async t => {
	const node = functionNode(t);
	await node.serve('uid-1', 'program', files, {
		argv,
		env: [
			{name: 'SECRET', value: 'told', isSecret: true},
			{name: 'PORT', value: '1'},
		],
	});
	const {status, text} = await node.call('uid-1', {x: 1});
	t.is(status, 200);
	t.like(JSON.parse(text), {path: '/', body: {x: 1}, beside: ['data.txt', 'serve'], secret: 'told'});
	const {stdout, exitCode} = await node.callBySession('uid-1', {x: 2});
	t.regex(stdout, /^HTTP\/1\.\d 200 [^]*"x": 2/);
	t.is(exitCode, 0);
	t.is((await node.stop(id, 20_000))?.exitCode, 143);
	await t.throwsAsync(node.world.runtime().connectFunction('uid-1'), {message: /does not run/});
});

test('a program of the node needs no folder, and no code is fetched for it', async t => {
	const node = functionNode(t, {artifacts: undefined});
	await node.ensure('uid-1');
	await node.start(node.specOf('uid-1', undefined, 'program', {argv: ['sh', '-c', 'pwd; exec python3 -m http.server "$PORT"']}));
	t.deepEqual(await node.value(node.loaded('uid-1')), {ok: true, message: ''});
	// It takes none of that method.
	t.is((await node.call('uid-1', null)).status, 501);
	const {data} = await node.value(node.log(id));
	t.regex(Buffer.from(data, 'base64').toString(), /^\/\S+\/function\n/);
});

test('a program is ready once it takes connections, in each attempt, and a later agent finds it where it is', async t => {
	const node = functionNode(t);
	const {world, start, call, ends, loaded, value, specOf, fetched, restartAgent} = node;
	const running = await node.serve('uid-1', 'program', files, {argv});
	await restartAgent();
	t.true((await value(loaded('uid-1'))).ok);
	t.is((await call('uid-1', null)).status, 200);
	await saysIn(node, 'mkfifo go');
	world.kill(id, running);
	await ends(1);
	await start(specOf('uid-1', fetched[0], 'program', {attempt: 1, argv}));
	await t.throwsAsync(world.runtime().connectFunction('uid-1'), {message: /no program of the pod listens there/});
	const ready = value(loaded('uid-1'));
	await saysIn(node, 'echo >go');
	t.deepEqual(await ready, {ok: true, message: ''});
	t.is((await call('uid-1', null)).status, 200);
	t.is(fetched.length, 1);
});

test('what listens at the port of a program and is none of its pod is never called', async t => {
	const node = functionNode(t);
	await node.ensure('uid-1');
	const waits = 'echo "$PORT" > "$HOME"/port; exec sleep 60';
	await node.start(node.specOf('uid-1', await node.archive.add(files), 'program', {argv: ['sh', '-c', waits]}));
	let port = 0;
	await eventually('the port is known', async () => (port = Number(await saysIn(node, 'cat port 2>/dev/null'))) > 0);
	const server = net.createServer(socket => void socket.destroy());
	t.teardown(() => void server.close());
	await new Promise<void>(resolve => server.listen(port, resolve));
	await t.throwsAsync(node.world.runtime().connectFunction('uid-1'), {message: /no program of the pod listens there/});
	t.deepEqual(await node.value(node.loaded('uid-1', 200)), {
		ok: false,
		message: `its program took no connections at its PORT, ${port}, within 0.2 s`,
	});
});

test('a program that cannot begin, and one that ends, say so', async t => {
	const node = functionNode(t);
	await node.ensure('uid-1');
	const artifact = await node.archive.add({...files, 'plain.txt': ''});
	const startOf = async (...words: readonly string[]): Promise<string> => {
		const outcome = await node.run<'container.start'>({
			type: 'container.start',
			spec: node.specOf('uid-1', artifact, 'program', {argv: words}),
		});
		return outcome.ok ? 'ok' : outcome.error.message;
	};
	t.is(await startOf('./no-such'), 'container "function" cannot start: program "./no-such" does not exist');
	t.regex(await startOf('./plain.txt'), /^container "function" cannot start: program "\.\/plain\.txt" cannot be run by user/);
	t.is(await startOf('sh', '-c', 'exit 3'), 'ok');
	t.false((await node.loaded('uid-1').then(outcome => (outcome.ok ? outcome.value : {ok: false}))).ok);
	t.is((await node.ends(1))[0]?.exit.exitCode, 3);
});
