// An outside mosquitto_sub on a whole real cluster: it sees each change of a pod over its life, and a stranger gets nothing.

import {spawn} from 'node:child_process';
import test, {type ExecutionContext} from 'ava';
import {gapsIn} from '../../../server/topics.js';
import {messagesOf, type Heard} from '../../e2e/_ear.js';
import {obedientPod, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {signal} from '../../../bench/rigs/cluster/processes.js';
import {follow, openHome, type Home, type Started} from '../../e2e/_rig.js';
import {followObjects} from '../../../bench/rigs/cluster/waiting.js';

/** `mosquitto_sub` that prints "retained topic payload", a line each. */
function subscribe(t: ExecutionContext, cluster: Home, filter: string, login: readonly string[], ...more: readonly string[]): Started {
	const {port} = new URL(cluster.endpoints().mqtt);
	const child = spawn('mosquitto_sub', ['-h', '127.0.0.1', '-p', port, ...login, '-t', filter, '-F', '%r %t %p', ...more]);
	t.teardown(() => child.kill('SIGKILL'));
	return follow(child, '');
}

function heardIn(out: string): readonly Heard[] {
	return out
		.split('\n')
		.filter(line => line !== '')
		.map(line => {
			const [, retained, topic = '', text = ''] = /^([01]) (\S+) (.*)$/.exec(line) ?? [];
			return {topic, text, retained: retained === '1'};
		});
}

test('mosquitto_sub sees each change of pods over their lives with no gap', async t => {
	const cluster = openHome(t);
	await cluster.up();
	const admin = ['-u', 'admin', '-P', cluster.token()];
	const tool = subscribe(t, cluster, 'troupe/v1/objects/#', admin);
	await tool.says(/^1 troupe\/v1\/objects\/namespaces\/_\/default \{"epoch":/m); // What is retained comes at once.
	const client = await cluster.client();
	const watched = await followObjects(client, 'pods');
	await cluster.apply(obedientPod('web'), setOf('many', 0));
	const [pid = 0] = await pidsWhenRunning(client, 'web');
	signal(pid, 'SIGKILL');
	await cluster.fine('scale', 'rs/many', '--replicas=50', '--wait');
	await cluster.fine('delete', 'rs/many');
	await cluster.fine('delete', 'pod', 'web');
	await watched.until('no pod to be left', pods => pods.size === 0);
	const last = watched.changes.at(-1)?.object.metadata.resourceVersion ?? '';
	const out = await tool.says(new RegExp(`^0 troupe/v1/objects/pods/default/\\S+ \\{"epoch":\\d+,"rv":${last},.*\n0 \\S+ \n`, 'm'));

	const pods = messagesOf(heardIn(out).filter(({topic}) => topic.startsWith('troupe/v1/objects/pods/')));
	t.deepEqual(gapsIn(pods), []);
	t.deepEqual(
		pods.map(({rv}) => rv),
		watched.changes.map(({object}) => Number(object.metadata.resourceVersion)),
	);
	t.log(`${pods.length} changes of ${new Set(pods.map(({topic}) => topic)).size} pods, no gap`);
	watched.close();
});

test('a stranger gets nothing', async t => {
	const cluster = openHome(t);
	await cluster.up();
	const strangers: readonly (readonly [readonly string[], number])[] = [
		[[], 5],
		[['-u', 'admin', '-P', 'guess'], 4],
		[['-u', 'mallory', '-P', cluster.token()], 4],
	];
	for (const [login, refusal] of strangers) {
		const {code, out, err} = await subscribe(t, cluster, '#', login, '-W', '5').ended;
		t.deepEqual([code, out], [refusal, ''], err);
	}
});
