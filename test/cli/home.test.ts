import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import {mkdir, readdir, readFile, rm, stat, writeFile, symlink} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {readBootId, statOf} from '../../agent/os/identity.js';
import {usualEviction} from '../../api/eviction-thresholds.js';
import {readAgentOptions} from '../../cli/commands/agent.js';
import {nameOfStored} from '../../cli/commands/restore.js';
import {cachePlaceOf} from '../../cli/serving/node/cache-place.js';
import {wordsInBackground} from '../../cli/serving/detach.js';
import {readyText} from '../../cli/files/endpoints.js';
import {kubeconfigNotes} from '../../cli/files/home-flag.js';
import {looksLikeHome} from '../../cli/files/home-contents.js';
import {homeOf} from '../../cli/files/home.js';
import {openReadiness} from '../../cli/serving/node/readiness.js';
import {limits} from '../../api/limits.js';
import {makeDirectory} from '../../system/files/make-directory.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {readUpOptions} from '../../cli/commands/up.js';
import {parseArguments} from '../../cli/command-line/arguments.js';
import {findCommand} from '../../cli/commands.js';
import {engineNotes, findEngine, firstClass, podsText} from '../../cli/serving/node/engine.js';
import {engineOf, keepEngine} from '../../cli/serving/node/engine-place.js';
import {systemClock} from '../../system/time/clock.js';
import {AppError} from '../../api/errors.js';
import {detached, folder, freePorts, run, start} from './_rig.js';
import {main} from '../../bench/rigs/main-file.js';

const flagsOf = async (command: string, ...argv: readonly string[]) =>
	(await parseArguments(argv, findCommand(command)?.flags ?? {})).flags;

const upOptions = async (...argv: readonly string[]) => readUpOptions(await flagsOf('up', ...argv), '/h', 'box');
const agentOptions = async (...argv: readonly string[]) => readAgentOptions(await flagsOf('agent', ...argv), '/h', 'box', {});

const wordsOfAgent = async (...argv: readonly string[]) => wordsInBackground(await flagsOf('agent', ...argv));

test('up takes its defaults from the contract', async t => {
	t.deepEqual(readUpOptions(await flagsOf('up'), '/h', 'Box'), {
		home: '/h',
		api: {host: '127.0.0.1', port: 6443},
		web: {host: '127.0.0.1', port: 7070},
		mqtt: {host: '127.0.0.1', port: 1883},
		advertise: undefined,
		broker: undefined,
		runtime: 'auto',
		docker: {url: 'unix:///var/run/docker.sock', address: {socketPath: '/var/run/docker.sock'}, isAsked: false},
		dockerProblem: undefined,
		allowPrivileged: false,
		warmSandboxes: undefined,
		router: {host: '127.0.0.1', port: 8080},
		routerTls: {host: '127.0.0.1', port: 8443},
		dns: undefined,
		podNetwork: {kind: 'auto', overlay: 'vxlan', nodeAddress: undefined},
		nodePorts: undefined,
		store: 'level',
		node: 'box',
		simulatedNodes: 0,
		hostPaths: 'all',
		podUsers: undefined,
		volumes: undefined,
		gpus: undefined,
		grace: undefined,
		isNew: false,
		faults: false,
		maxProcesses: undefined,
		thresholds: usualEviction,
		detach: false,
	});
});

test('an agent listens for scrapers on loopback alone, and only where it is told to', async t => {
	t.like(await agentOptions(), {metrics: undefined, metricsTokenFile: undefined});
	t.deepEqual((await agentOptions('--metrics=9901')).metrics, {host: '127.0.0.1', port: 9901});
	t.like(await agentOptions('--metrics=[::1]:0', '--metrics-token-file=/t/token'), {
		metrics: {host: '::1', port: 0},
		metricsTokenFile: '/t/token',
	});
	for (const place of ['0.0.0.0:9900', '192.0.2.1:9900', 'host-1:9900'])
		await t.throwsAsync(agentOptions(`--metrics=${place}`), {message: /--metrics must be on loopback, .*\/metrics\/nodes\/NAME/});
	await t.throwsAsync(agentOptions('--metrics=here'), {message: /--metrics must be HOST:PORT/});
	await t.throwsAsync(agentOptions('--metrics-token-file=/t/token'), {message: /--metrics-token-file is of --metrics, which is not given/});
	t.deepEqual(await wordsOfAgent('--metrics=127.0.0.1:1', '--metrics-token-file=/t'), ['--metrics=127.0.0.1:1', '--metrics-token-file=/t']);
});

