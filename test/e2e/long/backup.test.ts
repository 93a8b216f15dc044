// A backup of a cluster that is being written to, restored into a home of its own.

import {copyFileSync, existsSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync} from 'node:fs';
import {request} from 'node:https';
import path from 'node:path';
import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import {listAll} from '../../../cli/cluster/lists.js';
import {resourceOf} from '../../../cli/cluster/resources.js';
import {emptySet} from '../../../bench/rigs/cluster/manifests.js';
import {openHome} from '../_rig.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';

const setsPath = '/apis/apps/v1/namespaces/default/replicasets';

const setsOf = async (client: Client): Promise<ReadonlyMap<string, ApiObject>> =>
	new Map((await listAll(client, resourceOf('replicasets'), undefined)).map(object => [object.metadata.name, object]));

test('a backup under load, restored into a fresh home, has every object that was acknowledged before it, as it was', async t => {
	t.timeout(60_000);
	const [cluster, fresh] = [openHome(t), openHome(t)];
	await cluster.up();
	const client = await cluster.client();
	const login = (await cluster.fine('token', 'create', 'ci', '--role', 'view')).trim();
	const acknowledged: string[] = [];
	let writing = true;
	const writers = Array.from({length: 8}, async (_, writer) => {
		for (let at = 0; writing; at++) {
			const name = `w${writer}-${at}`;
			await client.json({method: 'POST', path: setsPath, body: emptySet(name)});
			acknowledged.push(name);
		}
	});
	await eventually('there is load', () => acknowledged.length > 200);
	const before = [...acknowledged];
	const file = path.join(cluster.folder, 'monday.troupe');
	const {code, out, err} = await cluster.troupe('backup', file);
	t.is(code, 0, err);
	t.regex(out, /^backup of version \d+ \(\d+ records\) in /);
	t.regex(err, /cluster\.key/);
	writing = false;
	await Promise.all(writers);
	t.is(statSync(file).mode & 0o777, 0o600);
	t.deepEqual(
		readdirSync(cluster.folder).filter(name => name.includes('monday')),
		['monday.troupe'],
	);
	const original = await setsOf(client);

	const again = await cluster.troupe('backup', file);
	t.is(again.code, 1);
	t.regex(again.err, /--force/);

	const key = path.join(cluster.home, 'data', 'cluster.key');
	const without = await fresh.troupe('restore', file);
	t.is(without.code, 1);
	t.regex(without.err, /--key FILE/);
	t.false(existsSync(path.join(fresh.home, 'data', 'control')));
	const foreign = path.join(fresh.folder, 'foreign.key');
	writeFileSync(foreign, Buffer.alloc(32, 1));
	t.regex((await fresh.troupe('restore', file, '--key', foreign)).err, /key of another cluster/);

	t.regex(await fresh.fine('restore', file, '--key', key), /^restored: version \d+/);
	t.is(statSync(path.join(fresh.home, 'data', 'cluster.key')).mode & 0o777, 0o600);
	t.regex((await fresh.troupe('restore', file)).err, /not empty/);
	await fresh.up();
	const restoredClient = await fresh.client();
	const restored = await setsOf(restoredClient);
	t.deepEqual(
		before.filter(name => !restored.has(name)),
		[],
	);
	for (const [name, object] of restored) t.is(object.metadata.uid, original.get(name)?.metadata.uid ?? 'it is not there', name);
	// It is a cluster like any other: authority and logins are those of the old one, and new objects are taken.
	const ca = readFileSync(path.join(fresh.home, 'ca.crt'), 'utf8');
	t.is(ca, readFileSync(path.join(cluster.home, 'ca.crt'), 'utf8'));
	t.is(await statusFor(fresh.endpoints().api ?? '', ca, login), 200);
	await restoredClient.json({method: 'POST', path: setsPath, body: emptySet('after')});
	t.log(`${before.length} objects were acknowledged before the backup, ${restored.size} are in it`);

	const damaged = path.join(cluster.folder, 'damaged.troupe');
	copyFileSync(file, damaged);
	truncateSync(damaged, Math.floor(statSync(damaged).size / 2));
	t.regex((await openHome(t).troupe('restore', damaged, '--key', key)).err, /line \d+: it ends within a line/);
});

const statusFor = (api: string, ca: string, token: string): Promise<number | undefined> =>
	new Promise((resolve, reject) => {
		request(`${api}${setsPath}`, {ca, agent: false, headers: {authorization: `Bearer ${token}`}}, response => {
			response.resume();
			resolve(response.statusCode);
		})
			.on('error', reject)
			.end();
	});
