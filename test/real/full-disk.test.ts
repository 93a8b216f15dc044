// A cluster whose disk is full: writes fail and say so, reads go on, what runs runs on; with space again all goes on without a restart,
// and nothing that was acknowledged is lost. A start on a full disk works, too. (The store alone, under load: durability.test.ts.)

import process from 'node:process';
import test from 'ava';
import {obedientPod} from '../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../bench/rigs/cluster/pods.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {openHome} from '../e2e/_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {smallDisk} from '../../bench/rigs/servers/small-disk.js';

const config = (name: string): string =>
	JSON.stringify({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, data: {a: 'x'.repeat(20_000)}});

test('a full disk refuses writes and nothing else; what was acknowledged is there after a SIGKILL', async t => {
	if (process.getuid?.() !== 0) return t.fail('this test mounts a small disk, which only root may');
	t.timeout(120_000);
	const cluster = openHome(t);
	const disk = smallDisk(t, cluster.folder, 16);
	t.teardown(() => cluster.killEverything());
	await cluster.up();
	await cluster.apply(obedientPod('web'));
	const [pid = 0] = await pidsWhenRunning(await cluster.client(), 'web');
	const kept = new Set<string>();
	const write = async (name: string) => {
		const ran = await cluster.start(['apply', '-f', '-'], config(name)).ended;
		if (ran.code === 0) kept.add(`configmap/${name}`);
		return ran;
	};
	t.is((await write('before')).code, 0);

	disk.fillUp();
	let refused = '';
	for (let attempt = 0; attempt < 5 && refused === ''; attempt++) {
		const {code, err} = await write(`full-${attempt}`);
		if (code !== 0) refused = err;
	}
	t.regex(refused, /^error: [^\n]*(No space left on device|no space)[^\n]*\n$/i);
	t.true((await cluster.fine('get', 'configmaps', '-o', 'name')).includes('configmap/before'), 'reads go on');
	t.true(lives(pid), 'what runs runs on');

	disk.empty();
	await eventually('writes are taken again', async () => (await write('after')).code === 0);
	await cluster.killCluster();
	await cluster.up();
	const found = new Set((await cluster.fine('get', 'configmaps', '-o', 'name')).trim().split('\n'));
	for (const name of kept) t.true(found.has(name), name);
	t.true(lives(pid));

	for (let start = 0; start < 3; start++) {
		await cluster.killCluster();
		disk.fillUp();
		await cluster.up();
		const read = new Set((await cluster.fine('get', 'configmaps', '-o', 'name')).trim().split('\n'));
		for (const name of kept) t.true(read.has(name), `${name} after start ${start} on a full disk`);
		t.true(lives(pid));
	}
	disk.empty();
	await cluster.fine('down', '--pods');
});
