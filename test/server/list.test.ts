import test from 'ava';
import {collectionPath} from './cluster.js';
import {openDoor, tableAccept, type ListBody, type StatusBody} from './door.js';

const pods = collectionPath('pods', 'default');
const names = (list: ListBody): string[] => list.items.map(({metadata}) => metadata.name);

test('a list has the objects of its namespace, all of them over all namespaces, and the newest version', async t => {
	const {json, cluster} = await openDoor(t);
	for (const name of ['b', 'a']) cluster.pod(name);
	cluster.pod('c', {}, 'other');
	const list = await json<ListBody>(200, 'GET', pods);
	t.is(list.kind, 'PodList');
	t.is(list.apiVersion, 'v1');
	t.deepEqual(names(list), ['a', 'b']);
	t.is(list.metadata.resourceVersion, String(cluster.control.index.version));
	t.is(list.items[0]?.kind, 'Pod');
	t.deepEqual(names(await json<ListBody>(200, 'GET', collectionPath('pods'))), ['a', 'b', 'c']);
	t.deepEqual(names(await json<ListBody>(200, 'GET', '/api/v1/namespaces')), ['default', 'other']);
	t.deepEqual(names(await json<ListBody>(200, 'GET', collectionPath('pods', 'missing'))), []);
});

test('labels and fields select', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('a', {metadata: {labels: {app: 'web', tier: 'front'}}});
	cluster.pod('b', {metadata: {labels: {app: 'web'}}});
	cluster.pod('c', {metadata: {labels: {app: 'db'}}}, 'other');
	const select = async (query: string, path = collectionPath('pods')) => names(await json<ListBody>(200, 'GET', `${path}?${query}`));
	t.deepEqual(await select('labelSelector=app%3Dweb'), ['a', 'b']);
	t.deepEqual(await select('labelSelector=app%3Dweb', pods), ['a', 'b']);
	t.deepEqual(await select('labelSelector=app+in+(web,db),!tier'), ['b', 'c']);
	t.deepEqual(await select('fieldSelector=metadata.name%3Db', pods), ['b']);
	t.deepEqual(await select('fieldSelector=metadata.namespace%3Dother'), ['c']);
	t.deepEqual(await select('fieldSelector=status.phase!%3DPending'), []);
	t.deepEqual(await select('fieldSelector=metadata.name%3Da,status.phase%3DRunning', pods), []);
	t.deepEqual(await select('fieldSelector=metadata.name%3Da&labelSelector=app%3Ddb', pods), []);
	t.is((await json<StatusBody>(400, 'GET', `${pods}?fieldSelector=spec.secret%3D1`)).message, 'field label not supported: spec.secret');
	await json(400, 'GET', `${pods}?labelSelector=a%3D%3D%3Db`);
});

test('pages follow each other without loss or repetition, also while objects come and go', async t => {
	const {json, cluster} = await openDoor(t);
	for (let i = 10; i < 35; i++) cluster.pod(`p${i}`);
	const seen: string[] = [];
	let token = '';
	let version: string | undefined;
	for (let page = 0; page < 3; page++) {
		const list = await json<ListBody>(200, 'GET', `${pods}?limit=10&continue=${token}`);
		seen.push(...names(list));
		version ??= list.metadata.resourceVersion;
		t.is(list.metadata.resourceVersion, version);
		token = list.metadata.continue ?? '';
		if (page === 0) t.is(list.metadata.remainingItemCount, 15);
		if (page === 0) cluster.drop('pods/default/p19');
		if (page === 0) cluster.pod('p00');
	}
	t.is(token, '');
	t.is(seen.length, 25);
	t.is(new Set(seen).size, 25);
});

test('a token or number that is none is told by name', async t => {
	const {json} = await openDoor(t);
	for (const token of ['x', Buffer.from('{}').toString('base64url'), Buffer.from('{"version":-1,"after":""}').toString('base64url')])
		t.regex((await json<StatusBody>(400, 'GET', `${pods}?continue=${token}`)).message, /continue token/);
	t.regex((await json<StatusBody>(400, 'GET', `${pods}?limit=many`)).message, /^limit must be/);
	t.regex((await json<StatusBody>(400, 'GET', `${pods}?limit=-1`)).message, /^limit must be/);
	t.regex((await json<StatusBody>(400, 'GET', `${pods}?resourceVersion=x`)).message, /^resourceVersion must be/);
	t.regex((await json<StatusBody>(400, 'GET', `${pods}?watch=perhaps`)).message, /^watch must be/);
});

test('a version of another lineage is expired; 0 is whatever there is', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('a');
	t.is((await json<StatusBody>(410, 'GET', `${pods}?resourceVersion=999`)).reason, 'Expired');
	t.is((await json<StatusBody>(410, 'GET', `${pods}?resourceVersion=1&resourceVersionMatch=Exact`)).reason, 'Expired');
	t.deepEqual(names(await json<ListBody>(200, 'GET', `${pods}?resourceVersion=0`)), ['a']);
	t.deepEqual(names(await json<ListBody>(200, 'GET', `${pods}?resourceVersion=1`)), ['a']);
});

test('a table has the rows of its page and says where the next begins', async t => {
	const {json, cluster} = await openDoor(t);
	for (let i = 100; i < 600; i++) cluster.pod(`p${i}`);
	type Row = {cells: unknown[]; object?: {kind: string; spec?: unknown}};
	type TableBody = {metadata: ListBody['metadata']; columnDefinitions: {name: string}[]; rows: Row[]};
	const table = await json<TableBody>(200, 'GET', `${pods}?limit=300`, undefined, tableAccept);
	t.is(table.rows.length, 300);
	t.is(table.columnDefinitions[0]?.name, 'Name');
	t.is(typeof table.metadata.continue, 'string');
	const whole = await json<TableBody>(200, 'GET', `${pods}?includeObject=Object`, undefined, tableAccept);
	t.is(whole.rows.length, 500);
	t.is(whole.rows[499]?.object?.kind, 'Pod');
	t.truthy(whole.rows[499]?.object?.spec);
	const none = await json<TableBody>(200, 'GET', collectionPath('pods', 'other'), undefined, tableAccept);
	t.deepEqual(none.rows, []);
	await json(400, 'GET', `${pods}?includeObject=Half`, undefined, tableAccept);
});

test('a long list comes whole', async t => {
	const {json, cluster} = await openDoor(t);
	for (let i = 0; i < 3000; i++) cluster.pod(`p${i}`, {metadata: {annotations: {filler: 'x'.repeat(1000)}}});
	t.is((await json<ListBody>(200, 'GET', pods)).items.length, 3000);
});
