// Runners of functions that wait in containers: an instance in one is as any other, each is of one pod, and nothing of them is left.

import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {ContainerSpec, SandboxSpec} from '../../actors/node/runtime/runtime-port.js';
import {labels} from '../../agent/docker/engine/names.js';
import {readOwner} from '../../agent/docker/owner.js';
import {removeEverything} from '../../agent/docker/remove-everything.js';
import type {DockerRuntimeOptions} from '../../agent/docker-runtime.js';
import type {FunctionLanguage} from '../../api/function-languages.js';
import {startDockerd, type Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {importNode, importPython} from '../../bench/rigs/servers/language-images.js';
import {until} from '../../bench/rigs/servers/server.js';
import {systemClock} from '../../system/time/clock.js';
import {aSandbox} from '../agent/_sandbox.js';
import {dockerWorld} from '../agent/docker-world.js';
import {anArchive, callOver, type InstanceSpec} from '../agent/functions/_instance.js';
import {aContainer, driver} from '../agent/runtime-contract.js';
import {startDockerAgent} from './_docker-agents.js';
import {sharedDockerd} from './_dockerd.js';
import {runnersIn, untilRunners} from './_warm-sandboxes.js';

const dockerd = sharedDockerd(test);

async function bringImages(): Promise<void> {
	await importPython(dockerd(), 'python');
	await importPython(dockerd(), 'python-of-a-user', ['USER 1000']);
	await importNode(dockerd(), 'node');
}

let brought: Promise<void> | undefined;

test.beforeEach('there are images with interpreters', () => (brought ??= bringImages()));

const warm = {count: 1, fromStart: false};
const code = {language: 'python', image: 'python'} as const;
const echo = {'func.py': 'def main(params):\n    return params\n'};

type Files = Readonly<Record<string, string>>;
type Rest = InstanceSpec & {readonly language?: FunctionLanguage; readonly sandbox?: Partial<SandboxSpec>};

function aNode(t: ExecutionContext, options: Partial<DockerRuntimeOptions> = {}, engine: Dockerd = dockerd()) {
	const archive = anArchive(t);
	const artifacts = {ensure: (digest: string) => Promise.resolve(archive.fileOf(digest))};
	const world = dockerWorld(engine, clean => t.teardown(clean), {warm, warmRunners: 1, artifacts, ...options});
	const calls = driver(world);
	const {directory} = world;

	const specs = (uid: string, artifact: string, {language = 'python', image = 'python', sandbox, ...rest}: Rest = {}) => {
		const {concurrency = 8, timeoutMs = 60_000, ...others} = rest;
		const instance = {artifact, runtime: language, concurrency, timeoutMs};
		const container: ContainerSpec = aContainer('runs', {uid, container: 'function', image, argv: [], function: instance, ...others});
		return {sandbox: aSandbox(uid, {runner: {language, image, memoryLimitBytes: others.memoryLimitBytes}, ...sandbox}), container};
	};
	const begin = async (uid: string, files: Files, rest: Rest = {}) => {
		const {sandbox, container} = specs(uid, await archive.add(files), rest);
		await calls.value(calls.run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: sandbox}));
		return calls.start(container);
	};
	const serve = async (uid: string, files: Files, rest: Rest = {}) => {
		const running = await begin(uid, files, rest);
		const {ok, message} = await calls.value(calls.act({uid, container: 'function'}, {type: 'runnerListens'}));
		if (!ok) throw new Error(message);
		return running;
	};
	const isWarm = async ({handle}: {readonly handle: string}): Promise<boolean> =>
		(await engine.docker('inspect', '-f', `{{index .Config.Labels "${labels.sandbox}"}}`, handle.slice('docker://'.length))).trim() ===
		'runner';
	const whenWaits = async (count = 1): Promise<readonly string[]> => {
		await until(`${count} runners are ready`, () => world.runtime().warmRunners() === count, 60_000);
		return untilRunners(engine, directory, count);
	};
	const waiting = (): Promise<readonly string[]> => runnersIn(engine, directory);
	return {
		...calls,
		world,
		engine,
		archive,
		specs,
		begin,
		serve,
		isWarm,
		waiting,
		whenWaits,
		/** Has the node know that such instances are begun there. */
		async warmUp(rest: Rest = {}) {
			await serve('first', rest.language === 'nodejs' ? {'func.mjs': 'export default x => x;\n'} : echo, rest);
			return whenWaits();
		},
		said: async (uid: string, params: unknown = null): Promise<unknown> =>
			JSON.parse((await callOver(await world.runtime().connectFunction(uid), params)).text),
		shell: async (uid: string, script: string): Promise<string> => {
			const {session} = await calls.value(calls.exec({uid, container: 'function'}, ['sh', '-c', script]));
			return (await calls.hearAll(session)).stdout;
		},
	};
}