test('what up was asked for survives the way into the background', async t => {
	const asked = [
		'--api=[::1]:0',
		'--web=:1',
		'--mqtt=0.0.0.0:2',
		'--advertise=[2001:db8::1]:7443',
		'--runtime=simulated',
		'--store=memory',
		'--node=n',
		'--simulated-nodes=3',
		'--host-paths=/srv',
		'--host-paths=/mnt/a b',
		'--pod-users=200000-265535',
		'--max-processes=64',
		'--eviction-hard=memory.available<10%,nodefs.available<3Gi',
	];
	const options = await upOptions(...asked);
	const words = wordsInBackground(await flagsOf('up', ...asked, '--detach', '--broker=mqtt://control:geheim@h:1', '--home', '/h'));
	t.deepEqual(words, asked);
	t.deepEqual(readUpOptions(await flagsOf('up', ...words), '/h', 'box'), options);
});

test('pods may mount what they like of a host as long as nobody else reaches the cluster, then nothing; or what --host-paths says', async t => {
	const choiceOf = async (...argv: readonly string[]) => (await upOptions(...argv)).hostPaths;
	t.is(await choiceOf('--api', '[::1]:0', '--web', 'localhost:1'), 'all');
	for (const door of ['api', 'web', 'mqtt']) t.deepEqual(await choiceOf(`--${door}`, '0.0.0.0:1'), []);
	t.deepEqual(await choiceOf('--advertise', 'box.example'), []);
	t.is(await choiceOf('--api', '0.0.0.0:1', '--host-paths', 'all'), 'all');
	t.deepEqual(await choiceOf('--host-paths', 'none'), []);
	t.deepEqual(await choiceOf('--host-paths', '/srv', '--host-paths', '/mnt'), ['/srv', '/mnt']);
	await t.throwsAsync(choiceOf('--host-paths', '/srv', '--host-paths', 'none'), {message: /got "none"/});
	t.is((await agentOptions()).hostPaths, undefined);
	t.deepEqual(await wordsOfAgent('--host-paths=none', '--token', 'geheim', '--pod-users', '2000-3000', '--new'), [
		'--host-paths=none',
		'--pod-users=2000-3000',
		'--new=true',
	]);
	t.like(await agentOptions('--pod-users=2000-3000', '--max-processes=99'), {podUsers: {first: 2_000, last: 3_000}, maxProcesses: 99});
});

test('up tells all wrong flags at once', async t => {
	const asked = [
		'--docker',
		'ssh://x',
		'--broker=b',
		'--store',
		'etcd://a:b',
		'--runtime',
		'docker',
		'--api',
		'x:y',
		'--node',
		'A_B',
		'--simulated-nodes',
		'1.5',
		'--host-paths',
		'srv',
		'--pod-users=5-9',
		'--max-processes=3',
		'--warm-sandboxes=65',
		'--grace=900ms',
	];
	const error = await t.throwsAsync(upOptions(...asked), {instanceOf: AppError});
	t.deepEqual(error?.message.split('\n'), [
		'--simulated-nodes must be a whole number from 0 to 10000, got 1.5',
		'--api must be HOST:PORT such as 127.0.0.1:6443, got "x:y"',
		'--broker: the broker is no URL of MQTT: expected mqtt[s]://control:PASSWORD@HOST:PORT',
		'--warm-sandboxes must be a whole number from 0 to 64, got 65',
		'--docker must be an Engine of this host, unix:///PATH or tcp://127.0.0.1:PORT, got "ssh://x"',
		'--store "etcd://a:b" names no etcd: "a:b" is no host:port',
		'--grace must be a length of time from 1s to 10m, such as 5s, got "900ms"',
		'--node must be lower-case letters, digits, "-" and "." (RFC 1123), got "A_B"',
		'--host-paths must be all, none, or a folder as an absolute path, several by several flags, got "srv"',
		'--pod-users must begin at 1000 or above, for those below belong to the system, got "5-9"',
		'--max-processes must be a whole number from 16 to 1000000, got 3',
	]);
	const typo = await t.throwsAsync(upOptions('--runtime', 'proces'), {instanceOf: AppError});
	t.is(typo?.message, '--runtime must be auto or process or docker or simulated, got "proces"; did you mean "process"?');
});

