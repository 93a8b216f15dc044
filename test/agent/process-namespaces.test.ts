// Containers in namespaces of their own, as root and as an ordinary user: what they see, how they end, who joins them.

import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {ContainerId, ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import {besideCommand} from '../../agent/process/exec/beside.js';
import {enteringOf} from '../../agent/process/exec/entering.js';
import {hostOf} from '../../agent/process/host/host.js';
import {findTool} from '../../agent/os/tools.js';
import {isRoot, needing} from '../_needing.js';
import {parentOf} from '../lane/processes.js';
import {conditionsHere, groupOf, isThere, pidOnNode, processWorld, whenTrue} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const main = {uid: 'uid-1', container: 'main'};

function nodeOf(t: ExecutionContext, options: Parameters<typeof processWorld>[1] = {}) {
	const world = processWorld(clean => t.teardown(clean), options);
	const calls = driver(world);
	const written = async (id: ContainerId = main): Promise<string> =>
		Buffer.from((await calls.value(calls.log(id))).data, 'base64').toString();
	/** Resolves when the log has it. */
	const says = async (text: string | RegExp): Promise<string> => {
		for (let all = await written(); ; all = await written()) if (typeof text === 'string' ? all.includes(text) : text.test(all)) return all;
	};
	const run = (script: string, rest: Partial<ContainerSpec> = {}) =>
		calls.ensure('uid-1').then(() => calls.start(aContainer('runs', {...rest, argv: ['sh', '-c', script]})));
	/** What a program in the container writes. */
	const inside = async (...argv: readonly string[]): Promise<string> =>
		(await calls.hearAll((await calls.value(calls.exec(main, argv))).session)).stdout;
	return {world, ...calls, written, says, run, inside};
}

/** Where the kernel or the tools do not allow namespaces nothing of this can be had, and the node says so. */
const hasNamespaces = !(await conditionsHere()).includes('SharedProcesses');
const withNamespaces = needing(hasNamespaces, 'needs namespaces that this user may make');

const namespaceOf = (pid: number, sort: string): string => readlinkSync(`/proc/${pid}/ns/${sort}`);

test('a node without namespaces says that its pods see its processes', async t => {
	const {world, run, says, stop} = nodeOf(t, {namespaces: null});
	t.true(
		world
			.runtime()
			.info()
			.conditions.some(({type, reason}) => type === 'SharedProcesses' && reason === 'NoNamespaces'),
	);
	const {pid} = await run('echo $$ is it; sleep infinity');
	await says(`${pid} is it`);
	t.is((await stop(main, 60_000))?.exitCode, 143);
});

const hunt =
	'for each in /proc/[0-9]*; do tr "\\0" "\\n" <$each/environ; done 2>/dev/null | grep -c marker-of-the-other; ls -d /proc/[0-9]* | wc -l';

for (const tty of [false, true])
	withNamespaces(
		`a program ${tty ? 'in a terminal ' : ''}sees the processes of its container only, and no environment of another pod`,
		async t => {
			const {ensure, start, run, says} = nodeOf(t);
			await ensure('uid-2');
			const other = await start(aContainer('runs', {uid: 'uid-2', env: [{name: 'SECRET', value: 'marker-of-the-other'}]}));
			await whenTrue(() => readFileSync(`/proc/${other.pid}/comm`, 'latin1') === 'sleep\n');
			t.true(readFileSync(`/proc/${other.pid}/environ`, 'latin1').includes('marker-of-the-other'));
			await run(`${hunt}; kill -9 1 ${other.pid}; echo over; sleep infinity`, {tty});
			const [marked, count] = (await says('over')).trim().split(/\s+/);
			t.is(marked, '0');
			t.true(Number(count) <= 8, count);
			t.true(isThere(other.pid));
		},
	);

withNamespaces('the first process is the shim, which cannot be ended from inside and whose variables cannot be read', async t => {
	const {run, says, inside, stop} = nodeOf(t);
	const {pid} = await run(
		'for s in KILL STOP TERM HUP INT; do kill -s $s 1; done; cat /proc/1/environ | tr "\\0" "\\n"; readlink /proc/1/root; echo over; sleep infinity',
		{
			env: [{name: 'OWN', value: 'x'}],
		},
	);
	t.false((await says('over')).includes('OWN='));
	t.true(isThere(parentOf(pid)));
	t.regex(await inside('cat', '/proc/1/cmdline'), /troupe-shim/);
	t.is((await stop(main, 60_000))?.exitCode, 143);
});

for (const [script, code] of [
	['exit 0', 0],
	['exit 7', 7],
	['kill -s KILL $$', 137],
	['kill -s TERM $$', 143],
] as const)
	withNamespaces(`the code of "${script}" is ${code}`, async t => {
		const {run, ends} = nodeOf(t);
		await run(script);
		t.is((await ends(1))[0]?.exit.exitCode, code);
	});

withNamespaces('SIGTERM reaches a handler, and ends a program that has none', async t => {
	const {run, says, stop, start} = nodeOf(t);
	await run("trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.02; done");
	await says('ready');
	t.is((await stop(main, 60_000))?.exitCode, 4);
	await says('bye');
	await start(aContainer('runs', {attempt: 1}));
	t.is((await stop(main, 60_000))?.exitCode, 143);
});

withNamespaces('an orphan is taken in by the shim, and ends with its container though it has left its session', async t => {
	const {run, says, inside, stop} = nodeOf(t, {controlGroups: null});
	const {pid} = await run(
		'(setsid sh -c \'echo $$ daemon; trap "" TERM HUP; while :; do sleep 1; done\' &); (sh -c "exit 3" & echo $! brief); sleep infinity',
	);
	const [, daemon = ''] = /^(\d+) daemon$/m.exec(await says(/daemon[^]*brief|brief[^]*daemon/)) ?? [];
	const [, brief = ''] = /^(\d+) brief$/m.exec(await says('brief')) ?? [];
	const onNode = pidOnNode(Number(daemon), pid);
	t.is(parentOf(onNode), parentOf(pid));
	await whenTrue(() => pidOnNode(Number(brief), pid) === 0);
	t.false((await inside('ps', '-eo', 'stat')).includes('Z'));
	t.is((await stop(main, 0))?.exitCode, 137);
	t.false(isThere(onNode), 'its end is told when nothing of it is left');
});

withNamespaces('exec sees the same processes, and its user has no more rights', async t => {
	const {run, says, inside} = nodeOf(t);
	const {pid} = await run('echo $$ program; exec sleep 4711');
	const [, program = ''] = /^(\d+) program$/m.exec(await says('program')) ?? [];
	const seen = await inside(
		'sh',
		'-c',
		`tr "\\0" " " </proc/${program}/cmdline; readlink /proc/${program}/ns/pid /proc/$$/ns/pid; readlink /proc/${program}/ns/mnt /proc/$$/ns/mnt; readlink /proc/${program}/ns/user /proc/$$/ns/user; id -u; id -ru; grep CapEff /proc/$$/status`,
	);
	const [words, pidOf, pidToo, mnt, mntToo, user, userToo, uid, realUid, rights] = seen.split(/\n|(?<=4711 )/);
	t.is(words, 'sleep 4711 ');
	t.is(pidOf, pidToo);
	t.is(mnt, mntToo);
	t.is(user, userToo);
	t.is(uid, realUid);
	t.is(uid, /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
	t.regex(rights ?? '', /^CapEff:\t0+$/);
});

for (const who of ['shim', 'leader'] as const)
	withNamespaces(
		`when the ${who === 'shim' ? 'shim' : 'unshare over it'} is killed everything of the container is, and the code is unknown`,
		async t => {
			const {run, says, ends, inspect, start} = nodeOf(t, {controlGroups: null});
			const {pid} = await run('setsid sleep infinity & echo ready; sleep infinity', {stdin: true});
			await says('ready');
			const [shim, leader] = [parentOf(pid), groupOf(pid)];
			const namespace = namespaceOf(pid, 'pid');
			process.kill(who === 'shim' ? shim : leader, 'SIGKILL');
			const [end] = await ends(1);
			t.is(end?.exit.reason, 'Unknown');
			await whenTrue(() => !isThere(shim) && !isThere(leader) && !readdirSync('/proc').some(name => isIn(name, namespace)));
			t.deepEqual((await inspect(main)).lastExit, end?.exit);
			t.is((await start(aContainer('runs', {attempt: 1}))).attempt, 1);
		},
	);

function isIn(name: string, namespace: string): boolean {
	try {
		return /^\d+$/.test(name) && namespaceOf(Number(name), 'pid') === namespace;
	} catch {
		return false; // It has ended, or is another user's.
	}
}

withNamespaces('what an agent without namespaces has started keeps its process, and the next agent joins and stops it', async t => {
	const options: {namespaces: null | undefined} = {namespaces: null};
	const {run, says, restartAgent, inspect, inside, stop} = nodeOf(t, {
		get namespaces() {
			return options.namespaces;
		},
	});
	const running = await run('echo $$ program; sleep infinity');
	await says(`${running.pid} program`);
	await restartAgent(() => {
		options.namespaces = undefined;
		return Promise.resolve();
	});
	t.deepEqual((await inspect(main)).running, running);
	t.is(await inside('sh', '-c', `kill -0 ${running.pid} && echo there`), 'there\n');
	t.is((await stop(main, 60_000))?.exitCode, 143);
});

withNamespaces('a container keeps its process under the next agent, which joins it', async t => {
	const {run, says, restartAgent, inspect, inside, stop} = nodeOf(t);
	const running = await run('echo ready; sleep infinity');
	await says('ready');
	await restartAgent();
	t.deepEqual((await inspect(main)).running, running);
	t.regex(await inside('ps', '-eo', 'pid,args'), /^ +1 .*troupe-shim/m);
	t.is((await stop(main, 60_000))?.exitCode, 143);
});

const moves = `until [ -e "$1/move" ]; do sleep 0.02; done
exec unshare --user --map-root-user --mount sh -c 'mount --bind "$1/setpriv" "$2" && exec sleep infinity' sh "$1" "$2"`;

needing(hasNamespaces && isRoot, 'needs root and namespaces')(
	'nothing begins as root in a view that a program has gone to, not even when it goes while it is joined',
	async t => {
		const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-view-'));
		t.teardown(() => rmSync(folder, {recursive: true}));
		chmodSync(folder, 0o777);
		const setpriv = findTool('setpriv') ?? '';
		writeFileSync(path.join(folder, 'setpriv'), `#!/bin/sh\nid -u >${folder}/began\n`, {mode: 0o755});
		const {ensure, start, exec, hearAll, value} = nodeOf(t);
		await ensure('uid-1');
		const {pid} = await start(aContainer('runs', {argv: ['sh', '-c', moves, 'sh', folder, setpriv], runAsUser: 1_234}));
		const host = hostOf({path: undefined, dropper: undefined, namespaces: undefined, nfs: undefined, folder, onWarning: () => undefined});
		const drop = {user: {uid: 1_234, gid: 1_234}, groups: [], mayGain: false};
		const entering = enteringOf(host, pid, drop);
		const beside = {argv: ['true'], stdin: false, terminal: undefined, procsFiles: [], entering};
		const {file, args, env} = besideCommand(beside, {pid, drop, env: []}, host.path);
		const joined = (): readonly unknown[] => {
			const {stderr, status} = spawnSync(file, args, {env, encoding: 'utf8'});
			return [stderr, status];
		};
		t.deepEqual(joined(), ['', 0]);
		writeFileSync(path.join(folder, 'move'), '');
		await whenTrue(
			() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n' && namespaceOf(pid, 'user') !== namespaceOf(process.pid, 'user'),
		);
		const told = 'exec: the program has gone to namespaces of its own making\n';
		t.deepEqual(joined(), [told, 126]);
		t.deepEqual(await hearAll((await value(exec(main, ['true']))).session), {stdout: '', stderr: told, exitCode: 126});
		t.false(existsSync(path.join(folder, 'began')));
	},
);
