// Functions in containers of Docker: their runners, programs of their own, images that lack what they need, and deaths of the agent and of the Engine.

import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {importNode, importPython} from '../../bench/rigs/servers/language-images.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Run} from '../../api/kinds/run.js';
import {dialectFunctions} from '../e2e/_dialects.js';
import {checkDialects} from './_dialect-runs.js';
import {dockerCluster} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);
const {home, fine, up, start, says, inside, leavesNothing} = dockerCluster(test, dockerd);

async function deploy(name: string, files: Readonly<Record<string, string>>, spec: object): Promise<string> {
	const folder = path.join(home.folder, name);
	mkdirSync(folder, {recursive: true});
	for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
	const manifest = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Function',
		metadata: {name},
		spec: {idle: '30m', ...(Object.keys(files).length === 0 ? {} : {userUploadFilePath: name}), ...spec},
	};
	writeFileSync(`${folder}.yaml`, JSON.stringify(manifest));
	return fine('apply', '-f', `${folder}.yaml`);
}

const call = async (name: string, params: unknown): Promise<unknown> => JSON.parse(await fine('execute', name, JSON.stringify(params)));

/** By what is no command of ours: the path, and any method. */
async function get(place: string): Promise<string> {
	const {code, out, err} = await inside('curl', [
		'-sSf',
		'-H',
		`Authorization: Bearer ${home.token()}`,
		`${home.endpoints().web}/functions/default/${place}`,
	]).ended;
	if (code !== 0) throw new Error(`curl ended with ${code}: ${err}${out}`);
	return out;
}

/** By MQTT; the answer as it is published. */
async function message(name: string, params: unknown): Promise<string> {
	const {port} = new URL(home.endpoints().mqtt);
	const login = ['-h', '127.0.0.1', '-p', port, '-u', 'admin', '-P', home.token()];
	const answers = inside('stdbuf', ['-oL', 'mosquitto_sub', ...login, '-t', 'troupe/v1/replies/admin/+', '-C', '1', '-W', '30', '-d']);
	await answers.says(/^Subscribed/m);
	const asks = ['-t', `troupe/v1/functions/default/${name}/invoke`, '-q', '1', '-m', JSON.stringify({id: '1', params})];
	await inside('mosquitto_pub', [...login, ...asks]).ended;
	const {out} = await answers.ended;
	return /^\{.*\}$/m.exec(out)?.[0] ?? `no answer: ${out}`;
}

const podsOf = async (name: string): Promise<readonly Pod[]> =>
	(JSON.parse(await fine('get', 'pods', '-l', `troupe.dev/function=${name}`, '-o', 'json')) as {readonly items: readonly Pod[]}).items;

const containersOf = async (name: string): Promise<readonly (string | undefined)[]> =>
	(await podsOf(name)).map(({status}) => status?.containerStatuses?.[0]?.containerID);

/** What it may do in its container, and as whom. */
const looks = `import os

def can_write(place):
    try:
        open(place, "w").close()
        return True
    except OSError:
        return False

def main(params):
    print("asked")
    return {
        "sum": params["x"] + params["y"],
        "user": os.getuid(),
        "here": os.getcwd(),
        "files": sorted(os.listdir(".")),
        "writes": [can_write(place + "/new") for place in (".", "/.troupe/runner", "/tmp")],
        "mode": os.environ.get("MODE"),
    }
`;

test.serial('a function of Python is a container of the image of its language, which is held for until it takes calls', async t => {
	await importPython(dockerd(), 'python:3-slim');
	await importPython(dockerd(), 'python-of-a-user', ['USER 1000']);
	await importNode(dockerd(), 'node:22-slim');
	await up();
	await deploy(
		'look',
		{'func.py': looks},
		{runtimeClassName: 'docker', env: [{name: 'MODE', value: 'told'}], resources: {limits: {memory: '128Mi'}}},
	);
	t.deepEqual(await call('look', {x: 1, y: 2}), {
		sum: 3,
		user: 0,
		here: '/function',
		files: ['func.py'],
		writes: [false, false, true],
		mode: 'told',
	});
	t.like(JSON.parse(await message('look', {x: 2, y: 3})), {id: '1', status: 200, answer: {sum: 5}});
	const [pod] = await podsOf('look');
	t.like(pod?.spec, {runtimeClassName: 'docker', containers: [{image: 'python:3-slim'}]});
	t.regex(await fine('logs', 'function/look'), /^\[\S+\] asked\n$/m);
	const name = pod?.metadata.name ?? '';
	const limit = 'cd /sys/fs/cgroup; if test -e memory.max; then cat memory.max; else cat memory/memory.limit_in_bytes; fi';
	t.is(await fine('exec', name, '--', 'sh', '-c', limit), `${128 * 1_024 * 1_024}\n`);
	t.regex(await fine('exec', name, '--', 'sh', '-c', 'echo /.troupe/socket/.*'), /\.runner\.socket/);
	t.regex(await fine('describe', 'function', 'look'), /^Runtime: +python\nClass: +docker\n/m);
});