const about = {
	'func.py': `import os, resource, socket, sys, time

def main(params):
    with open("/proc/self/status") as file:
        status = [line.split() for line in file]
    with open("/proc/self/mountinfo") as file:
        mounts = sorted(line.split()[4] for line in file)
    kept = ("Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Umask:")
    return {
        "status": [words for words in status if words[0] in kept],
        "mounts": mounts,
        "env": dict(os.environ),
        "here": os.getcwd(),
        "files": sorted(os.listdir(".")),
        "root": sorted(os.listdir("/")),
        "socket": os.listdir("/.troupe/socket"),
        "host": [socket.gethostname(), open("/etc/hostname").read(), open("/etc/resolv.conf").read()],
        "hosts": sorted(open("/etc/hosts").read().split()),
        "limits": [resource.getrlimit(each) for each in range(16)],
        "path": sys.path,
        "pid": os.getpid(),
        "zone": time.tzname,
    }
`,
	'lib/other.py': '',
};

const env = [
	{name: 'SECRET', value: 'told', isSecret: true},
	{name: 'TZ', value: 'XYZ5', isSecret: false},
];

for (const image of ['python', 'python-of-a-user'])
	test.serial(`an instance in a container that has waited is what another one is: ${image}`, async t => {
		const both: unknown[] = [];
		for (const warmRunners of [0, 1]) {
			const node = aNode(t, {warmRunners});
			if (warmRunners > 0) await node.warmUp({image});
			const running = await node.serve('uid-1', about, {image, env, memoryLimitBytes: 100_000_000, cpuLimitMillis: 500});
			t.is(await node.isWarm(running), warmRunners > 0);
			const said = (await node.said('uid-1')) as {readonly hosts: readonly string[]};
			const limits = await node.shell(
				'uid-1',
				'cd /sys/fs/cgroup; cat memory.max cpu.max pids.max memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us pids/pids.max; id',
			);
			const names = (await node.shell('uid-1', 'echo "$SECRET $HOSTNAME $TZ $HOME"')).trim();
			const address = /^\d+\.\d+\.\d+\.\d+$/;
			both.push({...said, hosts: said.hosts.filter(word => !address.test(word)), limits, names});
			t.deepEqual(node.world.warnings, []);
			const name = await node.engine.docker('inspect', '-f', '{{.Name}} {{.Config.Env}}', running.handle.slice('docker://'.length));
			t.regex(name, /^\/troupe_function_pod-uid-1_default_uid-1_0_/);
			t.is(name.includes('told'), warmRunners === 0);
		}
		const withoutGate = JSON.parse(JSON.stringify(both).replace(/"\/?\.troupe-g(ate|o)",?/g, '')) as readonly unknown[];
		t.deepEqual(withoutGate[1], withoutGate[0]);
	});

