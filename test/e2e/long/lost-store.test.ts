// A home whose store is damaged or gone: it is no first start, and no program is stopped for it without an operator's word.

import {existsSync, cpSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {obedientPod} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {lives} from '../../../bench/rigs/cluster/processes.js';
import {openHome} from '../_rig.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';

test('where the store is damaged or missing beside a home that has served, nothing starts and nothing stops without a word', async t => {
	t.timeout(60_000);
	const cluster = openHome(t);
	await cluster.up();
	await cluster.apply(obedientPod('web'));
	const [pid = 0] = await pidsWhenRunning(await cluster.client(), 'web');
	await cluster.fine('down');
	const control = path.join(cluster.home, 'data', 'control');
	const starts = ['up', '--node=vm', '--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];

	rmSync(path.join(control, 'level', 'CURRENT'));
	const damaged = await cluster.troupe(...starts);
	t.is(damaged.code, 1);
	t.regex(damaged.err, /CURRENT|does not exist/);
	t.regex(damaged.err, /restore a backup in its place \(troupe restore FILE\), or save what can be saved \(troupe restore --salvage\)/);
	t.regex(await cluster.fine('restore', '--salvage'), /^saved: \d+ records in /);
	await cluster.up();
	t.deepEqual(await pidsWhenRunning(await cluster.client(), 'web'), [pid], 'what was saved names what it replaces: its node follows');
	await cluster.fine('down');

	renameSync(control, `${control}-away`);

	for (let attempt = 0; attempt < 2; attempt++) {
		const {code, err} = await cluster.troupe(...starts);
		t.is(code, 1);
		t.regex(err, /data\/control is empty, and .*data\/lineage says that this home has served a cluster/);
		t.regex(err, /mount its volume.*troupe restore FILE.*--new/);
		t.true(lives(pid));
	}

	t.false(existsSync(control), 'what was refused has made nothing');
	cpSync(`${control}-away`, control, {recursive: true});
	await cluster.up();
	t.deepEqual(await pidsWhenRunning(await cluster.client(), 'web'), [pid], 'with its store it goes on as it was');
	await cluster.fine('down');

	rmSync(control, {recursive: true});
	await cluster.up('--new');
	await eventually('the program of the cluster before is stopped', () => !lives(pid));
});
