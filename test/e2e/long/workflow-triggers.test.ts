// Triggers of workflows on a real cluster: messages of QoS 1, changes of objects, a schedule, and what becomes of them when the cluster dies.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {connectAsync} from 'mqtt';
import type {Run} from '../../../api/kinds/run.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openEar} from '../_ear.js';
import {nodeName, openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test);

const passing = {StartAt: 'Keep', States: {Keep: {Type: 'Pass', End: true}}};

async function workflow(name: string, triggers: readonly object[], definition: object = passing): Promise<void> {
	const file = path.join(cluster.folder, `${name}.json`);
	writeFileSync(file, JSON.stringify({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name}, spec: {definition, triggers}}));
	await cluster.fine('apply', '-f', file);
}

async function runsOf(name: string): Promise<readonly Run[]> {
	const text = await cluster.fine('get', 'runs', '-l', `troupe.dev/workflow=${name}`, '-o', 'json');
	return (JSON.parse(text) as {readonly items: readonly Run[]}).items;
}

const outputOf = ({status}: Run): unknown => status?.output;

async function ended(name: string, count: number): Promise<readonly Run[]> {
	let runs: readonly Run[] = [];
	await eventually(`${count} runs of ${name} have succeeded`, async () => {
		runs = await runsOf(name);
		return runs.filter(({status}) => status?.phase === 'Succeeded').length >= count;
	});
	return runs;
}

test.serial('a message of QoS 1 is acknowledged once its run is committed, and the run begins with it', async t => {
	await workflow('orders', [{name: 'new', topic: 'orders/+/new'}]);
	const ear = await openEar(t, cluster);
	await ear.client.publishAsync('orders/7/new', '{"order": 7, "note": null}', {qos: 1});
	const [run, ...more] = await runsOf('orders');
	t.is(more.length, 0);
	t.regex(run?.metadata.name ?? '', /^orders-new-[0-9a-f]{12}$/);
	t.like(run?.metadata.labels, {'troupe.dev/workflow': 'orders', 'troupe.dev/trigger': 'new'});
	await ear.client.publishAsync('orders/8/new', Buffer.from([0xff]), {qos: 1});
	await ear.client.publishAsync('orders/8/old', 'nobody wants it', {qos: 1});
	const runs = await ended('orders', 2);
	t.deepEqual(
		runs.map(outputOf).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
		[
			{topic: 'orders/7/new', payload: {order: 7, note: null}},
			{topic: 'orders/8/new', payload: '/w==', encoding: 'base64'},
		],
	);
	t.regex(await cluster.fine('describe', 'workflow/orders'), /new +topic orders\/\+\/new +Allow +2 +0/);
});

test.serial('changes of objects start runs, but for those that come from runs of the workflow, however far', async t => {
	await workflow('sees', [
		{name: 'maps', objects: {kind: 'ConfigMap', selector: {matchLabels: {watched: 'yes'}}, changes: ['created', 'deleted']}},
		{name: 'runs', objects: {kind: 'Run', changes: ['created']}},
	]);
	await workflow('also', [{name: 'runs', objects: {kind: 'Run', changes: ['created']}}]);
	await cluster.apply({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'm', labels: {watched: 'yes'}}, data: {v: '1'}});
	await cluster.fine('delete', 'configmap', 'm');
	// Two runs of `sees` for the map; two of `also` for these; none of `sees` for those of `also`, which its own have caused.
	await ended('also', 2);
	const runs = await ended('sees', 2);
	t.deepEqual(
		runs
			.map(outputOf)
			.map(output => output as {change: string; object: {kind: string; data?: object}})
			.map(({change, object}) => [change, object.kind, object.data])
			.toSorted(),
		[
			['created', 'ConfigMap', {v: '1'}],
			['deleted', 'ConfigMap', {v: '1'}],
		],
	);
	// One that comes from no trigger is told to both, and then those of each to the other.
	await cluster.apply({apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'by-hand'}, spec: {workflow: 'orders'}});
	await ended('sees', 4);
	await ended('also', 4);
	const counts = async (): Promise<readonly number[]> => [(await runsOf('sees')).length, (await runsOf('also')).length];
	t.deepEqual(await counts(), [4, 4]);
	// A further change that both hear comes after all of these: nothing was on its way.
	await cluster.apply({apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'by-hand-2'}, spec: {workflow: 'orders'}});
	await ended('sees', 6);
	await ended('also', 6);
	t.deepEqual(await counts(), [6, 6]);
	await cluster.fine('delete', 'workflow', 'sees', 'also');
});

