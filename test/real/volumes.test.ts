// Volumes through the whole of it: the CLI, the control plane, a node that is root. The example is what a newcomer applies.

import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {openHome} from '../e2e/_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

const example = readFileSync(path.join(import.meta.dirname, '../../../examples/volumes.yaml'), 'utf8');

const mountsOf = (folder: string): readonly string[] =>
	readFileSync('/proc/self/mountinfo', 'utf8')
		.split('\n')
		.filter(line => line.includes(folder));

test('a pod reads all kinds of volumes, follows its ConfigMap, survives its node, and leaves nothing', async t => {
	const cluster = openHome(t);
	await cluster.up();
	const file = path.join(cluster.folder, 'volumes.yaml');
	const logs = (): Promise<string> => cluster.fine('logs', 'reader', '-c', 'reader');
	const says = (wanted: RegExp): Promise<void> =>
		eventually(`the reader says ${wanted.source}`, async () => wanted.test((await cluster.troupe('logs', 'reader', '-c', 'reader')).out));
	writeFileSync(file, example);
	await cluster.fine('apply', '-f', file);
	await says(/^good morning; key of 28 bytes; \d+ folders; line \d+$/m);

	writeFileSync(file, example.replace('good morning', 'good evening'));
	await cluster.fine('apply', '-f', file);
	await says(/^good evening; key of 28 bytes;/m);

	await cluster.killCluster();
	await cluster.up();
	const before = (await logs()).length;
	await eventually('the reader goes on', async () => (await logs()).length > before);
	t.regex(await cluster.fine('get', 'pod', 'reader'), /reader +2\/2 +Running +0 /);
	const {out} = await cluster.troupe(
		'exec',
		'reader',
		'-c',
		'reader',
		'--',
		'sh',
		'-c',
		'id -u; id -G; cat /run/reader/key; touch /of-the-node/x',
	);
	t.regex(out, /^(\d{10})\n\1\ncorrect horse battery staple$/);
	t.false(existsSync('/outbox'), 'nothing is made on the host');

	await cluster.fine('delete', '-f', file);
	const runtime = path.join(cluster.home, 'data', 'runtime');
	await eventually('its mounts are gone', () => mountsOf(runtime).length === 0);
	t.is(await cluster.fine('get', 'pods').then(text => text.includes('reader')), false);
});

test('what pods may mount of the host is said by --host-paths, and a pod that asks for more says why it waits', async t => {
	const cluster = openHome(t);
	await cluster.up('--host-paths=/usr/share');
	const pod = (name: string, host: string) => ({
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name},
		spec: {
			volumes: [{name: 'host', hostPath: {path: host}}],
			containers: [{name: 'main', image: 'any', command: ['sleep', '1000'], volumeMounts: [{name: 'host', mountPath: '/host'}]}],
		},
	});
	await cluster.apply(pod('allowed', '/usr/share'), pod('refused', '/etc'));
	await eventually('one runs', async () => /allowed +1\/1 +Running/.test(await cluster.fine('get', 'pods')));
	await eventually('the other says why', async () =>
		/FailedMount +volume "host": hostPath "\/etc" is not allowed on this node: allowed are \/usr\/share \(--host-paths\)/.test(
			await cluster.fine('describe', 'pod', 'refused'),
		),
	);
	t.regex(await cluster.fine('get', 'pods'), /refused +0\/1/);
});
