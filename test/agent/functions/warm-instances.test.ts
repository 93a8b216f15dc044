// Instances whose runner has waited for them: that they are what those are that began with an interpreter of their own, and what becomes of runners
// that wait.

import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type {PodNetwork} from '../../../agent/pod-network/pod-network.js';
import {aPodNetwork} from '../_pod-network.js';
import {mayWait} from '../../../agent/process/start/warm-python.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {asRoot} from '../../_needing.js';
import {shimOf} from '../process-world.js';
import {functionNode, isWarm, waitingIn} from './_instance.js';

/** That of the base system, which root may have wait. */
const python = '/usr/bin/python3';
const id = (uid: string) => ({uid, container: 'function'});

/** What it is to itself. */
const about = {
	'func.py': `import os, socket, sys

def target(fd):
    try:
        return os.readlink("/proc/self/fd/" + fd)
    except OSError:
        return ""

def main(params):
    with open("/proc/self/status") as file:
        status = dict(line.rstrip().split(":", 1) for line in file)
    names = ("Groups", "NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    kinds = [target(fd).split(":")[0] for fd in os.listdir("/proc/self/fd")]
    with open("/proc/self/environ") as file:
        environ = file.read()
    with open("/dev/stdout", "a") as file:
        file.write("by its name\\n")
    return {
        "ids": [status["Uid"].split(), status["Gid"].split()],
        "status": [status[name].split() for name in names],
        "files": sorted(kind for kind in kinds if kind.startswith("/")),
        "env": dict(os.environ),
        "environ": environ,
        "cwd": os.getcwd(),
        "umask": os.umask(0o22),
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
        "flags": list(sys.flags),
        "path": sys.path,
        "interfaces": [name for _, name in socket.if_nameindex()],
        "resolver": open("/etc/resolv.conf").read(),
    }
`,
};

type About = {
	readonly ids: readonly (readonly string[])[];
	readonly env: Readonly<Record<string, string>>;
	readonly environ: string;
	readonly status: readonly (readonly string[])[];
	readonly interfaces: readonly string[];
	readonly resolver: string;
};

const cgroupsOf = (pid: number): string => readFileSync(`/proc/${pid}/cgroup`, 'utf8');
const namespaceOf = (pid: number | 'self', sort: string): string => readlinkSync(`/proc/${pid}/ns/${sort}`);

const filesOf = (directory: string): readonly string[] => (existsSync(`${directory}/.warm`) ? readdirSync(`${directory}/.warm`) : []);

asRoot(
	'an instance whose runner has waited is what another one is: user, rights, files, environment, folder, groups, namespaces',
	async t => {
		const rest = {env: [{name: 'SECRET', value: 'told', isSecret: true}], groups: [12_345], runAsUser: 4_321, runAsGroup: 4_322};
		const both: unknown[] = [];
		for (const warmRunners of [0, 2]) {
			const node = functionNode(t, {warmRunners});
			if (warmRunners > 0) await node.warmUp();
			const {pid} = await node.serve('uid-1', 'python', about, rest);
			t.is(isWarm(pid), warmRunners > 0);
			const said = JSON.parse((await node.call('uid-1', null)).text) as About;
			if (warmRunners > 0) t.false(said.environ.includes('told'));
			t.deepEqual(
				['net', 'pid', 'mnt', 'user'].map(sort => namespaceOf(pid, sort) === namespaceOf('self', sort)),
				[true, false, false, true],
			);
			const parts = new Set(
				cgroupsOf(pid)
					.split('\n')
					.filter(line => line.includes('uid-1@function@0'))
					.map(line => line.split(':')[1]),
			);
			const {environ: _ofItsStart, ...same} = said;
			const text = JSON.stringify({...same, parts: [...parts], network: cgroupsOf(pid).split('\n').length});
			both.push(JSON.parse(text.replaceAll(node.world.directory, 'DIRECTORY')));
			const log = readFileSync(`${node.world.directory}/uid-1/function/0/log`, 'utf8');
			t.true(log.includes('by its name'));
			t.deepEqual(node.world.warnings, []);
		}
		t.deepEqual(both[1], both[0]);
	},
);

