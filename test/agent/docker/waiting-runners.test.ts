// What a runner that waits in a container can become, and the socket at which it waits.

import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {connect} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {waitingSocketName, openWaitingSocket} from '../../../agent/docker/runners/waiting-socket.js';
import {canWait, changedLimits, fixedOf, lineOf} from '../../../agent/docker/runners/told.js';
import {fixedVariables} from '../../../agent/devices/variables.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {aContainer, mount} from '../runtime-contract.js';

const instance = {artifact: 'sha256:1', runtime: 'python', concurrency: 1, timeoutMs: 1} as const;
const spec = (rest: Partial<OpenedSpec> = {}): OpenedSpec => ({
	...(aContainer('runs') as OpenedSpec),
	function: instance,
	env: [],
	...rest,
});
const withVariable = (name: string, runtime: FunctionLanguage = 'python') =>
	spec({function: {...instance, runtime}, env: [{name, value: 'x', isSecret: false}]});

test('a runner that waits becomes an instance without volumes, lease and variables that are read before a program begins', t => {
	t.true(canWait(spec()));
	t.true(canWait(withVariable('MODE')));
	for (const name of ['PATH', 'LD_PRELOAD', 'LC_ALL']) t.false(canWait(withVariable(name)), name);
	for (const name of ['PATH', 'NODE_OPTIONS', 'UV_THREADPOOL_SIZE']) t.false(canWait(withVariable(name, 'nodejs')), name);
	t.false(canWait(spec({exclusive: true})));
	t.false(canWait(spec({gpus: {first: 0, count: 1}})), 'it was made without devices');
	t.false(canWait(spec({mounts: [mount('data', '/data')]})));
	t.false(canWait(spec({function: {...instance, runtime: 'program'}})));
});

test('what is fixed when a container is made is compared, and what is of its pod alone is not', t => {
	const made = {name: 'a', Image: 'i', Env: ['A=1'], HostConfig: {NetworkMode: 'container:a', Memory: 1, CapDrop: ['ALL']}};
	t.is(fixedOf({...made, name: 'b', Env: [], HostConfig: {...made.HostConfig, NetworkMode: 'container:b', Memory: 2}}), fixedOf(made));
	t.not(fixedOf({...made, Image: 'j'}), fixedOf(made));
	t.not(fixedOf({...made, User: '1'}), fixedOf(made));
	t.not(fixedOf({...made, HostConfig: {...made.HostConfig, CapDrop: []}}), fixedOf(made));
	const without = ['B=2', 'NVIDIA_VISIBLE_DEVICES=void'];
	t.not(fixedOf({...made, Env: without}), fixedOf(made), 'it may have been made with all devices');
	t.is(fixedOf({...made, Env: fixedVariables(without)}), fixedOf({...made, Env: without}));
	t.deepEqual(fixedVariables(['NVIDIA_VISIBLE_DEVICES=all', ...without]), ['NVIDIA_VISIBLE_DEVICES=void'], 'nothing else of it waits');
});

test('limits are changed to those of the pod, unless one would have to go', t => {
	const had = {HostConfig: {Memory: 1, MemorySwap: 1, PidsLimit: 9}};
	t.deepEqual(changedLimits(had, had), {});
	t.deepEqual(changedLimits(had, {HostConfig: {Memory: 2, MemorySwap: 2, PidsLimit: 9}}), {Memory: 2, MemorySwap: 2, PidsLimit: 9});
	t.deepEqual(changedLimits({HostConfig: {PidsLimit: 9}}, had), {Memory: 1, MemorySwap: 1, PidsLimit: 9});
	t.is(changedLimits(had, {HostConfig: {PidsLimit: 9}}), undefined);
});

test('a line that is too long is none', t => {
	const config = {dir: '/', listen: {path: 's'}, timeoutMs: 1, bodyBytes: 1, answerBytes: 1, concurrency: 1};
	t.regex(lineOf({env: {A: 'b\n'}, config}) ?? '', /^\{"env":\{"A":"b\\n"\},.*\}\n$/);
	t.is(lineOf({env: {A: 'x'.repeat(limits.warmRunnerLineBytes)}, config}), undefined);
});

async function aWaitingSocket(t: ExecutionContext) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-waiting-'));
	const clock = new ManualClock();
	const waitingSocket = await openWaitingSocket(folder, clock);
	t.teardown(() => {
		waitingSocket.close();
		rmSync(folder, {recursive: true, force: true});
	});
	return {folder, clock, waitingSocket, runner: () => connect(path.join(folder, waitingSocketName)).on('error', () => undefined)};
}

test('a runner that has come to its socket is the only one, is told once, and says that it has taken it', async t => {
	const {folder, waitingSocket, runner} = await aWaitingSocket(t);
	const socket = runner();
	socket.write('ready\n');
	await waitingSocket.waits();
	t.deepEqual(readdirSync(folder), []);
	socket.once('data', line => socket.end(line.toString() === 'line\n' ? 'taken\n' : 'what?\n'));
	await waitingSocket.tell('line\n');
	await waitingSocket.closed;
	await t.throwsAsync(waitingSocket.tell('line\n'), {message: 'the runner that waited has ended'});
});

test('one that does not come in time, says something else, or ends is none', async t => {
	const late = await aWaitingSocket(t);
	const waits = late.waitingSocket.waits();
	late.clock.advance(limits.warmRunnerStartMs);
	await t.throwsAsync(waits, {message: /no runner waits 10000 ms after/});
	late.waitingSocket.close();
	await late.waitingSocket.closed;
	const strange = await aWaitingSocket(t);
	strange.runner().write('x'.repeat(1_000));
	await t.throwsAsync(strange.waitingSocket.waits(), {message: 'the runner that waited has ended'});
	const ends = await aWaitingSocket(t);
	const socket = ends.runner();
	socket.write('ready\n');
	await ends.waitingSocket.waits();
	const told = ends.waitingSocket.tell('line\n');
	socket.destroy();
	await t.throwsAsync(told, {message: 'the runner that waited has ended'});
});
