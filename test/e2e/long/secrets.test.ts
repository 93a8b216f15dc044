// The marker test: a Secret is made, used, changed, refused, met by a crash and deleted; afterwards its value is nowhere but where
// it belongs, which is the environment of the program and the answer to a reader who may have it.

import {existsSync, readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ApiObject, Condition} from '../../../api/object.js';
import {ask} from '../../server/support.js';
import {containerOf, isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {signal} from '../../../bench/rigs/cluster/processes.js';
import {openHome} from '../_rig.js';
import {openEar} from '../_ear.js';
import {commandLines, filesThatShow, formsOf, recordsOf, shows} from '../_traces.js';
import {eventually, followObjects, until} from '../../../bench/rigs/cluster/waiting.js';

const marker = 'MARKER-1-correct-horse';
const changed = 'MARKER-2-battery-staple!';
/** What never becomes part of a Secret, since the request is refused. */
const refused = 'MARKER-3-not-taken-at-all';
const words = [marker, changed, refused];
/** Proves that the search would find something. */
const open = 'WITNESS-of-the-search';

const secretOf = (fields: object) => ({apiVersion: 'v1', kind: 'Secret', metadata: {name: 'vault'}, ...fields});

/** Tells the length of the Secret, and of what came with it. */
const user = {
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'user'},
	spec: {
		terminationGracePeriodSeconds: 1,
		containers: [
			{
				name: 'main',
				image: 'any',
				command: ['sh', '-c', 'echo "$LIGHT ${#PASSWORD} ${#ADDRESS} ${#ALL_password}"; exec sleep 100000'],
				envFrom: [{prefix: 'ALL_', secretRef: {name: 'vault'}}, {configMapRef: {name: 'lamp'}}],
				env: [
					{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'vault', key: 'password'}}},
					{name: 'ADDRESS', value: 'db://$(PASSWORD)@host'},
				],
			},
		],
	},
};

const said = (word: string): string => `${open} ${word.length} ${word.length + 10} ${word.length}\n`;

const vaultPath = '/api/v1/namespaces/default/secrets/vault';

