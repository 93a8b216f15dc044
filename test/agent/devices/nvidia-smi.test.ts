// What nvidia-smi says is read where it makes sense, and nothing that it does holds anybody up.

import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {askGpuNames, gpuNamesIn} from '../../../agent/devices/nvidia-smi.js';
import {limits} from '../../../api/limits.js';

/** Shortened, as it is in driver 535. */
const section = (bus: string, uuid: string, minor: string): string => `GPU 00000000:${bus}:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    MIG Mode
        Current                           : Disabled
    Serial Number                         : 1560000000000
    GPU UUID                              : ${uuid}
    Minor Number                          : ${minor}
    VBIOS Version                         : 92.00.19.00.01
    FB Memory Usage
        Total                             : 40960 MiB
`;
const head = `
==============NVSMI LOG==============

Timestamp                                 : Sat Nov 28 12:00:00 2026
Driver Version                            : 535.104.05
CUDA Version                              : 12.2

Attached GPUs                             : 2
`;
const [a, b] = ['GPU-1f2e3d4c-0000-1111-2222-333344445555', 'GPU-5a6b7c8d-9999-8888-7777-666655554444'];

test('each GPU has its name by the number of its device file, in whatever order they are told', t => {
	t.deepEqual(
		[...gpuNamesIn(head + section('07', a, '1') + section('0A', b, '0'))],
		[
			[1, a],
			[0, b],
		],
	);
});

test('a GPU that does not say both is left out, and takes nothing from its neighbour', t => {
	const lost =
		'GPU 00000000:0B:00.0\n    Unable to determine the device handle for gpu 0000:0B:00.0: Unknown Error\n    Minor Number                          : 3\n';
	t.deepEqual([...gpuNamesIn(head + section('07', a, 'N/A') + lost + section('0A', b, '2'))], [[2, b]]);
	t.deepEqual([...gpuNamesIn(head + section('07', a, '0') + lost)], [[0, a]]);
});

test('what is no name of a GPU never becomes one', t => {
	for (const text of [
		'',
		'\0\0\0',
		'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.',
		'<?xml version="1.0" ?>',
	])
		t.is(gpuNamesIn(text).size, 0, text);
	for (const uuid of ['GPU-$(id)', 'GPU-a,GPU-b', 'all', '', `GPU-${'a'.repeat(65)}`])
		t.is(gpuNamesIn(section('07', uuid, '0')).size, 0, uuid);
	for (const minor of ['-1', '99999', '0x1', '']) t.is(gpuNamesIn(section('07', a, minor)).size, 0, minor);
});

test('of more GPUs than a node may have the first are read, however much is said', t => {
	const many = Array.from({length: 2_000}, (_, i) => section('07', a, String(i))).join('');
	t.is(gpuNamesIn(many).size, limits.nodeGpus);
	const startedMs = performance.now();
	t.is(gpuNamesIn(`${' '.repeat(500_000)}:${'x'.repeat(500_000)}`).size, 0);
	t.is(gpuNamesIn(`    GPU UUID${' '.repeat(1_000_000)}`).size, 0);
	t.true(performance.now() - startedMs < 1_000);
});

function program(t: ExecutionContext, text: string): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-smi-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const file = path.join(folder, 'smi; touch pwned');
	writeFileSync(file, `#!/bin/sh\n${text}`);
	chmodSync(file, 0o755);
	return file;
}

test('it is asked for everything, without a shell, and gets nothing of the agent', async t => {
	process.env['TROUPE_TEST_OF_SMI'] = 'secret';
	t.teardown(() => delete process.env['TROUPE_TEST_OF_SMI']);
	const said = `[ "$*" = -q ] && [ -z "$TROUPE_TEST_OF_SMI" ] && [ "$PWD" = / ] && /bin/cat <<'E'\n${head}${section('07', a, '0')}E\n`;
	t.deepEqual([...((await askGpuNames(program(t, said)).answer) ?? [])], [[0, a]]);
});

test('one that fails, is none, says too much or nothing of use has told of none', async t => {
	const good = `/bin/cat <<'E'\n${section('07', a, '0')}E\n`;
	for (const text of [`${good}exit 9`, 'exec cat /dev/zero', 'echo "No devices were found"', 'kill -9 $$'])
		t.is(await askGpuNames(program(t, text)).answer, undefined, text);
	t.is(await askGpuNames('/nowhere/nvidia-smi').answer, undefined);
	t.is(await askGpuNames(os.tmpdir()).answer, undefined);
});

test('one that hangs is over when nobody waits for it any more', async t => {
	const question = askGpuNames(program(t, 'exec sleep 1000'));
	question.drop();
	t.is(await question.answer, undefined);
});
