// Warm sandboxes: when they are made, taken and removed, and the names that they are given.

import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {createWarmPool} from '../../../agent/docker/sandboxes/warm-pool.js';
import {hostsText, takesNames, writeNames, type WarmSandbox} from '../../../agent/docker/sandboxes/warm-sandbox.js';
import {fitsWarm, routedBefore} from '../../../agent/docker/sandboxes/infra-options.js';
import {networkInode} from '../../../agent/os/network-namespace.js';
import {limits} from '../../../api/limits.js';
import {seededRandom} from '../../../system/time/random.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {aSandbox} from '../_sandbox.js';

/** A pool whose sandboxes run as long as this process does. */
function world(count = 2) {
	const clock = new ManualClock(0);
	const is = {up: true, failing: false};
	const made: string[] = [];
	const removed: string[] = [];
	const warnings: string[] = [];
	const pool = createWarmPool({
		count,
		make(hostname) {
			made.push(hostname);
			return is.failing ? Promise.reject(new Error('no address is free')) : Promise.resolve(aWarm(`id-${made.length}`, hostname));
		},
		remove: id => Promise.resolve(void removed.push(id)),
		isUp: () => is.up,
		clock,
		random: seededRandom(1),
		onWarning: message => void warnings.push(message),
	});
	/** So long, and until what came of it is known. */
	const pass = async (ms: number): Promise<void> => {
		clock.advance(ms);
		await nextTurn();
	};
	const fill = async (): Promise<void> => {
		for (let each = 0; each < count; each++) await pass(limits.warmQuietMs);
	};
	return {pool, is, made, removed, warnings, pass, fill};
}

const aWarm = (id: string, hostname: string, pid = process.pid): WarmSandbox => ({
	id,
	podIP: '10.0.0.2',
	hostname,
	files: {hostname: '/nowhere', hosts: '/nowhere', resolvConf: '/nowhere'},
	pid,
	network: networkInode(process.pid) ?? 0,
});

test('a pool fills one by one once it has begun, each is taken once, and what was taken is replaced', async t => {
	const {pool, made, fill, pass} = world();
	await fill();
	t.deepEqual(made, []);
	pool.begin();
	await pass(limits.warmQuietMs - 1);
	t.is(made.length, 0);
	await pass(1);
	t.is(made.length, 1);
	await fill();
	await fill();
	t.is(made.length, 2);
	t.is(new Set(made).size, 2);
	t.true(pool.has('id-1', '') && pool.has('id-2', ''));
	t.is(pool.take()?.id, 'id-1');
	t.false(pool.has('id-1', ''));
	t.is(pool.take()?.id, 'id-2');
	t.is(pool.take(), undefined);
	await fill();
	t.is(pool.take()?.id, 'id-3');
});

test('none is made while pods are being started, nor in the moment after, nor while the Engine is not up', async t => {
	const {pool, is, made, pass} = world();
	pool.begin();
	let end = (): void => undefined;
	const started = pool.during(() => new Promise<void>(resolve => (end = resolve)));
	await pass(60_000);
	t.is(made.length, 0);
	end();
	await started;
	await pass(limits.warmQuietMs - 1);
	t.is(made.length, 0);
	is.up = false;
	await pass(60_000);
	t.is(made.length, 0);
	is.up = true;
	pool.look();
	await pass(limits.warmQuietMs);
	t.is(made.length, 1);
});

test('while none can be made it is tried less and less often, the same one again, and said once', async t => {
	const {pool, is, made, warnings, pass, fill} = world();
	is.failing = true;
	pool.begin();
	await pass(limits.warmQuietMs);
	for (let tries = 1; tries < 12; tries++) {
		const waitMs = Math.min(limits.warmAgainMaxMs, limits.warmAgainFirstMs * 2 ** (tries - 1));
		await pass(waitMs - 1);
		t.is(made.length, tries);
		await pass(1);
		t.is(made.length, tries + 1);
	}
	t.is(new Set(made).size, 1, 'an Engine that had not answered has one of that name');
	t.true(pool.has('?', `/troupe_${made[0]}_0`));
	t.deepEqual(warnings, ['no sandbox could be made in advance: no address is free']);
	is.failing = false;
	await pass(limits.warmAgainMaxMs);
	await fill();
	t.not(pool.take(), undefined);
	t.not(pool.take(), undefined);
});

test("what has died is nobody's and goes: told, found so when the Engine is compared with, or seen when it is taken", async t => {
	const {pool, removed, fill} = world(3);
	pool.begin();
	await fill();
	pool.hear('id-2');
	pool.compare(new Set(['id-3']));
	t.deepEqual(removed, ['id-2', 'id-1']);
	t.is(pool.take()?.id, 'id-3');
	const dead = createWarmPool({
		count: 1,
		make: hostname => Promise.resolve({...aWarm('dead', hostname), network: 1}),
		remove: id => Promise.resolve(void removed.push(id)),
		isUp: () => true,
		clock: {nowMs: () => 0, monotonicMs: () => 0, after: (_ms, callback) => (setImmediate(callback), () => undefined)},
		random: seededRandom(2),
		onWarning: () => undefined,
	});
	dead.begin();
	for (let turns = 0; !dead.has('dead', '') && turns < 100; turns++) await nextTurn();
	t.true(dead.has('dead', ''));
	t.is(dead.take(), undefined);
	t.is(removed.at(-1), 'dead');
	await dead.close();
});

