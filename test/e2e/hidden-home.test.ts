// What a pod finds of the cluster's home where the agent is an ordinary user: through the whole of it, and wherever the home is.

import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {asOther} from '../_needing.js';
import {killAll} from '../../bench/rigs/cluster/processes.js';
import {openHome} from './_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

const aPod = (name: string, script: string, volumes: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'any', command: ['/bin/sh', '-c', script], ...volumes}]},
});

asOther('a pod reads no token, no key and no log, also where the data are elsewhere, and nothing of the usual home beside', async t => {
	const cluster = openHome(t);
	const {folder, home} = cluster;
	const elsewhere = path.join(folder, 'elsewhere');
	// What is looked for in the home alone would not be found.
	t.teardown(() => killAll(folder));
	for (const each of [elsewhere, home, path.join(folder, '.troupe')]) mkdirSync(each);
	symlinkSync(elsewhere, path.join(home, 'data'));
	writeFileSync(path.join(folder, '.troupe', 'admin.token'), 'of-the-usual-home');
	await cluster.up();
	const {conditions} = (JSON.parse(await cluster.fine('get', 'node', 'vm', '-o', 'json')) as {status: {conditions: {type: string}[]}})
		.status;
	if (conditions.some(({type}) => type === 'SharedHome')) {
		t.pass('this user may not make namespaces, and the node says so');
		return;
	}
	await cluster.apply(aPod('other', 'echo a-line-of-the-other; sleep 1000'));
	const logged = async (name: string, text: string): Promise<string> => {
		await eventually(`${name} writes`, async () => (await cluster.troupe('logs', name)).out.includes(text));
		return cluster.fine('logs', name);
	};
	await logged('other', 'a-line-of-the-other');
	const hunt = `find ${folder} -type f -exec cat {} +; find ${folder} -type f; echo over`;
	await cluster.apply(aPod('curious', `${hunt}; sleep 1000`));
	for (const found of [await logged('curious', 'over'), await cluster.fine('exec', 'curious', '--', 'sh', '-c', hunt)])
		t.is(found.trim(), 'over');
});