test.serial('an image of a user of its own runs a function as that, and Node.js has its image, too', async t => {
	await deploy('user', {'func.py': looks}, {image: 'python-of-a-user:latest', max: 2});
	t.like(await call('user', {x: 2, y: 2}), {sum: 4, user: 1000, writes: [false, false, true]});
	await deploy(
		'node',
		{'func.mjs': 'export default ({x}) => ({x, version: process.version, ppid: process.ppid});\n'},
		{runtimeClassName: 'docker'},
	);
	t.deepEqual(await call('node', {x: 1}), {x: 1, version: process.version, ppid: 0});
	t.regex(await fine('get', 'functions', 'node'), /^node +nodejs +1\/1 /m);
});

test.serial('a program takes calls at the port of its pod, with its folder and without one', async t => {
	await deploy(
		'files',
		{'hello.txt': 'hello\n'},
		{image: 'busybox', command: ['sh', '-c', 'pwd; exec httpd -f -p "$PORT"'], timeout: '1s'},
	);
	t.is(await get('files/hello.txt'), 'hello\n');
	t.is(await fine('logs', 'function/files'), '/function\n');
	await deploy('bare', {}, {image: 'busybox', command: ['httpd', '-f', '-p', '8080', '-h', '/etc']});
	t.regex(await get('bare/hosts'), /localhost/);
	t.regex(await fine('get', 'functions', 'bare'), /^bare +program +1\/1 /m);
});

test.serial('an image without the interpreter says what was looked for in it', async t => {
	await deploy('lacks', {'func.py': looks}, {image: 'busybox'});
	const waits = start(['execute', 'lacks', '{}']);
	t.regex(
		await says(/its image "busybox" has no python3 in its PATH/, 'describe', 'pods'),
		/which runs functions of runtime python: spec\.image has to be one that does/,
	);
	waits.kill('SIGKILL');
	await waits.ended;
	await fine('delete', 'function', 'lacks');
	await eventually('its pods are gone', async () => (await podsOf('lacks')).length === 0);
});

test.serial('a workflow calls functions in containers, tries again what failed, and waits for somebody', async t => {
	await deploy(
		'steps',
		{
			'func.py':
				'calls = 0\nclass Busy(Exception):\n    pass\ndef main(params):\n    global calls\n    calls += 1\n    if calls == 1:\n        raise Busy("once")\n    return {"n": params["n"] + 1}\n',
		},
		{runtimeClassName: 'docker', max: 1},
	);
	const definition = {
		StartAt: 'First',
		States: {
			First: {Type: 'Task', Resource: 'steps', Retry: [{ErrorEquals: ['Busy'], IntervalSeconds: 1}], Next: 'Ask'},
			Ask: {Type: 'Task', Resource: 'activity:go-on', ResultPath: null, Next: 'Second'},
			Second: {Type: 'Task', Resource: 'steps', End: true},
		},
	};
	const file = path.join(home.folder, 'contained.json');
	const workflow = {apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'contained'}, spec: {definition}};
	writeFileSync(file, JSON.stringify(workflow));
	await fine('apply', '-f', file);
	await fine('workflow', 'start', 'contained', '--name', 'contained-1', '--input', '{"n": 1}');
	const looked = async (wanted: RegExp): Promise<void> =>
		eventually(`it is ${wanted.source}`, async () => wanted.test(await fine('get', 'run', 'contained-1')), undefined, 60_000);
	await looked(/Running +Ask /);
	await fine('workflow', 'approve', 'run/contained-1');
	await looked(/Succeeded /);
	t.deepEqual((JSON.parse(await fine('get', 'run', 'contained-1', '-o', 'json')) as Run).status?.output, {n: 3});
});

test.serial('workflows of both dialects come to the same by manifest, command, curl and MQTT, in containers', async t => {
	for (const [name, code] of Object.entries(dialectFunctions))
		await deploy(name, {'func.mjs': `export default ${code};\n`}, {runtimeClassName: 'docker'});
	await checkDialects(t, {
		home,
		fine,
		async program(word, args) {
			const {code, out, err} = await inside(word, args).ended;
			if (code !== 0) throw new Error(`${word} ended with ${code}: ${err}${out}`);
			return out;
		},
	});
	for (const name of Object.keys(dialectFunctions)) await fine('delete', 'function', name);
	for (const name of Object.keys(dialectFunctions)) await eventually(`${name} is gone`, async () => (await podsOf(name)).length === 0);
});

test.serial('after kill -9 of up the same containers take calls', async t => {
	const before = [...(await containersOf('look')), ...(await containersOf('files'))];
	t.is(before.length, 2);
	const {pid} = home.endpoints();
	process.kill(pid, 'SIGKILL');
	await eventually('up is dead', () => !lives(pid));
	await up();
	t.like(await call('look', {x: 3, y: 4}), {sum: 7});
	t.is(await get('files/hello.txt'), 'hello\n');
	t.deepEqual([...(await containersOf('look')), ...(await containersOf('files'))], before);
});

test.serial('after kill -9 of the Engine a call is held until its container runs again', async t => {
	await call('node', {x: 1});
	await dockerd().kill();
	const call1 = fine('execute', 'node', '{"x": 5}');
	await says(/DockerNotReady +True +EngineGone/, 'describe', 'node');
	await dockerd().start();
	t.regex(await call1, /"x":5/);
});

test.serial('a function that is deleted takes its containers with it, and down --pods leaves nothing', async t => {
	await fine('delete', 'function', 'files');
	await eventually('its pods are gone', async () => (await podsOf('files')).length === 0);
	await leavesNothing(t);
});
