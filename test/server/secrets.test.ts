// Secrets at the door: sealed before they are a message, opened for who may read them, never told otherwise.

import {once} from 'node:events';
import http from 'node:http';
import type {IncomingMessage} from 'node:http';
import {setTimeout as pause} from 'node:timers/promises';
import test from 'ava';
import {base64Of} from '../../api/base64.js';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {isSealed, lastAppliedAnnotation} from '../../api/sealed.js';
import type {ReplaceObject} from '../../actors/control/objects/object-message.js';
import {publicText} from '../../server/public-text.js';
import {createDeferred} from '../../system/time/deferred.js';
import {collectionPath} from './cluster.js';
import {jsonPatchType, mergeType, openDoor, tableAccept, type ObjectBody, type StatusBody} from './door.js';

const marker = 'MARKER-0815-geheim';
const markerBase64 = base64Of(marker);
const secrets = collectionPath('secrets', 'default');

type SecretBody = ObjectBody & {readonly type: string; readonly data?: Record<string, string>};

const aSecret = (fields: object = {}, metadata: object = {}) => ({
	apiVersion: 'v1',
	kind: 'Secret',
	metadata: {name: 'db', annotations: {[lastAppliedAnnotation]: `{"data":{"password":"${markerBase64}"}}`}, ...metadata},
	data: {password: markerBase64},
	...fields,
});

const shows = (text: string): boolean => text.includes(marker) || text.includes(markerBase64) || text.includes(markerBase64.slice(0, 12));

test('no message to an actor and no committed object has a value in it; whoever may read gets it as it was written', async t => {
	const {json, cluster} = await openDoor(t);
	const created = await json<SecretBody>(201, 'POST', secrets, aSecret({stringData: {user: marker}}));
	t.deepEqual(created.data, {password: markerBase64, user: markerBase64});
	const got = await json<SecretBody & {metadata: {annotations: Record<string, string>}}>(200, 'GET', `${secrets}/db`);
	t.deepEqual(got.data, created.data);
	t.is(got.metadata.annotations[lastAppliedAnnotation], `{"data":{"password":"${markerBase64}"}}`);
	const replaced = await json<SecretBody>(200, 'PUT', `${secrets}/db`, aSecret({data: {pin: markerBase64}}));
	t.deepEqual(replaced.data, {pin: markerBase64});
	const patched = await json<SecretBody>(
		200,
		'PATCH',
		`${secrets}/db`,
		{data: {a: markerBase64, pin: null}, stringData: {b: marker}},
		mergeType,
	);
	t.deepEqual(patched.data, {a: markerBase64, b: markerBase64});
	t.is(cluster.asked.length, 3);
	t.false(shows(JSON.stringify(cluster.asked)));
	t.false(shows([...cluster.control.index.all()].map(entry => entry.json()).join()));
	const kept = cluster.control.index.get('secrets/default/db') as ApiObject & {data: Record<string, string>};
	t.true(Object.values(kept.data).every(isSealed));
});

test('an entry for logins of registries is a JSON object, however it is written, or nothing is changed', async t => {
	const {json, cluster} = await openDoor(t);
	const entries = ['.dockerconfigjson', '.dockercfg'];
	for (const entry of entries) {
		for (const text of [marker, '', '[]', '"a"', '['.repeat(10_000)]) {
			for (const values of [{stringData: {[entry]: text}}, {data: {[entry]: base64Of(text)}}]) {
				const {message} = await json<StatusBody>(422, 'POST', secrets, aSecret(values));
				t.regex(message, /must be a JSON object, as docker login writes it/);
				t.false(shows(message));
			}
		}
	}
	t.is(cluster.asked.length, 0);
	await json(201, 'POST', secrets, aSecret({stringData: {'.dockercfg': '{}'}}));
	await json(422, 'PATCH', `${secrets}/db`, {stringData: {'.dockercfg': marker}}, mergeType);
	const got = await json<SecretBody>(200, 'GET', `${secrets}/db`);
	t.is(got.data?.['.dockercfg'], base64Of('{}'));
});