asRoot('a runner that has waited is found by a later agent, and programs beside it have its environment', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp();
	const env = [{name: 'SECRET', value: 'of the pod', isSecret: true}];
	const {pid, startedAtMs} = await node.serve('uid-1', 'python', about, {env});
	t.true(isWarm(pid));
	const told = async (): Promise<string> => {
		const {session} = await node.value(node.exec(id('uid-1'), ['sh', '-c', 'echo "$SECRET $HOME $(id -u)"']));
		return (await node.hearAll(session)).stdout;
	};
	const before = await told();
	t.regex(before, /^of the pod \/\S+\/uid-1\/(\d+) \1\n$/);
	await node.restartAgent();
	const {running} = await node.inspect(id('uid-1'));
	t.deepEqual([running?.pid, running?.startedAtMs], [pid, startedAtMs]);
	t.is(await told(), before);
	t.is((await node.call('uid-1', null)).status, 200);
	const exit = await node.stop(id('uid-1'), 20_000);
	t.is(exit?.exitCode, 0);
});

asRoot('code that cannot be loaded ends a runner that has waited as it ends another one, and the next attempt begins', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp();
	await node.ensure('uid-1');
	const digest = await node.archive.add({'func.py': 'import nothing_of_that_name\n'});
	await node.start(node.specOf('uid-1', digest, 'python'));
	t.is(node.world.runtime().warmRunners(), 0);
	const [end] = await node.ends(1);
	t.is(end?.exit.exitCode, 1);
	t.regex(end?.exit.lastLines ?? '', /nothing.of.that.name/);
	// Whether one waits by then or not.
	const good = await node.archive.add(about);
	for (const attempt of [1, 2]) {
		const running = await node.start(node.specOf('uid-1', good, 'python', {attempt}));
		t.true((await node.value(node.loaded('uid-1'))).ok);
		t.is((await node.call('uid-1', null)).status, 200);
		node.world.kill(id('uid-1'), running);
		t.is((await node.ends(attempt + 1))[attempt]?.exit.exitCode, 137);
	}
	t.deepEqual(node.world.warnings, []);
});

asRoot('an instance that needs what a runner that waits cannot have begins with an interpreter of its own', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp();
	const code = {'func.py': 'def main(params):\n    return params\n'};
	const {pid} = await node.serve('uid-1', 'python', code, {env: [{name: 'LC_ALL', value: 'C'}]});
	t.false(isWarm(pid));
	const elsewhere = await node.serve('uid-2', 'python', code, {env: [{name: 'PATH', value: '/bin:/usr/bin'}]});
	t.is(isWarm(elsewhere.pid), false);
	const root = await node.serve('uid-3', 'python', code, {runAsUser: 0});
	t.false(isWarm(root.pid));
	const large = await node.serve('uid-4', 'python', code, {env: [{name: 'LARGE', value: 'x'.repeat(131_000)}]});
	t.false(isWarm(large.pid));
	t.is(node.world.runtime().warmRunners(), 1);
	t.deepEqual(node.world.warnings, []);
});

asRoot('a runner that ends or hangs before it has become that of its pod leaves the start to another interpreter', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp();
	const {directory, warnings} = node.world;
	const [waiting = 0] = waitingIn(directory);
	t.true(waiting > 1);
	process.kill(waiting, 'SIGSTOP');
	await node.ensure('uid-1');
	const started = node.start(node.specOf('uid-1', await node.archive.add(about), 'python'));
	await eventually('it is told', () => existsSync(`${directory}/uid-1/function/0`));
	process.kill(waiting, 'SIGKILL');
	const {pid, attempt} = await started;
	t.deepEqual([attempt, isWarm(pid)], [0, false]);
	t.true((await node.value(node.loaded('uid-1'))).ok);
	t.is((await node.call('uid-1', null)).status, 200);
	t.deepEqual(warnings, ['a runner that was kept ready could not be used: its shim ended before the program ran']);
});

asRoot('a pod that is stopped while its runner becomes its own is not begun in another way', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp();
	const {directory, warnings} = node.world;
	const [waiting = 0] = waitingIn(directory);
	process.kill(waiting, 'SIGSTOP');
	await node.ensure('uid-1');
	const started = node.run<'container.start'>({
		type: 'container.start',
		spec: node.specOf('uid-1', await node.archive.add(about), 'python'),
	});
	await eventually('it is told', () => existsSync(`${directory}/uid-1/function/0`));
	const stopped = node.stop(id('uid-1'), 0);
	process.kill(waiting, 'SIGKILL');
	t.is(await stopped, null);
	t.false((await started).ok);
	t.deepEqual(warnings, []);
});