test('an Engine is that of --docker, else of DOCKER_HOST, else where Docker listens; and it is one of this host', async t => {
	const engineOf = async (host: string | undefined, ...argv: readonly string[]) =>
		readUpOptions(await flagsOf('up', ...argv), '/h', 'box', {DOCKER_HOST: host});
	t.like(await engineOf('', '--runtime=docker'), {runtime: 'docker', docker: {url: 'unix:///var/run/docker.sock', isAsked: false}});
	t.like(await engineOf('tcp://[::1]:2375'), {docker: {address: {host: '::1', port: 2_375}, isAsked: true}});
	t.like(await engineOf('ssh://x', '--docker=unix:///d.sock', '--allow-privileged', '--warm-sandboxes=0'), {
		docker: {url: 'unix:///d.sock', address: {socketPath: '/d.sock'}, isAsked: true},
		dockerProblem: undefined,
		allowPrivileged: true,
		warmSandboxes: 0,
	});
	const problem =
		'DOCKER_HOST must be an Engine of this host, unix:///PATH or tcp://127.0.0.1:PORT, got "ssh://x"; --docker says another one';
	const elsewhere = await engineOf('ssh://x');
	t.like(elsewhere, {docker: undefined, dockerProblem: problem});
	t.deepEqual(engineNotes(elsewhere, undefined), [`${problem}: pods run as processes`]);
	await t.throwsAsync(engineOf('ssh://x', '--runtime=docker'), {message: problem});
	t.like(await engineOf(undefined, '--runtime=process', '--allow-privileged'), {allowPrivileged: true, docker: undefined});
	await t.throwsAsync(engineOf(undefined, '--runtime=simulated', '--allow-privileged'), {message: /^--allow-privileged has no effect/});
	t.like(await engineOf('ssh://x', '--runtime=process'), {docker: undefined, dockerProblem: undefined});
	await t.throwsAsync(engineOf(undefined, '--docker=tcp://10.0.0.7:2375'), {message: /^--docker must be an Engine of this host/});
	await t.throwsAsync(engineOf(undefined, '--runtime=process', '--docker=unix:///d', '--warm-sandboxes=1'), {
		message: [
			'--docker is of Docker, and --runtime process runs no pods of it',
			'--warm-sandboxes is of Docker, and --runtime process runs no pods of it',
		].join('\n'),
	});
});

test('a cluster begins with Docker where an Engine answers, and a start says what runs its pods', async t => {
	const url = 'unix:///d.sock';
	const found = {name: 'Docker', version: '20.10.24'} as const;
	const away = {problem: 'ask for its version: connect ENOENT /d.sock'};
	const auto = await upOptions(`--docker=${url}`);
	const docker = await upOptions('--runtime=docker', `--docker=${url}`);
	const processes = await upOptions('--runtime=process');
	t.deepEqual(
		[firstClass(auto, found), firstClass(auto, away), firstClass(docker, away), firstClass(processes, undefined)],
		['docker', 'process', 'docker', 'process'],
	);
	t.is(podsText(auto, found), `processes of this host, or containers of Docker 20.10.24 (${url})`);
	t.is(podsText(auto, away), 'processes of this host');
	t.is(podsText(docker, found), `containers of Docker 20.10.24 (${url})`);
	t.is(podsText(docker, away), `containers of Docker (${url}), which does not answer yet`);
	t.is(podsText(processes, undefined), 'processes of this host');
	t.deepEqual(engineNotes(auto, away), [`no Docker Engine answers at ${url} (${away.problem}); pods of class docker wait until one does`]);
	t.deepEqual(engineNotes(auto, found), []);
	t.deepEqual(engineNotes(await upOptions(), away), []);
	const endpoints = {command: 'up', api: 'https://a:1', web: '', mqtt: '', pid: 1, pods: podsText(auto, found)} as const;
	t.regex(
		readyText('/h', endpoints, false),
		/\n {2}pods {3}processes of this host, or containers of Docker 20\.10\.24 \(unix:\/\/\/d\.sock\)\n/,
	);
});

