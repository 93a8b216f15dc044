// Workflows in a cluster: those of both older dialects and of the canonical form, whose tasks call real functions.

import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import test from 'ava';
import type {Run} from '../../api/kinds/run.js';
import {eventually, followObjects, within, type Following} from '../../bench/rigs/cluster/waiting.js';
import {ask} from '../server/support.js';
import {dialectA, dialectB, dialectFunctions} from './_dialects.js';
import {openEar} from './_ear.js';
import {deploy} from './_functions.js';
import {openFileHome} from './_rig.js';

const {cluster, client} = openFileHome(test, '--network=shared');

let runs: Following | undefined;

test.serial('functions that workflows call are deployed', async t => {
	for (const [name, code] of Object.entries({
		...dialectFunctions,
		order: 'input => ({...input, ordered: true})',
		flaky: `(() => {
	let calls = 0;
	class Busy extends Error {}
	return input => {
		if (++calls < 3) throw new Busy('not yet');
		return {calls, input};
	};
})()`,
	}))
		t.regex(await deploy(cluster, name, `export default ${code};\n`), /created/);
	runs = await followObjects(client(), 'runs');
});

test.after.always(() => runs?.close());

/** The run that fulfils this, once it is over. */
function over(what: string, isMeant: (run: Run) => boolean): Promise<Run> {
	if (runs === undefined) throw new Error('nothing is deployed');
	return runs.until(what, objects =>
		([...objects.values()] as Run[]).find(run => isMeant(run) && run.status?.completionTime !== undefined),
	);
}

const ofWorkflow = (name: string) => (run: Run) => run.spec?.workflow === name;

async function applied(name: string, text: string): Promise<string> {
	const file = path.join(cluster.folder, name);
	writeFileSync(file, text);
	return cluster.fine('apply', '-f', file);
}

test.serial('a workflow of dialect B, as it is written, starts with its params, and an unchanged apply starts none', async t => {
	t.regex(await applied('print.json', dialectB), /workflow\.troupe\.dev\/print created/);
	const run = await over('the run of print', ofWorkflow('print'));
	t.deepEqual(run.status?.output, {x: 10, went: 'a'});
	t.regex(await applied('print.json', dialectB), /print unchanged/);
	t.is([...(runs?.objects.values() ?? [])].filter(each => ofWorkflow('print')(each as Run)).length, 1);
	t.regex(await applied('print.json', dialectB.replace('"x": 5', '"x": 6')), /print configured/);
	const other = await over('the run of the other params', each => ofWorkflow('print')(each) && each.metadata.name !== run.metadata.name);
	t.deepEqual(other.status?.output, {x: 11, went: 'b'});
});

test.serial('a workflow of dialect A, as it is written, starts with its entryParams', async t => {
	t.regex(await applied('judged.yaml', dialectA), /workflow\.troupe\.dev\/judged created/);
	const run = await over('the run of judged', ofWorkflow('judged'));
	t.deepEqual(run.status?.output, {x: 6, y: 2, went: 'a'});
});

test.serial('an error of a function is retried by its class, and its key is another one then', async t => {
	const definition = {
		StartAt: 'Try',
		States: {
			Try: {Type: 'Task', Resource: 'flaky', Retry: [{ErrorEquals: ['Busy'], IntervalSeconds: 1, BackoffRate: 1}], End: true},
		},
	};
	await cluster.apply(
		{apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'tried'}, spec: {definition}},
		{apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'tried-1'}, spec: {workflow: 'tried', input: [1, null]}},
	);
	const run = await over('the run of tried', ofWorkflow('tried'));
	t.deepEqual(run.status?.output, {calls: 3, input: [1, null]});
});

test.serial('a run that fails says with what, and a run that calls what is not there too', async t => {
	const failing = (Resource: string) => ({StartAt: 'A', States: {A: {Type: 'Task', Resource, End: true}}});
	await cluster.apply(
		{apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'missing'}, spec: {definition: failing('no-such'), params: {}}},
		{
			apiVersion: 'troupe.dev/v1',
			kind: 'Workflow',
			metadata: {name: 'forbidden'},
			spec: {definition: failing('http://127.0.0.1:1/'), params: {}},
		},
	);
	t.is((await over('the run of missing', ofWorkflow('missing'))).status?.error?.error, 'Function.NotFound');
	t.is((await over('the run of forbidden', ofWorkflow('forbidden'))).status?.error?.error, 'States.Permissions');
	t.regex(await cluster.fine('get', 'runs'), /missing-\S+ +missing +Failed +Function\.NotFound/);
});

test.serial('a run that is written all the time is paused, goes on and is cancelled by one command each', async t => {
	const turn = (Next: string): object => ({Type: 'Pass', Next});
	const definition = {
		StartAt: 'A',
		States: {
			A: turn('B'),
			B: {Type: 'Choice', Choices: [{Variable: '$.end', IsPresent: true, Next: 'Done'}], Default: 'A'},
			Done: turn('Out'),
			Out: {Type: 'Succeed'},
		},
	};
	await cluster.apply(
		{apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'turns'}, spec: {definition}},
		{apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'turns-1'}, spec: {workflow: 'turns', input: {}}},
	);
	const is = (phase: string): Promise<unknown> =>
		runs?.until(`it is ${phase}`, objects => (objects.get('turns-1') as Run | undefined)?.status?.phase === phase) ??
		Promise.reject(new Error('no'));
	await is('Running');
	t.is(await cluster.fine('workflow', 'pause', 'run/turns-1'), 'run/turns-1 paused\n');
	await is('Suspended');
	t.is(await cluster.fine('workflow', 'resume', 'run/turns-1'), 'run/turns-1 resumed\n');
	await is('Running');
	t.is(await cluster.fine('workflow', 'cancel', 'run/turns-1'), 'run/turns-1 cancelled\n');
	await is('Cancelled');
});