test.serial('a schedule starts a run for its time, and Forbid none beside one that waits', async t => {
	t.timeout(150_000);
	const waits = {StartAt: 'Ask', States: {Ask: {Type: 'Task', Resource: 'activity:ask', End: true}}};
	await workflow('timed', [{name: 'often', schedule: '* * * * *', params: '{"night": true}'}]);
	await workflow('asks', [{name: 'one', topic: 'asks', concurrencyPolicy: 'Forbid'}], waits);
	const ear = await openEar(t, cluster);
	for (let n = 0; n < 3; n++) await ear.client.publishAsync('asks', `${n}`, {qos: 1});
	t.is((await runsOf('asks')).length, 1);
	let text = '';
	await eventually('it is told', async () => (text = await cluster.fine('describe', 'workflow/asks')).includes('PassedOver'));
	t.regex(text, /trigger "one": no run was started, since another one of it is under way/);
	let runs: readonly Run[] = [];
	await eventually('its time has come', async () => (runs = await runsOf('timed')).length > 0, undefined, 90_000);
	const [run] = runs;
	const at = run?.metadata.annotations?.['troupe.dev/scheduled-time'] ?? '';
	t.is(run?.metadata.name, `timed-often-${Date.parse(at) / 60_000}`);
	t.deepEqual(run?.spec?.input, {night: true});
	await cluster.fine('delete', 'workflow', 'timed');
});

test.serial('a trigger of a workflow that names no kind is told in its events, and by why', async t => {
	await workflow('blind', [{name: 'none', objects: {kind: 'Unicorn'}}]);
	let text = '';
	await eventually('it is told', async () => (text = await cluster.fine('describe', 'workflow/blind')).includes('Undelivered'));
	t.regex(text, /Undelivered.*trigger "none": there is no kind "Unicorn"/);
	t.regex((await cluster.troupe('why', 'workflow/blind')).out, /trigger "none" that never sees anything: there is no kind "Unicorn"/);
});

test.serial('every acknowledged message has its run, while the cluster is killed', async t => {
	t.timeout(180_000);
	await workflow('counts', [{name: 'all', topic: 'many/+'}]);
	const {mqtt, api, web} = cluster.endpoints();
	const client = await connectAsync(mqtt, {
		...{username: 'admin', password: cluster.token(), clientId: 'many', clean: false, reconnectPeriod: 100},
	});
	client.on('error', () => undefined);
	t.teardown(() => client.endAsync(true));
	const most = 200;
	let acknowledged = 0;
	const published = Promise.all(
		Array.from({length: 4}, async (_, topic) => {
			for (let n = topic; n < most; n += 4) {
				await client.publishAsync(`many/${topic}`, `${n}`, {qos: 1});
				acknowledged++;
			}
		}),
	);
	await eventually('some are acknowledged', () => acknowledged >= most / 4);
	await cluster.killCluster();
	const hostOf = (url: string): string => new URL(url).host;
	await cluster.fine('up', '--detach', `--node=${nodeName}`, `--api=${hostOf(api)}`, `--web=${hostOf(web)}`, `--mqtt=${hostOf(mqtt)}`);
	await published;
	const runs = await ended('counts', most);
	const numbers = new Set(runs.map(run => (run.spec?.input as {readonly payload: number}).payload));
	t.deepEqual(
		[...numbers].toSorted((a, b) => a - b),
		Array.from({length: most}, (_, n) => n),
	);
	t.log(`${most} messages, ${runs.length} runs`);
});
