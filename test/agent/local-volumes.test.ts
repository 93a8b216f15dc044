// Volumes of claims on a node: they stay when pods go, are removed when that is asked for, and nothing leads out of their folder.

import {existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {VolumeSource} from '../../actors/node/runtime/runtime-port.js';
import {processWorld} from './process-world.js';
import {driver} from './runtime-contract.js';

function nodeOf(t: ExecutionContext) {
	const folder = path.join('/tmp', `troupe-volumes-${process.pid}-${crypto.randomUUID()}`);
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const world = processWorld(clean => t.teardown(clean), {localVolumes: folder});
	const calls = driver(world);
	const source = (volume: string, at = folder): VolumeSource => ({type: 'local', volume, path: path.join(at, volume)});
	const make = (uid: string, local: VolumeSource, fsGroup?: number) =>
		calls.run<'volumes.ensure'>({type: 'volumes.ensure', uid, namespace: 'default', volumes: [{name: 'data', source: local}], fsGroup});
	const drop = (volume: string) => calls.run<'volume.remove'>({type: 'volume.remove', volume});
	return {...calls, world, folder, source, make, drop};
}

const reasonOf = (outcome: {ok: true} | {ok: false; error: {code: string; message: string}}): string =>
	outcome.ok ? 'done' : `${outcome.error.code} ${outcome.error.message}`;

test('what is in a volume is there for the next pod, and goes when the volume does', async t => {
	const {ensure, make, source, value, remove, drop, folder} = nodeOf(t);
	await ensure('uid-1');
	await value(make('uid-1', source('pvc-1')));
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.is(statSync(path.join(folder, 'pvc-1')).mode & 0o777, 0o777);
	writeFileSync(path.join(folder, 'pvc-1', 'count'), '7');
	t.regex(reasonOf(await drop('pvc-1')), /^ERR_RUNTIME volume "pvc-1" is still used by the pod with uid uid-1$/);
	await remove('uid-1');
	t.is(readFileSync(path.join(folder, 'pvc-1', 'count'), 'utf8'), '7');

	await ensure('uid-2');
	await value(make('uid-2', source('pvc-1')));
	t.is(readFileSync(path.join(folder, 'pvc-1', 'count'), 'utf8'), '7');
	await remove('uid-2');
	await value(drop('pvc-1'));
	t.false(existsSync(path.join(folder, 'pvc-1')));
	await value(drop('pvc-1'));
});

test('the group of a pod gets the folder, also of a volume that another pod made', async t => {
	const {ensure, make, source, value, folder} = nodeOf(t);
	const group = process.getgid?.() ?? 0;
	await ensure('uid-1');
	await value(make('uid-1', source('pvc-1')));
	await value(make('uid-1', source('pvc-1'), process.getuid?.() === 0 ? 4711 : group));
	const {gid, mode} = statSync(path.join(folder, 'pvc-1'));
	if (process.getuid?.() === 0) t.deepEqual([gid, mode & 0o2070], [4711, 0o2070]);
	else t.is(gid, group);
});

test('a volume that was made in another folder is missed, and no empty one is shown for it', async t => {
	const {ensure, make, source, folder} = nodeOf(t);
	await ensure('uid-1');
	t.regex(
		reasonOf(await make('uid-1', source('pvc-1', '/srv/before'))),
		/^ERR_RUNTIME volume "data" cannot be made: it is at "\/srv\/before\/pvc-1", and this agent keeps volumes in ".*" \(--volumes\)$/,
	);
	t.false(existsSync(path.join(folder, 'pvc-1')));
});

test('a link in the place of a volume is neither followed nor is what it leads to removed', async t => {
	const {ensure, make, source, value, drop, folder} = nodeOf(t);
	const other = path.join(folder, 'other');
	mkdirSync(other, {recursive: true});
	writeFileSync(path.join(other, 'precious'), '1');
	symlinkSync(other, path.join(folder, 'pvc-1'));
	await ensure('uid-1');
	t.regex(reasonOf(await make('uid-1', source('pvc-1'))), /is no folder/);
	await value(drop('pvc-1'));
	t.false(existsSync(path.join(folder, 'pvc-1')));
	t.is(readFileSync(path.join(other, 'precious'), 'utf8'), '1');
});

test('a volume’s name is a plain name', async t => {
	const {ensure, make, source, drop} = nodeOf(t);
	await ensure('uid-1');
	for (const name of ['../etc', '.', '', 'a/b']) {
		t.regex(reasonOf(await make('uid-1', source(name))), /^ERR_BAD_REQUEST/);
		t.regex(reasonOf(await drop(name)), /^ERR_BAD_REQUEST/);
	}
});