test('the value of a Secret is in the environment of its program and in the answer to who may read it, and nowhere else', async t => {
	t.timeout(100_000);
	const cluster = openHome(t);
	const up = cluster.startFile(path.join(import.meta.dirname, '../_faulty-up.js'), [cluster.home]);
	await up.says(/get pods .*\n/);
	const client = await cluster.client();
	const ear = await openEar(t, cluster);
	await ear.listen('troupe/#');
	const pods = await followObjects(client, 'pods');
	const {api} = cluster.endpoints();
	const ca = readFileSync(path.join(cluster.home, 'ca.crt'), 'utf8');
	const viewer = /troupe-\S+/.exec(await cluster.fine('token', 'create', 'eve', '--role', 'view'))?.[0] ?? '';
	/** What anybody but the reader was answered or shown. */
	const told: string[] = [];
	const request = async (method: string, url: string, body?: string, token = cluster.token()): Promise<number> => {
		const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
		const {status, text} = await ask(api + url, {
			method,
			ca,
			headers: {authorization: `Bearer ${token}`, 'content-type': type},
			...(body === undefined ? {} : {body}),
		});
		told.push(text);
		return status;
	};
	const shown = async (...args: readonly string[]): Promise<string> => {
		const {out, err} = await cluster.troupe(...args);
		told.push(out, err);
		return out + err;
	};

	const toldBy = async (pod: string, word: string): Promise<void> => {
		let told = '';
		await eventually(
			`${pod} has told the lengths of ${word}`,
			async () => (told = await cluster.fine('logs', pod)) === said(word),
			() => `It told ${told}`,
		);
	};

	// A pod that names what is not there waits by name, and goes on by itself as it comes.
	await cluster.apply(user);
	const waitsFor = (what: string) =>
		pods.until(`the pod to miss ${what}`, found => containerOf(found.get('user'))?.state?.waiting?.message === `${what} not found`);
	await waitsFor('secret "vault"');
	t.is(containerOf(pods.objects.get('user'))?.state?.waiting?.reason, 'CreateContainerConfigError');
	await cluster.apply(secretOf({stringData: {password: marker}}));
	await waitsFor('configmap "lamp"');
	await cluster.apply({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'lamp'}, data: {LIGHT: open}});
	const running = await pods.until('the pod to run', found => isReady(found.get('user')) && found.get('user'));
	await toldBy('user', marker);
	t.true(readFileSync(`/proc/${pidOf(running)}/environ`, 'utf8').includes(`ADDRESS=db://${marker}@host`));
	t.false(shows(commandLines(), words));

	// Its reader has it as kubectl has it; who only views has not.
	t.true((await cluster.fine('get', 'secret', 'vault', '-o', 'yaml')).includes(Buffer.from(marker).toString('base64')));
	t.regex(await shown('describe', 'secret', 'vault'), /password: +22 bytes/);
	t.regex(await shown('get', 'secrets'), /vault +Opaque +1 /);
	for (const url of [vaultPath, '/api/v1/secrets', '/troupe/v1/why/secrets/default/vault'])
		t.is(await request('GET', url, undefined, viewer), 403, url);
	for (const url of [
		'/apis/troupe.dev/v1/actors',
		...[
			'control/secrets/default.vault',
			'control/pods/default.user',
			'vm/pods/default.user',
			'vm/pods/default.user/main',
			'vm/named',
		].flatMap(place => ['state', 'mailbox', 'journal'].map(verb => `/apis/troupe.dev/v1/actors/${place}?verb=${verb}`)),
		'/troupe/v1/counters',
		'/api/v1/events',
		'/troupe/v1/why/pods/default/user',
		'/api/v1/namespaces/default/pods/user',
	])
		t.is(await request('GET', url, undefined, viewer), 200, url);

	// Requests with an error in them are refused without an echo.
	const wrong: readonly (readonly [string, string])[] = [
		['PUT', JSON.stringify(secretOf({data: {password: refused}}))],
		['PUT', JSON.stringify(secretOf({Data: {password: refused}}))],
		['PUT', JSON.stringify(secretOf({stringData: {password: [refused]}}))],
		['PUT', JSON.stringify(secretOf({stringData: {password: refused}, type: 'example.com/other'}))],
		['PUT', `{"kind": "Secret", "stringData": {"password": ${refused}}}`],
		['PATCH', JSON.stringify({data: {password: refused}})],
		['PATCH', JSON.stringify({stringData: {password: {value: refused}}})],
		['PATCH', `{"stringData": {"password": '${refused}'}}`],
	];
	for (const [method, body] of wrong) {
		const status = await request(method, vaultPath, body);
		t.true(status === 400 || status === 422, `${method} ${body}: ${status}`);
	}
	const {code, err, out} = await cluster.start(['apply', '-f', '-'], JSON.stringify(secretOf({data: {password: refused}}))).ended;
	told.push(err, out);
	t.is(code, 1);

	// What changes reaches the program with its next start; what does not change is not written.
	const before = await until(client, 'secrets', 'the Secret', found => found.get('vault'));
	await cluster.apply(secretOf({stringData: {password: marker}}));
	const again = await until(client, 'secrets', 'the Secret', found => found.get('vault'));
	t.is(again.metadata.resourceVersion, before.metadata.resourceVersion);
	await cluster.apply(secretOf({stringData: {password: changed}}));
	// A pod that is made after the change has it: when that runs, the node has heard, and the next start of the other has it, too.
	await cluster.apply({...user, metadata: {name: 'later'}});
	await pods.until('the later pod to run', found => isReady(found.get('later')));
	await toldBy('later', changed);
	signal(pidOf(pods.objects.get('user')) ?? 0, 'SIGKILL');
	await toldBy('user', changed);

	// An actor that crashes over it, telling all it knows.
	const failed = (object: ApiObject | undefined): Condition | undefined =>
		((object?.status as {conditions?: readonly Condition[]} | undefined)?.conditions ?? []).find(({type}) => type === 'ActorFailed');
	await cluster.apply({...secretOf({stringData: {password: changed}}), metadata: {name: 'vault', labels: {unlucky: 'yes'}}});
	const parked = await until(client, 'secrets', 'its actor to be parked', found => failed(found.get('vault')) && found.get('vault'));
	t.regex(failed(parked)?.message ?? '', /it cannot stand .*troupe\.sealed\.v1\./);
	await ear.until('the crash to be told', heard => heard.some(({text}) => /"parked".*troupe\.sealed/.test(text)));
	for (const args of [['tree'], ['why', 'secret/vault'], ['why', 'pod/user'], ['events'], ['describe', 'pod', 'user'], ['get', 'all']])
		await shown(...args);

	// It goes, and with it what the node kept.
	t.is(readdirSync(path.join(cluster.home, 'data/secrets')).length, 1);
	await cluster.fine('delete', 'secret', 'vault');
	await eventually('the node has forgotten it', () => readdirSync(path.join(cluster.home, 'data/secrets')).length === 0);
	t.true(isReady(pods.objects.get('user')), 'a program that runs is left alone');
	pods.close();
	up.kill('SIGTERM');
	const ended = await up.ended;
	told.push(ended.out, ended.err);

	// Nowhere: answers, messages, logs, stores, caches.
	t.deepEqual(
		told.filter(text => shows(text, words)),
		[],
	);
	t.deepEqual(
		ear.heard.filter(({topic, text}) => shows(topic + text, words)),
		[],
	);
	t.true(ear.heard.some(({topic, text}) => topic === 'troupe/v1/objects/secrets/default/vault' && text.includes('"password":null')));
	t.deepEqual(filesThatShow(cluster.home, words), []);
	for (const store of ['control', 'node']) {
		const records = await recordsOf(path.join(cluster.home, 'data', store));
		t.false(shows(records, words), store);
		t.true(records.includes(open), `the search finds nothing in ${store}`);
	}
	t.true(ear.heard.some(({text}) => text.includes(open)));
	t.true(filesThatShow(cluster.home, [open]).length > 0 && formsOf(open).length === 4);
	t.false(shows(commandLines(), words));
	t.is(ended.code, 0, ended.err);
});