test.serial('Node.js waits, too, and has its environment and its code', async t => {
	const node = aNode(t);
	await node.warmUp({language: 'nodejs', image: 'node'});
	const files = {'func.mjs': 'export default ({x}) => ({x, told: process.env.SECRET, here: process.cwd(), host: process.env.HOSTNAME});\n'};
	const running = await node.serve('uid-1', files, {language: 'nodejs', image: 'node', env});
	t.true(await node.isWarm(running));
	t.deepEqual(await node.said('uid-1', {x: 1}), {x: 1, told: 'told', here: '/function', host: 'uid-1'});
	t.deepEqual(node.world.warnings, []);
	t.is((await node.stop({uid: 'uid-1', container: 'function'}, 20_000))?.exitCode, 0);
});

test.serial('its log, its end, what it uses and its next attempt are those of any other', async t => {
	const node = aNode(t);
	const {serve, begin, stop, log, value, run, told, ends, isWarm, remove, whenWaits, world, engine, archive, specs, start} = node;
	await node.warmUp();
	const running = await serve('uid-1', {'func.py': 'import os\ndef main(params):\n    print("asked")\n    os._exit(params)\n'});
	t.true(await isWarm(running));
	t.true(systemClock.nowMs() - running.startedAtMs < 60_000);
	const {containers} = await value(run<'usage.read'>({type: 'usage.read'}));
	t.true(containers.some(({id}) => id.uid === 'uid-1'));
	const before = told.length;
	await node.said('uid-1', 7).catch(() => undefined);
	await ends(before + 1);
	t.like(told.at(-1), {podName: 'pod-uid-1', exit: {attempt: 0, exitCode: 7, startedAtMs: running.startedAtMs, handle: running.handle}});
	const {data} = await value(log({uid: 'uid-1', container: 'function'}));
	t.regex(Buffer.from(data, 'base64').toString(), /^\[\S+\] asked\n$/);
	t.false(existsSync(path.join(world.directory, 'uid-1/function/0/environment.json')));
	await until('the Engine has it no more', async () => !(await world.left()).includes(running.handle.slice('docker://'.length)));
	const again = await start({...specs('uid-1', await archive.add(echo)).container, attempt: 1});
	t.false(await isWarm(again));
	t.true((await value(node.act({uid: 'uid-1', container: 'function'}, {type: 'runnerListens'}))).ok);
	t.deepEqual(await node.said('uid-1', [1]), [1]);
	await whenWaits();
	const unloadable = await begin('uid-2', {'func.py': 'raise Exception("never")\n'});
	t.true(await isWarm(unloadable));
	await ends(before + 2);
	t.like(told.at(-1)?.exit, {exitCode: 1, reason: 'Error'});
	t.regex(told.at(-1)?.exit.lastLines ?? '', /Exception: never/);
	for (const uid of ['first', 'uid-1', 'uid-2']) await remove(uid);
	await whenWaits();
	await stop({uid: 'uid-1', container: 'function'}, 0);
	const names = await engine.docker(
		'ps',
		'-a',
		'--format',
		'{{.Names}}',
		'--filter',
		`label=${labels.owner}=${readOwner(world.directory) ?? ''}`,
	);
	t.true(
		names
			.trim()
			.split('\n')
			.every(name => name.startsWith('troupe_warm-')),
		names,
	);
});

test.serial(
	'a later agent takes up one that has waited, with its environment for programs beside it, and removes those that wait',
	async t => {
		const node = aNode(t);
		const {serve, isWarm, waiting, restartAgent, inspect, shell, said, remove, world} = node;
		await node.warmUp();
		const running = await serve('uid-1', echo, {env});
		t.true(await isWarm(running));
		await node.whenWaits();
		const before = await shell('uid-1', 'echo "$SECRET"');
		t.is(before, 'told\n');
		await restartAgent(async () => void t.deepEqual(await waiting(), [], 'an agent that ends leaves none'));
		t.deepEqual((await inspect({uid: 'uid-1', container: 'function'})).running, running);
		t.is(await shell('uid-1', 'echo "$SECRET"'), before);
		t.deepEqual(await said('uid-1', {x: 1}), {x: 1});
		process.kill(running.pid, 'SIGKILL');
		await node.ends(1);
		t.like(node.told.at(-1), {id: {uid: 'uid-1'}, exit: {exitCode: 137, startedAtMs: running.startedAtMs}});
		for (const uid of ['first', 'uid-1']) await remove(uid);
		t.false((await world.left()).includes(running.handle.slice('docker://'.length)));
	},
);

