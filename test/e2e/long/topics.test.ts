// An outside tool on MQTT: it sees each change of a pod, knows when it has missed something, and a stranger gets nothing.

import {once, type EventEmitter} from 'node:events';
import type {IncomingMessage} from 'node:http';
import https from 'node:https';
import test from 'ava';
import {tokensPath, type TokenAnswer} from '../../../api/join.js';
import type {ApiObject} from '../../../api/object.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {gapsIn} from '../../../server/topics.js';
import {messagesOf, openEar, type Heard, type ObjectMessage} from '../_ear.js';
import {obedientPod, podOf} from '../../../bench/rigs/cluster/manifests.js';
import {pidsWhenRunning, phaseOf} from '../../../bench/rigs/cluster/pods.js';
import {openHome} from '../_rig.js';
import {followObjects} from '../../../bench/rigs/cluster/waiting.js';

const pods = 'troupe/v1/objects/pods/default/#';
const topicOf = (name: string): string => `troupe/v1/objects/pods/default/${name}`;

/** What happens in a pod's life, as a message shows it. */
function stageOf({object, deleted}: ObjectMessage): string {
	if (deleted === true) return 'deleted';
	if (object?.metadata.deletionTimestamp !== undefined) return 'deleting';
	if (phaseOf(object) === 'Running') return 'running';
	return (object as Pod | undefined)?.spec?.nodeName === undefined ? 'created' : 'bound';
}

/** The stages in the order in which they were first seen. */
const stagesOf = (messages: readonly ObjectMessage[]): readonly string[] => [...new Set(messages.map(stageOf))];

const versionOf = ({metadata}: ApiObject): number => Number(metadata.resourceVersion);

test('a tool sees each change of a pod with no gap; after a crash of the cluster the gap shows', async t => {
	t.timeout(55_000);
	const cluster = openHome(t);
	await cluster.up();
	let ear = await openEar(t, cluster);
	await ear.listen(pods);
	const overSocket = await openEar(t, cluster, 'web');
	await overSocket.listen(pods);
	const watched = await followObjects(await cluster.client(), 'pods');

	await cluster.apply(obedientPod('web'), podOf('other', ['sleep', '100000']));
	await pidsWhenRunning(await cluster.client(), 'web', 'other');
	await cluster.fine('delete', 'pod', 'web');
	const gone = (heard: readonly Heard[]) => heard.some(({topic, text}) => topic === topicOf('web') && text === '') && heard;
	const heard = await ear.until('the topic of the pod to be cleared', gone);
	t.deepEqual(await overSocket.until('the same over WebSocket', gone), heard);

	const messages = messagesOf(heard);
	const ofWeb = messages.filter(({topic}) => topic === topicOf('web'));
	t.deepEqual(stagesOf(ofWeb), ['created', 'bound', 'running', 'deleting', 'deleted']);
	t.deepEqual(gapsIn(messages), []);
	t.true(messages.every(({retained}) => !retained));
	// Each change that the API's watch tells is a message, and nothing else is.
	await watched.until('the deletion', found => !found.has('web'));
	t.deepEqual(
		messages.map(({rv}) => rv).toSorted((a, b) => a - b),
		watched.changes.map(({object}) => versionOf(object)).toSorted((a, b) => a - b),
	);
	t.deepEqual(heard.at(-1), {topic: topicOf('web'), text: '', retained: false});

	const epoch = messages.at(-1)?.epoch ?? 0;
	const closed = new Promise<void>(resolve => ear.client.once('close', resolve));
	watched.close();
	await cluster.killCluster();
	await closed;
	await cluster.up();
	ear = await openEar(t, cluster);
	await ear.listen(pods);
	const retained = messagesOf(await ear.until('what is retained', all => all.length > 0 && all));
	t.deepEqual(
		retained.map(({topic, retained: isRetained}) => [topic, isRetained]),
		[[topicOf('other'), true]],
	);
	t.true((retained[0]?.epoch ?? 0) > epoch);

	await cluster.apply(obedientPod('late'));
	const late = (all: readonly Heard[]) =>
		messagesOf(all).some(each => each.topic === topicOf('late') && stageOf(each) === 'running') && all;
	const after = messagesOf(await ear.until('a pod of the new cluster to run', late));
	const joined = gapsIn([...messages, ...after]);
	t.is(joined.length, 1, 'the crash shows as one gap, nothing else does');
	t.like(joined[0], {reason: 'restarted', from: messages.at(-1)?.rv, to: 0});
	t.true(after.filter(({retained: isRetained}) => !isRetained).every(({rv}) => rv > (messages.at(-1)?.rv ?? 0)));
	await cluster.fine('down', '--pods');
});

test('a stranger gets nothing, and nobody but the cluster writes objects', async t => {
	t.timeout(30_000);
	const cluster = openHome(t);
	await cluster.up('--runtime=simulated', '--store=memory');
	for (const way of ['mqtt', 'web'] as const) {
		for (const [user, password] of [
			['admin', 'guess'],
			['mallory', cluster.token()],
			['', ''],
			['control', cluster.token()],
		] as const)
			await t.throwsAsync(openEar(t, cluster, way, user, password), {message: /not authorized|bad user name|refused/i}, `${way} ${user}`);
	}
	const ear = await openEar(t, cluster);
	await ear.listen(pods);
	await ear.client.publishAsync(topicOf('web'), 'forged', {qos: 1, retain: true});
	await cluster.apply(podOf('web', ['sleep', '1']));
	const heard = await ear.until('the real one', all => all.length > 0 && all);
	t.is(messagesOf(heard)[0]?.object?.kind, 'Pod');
	t.false(heard.some(({text}) => text === 'forged'));
	await cluster.fine('down');
});

test('a login that expires loses its connections and its watches at that moment', async t => {
	t.timeout(30_000);
	const cluster = openHome(t);
	await cluster.up('--runtime=simulated', '--store=memory');
	const client = await cluster.client();
	const body = {name: 'guest', role: 'view', ttlSeconds: 3};
	const {token} = (await client.json({method: 'POST', path: tokensPath, body})) as TokenAnswer;
	const ear = await openEar(t, cluster, 'mqtt', 'guest', token);
	const closed = once(ear.client as unknown as EventEmitter, 'close');
	const {api} = cluster.endpoints();
	const watch = https.get(`${api}/api/v1/pods?watch=true`, {headers: {authorization: `Bearer ${token}`}, rejectUnauthorized: false});
	t.teardown(() => watch.destroy());
	const [response] = (await once(watch, 'response')) as [IncomingMessage];
	t.is(response.statusCode, 200);
	const ended = once(response.resume(), 'end');
	await Promise.all([closed, ended]);
	await t.throwsAsync(openEar(t, cluster, 'mqtt', 'guest', token), {message: /bad user ?name/i});
	await cluster.fine('down');
});
