// Volumes of NFS, with a program in the place of mount.nfs(8) that shows a folder of this host: that is all that is not as with a server.

import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {ContainerSpec, MountSpec, VolumeSource} from '../../actors/node/runtime/runtime-port.js';
import {findNfsTools} from '../../agent/volumes/nfs.js';
import {asOther, asRoot, isRoot, needing} from '../_needing.js';
import {processWorld, whenTrue} from './process-world.js';
import {aContainer, driver, mount} from './runtime-contract.js';

const exported = (server: string, readOnly = false): VolumeSource => ({type: 'nfs', server, path: '/srv/all', readOnly});

/** Of this process alone. */
const longSleep = `987.${process.pid}`;

/** What another host would export, and a mount.nfs for it. */
function serverOf(t: ExecutionContext) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-nfs-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const all = path.join(folder, 'export');
	const calls = path.join(folder, 'calls');
	const helper = path.join(folder, 'mount.nfs');
	mkdirSync(path.join(all, 'part'), {recursive: true});
	writeFileSync(path.join(all, 'part', 'text'), 'there');
	symlinkSync('/etc', path.join(all, 'elsewhere'));
	const text = `#!/bin/sh
printf '%s\\n' "$1 $3 $4 $5" >>'${calls}'
case $1 in
silent:*) exec sleep ${longSleep} ;;
closed:*) echo "mount.nfs: access denied by server while mounting $1" >&2; exit 32 ;;
esac
how=bind
case $5 in *,ro) how=bind,ro ;; esac
exec mount -o "$how" -- '${all}' "$2"
`;
	writeFileSync(helper, text, {mode: 0o755});
	const asked = (): readonly string[] => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []);
	return {all, helper, asked};
}

function nodeOf(t: ExecutionContext, waitMs = 10_000) {
	const {helper, ...server} = serverOf(t);
	const timeout = findNfsTools()?.timeout ?? '/usr/bin/timeout';
	const world = processWorld(clean => t.teardown(clean), {nfs: {mount: helper, timeout, waitMs}});
	const calls = driver(world);
	/** A pod with the volume, made or the reason why not. */
	const pod = async (uid: string, source: VolumeSource): Promise<string> => {
		await calls.ensure(uid);
		const outcome = await calls.run<'volumes.ensure'>({
			type: 'volumes.ensure',
			uid,
			namespace: 'default',
			volumes: [{name: 'data', source}],
			fsGroup: undefined,
		});
		return outcome.ok ? 'made' : outcome.error.message;
	};
	const container = (uid: string, script: string, rest: Partial<MountSpec> = {}, spec: Partial<ContainerSpec> = {}): ContainerSpec =>
		aContainer('runs', {
			...spec,
			uid,
			argv: ['sh', '-c', `${script}; exec sleep 1000`],
			runAsUser: 0,
			mounts: [{...mount('data', '/mnt/data'), ...rest}],
		});
	const reasonOf = async (spec: ContainerSpec): Promise<string> => {
		const outcome = await calls.run<'container.start'>({type: 'container.start', spec});
		return outcome.ok ? 'it runs' : outcome.error.message;
	};
	return {...calls, ...server, world, pod, container, reasonOf};
}

const isShown = (folder: string): boolean => readFileSync('/proc/self/mountinfo', 'utf8').includes(folder);