test('an Engine that is not there is found to be none, and one that answered is remembered', async t => {
	const home = homeOf(await folder(t));
	const nowhere = await upOptions(`--docker=unix://${home.root}/none.sock`);
	t.regex(
		JSON.stringify(await findEngine(nowhere, systemClock)),
		/^\{"problem":"Docker's Engine cannot be reached: there is nothing at unix:/,
	);
	t.is(await findEngine(await upOptions('--runtime=process'), systemClock), undefined);
	await mkdir(home.data);
	t.is(engineOf(home), undefined);
	for (const url of ['unix:///a', 'unix:///b', 'unix:///b']) keepEngine(home, url);
	t.is(engineOf(home), 'unix:///b');
	t.true(looksLikeHome(['admin.token'], ['control', 'docker', 'docker-engine']));
});

test('down --pods and uninstall say what to do where the Engine is away, and uninstall removes nothing then', async t => {
	const home = await folder(t);
	const at = homeOf(home);
	await mkdir(at.docker, {recursive: true});
	await writeFile(at.adminToken, 'x');
	const owner = '4b1f4c6e-5b7a-4b1e-8d0f-0123456789ab';
	await writeFile(path.join(at.docker, 'owner'), JSON.stringify({id: owner}));
	t.is((await run(t, ['down', '--pods'], {home})).code, 0);
	keepEngine(at, `unix://${home}/none.sock`);
	const down = await run(t, ['down', '--pods'], {home});
	t.is(down.code, 1);
	t.true(
		down.err.startsWith(
			`error: the Docker Engine at unix://${home}/none.sock does not answer, so containers of pods may still run: start it, then run this again; or find them by hand with docker ps --all --filter label=troupe.dev/owner=${owner} (`,
		),
		down.err,
	);
	const uninstall = await run(t, ['uninstall', '--yes'], {home});
	t.is(uninstall.code, 1);
	t.regex(uninstall.err, /Nothing of the home was removed; where that Engine is gone for good, remove \S+docker-engine first\n$/);
	await rm(at.engine);
	t.is((await run(t, ['uninstall', '--yes'], {home})).code, 0);
});

test('--join takes servers and nothing else, and never shows a password', async t => {
	const problem = async (join: string) => (await t.throwsAsync(agentOptions(`--join=${join}`), {instanceOf: AppError})).message;
	for (const join of ['https://ada:geheim@host:6443', 'https://host:1,http://ada:geheim@', 'ada:geheim@host'])
		t.is(await problem(join), '--join takes no user and no password: a host joins by its token');
	for (const join of ['https://host:6443/foo', 'https://host:6443?a=b', 'https://host:6443/#x'])
		t.regex(await problem(join), /takes no path behind HOST:PORT/);
	t.regex(await problem('http://host:6443'), /must be https:/);
	t.deepEqual((await agentOptions('--join=https://a:1/,https://b')).join, ['https://a:1', 'https://b']);
});

test('a folder that can never be made is told at once', t => {
	for (const place of ['/proc/nohome', '/proc/nohome/data', '/dev/null/x'])
		t.throws(() => makeDirectory(place), {message: /^E(NOENT|NOTDIR|ACCES|PERM|EXIST)\b/});
});

test('an agent is ready when it is in step, or when nobody answers; one that is refused is not', async t => {
	const clock = new ManualClock();
	const inStep = openReadiness(clock);
	inStep.inStep();
	t.deepEqual(await inStep.known, []);
	const alone = openReadiness(clock);
	alone.problem('connect ECONNREFUSED');
	const refused = openReadiness(clock);
	refused.refused();
	clock.advance(limits.agentReadyMs);
	t.deepEqual(await alone.known, ['the control plane does not answer yet (connect ECONNREFUSED); pods of the cache run']);
	t.is(await Promise.race([refused.known, Promise.resolve('not yet')]), 'not yet');
	refused.inStep();
	t.deepEqual(await refused.known, []);
});

test('another cache is remembered for the next start, and told without its password', async t => {
	const home = homeOf(await folder(t));
	await mkdir(home.data);
	t.deepEqual(await cachePlaceOf(home, undefined).keep(), []);
	const asked = cachePlaceOf(home, 'redis://u:geheim@r:1/x');
	const [note = ''] = await asked.keep();
	t.true(note.includes('redis://r:1/x') && !note.includes('geheim'), note);
	t.is((await stat(home.cachePlace)).mode & 0o777, 0o600);
	t.deepEqual([cachePlaceOf(home, undefined).place, await cachePlaceOf(home, undefined).keep()], [asked.place, []]);
});

const pod =
	'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - {name: main, image: x, command: [sleep, "1000"]}\n';

const lives = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

test.serial('up --detach returns when ready, down stops the cluster, down --pods its pods, uninstall removes all', async t => {
	const {home, up, troupe} = await detached(t, '--runtime=process');
	t.is(up.code, 0, up.err);
	t.regex(up.out, /^the cluster is ready\n {2}api +https:\/\/127\.0\.0\.1:\d+\n/);
	t.regex(up.out, /it runs in the background \(process \d+\); \.\/troupe down stops it/);
	t.regex((await troupe('up', '--detach')).err, /^error: a cluster runs in .+ already \(process \d+\); troupe down stops it\n$/);
	t.is((await stat(path.join(home, 'kubeconfig'))).mode & 0o777, 0o600);

	t.is((await run(t, ['apply', '-f', '-'], {home, input: pod})).out, 'pod/a created\n');
	const watching = start(t, ['get', 'pods', '-w'], {home});
	await watching.says('Running');
	watching.kill('SIGINT');
	const described = (await troupe('describe', 'pod', 'a')).out;
	const pid = Number(/process:\/\/(\d+)/.exec(described)?.[1]);
	t.true(lives(pid), described);

	t.regex((await troupe('down')).out, /^the cluster is stopped \(process \d+\)\npods run on; troupe down --pods stops them too\n$/);
	t.true(lives(pid));
	t.is((await troupe('down')).out, `no cluster runs in ${home}\n`);
	t.is((await troupe('get', 'pods')).code, 5);
	t.is((await troupe('down', '--pods')).out, `no cluster runs in ${home}\n1 program of pods stopped\n`);
	t.false(lives(pid));

	const unasked = await troupe('uninstall');
	t.deepEqual([unasked.code, unasked.err], [2, 'error: nobody is there to ask; --yes says that it is meant\n']);
	await writeFile(path.join(home, 'notes.txt'), 'mine');
	t.regex((await troupe('uninstall', '--yes')).out, /all that was ours in .+ is removed; left there: notes\.txt\n$/);
	t.deepEqual(await readdir(home), ['notes.txt']);
});

test.serial('up --detach tells why it failed, and leaves nothing running', async t => {
	const home = await folder(t);
	const taken = createServer();
	await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
	t.teardown(() => taken.close());
	const {port} = taken.address() as AddressInfo;
	const {code, out, err} = await run(t, ['up', '--detach', ...freePorts.slice(0, 2), `--mqtt=127.0.0.1:${port}`], {home});
	t.deepEqual([code, out], [1, '']);
	t.regex(err, new RegExp(`^error: the cluster did not start: .*${port}.*--mqtt.*\nerror: its log is ${home}/troupe\\.log\n$`));
	t.is((await run(t, ['down'], {home})).out, `no cluster runs in ${home}\n`);
	t.false((await readdir(home)).includes('endpoints.json'));
});

test('up tells that nothing can be written into its home', async t => {
	const file = path.join(await folder(t), 'file');
	await writeFile(file, '');
	for (const flags of [[], ['--detach']]) {
		const {code, err} = await run(t, ['up', ...flags, ...freePorts], {home: path.join(file, 'home')});
		t.is(code, 1);
		t.regex(err, /^error: \S+ cannot be written: ENOTDIR: [^\n]+; --home or TROUPE_HOME names another place\n$/);
	}
});

test('a command tells that its output cannot be written', t => {
	const full = openSync('/dev/full', 'w');
	t.teardown(() => closeSync(full));
	const {status, stderr} = spawnSync(process.execPath, [main, 'help'], {stdio: ['ignore', full, 'pipe'], encoding: 'utf8'});
	t.is(stderr, 'error: the output cannot be written: ENOSPC: no space left on device, write\n');
	t.is(status, 1);
});

test('down leaves a process alone that only has the pid of a cluster that is gone', async t => {
	const home = await folder(t);
	const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {stdio: 'ignore'});
	t.teardown(() => other.kill('SIGKILL'));
	await writeFile(path.join(home, 'endpoints.json'), JSON.stringify({api: 'https://x', web: 'http://x', mqtt: 'mqtt://x', pid: other.pid}));
	t.is((await run(t, ['down'], {home})).out, `no cluster runs in ${home}\n`);
	t.true(lives(other.pid ?? 0));
});