test('the same value again is the same object: nothing is written', async t => {
	const {json} = await openDoor(t);
	const {metadata} = await json<SecretBody>(201, 'POST', secrets, aSecret());
	const again = await json<SecretBody>(200, 'PATCH', `${secrets}/db`, {data: {password: markerBase64}}, mergeType);
	t.is(again.metadata.resourceVersion, metadata.resourceVersion);
	t.not(
		(await json<SecretBody>(200, 'PATCH', `${secrets}/db`, {stringData: {password: 'other'}}, mergeType)).metadata.resourceVersion,
		metadata.resourceVersion,
	);
});

test('a JSON patch of a Secret sees the values as a reader does, and leaves none in a message', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const patch = [
		{op: 'test', path: '/data/password', value: markerBase64},
		{op: 'copy', from: '/data/password', path: '/data/again'},
		{op: 'add', path: '/stringData', value: {plain: marker}},
	];
	const patched = await json<SecretBody>(200, 'PATCH', `${secrets}/db`, patch, jsonPatchType);
	t.deepEqual(patched.data, {password: markerBase64, again: markerBase64, plain: markerBase64});
	const refused = await json<StatusBody>(
		422,
		'PATCH',
		`${secrets}/db`,
		[{op: 'test', path: '/data/password', value: 'eA=='}],
		jsonPatchType,
	);
	t.regex(refused.message, /^Secret "db" is invalid: patch\[0\]: testing value \/data\/password failed/);
	for (const [status, gone] of [
		[400, [{op: 'remove', path: ''}]],
		[400, [{op: 'remove', path: '/metadata'}]],
		[400, [{op: 'copy', from: '/data/password', path: '/kind'}]],
		[400, [{op: 'copy', from: '/data/password', path: '/metadata/annotations/told'}]],
		[400, [{op: 'move', from: '/data', path: '/metadata/annotations'}]],
		[400, [{op: 'copy', from: '', path: '/data/x'}]],
		[422, [{op: 'add', path: '/data/odd', value: marker}]],
		[409, [{op: 'replace', path: '/metadata/resourceVersion', value: '1'}]],
	] as const)
		t.false(shows(JSON.stringify(await json(status, 'PATCH', `${secrets}/db`, gone, jsonPatchType))));
	const {metadata} = await json<SecretBody>(200, 'PATCH', `${secrets}/db`, patch.slice(0, 1), jsonPatchType);
	t.is(metadata.resourceVersion, patched.metadata.resourceVersion);
	t.false(shows(JSON.stringify(cluster.asked)));
});

test('a strategic patch of a Secret merges its members and follows directives, sealed like every write', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const strategic = {'content-type': 'application/strategic-merge-patch+json'};
	const more = await json<SecretBody>(200, 'PATCH', `${secrets}/db`, {stringData: {plain: marker}, data: {a: markerBase64}}, strategic);
	t.deepEqual(more.data, {password: markerBase64, plain: markerBase64, a: markerBase64});
	const less = await json<SecretBody>(200, 'PATCH', `${secrets}/db`, {data: {$patch: 'replace', b: markerBase64}}, strategic);
	t.deepEqual(less.data, {b: markerBase64});
	t.false(shows(JSON.stringify(await json(422, 'PATCH', `${secrets}/db`, {data: {odd: marker}}, strategic))));
	t.false(shows(JSON.stringify(cluster.asked)));
});

test('a JSON patch of a Secret that another write overtakes is done again with what that one left', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const address = 'troupe://control/secrets/default.db';
	let overtaken = 0;
	cluster.answers.set(address, () => {
		if (overtaken++ > 0) cluster.answers.delete(address);
		const old = cluster.control.index.get('secrets/default/db');
		if (old !== undefined) cluster.put({...old, metadata: {...old.metadata, labels: {round: String(overtaken)}}});
		return failed('ERR_CONFLICT', {resource: 'secrets', name: 'db'});
	});
	type Labelled = SecretBody & {metadata: {labels: unknown}};
	const patched = await json<Labelled>(200, 'PATCH', `${secrets}/db`, [{op: 'remove', path: '/data'}], jsonPatchType);
	t.deepEqual([patched.metadata.labels, patched.data], [{round: '2'}, undefined]);
	cluster.answers.set(address, () => failed('ERR_CONFLICT', {resource: 'secrets', name: 'db'}));
	await json(409, 'PATCH', `${secrets}/db`, [{op: 'add', path: '/type', value: 'Opaque'}], jsonPatchType);
});

