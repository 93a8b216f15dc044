// Instances of Node.js whose runner has waited for them: that they are what those are that began with an interpreter of their own.

import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync, readlinkSync} from 'node:fs';
import type {ExecutionContext} from 'ava';
import type {PodNetwork} from '../../../agent/pod-network/pod-network.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {asRoot} from '../../_needing.js';
import {aPodNetwork} from '../_pod-network.js';
import {functionNode, isWarm, waitingIn} from './_instance.js';

/** What it is to itself. */
const about = {
	'func.mjs': `import {execFileSync} from 'node:child_process';
import {appendFileSync, readFileSync, readdirSync, readlinkSync} from 'node:fs';
import dns from 'node:dns';
import {createRequire} from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';

const target = file => {
	try {
		return readlinkSync(file);
	} catch {
		return '';
	}
};

const readable = file => {
	try {
		readFileSync(file);
		return true;
	} catch {
		return false;
	}
};

const umask = process.umask();

export default params => {
	const status = Object.fromEntries(readFileSync('/proc/self/status', 'utf8').split('\\n').map(line => line.split(/:\\s*/)));
	const names = ['Uid', 'Gid', 'Groups', 'NoNewPrivs', 'Seccomp', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'SigIgn', 'SigBlk', 'Cpus_allowed'];
	appendFileSync('/dev/stdout', 'by its name\\n');
	console.log('by itself');
	return {
		params,
		status: names.map(name => [name, status[name]]),
		files: readdirSync('/proc/self/fd').map(fd => target('/proc/self/fd/' + fd)).filter(file => file.startsWith('/')).sort(),
		kinds: [...new Set(readdirSync('/proc/self/fd').map(fd => target('/proc/self/fd/' + fd).split(':[')[0]))].sort(),
		servers: dns.getServers(),
		first: [0, 1, 2].map(fd => target('/proc/self/fd/' + fd)),
		limits: readFileSync('/proc/self/limits', 'utf8'),
		env: process.env,
		ofChild: execFileSync('/usr/bin/env', {encoding: 'utf8'}).split('\\n').sort(),
		childStatus: execFileSync('/bin/sh', ['-c', 'ulimit -a; id; umask; pwd'], {encoding: 'utf8'}),
		argv: [process.argv, process.execArgv, process.argv0],
		cwd: process.cwd(),
		umask,
		processes: readdirSync('/proc').filter(name => /^\\d+$/.test(name)).sort(),
		paths: createRequire(import.meta.url)('module').globalPaths,
		heap: v8.getHeapStatistics().heap_size_limit,
		home: [os.homedir(), os.tmpdir(), process.getgroups(), process.getuid(), process.geteuid()],
		interfaces: Object.keys(os.networkInterfaces()),
		links: readFileSync('/proc/self/net/dev', 'utf8').split('\\n').map(line => line.split(':')[0].trim()),
		resolver: readFileSync('/etc/resolv.conf', 'utf8'),
		mounts: readFileSync('/proc/self/mounts', 'utf8').split('\\n').filter(line => line.includes('/etc/')),
		dumpable: readable('/proc/self/environ'),
		zone: new Date(0).toString(),
	};
};
`,
};

type About = {
	readonly dumpable: boolean;
	readonly status: readonly (readonly [string, string])[];
	readonly resolver: string;
};

const cgroupsOf = (pid: number): readonly string[] =>
	readFileSync(`/proc/${pid}/cgroup`, 'utf8')
		.split('\n')
		.map(line => line.replace(/.*(?=uid-\d@)/, ''))
		.filter(line => line.startsWith('uid-') || line.includes('.warm'));
const namespaceOf = (pid: number | 'self', sort: string): string => readlinkSync(`/proc/${pid}/ns/${sort}`);
const threadsOf = (pid: number): readonly string[] => readdirSync(`/proc/${pid}/task`).map(thread => `/proc/${pid}/task/${thread}`);

/** Of all its threads: who they are, and in which network. */
function threadsAreAlike(t: ExecutionContext, pid: number): void {
	const rights = /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp):.*$/gm;
	const seen = threadsOf(pid).map(thread => [
		...(readFileSync(`${thread}/status`, 'utf8').match(rights) ?? []),
		readlinkSync(`${thread}/ns/net`),
		readFileSync(`${thread}/cgroup`, 'utf8'),
	]);
	t.true(seen.length > 1);
	for (const one of seen) t.deepEqual(one, seen[0]);
}