test('uninstall touches no folder that does not look like a home', async t => {
	const home = await folder(t);
	await mkdir(path.join(home, 'data/photos'), {recursive: true});
	await writeFile(path.join(home, 'kubeconfig'), 'somebody’s');
	const {code, err} = await run(t, ['uninstall', '--yes'], {home});
	t.is(code, 1);
	t.regex(err, /does not look like the home of a cluster, so nothing in it is touched/);
	t.is(await readFile(path.join(home, 'kubeconfig'), 'utf8'), 'somebody’s');
	const nowhere = path.join(home, 'nowhere');
	t.deepEqual(await run(t, ['uninstall', '--yes'], {home: nowhere}), {code: 0, out: `there is nothing in ${nowhere}\n`, err: ''});
});

test('down tells of an endpoints file that cannot be read, and which process uses the data', async t => {
	const home = await folder(t);
	const {endpoints, data, runtime} = homeOf(home);
	await writeFile(endpoints, '{"pid":');
	await mkdir(runtime, {recursive: true});
	const log = openSync(path.join(runtime, 'log of a pod'), 'w');
	t.teardown(() => closeSync(log));
	const idle = await run(t, ['down'], {home});
	t.is(idle.code, 1);
	t.true(idle.err.startsWith(`error: ${endpoints} is broken, so it is not known what runs; no process is seen to use ${data}: `), idle.err);
	const lock = openSync(path.join(data, 'LOCK'), 'w');
	t.teardown(() => closeSync(lock));
	const {code, err} = await run(t, ['down', '--pods'], {home});
	t.is(code, 1);
	t.true(err.includes(`process ${process.pid} (`) && err.endsWith(`stop it with kill ${process.pid}, then remove ${endpoints}\n`), err);
});