asRoot('pods see what another host exports, this host itself does not, and it is over with their programs', async t => {
	const {pod, container, start, stop, remove, all, asked, world} = nodeOf(t);
	t.is(await pod('uid-1', exported('files.example')), 'made');
	t.is(await pod('uid-2', exported('files.example')), 'made');
	const {pid} = await start(container('uid-1', 'echo one >/mnt/data/one'));
	await start(container('uid-2', 'cat /mnt/data/part/text >/mnt/data/two'));
	await whenTrue(() => ['one', 'two'].every(name => existsSync(path.join(all, name))));
	t.deepEqual(
		asked(),
		Array.from({length: 2}, () => 'files.example:/srv/all -n -o hard,nosuid,nodev,retry=0'),
	);
	t.regex(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'), / \/mnt\/data /);
	t.false(isShown(world.directory));

	await stop({uid: 'uid-1', container: 'main'}, 0);
	await remove('uid-1');
	t.is(readFileSync(path.join(all, 'one'), 'utf8'), 'one\n', 'what it is stays');
	t.false(existsSync(`/proc/${pid}`));
});

asRoot('an agent that starts again finds it as it was, and removing a pod removes nothing of it', async t => {
	const {pod, container, start, exec, hearAll, value, remove, restartAgent, all} = nodeOf(t);
	await pod('uid-1', exported('files.example'));
	await start(container('uid-1', ':'));
	await restartAgent();
	const {session} = await value(exec({uid: 'uid-1', container: 'main'}, ['cat', '/mnt/data/part/text']));
	t.is((await hearAll(session)).stdout, 'there');
	await remove('uid-1');
	t.deepEqual(readdirSync(path.join(all, 'part')), ['text']);
});

asRoot('what is to be read only is, by the volume or by the mount, and a part of it is all that is seen', async t => {
	const {pod, container, start, exec, hearAll, value, reasonOf, asked} = nodeOf(t);
	await pod('uid-1', exported('fd00::1', true));
	await pod('uid-2', exported('10.0.0.1'));
	await start(container('uid-1', ':'));
	await start(container('uid-2', ':', {subPath: 'part', readOnly: true}));
	for (const [uid, shown] of [
		['uid-1', 'elsewhere\npart\n'],
		['uid-2', 'text\n'],
	] as const) {
		const said = async (...argv: readonly string[]) => hearAll((await value(exec({uid, container: 'main'}, argv))).session);
		t.is((await said('ls', '/mnt/data')).stdout, shown);
		t.regex((await said('touch', '/mnt/data/new')).stderr, /Read-only file system/);
	}
	t.deepEqual(asked(), ['[fd00::1]:/srv/all -n -o hard,nosuid,nodev,retry=0,ro', '10.0.0.1:/srv/all -n -o hard,nosuid,nodev,retry=0,ro']);
	await pod('uid-3', exported('10.0.0.1'));
	for (const subPath of ['none', 'elsewhere', 'elsewhere/ssl'])
		t.regex(
			await reasonOf(container('uid-3', ':', {subPath})),
			new RegExp(`volume "data" has no folder "${subPath}", or a link is on the way`),
		);
	t.regex(await reasonOf(container('uid-3', ':', {subPath: '../x'})), /subPath must lead down/);
});

asRoot('what a server refuses is told, and one that does not answer is given up', async t => {
	const {pod, container, reasonOf, start} = nodeOf(t, 500);
	await pod('uid-1', exported('closed'));
	t.regex(
		await reasonOf(container('uid-1', ':')),
		/volume "data" cannot be mounted from "closed:\/srv\/all": mount\.nfs: access denied by server while mounting closed:\/srv\/all$/,
	);
	await pod('uid-2', exported('silent'));
	t.regex(await reasonOf(container('uid-2', ':')), /volume "data" cannot be mounted from "silent:\/srv\/all": no answer in 0\.5 s$/);
	t.is(await pod('uid-3', exported('files')), 'made');
	t.true((await start(container('uid-3', ':'))).pid > 0);
});

asRoot('a pod whose server does not answer can be removed meanwhile, and other pods are served', async t => {
	const {pod, container, run, remove, start, reasonOf} = nodeOf(t, 60_000);
	await pod('uid-1', exported('silent'));
	await pod('uid-2', exported('files'));
	const waits = reasonOf(container('uid-1', ':'));
	await whenTrue(() => sleepers().length === 1);
	t.true((await start(container('uid-2', ':'))).pid > 0);
	await remove('uid-1');
	t.regex(await waits, /was not started/);
	await whenTrue(() => sleepers().length === 0);
	t.deepEqual(await run<'sandbox.list'>({type: 'sandbox.list'}), {ok: true, value: ['uid-2']});
});

/** Programs that stand for a mount.nfs that waits. */
const sleepers = (): readonly string[] =>
	spawnSync('pgrep', ['-fx', `sleep ${longSleep}`], {encoding: 'utf8'})
		.stdout.split('\n')
		.filter(Boolean);

asRoot('a node without mount.nfs says so', async t => {
	const world = processWorld(clean => t.teardown(clean), {nfs: null});
	t.false(world.runtime().info().features.includes('nfs'));
	t.is(await refusalBy(world), 'volume "data": NFS needs mount.nfs (of the package nfs-common) on this node');
});

asOther('an agent that is not root says so', async t => {
	const world = processWorld(clean => t.teardown(clean));
	t.false(world.runtime().info().features.includes('nfs'));
	t.is(await refusalBy(world), 'volume "data": NFS needs an agent that is root');
});

async function refusalBy(world: ReturnType<typeof processWorld>): Promise<string> {
	const {ensure, run} = driver(world);
	await ensure('uid-1');
	const volumes = [{name: 'data', source: exported('127.0.0.1')}];
	const outcome = await run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes, fsGroup: undefined});
	return outcome.ok ? 'made' : outcome.error.message;
}

const hasKernelNfs = /\tnfs4?$/m.test(readFileSync('/proc/filesystems', 'utf8'));

needing(isRoot && findNfsTools() !== undefined && !hasKernelNfs, 'needs root, mount.nfs and a kernel without NFS')(
	'the mount.nfs of this host is asked, and what it says is told',
	async t => {
		const world = processWorld(clean => t.teardown(clean));
		t.true(world.runtime().info().features.includes('nfs'));
		t.is(await refusalBy(world), 'made');
		const spec = aContainer('runs', {runAsUser: 0, mounts: [mount('data', '/mnt/data')]});
		const outcome = await driver(world).run<'container.start'>({type: 'container.start', spec});
		t.regex(outcome.ok ? 'it runs' : outcome.error.message, /volume "data" cannot be mounted from "127\.0\.0\.1:\/srv\/all": mount\.nfs: /);
	},
);