test('a node on another host fetches a Secret, and starts with it again while no server answers', async t => {
	t.timeout(100_000);
	const server = openHome(t);
	const ports = ['--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];
	const serving = server.start(['server', ...ports]);
	await serving.says(/troupe/);
	await eventually('the server is ready', async () => (await server.troupe('get', 'nodes')).code === 0);
	const join = /troupe-join\S+/.exec(await server.fine('token', 'create', '--join'))?.[0] ?? '';
	const host = openHome(t);
	const joining = host.start(['agent', `--join=${server.endpoints().api}`, `--token=${join}`, '--node=node-a']);
	const client = await server.client();
	await until(client, 'nodes', 'the node to be ready', found =>
		((found.get('node-a')?.status as {conditions?: readonly Condition[]} | undefined)?.conditions ?? []).some(
			({type, status}) => type === 'Ready' && status === 'True',
		),
	);
	await server.apply(
		{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'lamp'}, data: {LIGHT: open}},
		secretOf({stringData: {password: marker}}),
		user,
	);
	await until(client, 'pods', 'the pod to run', found => isReady(found.get('user')));
	await eventually('the program has told its lengths', async () => (await server.fine('logs', 'user')) === said(marker));

	// The server is gone for good; then the whole host dies, programs and all.
	serving.kill('SIGKILL');
	await serving.ended;
	joining.kill('SIGKILL');
	await joining.ended;
	await host.killEverything();
	const agent = host.start(['agent']);
	const lengths = said(marker);
	const logOf = (attempt: string): string => {
		const runtime = path.join(host.home, 'data/runtime');
		const files = readdirSync(runtime).map(uid => path.join(runtime, uid, 'main', attempt, 'log'));
		const file = files.find(each => existsSync(each));
		return file === undefined ? '' : readFileSync(file, 'utf8');
	};
	await eventually(
		'the program runs again, with its Secret',
		() => logOf('1') === lengths,
		() => logOf('0'),
	);
	t.deepEqual(filesThatShow(host.home, words), []);
	agent.kill('SIGTERM');
	t.false(shows(JSON.stringify(await agent.ended), words));
	t.deepEqual(filesThatShow(server.home, words), []);
});