/** One instance on each of two nodes, of which one has runners that wait, as they see themselves and as others see them. */
async function both(
	t: ExecutionContext,
	network: (() => PodNetwork) | undefined,
	rest: Parameters<ReturnType<typeof functionNode>['serve']>[3],
) {
	const seen: About[] = [];
	for (const warmRunners of [0, 2]) {
		const node = functionNode(t, {warmRunners, ...(network === undefined ? {} : {network: network()})});
		if (warmRunners > 0) await node.warmUp(2, 'nodejs', {memoryLimitBytes: rest?.memoryLimitBytes});
		const {pid} = await node.serve('uid-1', 'nodejs', about, rest);
		t.is(isWarm(pid), warmRunners > 0);
		threadsAreAlike(t, pid);
		const {status, text} = await node.call('uid-1', {a: 1});
		t.is(status, 200, text);
		const kinds = ['net', 'pid', 'mnt', 'user', 'ipc', 'uts', 'cgroup'];
		const outside = {
			own: kinds.map(sort => namespaceOf(pid, sort) !== namespaceOf('self', sort)),
			groups: cgroupsOf(pid),
			score: readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'),
			session: readFileSync(`/proc/${pid}/sessionid`, 'utf8'),
		};
		const {dumpable, ...same} = JSON.parse(text) as About;
		// What has changed its user is not, and Node.js has no call to say otherwise.
		t.is(dumpable, warmRunners === 0);
		const whole = JSON.stringify({...same, outside});
		seen.push(JSON.parse(whole.replaceAll(node.world.directory, 'DIRECTORY')) as About);
		const log = readFileSync(`${node.world.directory}/uid-1/function/0/log`, 'utf8');
		t.regex(log, /by its name\n\[\S+\] by itself\n/);
		if (warmRunners > 0) t.false(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('told'));
		t.deepEqual(node.world.warnings, []);
	}
	const [cold, warm] = seen;
	t.deepEqual(warm, cold);
	return warm;
}

const rest = {
	env: [
		{name: 'SECRET', value: 'told', isSecret: true},
		{name: 'NODE_ENV', value: 'production'},
		{name: 'TZ', value: 'Asia/Tokyo'},
	],
	groups: [12_345],
	runAsUser: 4_321,
	runAsGroup: 4_322,
	memoryLimitBytes: 512 * 1_048_576,
};

asRoot('an instance of Node.js whose runner has waited is what another one is: user, rights, limits, files, environment, heap', async t => {
	const said = await both(t, undefined, rest);
	t.deepEqual(said?.status.slice(0, 4), [
		['Uid', '4321\t4321\t4321\t4321'],
		['Gid', '4322\t4322\t4322\t4322'],
		['Groups', '12345 '],
		['NoNewPrivs', '1'],
	]);
});

/** In which each pod has a namespace of its own, empty but for loopback: made, or that of a process. */
function networkOf(t: ExecutionContext): {readonly network: PodNetwork; readonly attached: () => readonly string[]} {
	const nameOf = (uid: string): string => `troupe-test-${process.pid}-${serial}-${uid}`;
	const serial = ++networks;
	const attached: string[] = [];
	const there = new Set<string>();
	t.teardown(() => there.forEach(uid => execFileSync('ip', ['netns', 'delete', nameOf(uid)])));
	const fileOf = (uid: string): string => `/run/netns/${nameOf(uid)}`;
	const network = aPodNetwork({
		enter: uid => ['/usr/bin/nsenter', `--net=${fileOf(uid)}`, '--'],
		fileOf,
		ensure({uid}, found) {
			if (there.has(uid)) return Promise.resolve();
			execFileSync('ip', ['netns', ...(found === undefined ? ['add', nameOf(uid)] : ['attach', nameOf(uid), String(found.pid)])]);
			there.add(uid);
			if (found !== undefined) attached.push(uid);
			return Promise.resolve();
		},
	});
	return {network, attached: () => attached};
}

let networks = 0;

asRoot(
	'where pods have networks of their own an instance of Node.js is in that of its pod, whose namespace is the one in which it has waited',
	async t => {
		const said = await both(t, () => networkOf(t).network, rest);
		t.regex(said?.resolver ?? '', /169\.254\.1\.1/);
	},
);