test('a pool that is closed removes what nobody took, and makes no more', async t => {
	const {pool, made, removed, fill} = world();
	pool.begin();
	await fill();
	pool.take();
	await pool.close();
	t.deepEqual(removed, ['id-2']);
	await fill();
	t.is(made.length, 2);
});

test('what stands in /etc/hosts is what the Engine would have written', t => {
	const text = '127.0.0.1\tlocalhost\nff02::2\tip6-allrouters\n10.0.0.2\twarm-1\n';
	const names = {hostname: 'web', hostAliases: [{ip: '1.2.3.4', hostnames: ['a', 'b.c']}]};
	t.is(hostsText(text, 'warm-1', names), '127.0.0.1\tlocalhost\nff02::2\tip6-allrouters\n1.2.3.4\ta\n1.2.3.4\tb.c\n10.0.0.2\tweb\n');
	t.is(hostsText(text, 'warm-1', {hostname: 'web.sub', hostAliases: []}).split('\n')[2], '10.0.0.2\tweb.sub web');
	const both = `${text}fd00::2\twarm-1\n`;
	t.is(hostsText(both, 'warm-1', {hostname: 'web', hostAliases: []}), both.replaceAll('warm-1', 'web'));
});

test('of a pod of the pod network its address, its aliases and its resolver are written, once, and into no files of others', t => {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-warm-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const files = {hostname: path.join(folder, 'hostname'), hosts: path.join(folder, 'hosts'), resolvConf: path.join(folder, 'resolv.conf')};
	const warm = {...aWarm('id', 'warm-1'), podIP: undefined, files};
	writeFileSync(files.hostname, 'warm-1\n');
	writeFileSync(files.hosts, '127.0.0.1\tlocalhost\n127.0.0.1\twarm-1\n');
	writeFileSync(files.resolvConf, 'search other\nnameserver 169.254.1.1\n');
	const before = {hostname: 'warm-1', hostAliases: []};
	const message = "what Docker's Engine calls its files of names is something else for this agent";
	t.throws(() => writeNames(warm, before, routedBefore('warm-1')), {message});
	writeFileSync(files.resolvConf, '# of the Engine\nsearch warm-1\nnameserver 169.254.1.1\n');
	writeNames(warm, before, routedBefore('warm-1'));
	t.is(readFileSync(files.hosts, 'utf8'), '127.0.0.1\tlocalhost\n127.0.0.1\twarm-1\n');
	const names = {nameservers: ['169.254.1.1'], searches: ['default.svc.cluster.local'], options: ['ndots:5']};
	const pod = {hostname: 'web.sub', hostAliases: [{ip: '1.2.3.4', hostnames: ['a', 'b']}]};
	writeNames(warm, pod, {address: '10.244.0.7', names});
	t.is(readFileSync(files.hosts, 'utf8'), '127.0.0.1\tlocalhost\n10.244.0.7\tweb.sub\n1.2.3.4\ta\n1.2.3.4\tb\n');
	t.is(readFileSync(files.resolvConf, 'utf8'), 'nameserver 169.254.1.1\nsearch default.svc.cluster.local\noptions ndots:5\n');
	t.is(readFileSync(files.hostname, 'utf8'), 'web.sub\n');
	t.throws(() => writeNames(warm, pod, {address: '10.244.0.8', names}), {message});
	writeFileSync(files.hosts, `127.0.0.1\twarm-1\n${' '.repeat(limits.warmNamesBytes)}`);
	t.throws(() => writeNames(warm, pod, {address: '10.244.0.8', names}), {message: /hosts is longer than the Engine makes it$/});
});

test("names are given from outside by Docker alone, and where the host's own rules are the only ones", t => {
	t.true(takesNames('Docker', {SecurityOptions: ['name=apparmor', 'name=seccomp,profile=default']}));
	t.true(takesNames('Docker', {}));
	for (const rule of ['name=selinux', 'name=userns', 'name=rootless']) t.false(takesNames('Docker', {SecurityOptions: [rule]}));
	t.false(takesNames('Podman', {}));
	for (const said of [undefined, null, 7, {SecurityOptions: 7}]) t.true(takesNames('Docker', said));
});

test('what has a namespace of the host does not fit, nor what has a port of it by the Engine', t => {
	const port = {containerPort: 80, hostPort: 80, hostIP: undefined, protocol: 'TCP' as const};
	for (const isRouted of [true, false]) {
		t.true(fitsWarm(aSandbox('a', {shareProcessNamespace: true, hostAliases: [{ip: '1.2.3.4', hostnames: ['a']}]}), isRouted));
		for (const rest of [{hostNetwork: true}, {hostPID: true}, {hostIPC: true}]) t.false(fitsWarm(aSandbox('a', rest), isRouted));
	}
	t.false(fitsWarm(aSandbox('a', {hostPorts: [port]}), false));
	t.true(fitsWarm(aSandbox('a', {hostPorts: [port]}), true), 'the Engine knows nothing of it');
});
