// The devices of a host as they are found, and what programs of pods can open of them: character devices that are harmless stand for GPUs.

import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openDevices} from '../../../agent/devices/devices.js';
import {gpuFilesIn} from '../../../agent/devices/gpu-files.js';
import type {ContainerDevices} from '../../../actors/node/runtime/runtime-port.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {asRoot} from '../../_needing.js';
import {processWorld} from '../process-world.js';
import {aContainer, driver} from '../runtime-contract.js';

function folderOf(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-devices-'));
	chmodSync(folder, 0o755);
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

/** As /dev/zero. */
function makeDevice(folder: string, name: string): void {
	execFileSync('mknod', ['-m', '666', path.join(folder, name), 'c', '1', '5']);
}

test('where there is no such folder, or no device in it, there are no GPUs', t => {
	const folder = folderOf(t);
	t.deepEqual(gpuFilesIn(path.join(folder, 'none')), []);
	writeFileSync(path.join(folder, 'nvidia0'), 'a file');
	mkdirSync(path.join(folder, 'nvidia1'));
	t.deepEqual(gpuFilesIn(folder), []);
});

asRoot('GPUs are character devices of that name, by their numbers', t => {
	const folder = folderOf(t);
	for (const name of ['nvidia10', 'nvidia2', 'nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia', 'nvidia2x', 'xnvidia2', 'nvidia99999'])
		makeDevice(folder, name);
	const found = gpuFilesIn(folder);
	t.deepEqual(
		found.map(({index}) => index),
		[0, 2, 10],
	);
	t.is(found[1]?.file, path.join(folder, 'nvidia2'));
});

/** With a program that says what is in a file by then. */
function openHost(t: ExecutionContext) {
	const folder = folderOf(t);
	const said = path.join(folder, 'said');
	const asked = path.join(folder, 'asked');
	const program = path.join(folder, 'smi');
	writeFileSync(program, `#!/bin/sh\necho >>${asked}\nexec /bin/cat ${said}\n`);
	chmodSync(program, 0o755);
	const clock = new ManualClock();
	const devices = openDevices({folder, program, record: path.join(folder, 'gpus.json'), clock});
	const say = (...gpus: readonly (readonly [number, string])[]): void =>
		writeFileSync(said, gpus.map(([minor, uuid]) => `GPU 0:${minor}:0\n    GPU UUID : ${uuid}\n    Minor Number : ${minor}\n`).join(''));
	const news = (): Promise<void> => new Promise(resolve => devices.onNews(resolve));
	return {folder, clock, devices, say, news};
}

asRoot('they are there before nvidia-smi has answered; then they have names, and one that it does not reach is none', async t => {
	const {folder, clock, devices, say, news} = openHost(t);
	makeDevice(folder, 'nvidia0');
	makeDevice(folder, 'nvidia1');
	say([0, 'GPU-a'], [1, 'GPU-b']);
	const named = news();
	t.deepEqual(
		devices.present().map(({index, uuid}) => [index, uuid]),
		[
			[0, undefined],
			[1, undefined],
		],
	);
	await named;
	t.deepEqual(
		devices.present().map(({uuid}) => uuid),
		['GPU-a', 'GPU-b'],
	);
	say([1, 'GPU-b']);
	const fallen = news();
	clock.advance(limits.gpuLookEveryMs);
	devices.present();
	await fallen;
	t.deepEqual(
		devices.present().map(({index}) => index),
		[1],
	);
	t.deepEqual(
		devices.files().map(({index}) => index),
		[0, 1],
		'nothing may open it either',
	);
	// One that cannot say anything any more takes nothing away.
	say();
	const broken = news();
	clock.advance(limits.gpuLookEveryMs);
	devices.present();
	await broken;
	t.deepEqual(
		devices.present().map(({index, uuid}) => [index, uuid]),
		[
			[0, undefined],
			[1, undefined],
		],
	);
});

asRoot('a device that comes later is there with the next look, and its name is asked for at once', async t => {
	const {folder, devices, say, news} = openHost(t);
	makeDevice(folder, 'nvidia0');
	say([0, 'GPU-a']);
	const named = news();
	devices.present();
	await named;
	makeDevice(folder, 'nvidia1');
	say([0, 'GPU-a'], [1, 'GPU-b']);
	const both = news();
	devices.present();
	await both;
	t.deepEqual(
		devices.present().map(({uuid}) => uuid),
		['GPU-a', 'GPU-b'],
	);
});

asRoot('a program can open its own device and no other one, by whatever name its manifest says; sessions neither', async t => {
	const folder = folderOf(t);
	makeDevice(folder, 'nvidia0');
	makeDevice(folder, 'nvidia1');
	const [first, second] = gpuFilesIn(folder);
	if (first === undefined || second === undefined) return t.fail('there are two devices');
	const world = processWorld(clean => t.teardown(clean));
	const node = driver(world);
	await node.ensure('uid-1');
	const look = `echo "$CUDA_VISIBLE_DEVICES/$NVIDIA_VISIBLE_DEVICES"; for i in 0 1; do head -c 1 ${folder}/nvidia$i >/dev/null 2>&1 && echo "opens $i"; done; true`;
	const env = [
		{name: 'CUDA_VISIBLE_DEVICES', value: '0,1'},
		{name: 'NVIDIA_VISIBLE_DEVICES', value: 'all'},
	];
	const seen = async (container: string, devices: ContainerDevices, more: object = {}): Promise<readonly string[]> => {
		const id = {uid: 'uid-1', container};
		// All of it in one write.
		const argv = ['sh', '-c', `said=$(${look}); echo "$said"; exec sleep 1000`];
		await node.start(aContainer('runs', {...id, argv, env, devices, ...more}));
		const session = await node.value(node.exec(id, ['sh', '-c', look]));
		const {stdout} = await node.hearAll(session.session);
		const log = await node.value(node.log(id, {waitMs: 60_000}));
		t.is(Buffer.from(log.data, 'base64').toString(), stdout, 'a session sees the same');
		return stdout.trim().split('\n');
	};
	const named = {...second, uuid: 'GPU-b'};
	t.deepEqual(await seen('named', {own: [named], others: [first.file]}), ['GPU-b/GPU-b', 'opens 1']);
	t.deepEqual(await seen('counted', {own: [second], others: [first.file]}), ['0/1', 'opens 1'], 'CUDA counts no others');
	t.deepEqual(await seen('both', {own: [first, second], others: []}), ['0,1/0,1', 'opens 0', 'opens 1']);
	t.deepEqual(await seen('none', {own: [], others: [first.file, second.file]}), ['/void']);
	t.deepEqual(
		await seen('root', {own: [], others: [first.file, second.file]}, {runAsUser: 0}),
		['/void'],
		'nor does root, unless it mounts',
	);
	t.deepEqual(await seen('read-only', {own: [named], others: [first.file]}, {readOnlyRoot: true}), ['GPU-b/GPU-b', 'opens 1']);
});