test.serial('one in which an instance cannot begin goes: another image, variables that are read at its start, volumes', async t => {
	const node = aNode(t);
	const {serve, isWarm, whenWaits, remove, specs, archive, run, value, start, world} = node;
	await node.warmUp();
	for (const [uid, rest] of Object.entries({
		path: {env: [{name: 'PATH', value: '/usr/bin:/bin', isSecret: false}]},
		user: {runAsUser: 77},
		rights: {capabilities: {add: [], drop: ['ALL']}},
		long: {env: ['ONE', 'OTHER'].map(name => ({name, value: 'x'.repeat(70_000), isSecret: false}))},
		unlimited: {memoryLimitBytes: undefined},
	})) {
		await whenWaits();
		if (uid === 'unlimited') await serve('limited', echo, {memoryLimitBytes: 100_000_000});
		t.false(await isWarm(await serve(uid, echo, rest)), uid);
		await remove(uid);
	}
	const {sandbox, container} = specs('other', await archive.add(echo));
	await value(
		run<'sandbox.ensure'>({
			type: 'sandbox.ensure',
			spec: {...sandbox, runner: {...code, image: 'python-of-a-user', memoryLimitBytes: undefined}},
		}),
	);
	t.false(await isWarm(await start(container)), 'nothing waits for that image');
	t.deepEqual(world.warnings, []);
});

test.serial('one that dies while it waits, or after it was given to a pod, keeps no pod from beginning', async t => {
	const node = aNode(t);
	const {whenWaits, waiting, engine, serve, isWarm, specs, archive, value, run, start, world, said} = node;
	const [first = ''] = await node.warmUp();
	await engine.docker('kill', first);
	t.deepEqual(await said('first', [1]), [1]);
	await until('another one waits', async () => (await waiting()).some(id => id !== first), 60_000);
	const [second = ''] = await whenWaits();
	const {sandbox, container} = specs('uid-1', await archive.add(echo));
	await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: sandbox}));
	await engine.docker('kill', second);
	t.false(await isWarm(await start(container)));
	t.regex(world.warnings.join('\n'), /a runner that waited could not become that of pod "pod-uid-1"/);
	t.true((await value(node.act({uid: 'uid-1', container: 'function'}, {type: 'runnerListens'}))).ok);
	await whenWaits();
	t.true(await isWarm(await serve('uid-2', echo)));
});

test.serial('runners wait for the two images that were used last', async t => {
	const node = aNode(t);
	const imagesOf = async (): Promise<readonly string[]> => {
		const ids = await node.waiting();
		return ids.length === 0 ? [] : (await node.engine.docker('inspect', '-f', '{{.Config.Image}}', ...ids)).trim().split('\n').toSorted();
	};
	await node.warmUp();
	await node.serve('second', echo, {image: 'python-of-a-user'});
	await node.whenWaits(2);
	await node.serve('third', {'func.mjs': 'export default x => x;\n'}, {language: 'nodejs', image: 'node'});
	let images: readonly string[] = [];
	await until('the first image has none', async () => (images = await imagesOf()).length === 2 && !images.includes('python'), 60_000);
	t.deepEqual(images, ['node', 'python-of-a-user']);
});