const memoryLimitBytes = 256 * 1_048_576;
const limited = {memoryLimitBytes};
const code = {'func.mjs': 'export default params => ({params, secret: process.env.SECRET ?? null});\n'};
const id = (uid: string) => ({uid, container: 'function'});

asRoot('an instance of Node.js that needs what a runner that waits cannot have begins with an interpreter of its own', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp(1, 'nodejs', limited);
	const own = {
		variable: {...limited, env: [{name: 'NODE_OPTIONS', value: '--no-warnings'}]},
		locale: {...limited, env: [{name: 'LC_ALL', value: 'C'}]},
		memory: {memoryLimitBytes: 2 * memoryLimitBytes},
		gain: {...limited, allowPrivilegeEscalation: true},
		root: {...limited, runAsUser: 0},
	};
	for (const [uid, rest] of Object.entries(own)) {
		const {pid} = await node.serve(uid, 'nodejs', code, rest);
		t.false(isWarm(pid), uid);
		t.is((await node.call(uid, 1)).status, 200);
	}
	t.is(node.world.runtime().warmRunners(), 1);
	t.true(isWarm((await node.serve('usual', 'nodejs', code, {...limited, env: [{name: 'NODE_ENV', value: 'test'}]})).pid));
	t.deepEqual(node.world.warnings, []);
});

asRoot(
	'a runner of Node.js that has waited is found by a later agent, has programs beside it, and is stopped as any other one',
	async t => {
		const node = functionNode(t, {warmRunners: 1, network: networkOf(t).network});
		await node.warmUp(1, 'nodejs', limited);
		const groups = waitingGroups(waitingIn(node.world.directory)[0] ?? 0);
		t.true(groups.length > 0);
		const {pid, startedAtMs} = await node.serve('uid-1', 'nodejs', code, {
			...limited,
			env: [{name: 'SECRET', value: 'of the pod', isSecret: true}],
		});
		t.true(isWarm(pid));
		const told = async (): Promise<string> => {
			const words = ['sh', '-c', 'echo "$SECRET $HOME $(id -u) $(readlink /proc/self/ns/net)"'];
			const {session} = await node.value(node.exec(id('uid-1'), words));
			return (await node.hearAll(session)).stdout;
		};
		const before = await told();
		t.regex(before, /^of the pod \/\S+\/uid-1\/(\d+) \1 net:\[\d+\]\n$/);
		t.true(before.includes(namespaceOf(pid, 'net')));
		await node.restartAgent();
		const {running} = await node.inspect(id('uid-1'));
		t.deepEqual([running?.pid, running?.startedAtMs], [pid, startedAtMs]);
		t.is(await told(), before);
		t.deepEqual(JSON.parse((await node.call('uid-1', 1)).text), {params: 1, secret: 'of the pod'});
		t.is((await node.stop(id('uid-1'), 20_000))?.exitCode, 0);
		await eventually('the groups in which it has waited are gone', () => groups.every(group => !existsSync(group)));
		// Another attempt is in the same network, though what it came from has ended.
		const again = await node.start(node.specOf('uid-1', await node.archive.add(code), 'nodejs', {...limited, attempt: 1}));
		t.false(isWarm(again.pid));
		t.true((await told()).includes(namespaceOf(again.pid, 'net')));
	},
);

asRoot('code of Node.js that cannot be loaded ends a runner that has waited, and the next attempt begins', async t => {
	const node = functionNode(t, {warmRunners: 1});
	await node.warmUp(1, 'nodejs', limited);
	await node.ensureInstance('uid-1', 'nodejs', limited);
	const bad = await node.archive.add({'func.mjs': 'export default ( =>\n'});
	const {pid} = await node.start(node.specOf('uid-1', bad, 'nodejs', limited));
	t.true(pid > 0);
	t.is(node.world.runtime().warmRunners(), 0);
	const [end] = await node.ends(1);
	t.is(end?.exit.exitCode, 1);
	t.regex(end?.exit.lastLines ?? '', /func\.mjs:1[^]*SyntaxError/);
	await node.start(node.specOf('uid-1', await node.archive.add(code), 'nodejs', {...limited, attempt: 1}));
	t.true((await node.value(node.loaded('uid-1'))).ok);
	t.is((await node.call('uid-1', null)).status, 200);
	t.deepEqual(node.world.warnings, []);
});