test('down --pods ends what serves the traffic of pods where no cluster runs, and only a process that is proven to do that', async t => {
	const home = await folder(t);
	const {network} = homeOf(home);
	await mkdir(network, {recursive: true});
	const log = openSync(path.join(network, 'log'), 'w');
	const serving = spawn('sleep', ['1000'], {stdio: ['ignore', log, 'ignore']});
	closeSync(log);
	t.teardown(() => void serving.kill('SIGKILL'));
	const stat = statOf(serving.pid ?? 0);
	if (stat === undefined) return t.fail();
	const record = (startTime: number): Promise<void> =>
		writeFile(path.join(network, 'record'), JSON.stringify({bootId: readBootId(), serving: {pid: stat.pid, startTime}, others: []}));
	await record(stat.startTime + 1);
	const other = await run(t, ['down', '--pods'], {home});
	t.is(other.code, 1);
	t.true(other.err.endsWith(`stop it with kill ${stat.pid}\n`), other.err);
	t.is(serving.signalCode, null);
	await record(stat.startTime);
	const ended = once(serving, 'exit');
	const {code, err} = await run(t, ['down', '--pods'], {home});
	t.is(code, 0, err);
	await ended;
	t.is(serving.signalCode, 'SIGTERM');
});

test('down says nothing of a home where it cannot know what runs', async t => {
	const home = await folder(t);
	const {endpoints, data} = homeOf(home);
	await mkdir(data, {recursive: true});
	t.is((await run(t, ['down'], {home})).code, 0);
	const lock = openSync(path.join(data, 'LOCK'), 'w');
	t.teardown(() => closeSync(lock));
	const lost = await run(t, ['down', '--pods'], {home});
	t.is(lost.code, 1);
	t.true(lost.err.startsWith(`error: ${endpoints} is missing, so it is not known what runs; process ${process.pid} (`), lost.err);
	const circle = path.join(home, 'circle');
	await symlink(circle, circle);
	const closed = await run(t, ['down'], {home: circle});
	t.is(closed.code, 1);
	t.regex(closed.err, /circle too many symbolic links encountered, so it is not known what runs: ask as the user whose home it is\n$/);
});

