// The last look before a gated program begins: what is written down by then, and what is left when it may not.

import test from 'ava';
import {passGate, type Gate} from '../../../agent/docker/containers/gated.js';
import type {Passing} from '../../../agent/docker/gates/gates.js';
import type {Inspected} from '../../../agent/docker/engine/calls.js';

/** A gate that lets everything through that `mayRun` does; what was done, in order, and what it was asked for. */
function passing(mayRun: (pid: number) => void) {
	const done: string[] = [];
	const asked: Passing[] = [];
	const gate: Gate = {
		hostname: 'web-0',
		mayRun(pid) {
			done.push(`looks at ${pid}`);
			mayRun(pid);
		},
		gates: {
			file: '/gate',
			makeFifo: () => Promise.resolve(),
			async pass(each) {
				await Promise.resolve();
				asked.push(each);
				each.mayRun();
				done.push('begins');
			},
		},
	};
	const inspected = {State: {Pid: 42}, Config: {Env: ['PATH=/a', 'X=1', 'PATH=/b'], WorkingDir: ''}} as unknown as Inspected;
	const passed = passGate(
		gate,
		inspected,
		'/fifo',
		['serve', 'it'],
		() => done.push('noted'),
		() => done.push('taken back'),
	);
	return {passed, done, asked};
}

test('a program begins after the last look, when it is noted as started', async t => {
	const {passed, done, asked} = passing(() => undefined);
	await passed;
	t.deepEqual(done, ['noted', 'looks at 42', 'begins']);
	t.like(asked[0], {pid: 42, fifo: '/fifo', hostname: 'web-0', program: {word: 'serve', path: '/b', workingDir: '/'}});
});

test('one that may not begin is not noted as started', async t => {
	const {passed, done} = passing(() => {
		throw new Error('its lease is over');
	});
	await t.throwsAsync(passed, {message: 'its lease is over'});
	t.deepEqual(done, ['noted', 'looks at 42', 'taken back']);
});