test('however many JSON patches of a Secret come at once, each is done; one that names its version is not done with another', async t => {
	const {json, cluster} = await openDoor(t);
	const first = await json<SecretBody>(201, 'POST', secrets, aSecret());
	const conflict = failed('ERR_CONFLICT', {resource: 'secrets', name: 'db'});
	// Its record takes as long as a disk: whoever read before that has read too early.
	cluster.answers.set('troupe://control/secrets/default.db', async message => {
		await pause(10);
		const old = cluster.control.index.get('secrets/default/db');
		const {metadata, ...object} = (message as ReplaceObject).object;
		if (old === undefined || metadata.resourceVersion !== old.metadata.resourceVersion) return conflict;
		return succeeded(cluster.put({...old, ...object, metadata: {...old.metadata, ...metadata}}));
	});
	const names = Array.from({length: 30}, (_, at) => `key-${at}`);
	const add = (name: string) => ({op: 'add', path: `/data/${name}`, value: markerBase64});
	await Promise.all(names.map(name => json(200, 'PATCH', `${secrets}/db`, [add(name)], jsonPatchType)));
	const {data, metadata} = await json<SecretBody>(200, 'GET', `${secrets}/db`);
	t.deepEqual(Object.keys(data ?? {}).sort(), ['password', ...names].sort());
	const named = (version: string) => [{op: 'test', path: '/metadata/resourceVersion', value: version}, add('late')];
	await json(422, 'PATCH', `${secrets}/db`, named(first.metadata.resourceVersion), jsonPatchType);
	const replaced = {op: 'replace', path: '/metadata/resourceVersion', value: first.metadata.resourceVersion};
	await json(409, 'PATCH', `${secrets}/db`, [replaced, add('late')], jsonPatchType);
	await json(200, 'PATCH', `${secrets}/db`, named(metadata.resourceVersion), jsonPatchType);
});

test('so many patches of a Secret wait while its record is slow; one more is told to come again, and those before it are done', async t => {
	const {call, json, cluster} = await openDoor(t);
	await json<SecretBody>(201, 'POST', secrets, aSecret());
	const full = createDeferred();
	cluster.answers.set('troupe://control/secrets/default.db', async message => {
		await full.promise;
		const old = cluster.control.index.get('secrets/default/db');
		const {metadata, ...object} = (message as ReplaceObject).object;
		if (old === undefined) return failed('ERR_NOT_FOUND', {resource: 'secrets', name: 'db'});
		return succeeded(cluster.put({...old, ...object, metadata: {...old.metadata, ...metadata}}));
	});
	const patches = Array.from({length: limits.objectTurns + 1}, async (_, at) => {
		const {status} = await call('PATCH', `${secrets}/db`, [{op: 'add', path: `/data/key-${at}`, value: markerBase64}], jsonPatchType);
		if (status === 429) full.resolve();
		return status;
	});
	const statuses = (await Promise.all(patches)).sort();
	t.deepEqual(statuses, [...Array.from({length: limits.objectTurns}, () => 200), 429]);
});

test('a name that is to be made is made before values are sealed for it', async t => {
	const {json} = await openDoor(t);
	const {data, metadata} = await json<SecretBody>(201, 'POST', secrets, aSecret({}, {name: undefined, generateName: 'db-'}));
	t.regex(metadata.name, /^db-\w{5}$/);
	t.deepEqual(data, {password: markerBase64});
});

test('a dry run answers with the values and keeps nothing', async t => {
	const {json, cluster} = await openDoor(t);
	t.deepEqual((await json<SecretBody>(201, 'POST', `${secrets}?dryRun=All`, aSecret())).data, {password: markerBase64});
	t.is(cluster.control.index.get('secrets/default/db'), undefined);
});