asRoot('a runner that ends while it waits is replaced, and all end with their agent', async t => {
	const node = functionNode(t, {warmRunners: 2});
	await node.warmUp(2);
	const {directory, warnings} = node.world;
	const [first = 0, second = 0] = waitingIn(directory);
	process.kill(first, 'SIGKILL');
	await eventually('another one waits', () => {
		const now = waitingIn(directory);
		return now.length === 2 && !now.includes(first) && node.world.runtime().warmRunners() === 2;
	});
	t.true(waitingIn(directory).includes(second));
	t.deepEqual(warnings, ['no runner of functions could be kept ready: it has ended while it waited']);
	const shims = waitingIn(directory).map(shimOf);
	await node.world.stopAgent();
	t.deepEqual(filesOf(directory), []);
	await eventually(
		'they and their shims are gone',
		() => waitingIn(directory).length === 0 && shims.every(shim => !existsSync(`/proc/${shim}`)),
	);
	// What an agent that was killed has left.
	node.world.startAgent();
	t.deepEqual(filesOf(directory), []);
});

asRoot('runners that wait end with an agent that is killed, and the next agent finds nothing of them', async t => {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'troupe-killed-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const program = path.join(import.meta.dirname, 'killed-agent-program.js');
	const agent = spawn(process.execPath, [program, directory, python, '2'], {stdio: ['ignore', 'pipe', 'inherit']});
	t.teardown(() => void agent.kill('SIGKILL'));
	await within('it is ready', once(agent.stdout, 'data'));
	const waiting = waitingIn(directory);
	t.deepEqual([waiting.length, filesOf(directory).length], [2, 2]);
	const shims = waiting.map(shimOf);
	agent.kill('SIGKILL');
	await eventually('nothing of them runs', () => [...waiting, ...shims].every(pid => !existsSync(`/proc/${pid}`)));
	const again = spawn(process.execPath, [program, directory, python, '1'], {stdio: ['ignore', 'pipe', 'inherit']});
	t.teardown(() => void again.kill('SIGKILL'));
	await within('the next one is ready', once(again.stdout, 'data'));
	t.is(filesOf(directory).length, 1);
	again.kill('SIGKILL');
	await eventually('that is over, too', () => waitingIn(directory).length === 0);
});

asRoot('root has no interpreter wait that others may change, nor what it loads', async t => {
	const folders = ['/tmp', os.homedir()].map(above => mkdtempSync(path.join(above, 'troupe-python-')));
	t.teardown(() => folders.forEach(folder => void rmSync(folder, {recursive: true, force: true})));
	const [open = '', closed = ''] = folders;
	t.true(await mayWait(python, []));
	symlinkSync(python, `${open}/python3`);
	symlinkSync(`${open}/python3`, `${closed}/indirect`);
	symlinkSync(python, `${closed}/python3`);
	t.false(await mayWait(`${open}/python3`, []));
	t.false(await mayWait(`${closed}/indirect`, []));
	t.true(await mayWait(`${closed}/python3`, []));
	t.false(await mayWait(`${closed}/missing`, []));
	t.false(await mayWait('/bin/true', []));
});

asRoot('a runner that has waited is in the network of its pod, with the resolver of that', async t => {
	const name = `troupe-test-${process.pid}`;
	execFileSync('ip', ['netns', 'add', name]);
	t.teardown(() => execFileSync('ip', ['netns', 'delete', name]));
	const file = `/run/netns/${name}`;
	const said: About[] = [];
	for (const warmRunners of [0, 1]) {
		const node = functionNode(t, {warmRunners, network: networkOf(file)});
		if (warmRunners > 0) await node.warmUp();
		const {pid} = await node.serve('uid-1', 'python', about);
		t.is(isWarm(pid), warmRunners > 0);
		t.not(namespaceOf(pid, 'net'), namespaceOf('self', 'net'));
		said.push(JSON.parse((await node.call('uid-1', null)).text) as About);
	}
	const [cold, warm] = said;
	t.deepEqual(warm?.interfaces, ['lo']);
	t.regex(warm?.resolver ?? '', /169\.254\.1\.1/);
	t.deepEqual([warm?.resolver, warm?.status, warm?.interfaces], [cold?.resolver, cold?.status, cold?.interfaces]);
});

/** One in which all pods have the same namespace. */
const networkOf = (file: string): PodNetwork => aPodNetwork({enter: () => ['/usr/bin/nsenter', `--net=${file}`, '--'], fileOf: () => file});
