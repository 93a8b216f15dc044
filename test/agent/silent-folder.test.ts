// Folders of a program's own making that never answer: whoever looks at them waits, and the agent never does.

import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import type {ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import type {ProcessRuntimeOptions} from '../../agent/process-runtime.js';
import {hostPathOf} from '../../agent/volumes/host-paths.js';
import {planMounts} from '../../agent/process/mounts/mount-plan.js';
import {isRoot, needing} from '../_needing.js';
import {processWorld, whenTrue} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const main = {uid: 'uid-1', container: 'main'};
const other = {uid: 'uid-1', container: 'other'};
const mounter = path.join(import.meta.dirname, '_silent-folder.js');

const mayMount = isRoot && /\tfuse$/m.test(readFileSync('/proc/filesystems', 'utf8'));
const withFuse = needing(mayMount, 'needs root and FUSE');

/** Two containers, the program of one of which is this text, for a folder on which it mounts what never answers. */
async function running(t: ExecutionContext, text: string, options: Partial<ProcessRuntimeOptions> = {}, rest: Partial<ContainerSpec> = {}) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-silent-'));
	const driven = driver(
		processWorld(clean => {
			t.teardown(async () => {
				await clean();
				spawnSync('umount', ['-l', folder]); // Where a program has no view of its own.
				rmSync(folder, {recursive: true});
			});
		}, options),
	);
	await driven.ensure('uid-1');
	const argv = ['sh', '-c', text, 'sh', folder, process.execPath, mounter];
	const env = [{name: 'PATH', value: `${folder}:/usr/bin:/bin`}];
	const {pid} = await driven.start(aContainer('runs', {runAsUser: 0, argv, env, ...rest}));
	await driven.start(aContainer('runs', {container: 'other'}));
	await whenTrue(() => readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(` ${folder} `));
	const opened = async (...args: Parameters<typeof driven.exec>): Promise<string> => (await driven.value(driven.exec(...args))).session;
	return {...driven, pid, folder, opened};
}

const mounts = 'exec "$2" "$3" "$1"';
const stands = '"$2" "$3" "$1" & until grep -q " $1 " /proc/self/mountinfo; do sleep 0.02; done; cd "$1" && exec /bin/sleep infinity';

const commOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, 'latin1');

for (const tty of [false, true]) {
	withFuse(`a PATH that leads to one is looked through by whoever is to run${tty ? ', in a terminal' : ''}`, async t => {
		const {opened, act, hear, hearAll, run, value} = await running(t, mounts);
		const waits = await opened(main, ['true'], {tty});
		t.deepEqual(await value(hear(waits, 300)), {parts: [], end: undefined});
		const {ok, message} = await value(act(main, {type: 'exec', argv: ['true']}, 300));
		t.false(ok);
		t.regex(message, /took longer than 300 ms/);
		t.is((await hearAll(await opened(main, ['/bin/echo', 'here'], {tty}))).stdout.trim(), 'here');
		await run({type: 'exec.close', session: waits});
	});
}

for (const namespaces of [undefined, null]) {
	const where = namespaces === null ? 'where the agent stands, too' : 'in a view of its own';
	withFuse(`a program's folder that is one is entered by whoever joins it, ${where}`, async t => {
		const {pid, opened, act, hear, hearAll, stop, value} = await running(t, stands, {namespaces});
		await whenTrue(() => commOf(pid) === 'sleep\n');
		const waits = await opened(main, ['/bin/true']);
		t.deepEqual(await value(hear(waits, 300)), {parts: [], end: undefined});
		t.regex((await value(act(main, {type: 'exec', argv: ['/bin/true']}, 300))).message, /took longer than 300 ms/);
		t.is((await hearAll(await opened(other, ['echo', 'here']))).stdout, 'here\n');
		await stop(main, 0);
		t.is((await value(hear(waits))).end?.exitCode, 137);
	});
}

for (const tty of [false, true]) {
	withFuse(`no more than so many join a container for ever${tty ? ', in a terminal' : ''}`, async t => {
		const {opened, act, exec, hear, hearAll, run, value} = await running(t, mounts);
		const session = await opened(main, ['true'], {tty});
		await value(hear(session, 300));
		await run({type: 'exec.close', session});
		const refused = /16 programs .* have been killed and do not end/;
		let tries = 0;
		let message = '';
		// On a busy machine one or the other is killed before it has come to the folder, and ends.
		do {
			({message} = await value(act(main, {type: 'exec', argv: ['true']}, 200)));
			tries++;
		} while (/took longer than 200 ms/.test(message) && tries < 4 * limits.killedPrograms);
		t.regex(message, refused);
		t.true(tries >= limits.killedPrograms, 'one by the session, the others and the one that is refused by this');
		const outcome = await exec(main, ['true']);
		t.regex(outcome.ok ? 'opened' : outcome.error.message, refused);
		t.is((await hearAll(await opened(other, ['echo', 'here']))).stdout, 'here\n');
	});
}

test('what is killed and ends is not counted', async t => {
	const driven = driver(processWorld(clean => t.teardown(clean)));
	await driven.ensure('uid-1');
	await driven.start(aContainer('runs'));
	const sleeps = {type: 'exec', argv: ['sleep', '60']} as const;
	for (let count = 0; count <= limits.killedPrograms; count++) {
		t.regex((await driven.value(driven.act(main, sleeps, 100))).message, /took longer than 100 ms/, `${count}`);
	}
});

withFuse('nothing of a start leads through /proc to one, whichever way it is written', async t => {
	const {pid, folder, ensure, run} = await running(t, mounts);
	const inside = `/proc/${pid}/root${folder}`;
	const scratch = mkdtempSync(path.join(os.tmpdir(), 'troupe-links-'));
	t.teardown(() => rmSync(scratch, {recursive: true}));
	symlinkSync(`${inside}/x`, path.join(scratch, 'link'));
	symlinkSync('link', path.join(scratch, 'further'));
	await ensure('uid-2');
	const refused = /it leads through a link of \/proc/;
	for (const place of [inside, path.join(scratch, 'further')]) {
		for (const rest of [{workingDir: place}, {argv: [`${place}/x`]}, {argv: ['x'], env: [{name: 'PATH', value: place}]}]) {
			const outcome = await run<'container.start'>({type: 'container.start', spec: aContainer('runs', {uid: 'uid-2', ...rest})});
			t.regex(outcome.ok ? 'started' : outcome.error.message, refused);
		}
		t.throws(() => hostPathOf(place, '', {allowed: 'all', never: []}), {message: refused});
	}
	const hostPaths = {allowed: 'all', never: []} as const;
	const wanted = {
		root: scratch,
		table: path.join(scratch, 'table'),
		readOnlyRoot: false,
		hidden: [],
		podHome: undefined,
		hostPaths,
		find: () => ({type: 'scratch', place: scratch}) as const,
	};
	for (const mount of [{subPath: 'link/y'}, {path: path.join(scratch, 'further')}]) {
		const planned = planMounts({...wanted, mounts: [{volume: 'data', path: '/new', subPath: undefined, readOnly: false, ...mount}]});
		t.regex(planned.ok ? 'planned' : planned.reason, refused);
	}
});
