// Whoever cannot have a port is told who has it.

import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import path from 'node:path';
import net, {type AddressInfo} from 'node:net';
import test from 'ava';
import {folder} from './_rig.js';
import {holderOf, holderOfFolder} from '../../cli/serving/process/port-holder.js';

test('the holder of a port that is listened on is its process', async t => {
	const server = net.createServer().listen(0, '127.0.0.1');
	t.teardown(() => server.close());
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	t.is(holderOf(port)?.pid, process.pid);
	t.regex(holderOf(port)?.name ?? '', /\w/);
});

test('a port of a connection, or of nobody, has no holder', async t => {
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	const client = net.connect(port, '127.0.0.1');
	t.teardown(() => client.destroy());
	await once(client, 'connect');
	t.is(holderOf(client.localPort ?? 0), undefined);
	const closed = once(server, 'close');
	client.destroy();
	server.close();
	await closed;
	t.is(holderOf(port), undefined);
});

test('the holder of a folder is the process that has a file in it open', async t => {
	const dir = await folder(t);
	t.is(holderOfFolder(dir), undefined);
	const fd = openSync(path.join(dir, 'LOCK'), 'w');
	t.is(holderOfFolder(dir)?.pid, process.pid);
	t.is(holderOfFolder(dir, {folders: ['/none'], pids: [1]})?.pid, process.pid);
	t.is(holderOfFolder(dir, {folders: [`${dir}/LOCK`]})?.pid, process.pid, 'a file is no folder');
	t.is(holderOfFolder(dir, {pids: [process.pid]}), undefined);
	closeSync(fd);
});