test.serial('an agent that is killed leaves none that wait, and no runner to two pods', async t => {
	t.timeout(300_000);
	const node = aNode(t);
	const {world, engine, archive, specs} = node;
	await world.stopAgent();
	const artifact = await archive.add(echo);
	const begun = new Map<string, string>();
	for (let round = 0; round < 6; round++) {
		const agent = startDockerAgent(t, engine, world.directory, {warm, warmRunners: 1, archives: archive.folder});
		const begin = async (uid: string): Promise<unknown> => {
			const {sandbox, container} = specs(uid, artifact);
			void agent.run({type: 'sandbox.ensure', spec: sandbox});
			return agent.run({type: 'container.start', spec: container});
		};
		await begin(`first-${round}`);
		await untilRunners(engine, world.directory, 1);
		const second = begin(`second-${round}`);
		// At another moment each time: when its folder is there, when its record is, when it was answered.
		const folder = path.join(world.directory, `second-${round}`);
		const seen = [
			() => existsSync(path.join(folder, 'sandbox.json')),
			() => existsSync(path.join(folder, 'function/0/container.json')),
			() => readSafely(path.join(folder, 'function/0/container.json')).includes('engineId'),
		][round % 3];
		await until('it is that far', () => seen?.() === true, 60_000);
		if (round >= 3) await second;
		await agent.kill();
		await until('those that waited have ended', async () => (await runnersIn(engine, world.directory)).length === 0, 60_000);
	}
	world.startAgent();
	const {inspect} = driver(world);
	for (let round = 0; round < 6; round++)
		for (const uid of [`first-${round}`, `second-${round}`]) {
			const {running} = await inspect({uid, container: 'function'});
			if (running === undefined) continue;
			t.false([...begun.values()].includes(running.handle));
			begun.set(uid, running.handle);
		}
	t.true(begun.size >= 6);
	const infras = (await world.left()).length - begun.size;
	t.true(infras <= 12 + warm.count, `${infras}`);
	const {remove} = driver(world);
	for (let round = 0; round < 6; round++) for (const uid of [`first-${round}`, `second-${round}`]) await remove(uid);
	await until('nothing but what is ready is left', async () => (await world.left()).length <= warm.count, 60_000);
});

const readSafely = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

for (const [how, liveRestore] of [
	['and its containers', false],
	['and not its containers', true],
] as const)
	test.serial(`after an Engine was killed ${how} instances begin in what waits then`, async t => {
		const engine = await startDockerd(t, {liveRestore});
		await importPython(engine, 'python');
		const node = aNode(t, {}, engine);
		const {world, serve, isWarm, whenWaits, remove} = node;
		await node.warmUp();
		const running = await serve('uid-1', echo);
		t.true(await isWarm(running));
		await whenWaits();
		await engine.kill();
		await engine.start();
		await until('the node is ready', () => world.runtime().info().conditions.length === 0, 60_000);
		if (!liveRestore) {
			await until('the loss is told', () => world.events.some(({type}) => type === 'sandboxLost'), 60_000);
			await until('the end is told', () => node.told.some(({id}) => id.uid === 'uid-1'), 60_000);
			await remove('uid-1');
			await remove('first');
			await serve('again', echo);
		} else t.deepEqual((await node.inspect({uid: 'uid-1', container: 'function'})).running, running);
		await whenWaits();
		t.true(await isWarm(await serve('uid-2', echo)));
	});

test.serial("without an agent they go with all that is the node's: runners", async t => {
	const {world, engine, archive, specs} = aNode(t);
	await world.stopAgent();
	const agent = startDockerAgent(t, engine, world.directory, {warm, warmRunners: 1, archives: archive.folder});
	for (const uid of ['a', 'b']) {
		const {sandbox, container} = specs(uid, await archive.add(echo));
		await agent.run({type: 'sandbox.ensure', spec: sandbox});
		await agent.run({type: 'container.start', spec: container});
		await untilRunners(engine, world.directory, 1);
	}
	await agent.kill();
	const address = {socketPath: engine.socketPath};
	t.is(await removeEverything(world.directory, {address, clock: systemClock, graceMs: 0}), 2);
	t.deepEqual(await world.left(), []);
});
