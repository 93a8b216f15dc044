import {mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {noGroups} from '../../agent/process/cgroups/container-groups.js';
import {createContainers} from '../../agent/process/containers/containers.js';
import {noLogWatch} from '../../agent/logs/log-watch.js';
import {openSandboxes} from '../../agent/process/sandboxes/sandboxes.js';
import {createStock} from '../../agent/process/attempts/stock.js';
import {limits} from '../../api/limits.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {aContainer} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

test('a container whose shim stands still before its program begins can be stopped', async t => {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'troupe-containers-'));
	const clock = new ManualClock();
	const [ignored, tell] = [() => undefined, () => undefined];
	const stock = createStock(path.join(directory, '.stock'), 0, clock, ignored);
	const sandboxes = openSandboxes(directory, '127.64.0.0/10', stock, ignored);
	const parts = {sandboxes, stock, groups: noGroups, logs: noLogWatch, bootId: 'boot', clock, tell, onWarning: ignored};
	const containers = createContainers(parts);
	t.teardown(async () => {
		containers.close();
		await stock.close();
		rmSync(directory, {recursive: true});
	});
	sandboxes.ensure(aSandbox('uid-1', {name: 'a', hostname: 'a', controller: 'a'}));
	const spec = aContainer('runs');
	const beginning = {user: {uid: 0, gid: 0}, groups: [], mayGain: false, directory: '/', home: '/', path: ''};
	const begun = new Promise(resolve =>
		containers.start(
			spec,
			{
				command: {file: '/bin/sh', args: ['-c', 'sleep infinity'], env: {PATH: '/usr/bin:/bin'}},
				input: 'none',
				privateRoot: undefined,
				isApart: false,
				beginning,
				logOwner: undefined,
				shimUser: undefined,
			},
			resolve,
		),
	);
	const stopped = new Promise(resolve => containers.stop(spec.id, 0, resolve));
	clock.advance(limits.beginMs);
	t.deepEqual(await stopped, {ok: true, value: null});
	t.like(await begun, {ok: false, error: {code: 'ERR_RUNTIME'}});
});
