// Backups of servers on a real etcd (Debian: etcd-server), restored into another prefix, and from one sort of store into the other.

import path from 'node:path';
import test from 'ava';
import type {Client} from '../../../cli/client.js';
import {listAll} from '../../../cli/cluster/lists.js';
import {resourceOf} from '../../../cli/cluster/resources.js';
import {freePorts, openHome, type Home} from '../../e2e/_rig.js';
import {startEtcd} from '../../../bench/rigs/servers/etcd.js';

const namesOf = async (client: Client): Promise<readonly string[]> =>
	(await listAll(client, resourceOf('namespaces'), undefined)).map(({metadata}) => metadata.name).sort();

async function serve(home: Home, store: string): Promise<Client> {
	await home.fine('server', '--detach', ...freePorts, `--store=${store}`);
	return home.client();
}

const keyOf = ({home}: Home): string => path.join(home, 'data', 'cluster.key');

test('a cluster on etcd is restored into an empty prefix, into LevelDB, and back again', async t => {
	const etcd = await startEtcd(t);
	const [first, second, third] = [openHome(t), openHome(t), openHome(t)];
	const client = await serve(first, `${etcd.url}/one`);
	for (let at = 0; at < 150; at++)
		await client.json({
			method: 'POST',
			path: '/api/v1/namespaces',
			body: {apiVersion: 'v1', kind: 'Namespace', metadata: {name: `n${at}`}},
		});
	const names = await namesOf(client);
	t.true(names.length >= 150);
	const file = path.join(first.folder, 'one.troupe');
	await first.fine('backup', file);

	await second.fine('restore', file, '--key', keyOf(first), `--store=${etcd.url}/two`);
	t.regex((await second.troupe('restore', file, `--store=${etcd.url}/two`)).err, /not empty/);
	t.regex((await second.troupe('restore', file, `--store=${etcd.url}/one`)).err, /not empty/);
	const copy = await serve(second, `${etcd.url}/two`);
	t.deepEqual(await namesOf(copy), names);
	// Two clusters, each with its own.
	await copy.json({
		method: 'POST',
		path: '/api/v1/namespaces',
		body: {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'only-there'}},
	});
	t.deepEqual(await namesOf(client), names);
	t.true((await namesOf(copy)).includes('only-there'));

	await third.fine('restore', file, '--key', keyOf(first));
	const embedded = await serve(third, 'level');
	t.deepEqual(await namesOf(embedded), names);
});

test('an etcd that is not there ends a restore with its reason', async t => {
	const home = openHome(t);
	const source = openHome(t);
	await serve(source, 'level');
	const file = path.join(source.folder, 'x.troupe');
	await source.fine('backup', file);
	const {code, err} = await home.troupe('restore', file, '--key', keyOf(source), '--store=etcd://127.0.0.1:1/x');
	t.is(code, 5);
	t.regex(err, /the store cannot be read: .*ECONNREFUSED/);
});
