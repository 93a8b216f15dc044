// Runners of Node.js that new pods have before their instances begin, on a clock of its own.

import {existsSync, mkdtempSync, rmSync, statSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {isReadAtStart} from '../../../agent/functions/warm/assignment.js';
import type {WarmWish} from '../../../agent/functions/warm/wish.js';
import {createStock} from '../../../agent/process/attempts/stock.js';
import {noGroups} from '../../../agent/process/cgroups/container-groups.js';
import {hostOf} from '../../../agent/process/host/host.js';
import {createWarmRunners} from '../../../agent/process/start/warm-runners.js';
import {limits} from '../../../api/limits.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {asRoot} from '../../_needing.js';

const of = (uid: string) => ({uid, controller: uid});
const wish: WarmWish = {language: 'nodejs', program: process.execPath, memoryBytes: undefined};

asRoot('a runner of Node.js that a new pod has is for that pod alone, and ends when its instance has not begun in time', async t => {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'troupe-warm-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const warnings: string[] = [];
	const onWarning = (message: string): void => void warnings.push(message);
	const clock = new ManualClock();
	const folder = path.join(directory, '.stock');
	const stock = createStock(folder, 0, clock, onWarning);
	const host = hostOf({path: undefined, dropper: undefined, namespaces: undefined, nfs: null, folder, onWarning});
	const runners = createWarmRunners({directory, count: 2, isRouted: true, host, groups: noGroups, stock, clock, onWarning});
	t.teardown(runners.close);
	runners.want(wish);
	for (const count of [1, 2]) {
		clock.advance(limits.warmQuietMs);
		await eventually('one waits', () => runners.ready() === count);
	}
	const [first, second] = ['uid-1', 'uid-2'].map(uid => runners.keepFor(of(uid), wish));
	if (first === undefined || second === undefined) return t.fail('none was there');
	t.is(runners.keepFor(of('uid-1'), wish), undefined);
	t.is(runners.keepFor(of('uid-3'), wish), undefined);
	const networks = [first.pid, second.pid, 'self'].map(pid => statSync(`/proc/${pid}/ns/net`).ino);
	t.deepEqual(networks.slice(0, 2), [first.inode, second.inode]);
	t.is(new Set(networks).size, 3);

	const pod = (uid: string, {pid} = first) => ({uid, networkFile: `/proc/${pid}/ns/net`});
	t.deepEqual(
		['uid-1', 'uid-3'].map(uid => runners.mayHave('nodejs', pod(uid))),
		[true, false],
	);
	t.false(runners.mayHave('nodejs', {uid: 'uid-1', networkFile: undefined}));
	t.is(runners.take(wish, pod('uid-3')), undefined);
	const taken = runners.take(wish, pod('uid-1'));
	t.deepEqual(taken?.network, first);
	taken?.end();
	await within('it ends', taken?.ended ?? Promise.resolve());

	clock.advance(limits.warmRunnerKeptMs - 3 * limits.warmQuietMs);
	t.true(runners.mayHave('nodejs', pod('uid-2', second)));
	clock.advance(3 * limits.warmQuietMs);
	t.false(runners.mayHave('nodejs', pod('uid-2')));
	await eventually('it has ended', () => !existsSync(`/proc/${second.pid}`));
	await eventually('another one waits', () => {
		clock.advance(limits.warmQuietMs);
		return runners.ready() > 0;
	});
	t.truthy(runners.keepFor(of('uid-4'), wish));
	t.is(runners.take(wish, {uid: 'uid-4', networkFile: '/proc/self/ns/net'}), undefined, 'its pod has another network by now');
	await runners.close();
	t.deepEqual(warnings, []);
});

test('a variable that is read before a program begins keeps an instance from a runner that waits, in the language that reads it', t => {
	const names = ['LD_PRELOAD', 'LANG', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'OPENSSL_CONF', 'SSL_CERT_FILE'];
	const free = ['NODE_ENV', 'PATH', 'HOME', 'TZ', 'PYTHONPATH', 'MY_NODE_OPTIONS'];
	t.deepEqual(
		[...names, ...free].filter(name => isReadAtStart(name, 'nodejs')),
		names,
	);
	t.deepEqual(
		[...names, ...free].filter(name => isReadAtStart(name, 'python')),
		['LD_PRELOAD', 'LANG'],
	);
});