const wrongBodies: readonly (readonly [title: string, method: 'PUT' | 'PATCH', body: object | string])[] = [
	['data that is no base64', 'PUT', aSecret({data: {password: marker}})],
	['data that is a list', 'PUT', aSecret({data: [marker]})],
	['data that is a text', 'PUT', aSecret({data: marker})],
	['a value in a list', 'PUT', aSecret({stringData: {password: [marker]}})],
	['a key that is none', 'PUT', aSecret({stringData: {'a b': marker}})],
	['a field that does not exist', 'PUT', aSecret({Data: {password: marker}})],
	['another type', 'PUT', aSecret({type: 'kubernetes.io/tls'})],
	['a sealed value, which no client can have', 'PUT', aSecret({data: {password: `troupe.sealed.v1.${markerBase64}`}})],
	['text that is no JSON', 'PUT', `{"kind":"Secret","data":{"password":"${markerBase64}"`],
	['data that is no base64', 'PATCH', {data: {password: marker}}],
	['a value in an object', 'PATCH', {stringData: {password: {value: marker}}}],
	['a field that does not exist', 'PATCH', {stringdata: {password: marker}}],
	['data taken away and texts set', 'PATCH', {data: null, stringData: {password: marker}}],
	['text that is no JSON', 'PATCH', `{"stringData":{"password":${marker}}}`],
	['a key that is none', 'PATCH', {data: {'a b': markerBase64}}],
];
for (const [title, method, body] of wrongBodies) {
	test(`${method} with ${title} is refused, and no answer, message or bug has the value`, async t => {
		const {json, call, cluster, bugs} = await openDoor(t);
		await json(201, 'POST', secrets, aSecret({data: {other: ''}}, {annotations: {}}));
		const {status, text} = await call(method, `${secrets}/db`, body, method === 'PATCH' ? mergeType : {});
		t.true(status >= 400 && status < 500, `${status}: ${text}`);
		t.false(shows(text), text);
		t.false(shows(JSON.stringify(cluster.asked)), 'a message has the value');
		t.deepEqual(bugs, []);
	});
}

const misshapen: readonly (readonly [fields: object, field: string])[] = [
	[{stringData: {pw: marker, n: 7_777_123}}, 'stringData.n'],
	[{stringData: {a: 7_777_123}}, 'stringData.a'],
	[{stringData: {a: null, b: [marker], e: true}}, 'stringData.e'],
	[{stringData: {a: {b: marker}}}, 'stringData.a'],
	[{stringData: [marker]}, 'stringData'],
	[{stringData: marker}, 'stringData'],
	[{data: {a: 7_777_123}}, 'data.a'],
	[{data: [marker], stringData: {a: 'x'}}, 'data'],
];

test('values that are no texts are refused by every way of writing, with the field and without the value', async t => {
	const {json, call, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const {version} = cluster.control.index;
	for (const [fields, field] of misshapen) {
		const other = {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'other'}, ...fields};
		const written = [
			await call('POST', secrets, other),
			await call('PUT', `${secrets}/db`, {...other, metadata: {name: 'db'}}),
			await call('PATCH', `${secrets}/db`, fields, mergeType),
		];
		for (const {status, text} of written) {
			t.is(status, 422, `${JSON.stringify(fields)}: ${text}`);
			t.true((JSON.parse(text) as StatusBody).message.includes(`${field}: must be `), text);
			t.false(shows(text) || text.includes('7777123'), text);
		}
	}
	t.is(cluster.control.index.version, version);
});

test('lists, tables and watches are opened for their reader', async t => {
	const door = await openDoor(t);
	const {json} = door;
	await json(201, 'POST', secrets, aSecret());
	const listed = await json<{items: readonly SecretBody[]}>(200, 'GET', collectionPath('secrets'));
	t.deepEqual(listed.items[0]?.data, {password: markerBase64});
	type Rows = {rows: readonly {cells: readonly unknown[]; object: SecretBody}[]};
	const table = await json<Rows>(200, 'GET', `${secrets}?includeObject=Object`, undefined, tableAccept);
	t.deepEqual(table.rows[0]?.cells.slice(0, 3), ['db', 'Opaque', 1]);
	t.deepEqual(table.rows[0]?.object.data, {password: markerBase64});

	const request = http.get(`${door.url}${secrets}?watch=true`, {headers: {authorization: door.authorization}, agent: false});
	t.teardown(() => request.destroy());
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	let text = '';
	response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
	await json(200, 'PATCH', `${secrets}/db`, {metadata: {labels: {a: 'b'}}}, mergeType);
	door.cluster.drop('secrets/default/db');
	while (text.split('\n').length < 4) await once(response, 'data');
	const events = text
		.trim()
		.split('\n')
		.map(line => JSON.parse(line) as {type: string; object: SecretBody});
	t.deepEqual(
		events.map(({type}) => type),
		['ADDED', 'MODIFIED', 'DELETED'],
	);
	for (const {object} of events) t.deepEqual(object.data, {password: markerBase64});
});