for (const isRouted of [false, true])
	asRoot(
		`a runner of Node.js that ends or hangs before it has become that of its pod leaves the start to another one, ${isRouted ? 'in the network of the pod' : 'in the network of the node'}`,
		async t => {
			const node = functionNode(t, {warmRunners: 1, ...(isRouted ? {network: networkOf(t).network} : {})});
			await node.warmUp(1, 'nodejs', limited);
			const {directory, warnings} = node.world;
			const [waiting = 0] = waitingIn(directory);
			t.true(waiting > 1);
			await node.ensureInstance('uid-1', 'nodejs', limited);
			process.kill(waiting, 'SIGSTOP');
			const started = node.start(node.specOf('uid-1', await node.archive.add(code), 'nodejs', limited));
			await eventually('it is told', () => existsSync(`${directory}/uid-1/function/0`));
			process.kill(waiting, 'SIGKILL');
			const {pid, attempt} = await started;
			t.deepEqual([attempt, isWarm(pid)], [0, false]);
			t.is(namespaceOf(pid, 'net') === namespaceOf('self', 'net'), !isRouted);
			t.true((await node.value(node.loaded('uid-1'))).ok);
			t.is((await node.call('uid-1', null)).status, 200);
			t.deepEqual(warnings, ['a runner that was kept ready could not be used: its shim ended before the program ran']);
		},
	);

asRoot(
	'a runner of Node.js whose pod goes, or needs another one, ends; so do all with their agent, and no group of theirs is left',
	async t => {
		const {network, attached} = networkOf(t);
		const node = functionNode(t, {warmRunners: 1, network});
		await node.warmUp(1, 'nodejs', limited);
		const {directory, warnings} = node.world;
		const whenOver = async (pid: number): Promise<void> => eventually('it is over', () => !existsSync(`/proc/${pid}`));

		const [first = 0] = waitingIn(directory);
		await node.ensureInstance('gone', 'nodejs', limited);
		t.deepEqual(attached(), ['gone']);
		await node.remove('gone');
		await whenOver(first);

		await node.whenWarm();
		const [second = 0] = waitingIn(directory);
		const {pid} = await node.serve('other', 'nodejs', code, {...limited, env: [{name: 'NODE_OPTIONS', value: '--no-warnings'}]});
		t.deepEqual([isWarm(pid), attached()], [false, ['gone', 'other']]);
		t.is((await node.call('other', null)).status, 200);
		await whenOver(second);
		// Nor does another pod of the same controller have one.
		await node.whenWarm();
		await node.ensureInstance('alike', 'nodejs', limited, 'default/Pod/pod-other');
		t.deepEqual(attached(), ['gone', 'other']);

		// Of another size none waits.
		await node.whenWarm();
		await node.ensureInstance('large', 'nodejs', {memoryLimitBytes: 2 * memoryLimitBytes});
		t.deepEqual(attached(), ['gone', 'other']);

		const [third = 0] = waitingIn(directory);
		const groups = waitingGroups(third);
		t.true(groups.length > 0);
		await node.ensureInstance('kept', 'nodejs', limited);
		// No more are kept than wait.
		await node.whenWarm();
		await node.ensureInstance('late', 'nodejs', limited);
		t.deepEqual(attached(), ['gone', 'other', 'kept']);
		await node.world.stopAgent();
		await whenOver(third);
		t.deepEqual(waitingIn(directory), []);
		t.deepEqual(
			groups.filter(group => existsSync(group)),
			[],
		);
		t.deepEqual(warnings, []);
	},
);

/** The folders of the control groups of a process that waits. */
const waitingGroups = (pid: number): readonly string[] =>
	readFileSync(`/proc/${pid}/cgroup`, 'utf8')
		.split('\n')
		.flatMap(line => {
			const [, controllers = '', group = ''] = /^\d+:([^:]*):(.*\/\.warm@.*)$/.exec(line) ?? [];
			const trees = controllers === '' ? ['', '/unified'] : [`/${controllers}`];
			return group === '' ? [] : trees.map(tree => `/sys/fs/cgroup${tree}${group}`);
		})
		.filter(folder => existsSync(folder));
