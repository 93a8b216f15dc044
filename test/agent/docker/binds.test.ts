// What a container's mounts become for the Engine, and how people are told of them.

import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {bindsOf, type Holds} from '../../../agent/docker/containers/binds.js';
import type {VolumeRecord} from '../../../agent/volumes/volumes.js';

function world(t: ExecutionContext) {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-binds-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const [host, own] = [path.join(folder, 'host'), path.join(folder, 'own')];
	for (const each of [host, path.join(own, 'a')]) mkdirSync(each, {recursive: true});
	writeFileSync(path.join(host, 'file'), '');
	const records = new Map<string, VolumeRecord>([
		['host', {type: 'hostPath', path: host, check: ''}],
		['own', {type: 'scratch', place: own}],
	]);
	let count = 0;
	const released: string[] = [];
	const holds: Holds = {
		swept: Promise.resolve(),
		hold() {
			const held = `/home/.binds/${count++}`;
			return Promise.resolve({path: held, release: () => Promise.resolve(void released.push(held))});
		},
	};
	const of = (mounts: readonly {readonly volume: string; readonly subPath?: string}[]) =>
		bindsOf(
			mounts.map((mount, i) => ({path: `/m${i}`, readOnly: false, subPath: undefined, ...mount})),
			volume => records.get(volume),
			{allowed: 'all', never: []},
			holds,
		);
	return {host, own, of, released};
}

test('what an Engine says of a mount is told by the path or volume that the pod names', async t => {
	const {host, own, of, released} = world(t);
	const mounts = [
		{volume: 'host'},
		{volume: 'own', subPath: 'a'},
		{volume: 'own'},
		...Array.from({length: 8}, () => ({volume: 'host', subPath: 'file'})),
	];
	const {binds, told, release} = await of(mounts);
	t.deepEqual(
		binds.slice(0, 4).map(({source}) => source),
		['/home/.binds/0', '/home/.binds/1', own, '/home/.binds/2'],
	);
	t.is(told('error mounting "/home/.binds/0" to rootfs at "/m0"'), `error mounting "${host}" to rootfs at "/m0"`);
	t.is(told('no /home/.binds/1, and no /home/.binds/9'), `no volume own: a, and no ${host}/file`);
	t.is(told(`bind source path does not exist: ${own}`), 'bind source path does not exist: volume own');
	await release();
	t.is(released.length, 10);
});

test('a mount that cannot be made is refused with its volume, and nothing stays held', async t => {
	const {host, of, released} = world(t);
	const mounts = [{volume: 'host'}, {volume: 'host', subPath: 'file/sub'}];
	await t.throwsAsync(of(mounts), {message: `volume "host": "${host}/file/sub": it is not a directory`});
	t.deepEqual(released, ['/home/.binds/0']);
});