test('a Secret that does not open is named by lists and watches of it, can be deleted, and keeps no other from its reader', async t => {
	const {json, call, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	await json(201, 'POST', secrets, aSecret({}, {name: 'fine'}));
	const good = cluster.control.index.get('secrets/default/db') as ApiObject & {data: Record<string, string>};
	cluster.put({...good, data: {password: `${good.data['password']?.slice(0, -4) ?? ''}AAAA`}} as ApiObject);
	const named = /secrets "default\/db" cannot be opened with this cluster's key.*delete it, or restore the key/;
	for (const path of [secrets, collectionPath('secrets'), `${secrets}/db`]) {
		const {status, text} = await call('GET', path);
		t.is(status, 500);
		t.regex((JSON.parse(text) as StatusBody).message, named, path);
	}
	const watched = await call('GET', `${secrets}?watch=true&timeoutSeconds=60`);
	const events = watched.text
		.trim()
		.split('\n')
		.map(line => JSON.parse(line) as {type: string; object: StatusBody & SecretBody});
	t.is(events.at(-1)?.type, 'ERROR');
	t.regex(events.at(-1)?.object.message ?? '', named);
	t.deepEqual((await json<SecretBody>(200, 'GET', `${secrets}/fine`)).data, {password: markerBase64});
	await json(200, 'DELETE', `${secrets}/db`);
	t.is((await json<{items: readonly SecretBody[]}>(200, 'GET', secrets)).items.length, 1);
});

test('who may only view, and tools, read no Secrets; editors do', async t => {
	const {json, call} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	for (const token of ['viewer', 'tool', 'node-a']) {
		for (const path of [
			secrets,
			`${secrets}/db`,
			`${secrets}/db/status`,
			collectionPath('secrets'),
			`${secrets}?watch=true`,
			'/troupe/v1/why/secrets/default/db',
		]) {
			const {status, text} = await call('GET', path, undefined, {authorization: `Bearer ${token}`});
			t.is(status, 403, `${token} ${path}: ${text}`);
			t.false(shows(text));
		}
	}
	t.deepEqual((await json<SecretBody>(200, 'GET', `${secrets}/db`, undefined, {authorization: 'Bearer editor'})).data, {
		password: markerBase64,
	});
	t.false(shows((await call('GET', '/troupe/v1/why/secrets/default/db')).text));
});

test('topics show its keys and no values; other objects as they are', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const text = publicText(cluster.control.index.entry('secrets/default/db') ?? t.fail());
	t.false(shows(text) || text.includes('sealed'));
	t.deepEqual((JSON.parse(text) as SecretBody).data, {password: null} as never);
	const pod = cluster.pod('web');
	t.is(publicText(cluster.control.index.entry('pods/default/web') ?? t.fail()), JSON.stringify(pod));
});