test.serial('only an admin changes which hosts workflows may call; an editor changes the rest of the ClusterConfig', async t => {
	const one = '/apis/troupe.dev/v1/clusterconfigs/cluster';
	const {api} = cluster.endpoints();
	const ca = readFileSync(`${cluster.home}/ca.crt`, 'utf8');
	const asRole = async (role: string) => {
		const token = (await cluster.fine('token', 'create', `a-${role}`, '--role', role)).trim();
		return async (
			method: string,
			body?: object,
			type = 'application/json',
			path = one,
		): Promise<{readonly status: number; readonly text: string}> => {
			const headers = {authorization: `Bearer ${token}`, ...(body === undefined ? {} : {'content-type': type})};
			return ask(api + path, {method, ca, headers, ...(body === undefined ? {} : {body: JSON.stringify(body)})});
		};
	};
	const merge = 'application/merge-patch+json';
	const hosts = (...httpHosts: readonly string[]) => ({spec: {workflows: {httpHosts}}});
	const add = [{op: 'add', path: '/spec/workflows/httpHosts/-', value: '169.254.169.254'}];
	const editor = await asRole('edit');
	const object = JSON.parse((await editor('GET')).text) as {spec: object};
	for (const [method, body, type] of [
		['PATCH', hosts('169.254.169.254'), merge],
		['PATCH', {spec: {scheduler: {strategy: 'round-robin'}, ...hosts('127.0.0.1').spec}}, merge],
		['PATCH', add, 'application/json-patch+json'],
		['PUT', {...object, spec: {...object.spec, ...hosts('127.0.0.1:8080').spec}}, undefined],
	] as const) {
		const {status, text} = await editor(method, body, type);
		t.is(status, 403, text);
		t.regex(text, /clusterconfigs \\"cluster\\" is forbidden: only logins of the role admin may change spec\.workflows/);
	}
	t.is(
		(await editor('POST', {metadata: {name: 'cluster'}, ...hosts('127.0.0.1')}, 'application/json', '/apis/troupe.dev/v1/clusterconfigs'))
			.status,
		403,
	);
	t.is(await cluster.fine('config', 'get', 'workflows.httpHosts'), '<none>\n');
	t.is((await editor('PATCH', {spec: {scheduler: {strategy: 'round-robin'}}}, merge)).status, 200);
	t.is((await editor('PATCH', hosts(), merge)).status, 200, 'what changes nothing is no change');
	for (const role of ['view', 'tool']) t.is((await (await asRole(role))('PATCH', hosts(), merge)).status, 403);
	const admin = await asRole('admin');
	t.is((await admin('PATCH', add, 'application/json-patch+json')).status, 200);
	t.is(await cluster.fine('config', 'get', 'workflows.httpHosts'), '169.254.169.254\n');
	t.is((await editor('PATCH', hosts(), merge)).status, 403, 'what an admin has listed stays');
	t.is((await editor('PUT', {...object, metadata: {name: 'cluster'}})).status, 403, 'also where all is replaced');
});

test.serial('a message of MQTT with the token that a function was called with ends the step that waits for somebody', async t => {
	let tell: (token: string) => void = () => undefined;
	const token = new Promise<string>(resolve => (tell = resolve));
	const listener = createServer((request, response) => {
		tell(decodeURIComponent((request.url ?? '/').slice(1)));
		response.end();
	});
	t.teardown(() => void listener.close().closeAllConnections());
	await new Promise<void>(resolve => void listener.listen(0, '127.0.0.1', resolve));
	const {port} = listener.address() as AddressInfo;
	await deploy(
		cluster,
		'asks',
		`export default async ({token}) => void (await fetch('http://127.0.0.1:${port}/' + encodeURIComponent(token)));\n`,
	);
	const Asked = {
		Type: 'Task',
		Resource: 'asks.waitForTaskToken',
		Parameters: {'token.$': '$$.Task.Token'},
		ResultPath: '$.said',
		End: true,
	};
	await cluster.apply(
		{apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'asked'}, spec: {definition: {StartAt: 'Asked', States: {Asked}}}},
		{apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name: 'asked-1'}, spec: {workflow: 'asked', input: {order: 7}}},
	);
	const ear = await openEar(t, cluster);
	const answer = {token: await within('the token', token), output: {yes: true}};
	const send = (body: object) => ear.client.publishAsync('troupe/v1/runs/default/asked-1/answer', JSON.stringify(body), {qos: 1});
	await send({...answer, token: `${answer.token}0`});
	await send(answer);
	const run = await over('the run of asked', ofWorkflow('asked'));
	t.deepEqual(run.status?.output, {order: 7, said: {yes: true}});
});

test.serial('the history of a run that is over is told from its file as it was before, also after a restart of the server', async t => {
	const uid = (await over('the run of asked', ofWorkflow('asked'))).metadata.uid;
	const history = (): Promise<string> => cluster.fine('workflow', 'history', 'run/asked-1');
	await eventually('its history is in a file', () =>
		readdirSync(path.join(cluster.home, 'data', 'runs'), {recursive: true})
			.join('\n')
			.includes(uid),
	);
	const before = await history();
	t.regex(before, /Asked[^]*succeeded/);
	runs?.close();
	await cluster.killEverything();
	await cluster.up('--network=shared');
	t.is(await history(), before);
});