test.serial('who has a KUBECONFIG is told which cluster is asked', t => {
	t.teardown(() => delete process.env['KUBECONFIG']);
	delete process.env['KUBECONFIG'];
	t.deepEqual(kubeconfigNotes(), []);
	process.env['KUBECONFIG'] = '/elsewhere';
	const endpoints = {command: 'up', api: 'https://a:1', web: '', mqtt: '', pid: 1, notes: kubeconfigNotes()} as const;
	t.regex(readyText('/h', endpoints, false), /\nnote: KUBECONFIG is set: kubectl goes by it, troupe asks the cluster of its home first\n/);
});

test('what damage and salvage leave beside the data belongs to the home', t => {
	for (const name of ['node-damaged', 'control-damaged-a1B2c3', 'control-salvage-a1B2c3', 'lineage'])
		t.true(looksLikeHome(['admin.token'], ['control', name]), name);
	t.false(looksLikeHome(['admin.token'], ['control', 'control-of-mine']));
});

test('what a damaged store has lost is named as people know it, and by its key where that says more', t => {
	t.is(nameOfStored('/troupe/registry/pods/default/web'), 'pod default/web');
	t.is(nameOfStored('/troupe/registry/nodes/_/vm'), 'node vm');
	t.is(nameOfStored('/troupe/events/pods/default/web'), 'events of pod default/web');
	for (const key of ['/troupe/vault/tokens', '/troupe/registry/widgets/default/a']) t.is(nameOfStored(key), key);
});

test.serial('what to type next in another terminal names the home, whatever TROUPE_HOME is here', t => {
	const before = process.env['TROUPE_HOME'];
	t.teardown(() => (before === undefined ? delete process.env['TROUPE_HOME'] : (process.env['TROUPE_HOME'] = before)));
	process.env['TROUPE_HOME'] = '/h';
	const endpoints = {command: 'up', api: 'https://a:1', web: '', mqtt: '', pid: 1} as const;
	t.regex(
		readyText('/h', endpoints, false),
		/in another terminal:\n {2}\S+ apply -f examples\/hello\.yaml --home \/h\n {2}\S+ get pods --home \/h\n/,
	);
	t.regex(readyText('/h', endpoints, true), /in this terminal:\n {2}\S+ apply -f examples\/hello\.yaml\n {2}\S+ get pods\n/);
});