test('a node fetches a Secret that a pod bound to it names, as long as one does; no other node, no other Secret, nobody else', async t => {
	const {json, call, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	await json(201, 'POST', secrets, aSecret({}, {name: 'unnamed'}));
	const path = (node: string, name = 'db', namespace = 'default'): string => `/troupe/v1/nodes/${node}/secrets/${namespace}/${name}`;
	const as = (token: string) => ({authorization: `Bearer ${token}`});
	const status = async (token: string, url: string): Promise<number> => (await call('GET', url, undefined, as(token))).status;
	t.is(await status('node-a', path('node-a')), 403);

	const env = [{name: 'P', valueFrom: {secretKeyRef: {name: 'db', key: 'password'}}}];
	const spec = {
		containers: [{name: 'main', image: 'none', command: ['sleep', '1'], env, envFrom: [{secretRef: {name: 'missing'}}]}],
		nodeName: 'node-a',
	};
	cluster.pod('web', {spec});
	const fetched = await json<{version: string; data: Record<string, string>}>(200, 'GET', path('node-a'), undefined, as('node-a'));
	t.deepEqual(fetched.data, {password: markerBase64});
	t.regex(fetched.version, /^[0-9a-f-]{36}\.1$/);
	t.is(await status('node-b', path('node-a')), 403);
	t.is(await status('node-b', path('node-b')), 403);
	t.is(await status('node-a', path('node-a', 'unnamed')), 403);
	t.is(await status('node-a', path('node-a', 'db', 'other')), 403);
	t.is(await status('node-a', path('node-a', 'missing')), 404);
	t.is(await status('node-a', path('node-a', '..%2F..')), 404);
	for (const token of ['admin', 'viewer', 'tool', 'editor']) t.is(await status(token, path('node-a')), 403, token);
	t.is(await status('', path('node-a')), 401);
	cluster.drop('pods/default/web');
	t.is(await status('node-a', path('node-a')), 403);
});

test('any node fetches the certificate in a Secret that an Ingress names in its tls, as long as one does, and no other entry; nobody else does', async t => {
	const {json, call, cluster} = await openDoor(t);
	const entries = {'tls.crt': markerBase64, 'tls.key': markerBase64};
	const tlsSecret = {...aSecret({data: {...entries, 'ca.crt': markerBase64}}, {name: 'web-tls'}), type: 'kubernetes.io/tls'};
	await json(201, 'POST', secrets, tlsSecret);
	await json(201, 'POST', secrets, aSecret());
	const path = (name = 'web-tls', namespace = 'default', node = 'node-a'): string =>
		`/troupe/v1/nodes/${node}/certificates/${namespace}/${name}`;
	const as = (token: string) => ({authorization: `Bearer ${token}`});
	const status = async (token: string, url: string): Promise<number> => (await call('GET', url, undefined, as(token))).status;
	t.is(await status('node-a', path()), 403);
	const metadata = {name: 'web', namespace: 'default', uid: 'uid-of-web', resourceVersion: '', generation: 1, creationTimestamp: ''};
	const spec = {tls: [{hosts: ['a.test'], secretName: 'web-tls'}, {secretName: 'db'}, {secretName: 'missing'}]};
	cluster.put({apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec});
	const fetched = await json<{version: string; data: Record<string, string>}>(200, 'GET', path(), undefined, as('node-a'));
	t.deepEqual(fetched.data, entries);
	t.regex(fetched.version, /^[0-9a-f-]{36}\.1$/);
	t.is(await status('node-a', path('db')), 403, 'of another type');
	t.is(await status('node-a', path('missing')), 404);
	t.is(await status('node-a', path('web-tls', 'other')), 403);
	t.is(await status('node-a', path('web-tls', 'default', 'node-b')), 403);
	t.is(await status('node-a', '/troupe/v1/nodes/node-a/secrets/default/web-tls'), 403, 'no pod names it');
	for (const token of ['admin', 'viewer', 'tool', 'editor']) t.is(await status(token, path()), 403, token);
	t.is(await status('', path()), 401);
	cluster.drop('ingresses/default/web');
	t.is(await status('node-a', path()), 403);
});

test('a value that was moved or changed in the store is a failure that says where, not what', async t => {
	const {json, call, cluster} = await openDoor(t);
	await json(201, 'POST', secrets, aSecret());
	const object = cluster.control.index.get('secrets/default/db');
	if (object === undefined) return t.fail();
	cluster.put({...object, metadata: {...object.metadata, name: 'copy'}});
	const {message} = await json<StatusBody>(500, 'GET', `${secrets}/copy`);
	t.regex(message, /default\/copy\/password/);
	t.notRegex(message, /sealed\.v1/);
	t.regex((await json<StatusBody>(500, 'GET', secrets)).message, /default\/copy\/password/);
	t.regex((await call('GET', `${secrets}?watch=true`)).text, /"type":"ERROR".*default\/copy\/password/);
});
