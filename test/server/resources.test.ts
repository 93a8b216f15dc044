import test from 'ava';
import {failed} from '../../api/errors.js';
import {aPod, aReplicaSet, collectionPath} from './cluster.js';
import {jsonPatchType, mergeType, openDoor, tableAccept, type ObjectBody, type StatusBody} from './door.js';

const pods = collectionPath('pods', 'default');
const sets = collectionPath('replicasets', 'default');

test('an object is created, read, replaced, patched and deleted', async t => {
	const {json, cluster} = await openDoor(t);
	const created = await json<ObjectBody>(201, 'POST', sets, aReplicaSet('web', 2));
	t.is(created.metadata.namespace, 'default');
	t.deepEqual(await json(200, 'GET', `${sets}/web`), created as unknown as Record<string, unknown>);

	const replaced = await json<ObjectBody>(200, 'PUT', `${sets}/web`, {...created, spec: {...created.spec, replicas: 3}});
	t.is(replaced.spec?.['replicas'], 3);
	const patched = await json<ObjectBody>(200, 'PATCH', `${sets}/web`, {metadata: {labels: {a: 'b'}}}, mergeType);
	t.deepEqual(patched.metadata.labels, {a: 'b'});
	const unchanged = await json<ObjectBody>(200, 'PATCH', `${sets}/web`, {metadata: {labels: {a: 'b'}}}, mergeType);
	t.is(unchanged.metadata.resourceVersion, patched.metadata.resourceVersion);

	const status = await json<StatusBody>(200, 'DELETE', `${sets}/web`);
	t.is(status.status, 'Success');
	t.deepEqual(status.details, {name: 'web', group: 'apps', kind: 'replicasets', uid: created.metadata.uid});
	await json(404, 'GET', `${sets}/web`);
	t.deepEqual(
		cluster.asked.map(({to, options}) => [to, options.cause]),
		[
			['troupe://control/replicasets', 'http root POST replicasets/default/web'],
			['troupe://control/replicasets/default.web', 'http root PUT replicasets/default/web'],
			['troupe://control/replicasets/default.web', 'http root PATCH replicasets/default/web'],
			['troupe://control/replicasets/default.web', 'http root PATCH replicasets/default/web'],
			['troupe://control/replicasets/default.web', 'http root DELETE replicasets/default/web'],
		],
	);
});

test('what a client sends as status of a new object is dropped', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', pods, {...aPod('web'), status: {phase: 'Running'}});
	t.false('status' in (cluster.asked[0]?.message['object'] as object));
});

test('an object that lingers is answered as it is, with its deletion time', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web', {metadata: {finalizers: ['example.com/hold']}});
	const lingering = await json<ObjectBody>(200, 'DELETE', `${pods}/web`);
	t.is(lingering.kind, 'Pod');
	t.is(typeof lingering.metadata.deletionTimestamp, 'string');
	t.is((await json<StatusBody>(200, 'DELETE', `${pods}/web?gracePeriodSeconds=0`)).status, 'Success');
});

test('options of a deletion come by body, by query, or both', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('a');
	cluster.pod('b');
	const preconditions = {uid: 'U', resourceVersion: '7'};
	await json(200, 'DELETE', `${pods}/a`, {kind: 'DeleteOptions', gracePeriodSeconds: 0, propagationPolicy: 'Foreground', preconditions});
	await json(200, 'DELETE', `${pods}/b?gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All`);
	t.deepEqual(
		cluster.asked.map(({message}) => message),
		[
			{type: 'delete', graceSeconds: 0, propagation: 'Foreground', uid: 'U', resourceVersion: '7', dryRun: false},
			{type: 'delete', graceSeconds: 5, propagation: 'Orphan', uid: undefined, resourceVersion: undefined, dryRun: true},
		],
	);
	for (const wrong of [
		{gracePeriodSeconds: -1},
		{gracePeriodSeconds: 'x'},
		{propagationPolicy: 'Sideways'},
		{preconditions: 5},
		{preconditions: {uid: 5}},
		{dryRun: 'All'},
		{dryRun: ['Some']},
	])
		await json(400, 'DELETE', `${pods}/b`, wrong);
	await json(400, 'DELETE', `${pods}/b?gracePeriodSeconds=soon`);
});

test('a dry run answers with the object and changes nothing', async t => {
	const {json, cluster} = await openDoor(t);
	const before = cluster.control.index.version;
	t.is((await json<ObjectBody>(201, 'POST', `${pods}?dryRun=All`, aPod('web'))).metadata.name, 'web');
	t.is(cluster.control.index.version, before);
	cluster.pod('real');
	const patched = await json<ObjectBody>(200, 'PATCH', `${pods}/real?dryRun=All`, {metadata: {labels: {a: 'b'}}}, mergeType);
	t.deepEqual(patched.metadata.labels, {a: 'b'});
	t.is((await json<ObjectBody>(200, 'GET', `${pods}/real`)).metadata.labels, undefined);
	await json(400, 'POST', `${pods}?dryRun=Some`, aPod('x'));
});

test('a refused create names the object, which its URL does not', async t => {
	const {json} = await openDoor(t);
	const refused = await json<StatusBody>(422, 'POST', pods, {...aPod('web'), spec: {containers: []}});
	t.regex(refused.message, /^Pod "web" is invalid: spec\.containers/);
	t.like(refused.details, {name: 'web', kind: 'Pod'});
});

test('generateName reaches the record, which names the object', async t => {
	const {json, cluster} = await openDoor(t);
	const {metadata: _metadata, ...rest} = aPod('x');
	const created = await json<ObjectBody>(201, 'POST', pods, {...rest, metadata: {generateName: 'job-'}});
	t.regex(created.metadata.name, /^job-/);
	t.is(cluster.asked[0]?.options.cause, 'http root POST pods/default');
});

test('what the URL says and what the body says must agree', async t => {
	const {json} = await openDoor(t);
	const wrongNamespace = await json<StatusBody>(400, 'POST', pods, {...aPod('web'), metadata: {name: 'web', namespace: 'other'}});
	t.is(wrongNamespace.message, 'the namespace of the provided object does not match the namespace sent on the request');
	const wrongName = await json<StatusBody>(400, 'PUT', `${pods}/web`, aPod('other'));
	t.is(wrongName.message, 'the name of the object (other) does not match the name on the URL (web)');
	const wrongKind = await json<StatusBody>(400, 'POST', pods, aReplicaSet('web', 1));
	t.is(wrongKind.message, 'the body is a ReplicaSet of apps/v1; this path takes a Pod of v1');
});

test('an object of an older dialect is taken, and a warning says how it was read', async t => {
	const {call, json} = await openDoor(t);
	const old = {...aReplicaSet('web', 1), apiVersion: 'v1', kind: 'Replicaset'};
	const answer = await call('POST', sets, old);
	t.is(answer.status, 201, answer.text);
	t.is((JSON.parse(answer.text) as ObjectBody).apiVersion, 'apps/v1');
	t.regex(String(answer.headers['warning']), /^299 - "dialect A Replicaset read as apps\/v1 ReplicaSet"/);
	const refused = await json<StatusBody>(422, 'POST', sets, {...old, kind: 'Replicaest'});
	t.is(refused.reason, 'Invalid');
	t.is(refused.details?.causes?.[0]?.field, 'kind');
	t.is(refused.details?.name, 'web');
	t.regex(refused.message, /did you mean/);
});

test('a YAML body is taken, with a type and without', async t => {
	const {call} = await openDoor(t);
	const yaml = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: m, image: x, command: [sleep]}]\n';
	t.is((await call('POST', pods, yaml, {'content-type': 'application/yaml'})).status, 201);
	t.is((await call('POST', pods, yaml.replace('name: a', 'name: b'), {'content-type': ''})).status, 201);
});

test('status is a part of its own', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	t.is((await json<ObjectBody>(200, 'GET', `${pods}/web/status`)).kind, 'Pod');
	const patched = await json<ObjectBody>(200, 'PATCH', `${pods}/web/status`, {status: {phase: 'Running'}}, mergeType);
	t.is(patched.status?.['phase'], 'Running');
	await json(200, 'PUT', `${pods}/web/status`, patched);
	t.deepEqual(
		cluster.asked.map(({message, options}) => [message['subresource'], options.cause]),
		[
			['status', 'http root PATCH pods/default/web/status'],
			['status', 'http root PUT pods/default/web/status'],
		],
	);
});

test('scale is read, put without a type, and patched', async t => {
	const {json, cluster} = await openDoor(t);
	await json(201, 'POST', sets, aReplicaSet('web', 2));
	type Scale = {kind: string; metadata: {resourceVersion: string}; spec: {replicas: number}; status: {selector: string}};
	const scale = await json<Scale>(200, 'GET', `${sets}/web/scale`);
	t.is(scale.kind, 'Scale');
	t.is(scale.spec.replicas, 2);
	t.is(scale.status.selector, 'app=web');
	const put = await json<Scale>(200, 'PUT', `${sets}/web/scale`, {...scale, spec: {replicas: 5}}, {'content-type': ''});
	t.is(put.spec.replicas, 5);
	await json(409, 'PUT', `${sets}/web/scale`, {...scale, spec: {replicas: 7}});
	t.is((await json<Scale>(200, 'PATCH', `${sets}/web/scale`, {spec: {replicas: 0}}, mergeType)).spec.replicas, 0);
	t.deepEqual(cluster.asked.at(-1)?.message, {type: 'patch', patch: {spec: {replicas: 0}}, subresource: 'scale', dryRun: false});
	for (const replicas of [-1, 1.5, 'many', {}])
		t.is((await json<StatusBody>(422, 'PUT', `${sets}/web/scale`, {spec: {replicas}})).details?.causes?.[0]?.field, 'spec.replicas');
	await json(404, 'GET', `${pods}/web/scale`);
});

test('the Scale is patched as a document of its own: what a JSON patch tests of it is what is committed', async t => {
	const {json} = await openDoor(t);
	await json(201, 'POST', sets, aReplicaSet('web', 2));
	type Scale = {spec: {replicas: number}};
	const patch = (from: number, to: number) => [
		{op: 'test', path: '/kind', value: 'Scale'},
		{op: 'test', path: '/spec/replicas', value: from},
		{op: 'replace', path: '/spec/replicas', value: to},
	];
	t.is((await json<Scale>(200, 'PATCH', `${sets}/web/scale`, patch(2, 6), jsonPatchType)).spec.replicas, 6);
	t.regex((await json<StatusBody>(422, 'PATCH', `${sets}/web/scale`, patch(2, 7), jsonPatchType)).message, /patch\[1\]: testing value/);
	await json(409, 'PATCH', `${sets}/web/scale`, [{op: 'add', path: '/metadata/resourceVersion', value: '1'}], jsonPatchType);
	for (const [path, value] of [
		['/spec', 'many'],
		['/metadata', []],
	] as const)
		t.is(
			(await json<StatusBody>(422, 'PATCH', `${sets}/web/scale`, [{op: 'add', path, value}], jsonPatchType)).details?.causes?.[0]?.field,
			path.slice(1),
		);
	t.is((await json<Scale>(200, 'GET', `${sets}/web/scale`)).spec.replicas, 6);
});

test('a JSON patch goes to the record as it is, for the object and for its status', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	const label = [{op: 'add', path: '/metadata/labels', value: {tier: 'front'}}];
	const labelled = await json<ObjectBody & {metadata: {labels: unknown}}>(200, 'PATCH', `${pods}/web`, label, jsonPatchType);
	t.deepEqual(labelled.metadata.labels, {tier: 'front'});
	t.deepEqual(cluster.asked.at(-1)?.message, {type: 'patch', patchType: 'json', patch: label, dryRun: false});
	const phase = [{op: 'replace', path: '/status/phase', value: 'Running'}];
	t.is((await json<ObjectBody>(200, 'PATCH', `${pods}/web/status`, phase, jsonPatchType)).status?.['phase'], 'Running');
	t.is(cluster.asked.at(-1)?.message['subresource'], 'status');
	const {metadata} = await json<ObjectBody>(200, 'GET', `${pods}/web`);
	t.is((await json<ObjectBody>(200, 'PATCH', `${pods}/web`, '', jsonPatchType)).metadata.resourceVersion, metadata.resourceVersion);
});

test('a patch of another form is refused, and the refusal lists the forms', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	for (const type of ['application/apply-patch+yaml', 'application/json', 'text/plain']) {
		const refused = await json<StatusBody>(415, 'PATCH', `${pods}/web`, {}, {'content-type': type});
		t.is(refused.reason, 'UnsupportedMediaType');
		t.regex(refused.message, /application\/merge-patch\+json/);
	}
	await json(415, 'POST', pods, 'k8s\0', {'content-type': 'application/vnd.kubernetes.protobuf'});
});

test('a strategic patch goes to the record, which merges lists by their keys; kinds of our own have no such keys', async t => {
	const {json, cluster} = await openDoor(t);
	const strategic = {'content-type': 'application/strategic-merge-patch+json'};
	cluster.pod('web');
	const label = {metadata: {labels: {tier: 'front'}}};
	await json(200, 'PATCH', `${pods}/web`, label, strategic);
	t.deepEqual(cluster.asked.at(-1)?.message, {type: 'patch', patchType: 'strategic', patch: label, dryRun: false});
	await json(200, 'PATCH', `${pods}/web`, {metadata: {finalizers: ['a.example/x']}}, strategic);
	await json(200, 'PATCH', `${pods}/web`, {metadata: {finalizers: ['a.example/y']}}, strategic);
	const {metadata} = await json<ObjectBody & {metadata: {finalizers: unknown}}>(200, 'GET', `${pods}/web`);
	t.deepEqual(metadata.finalizers, ['a.example/y', 'a.example/x']);
	const refused = await json<StatusBody>(422, 'PATCH', `${pods}/web`, {spec: {containers: [{image: 'x'}]}}, strategic);
	t.is(refused.message, 'Pod "web" is invalid: spec.containers[0]: has no name, by which items are told apart');
	await json(201, 'POST', sets, aReplicaSet('web', 2));
	t.like(await json(200, 'PATCH', `${sets}/web/scale`, {spec: {replicas: 4}}, strategic), {spec: {replicas: 4}});
	const before = cluster.asked.length;
	const own = await json<StatusBody>(415, 'PATCH', '/apis/troupe.dev/v1/clusterconfigs/cluster', {spec: {}}, strategic);
	t.regex(own.message, /include: application\/json-patch\+json, application\/merge-patch\+json$/);
	t.is(cluster.asked.length, before);
});

test('errors are worded as kubectl knows them', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	t.like(await json<StatusBody>(404, 'GET', `${sets}/x`), {
		kind: 'Status',
		message: 'replicasets.apps "x" not found',
		reason: 'NotFound',
		details: {name: 'x', group: 'apps', kind: 'replicasets'},
		code: 404,
	});
	t.is((await json<StatusBody>(404, 'PATCH', `${pods}/x`, {}, mergeType)).message, 'pods "x" not found');
	t.is((await json<StatusBody>(404, 'DELETE', `${pods}/x`)).message, 'pods "x" not found');
	t.is((await json<StatusBody>(404, 'PUT', `${pods}/x`, aPod('x'))).message, 'pods "x" not found');
	t.like(await json<StatusBody>(409, 'POST', pods, aPod('web')), {message: 'pods "web" already exists', reason: 'AlreadyExists'});
	t.like(await json<StatusBody>(409, 'PUT', `${pods}/web`, {...aPod('web'), metadata: {name: 'web', resourceVersion: '1'}}), {
		message:
			'Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again',
		reason: 'Conflict',
	});
	t.is((await json<StatusBody>(404, 'POST', collectionPath('pods', 'missing'), aPod('x'))).message, 'namespaces "missing" not found');
	t.is((await json<StatusBody>(404, 'GET', '/api/v1/nothing')).message, 'the server could not find the requested resource');
	t.is((await json<StatusBody>(405, 'DELETE', pods)).reason, 'MethodNotAllowed');
	t.is((await json<StatusBody>(405, 'POST', collectionPath('pods'), aPod('x'))).reason, 'MethodNotAllowed');
});

test('what the record answers is told with its cause, and a busy one with the time to try again', async t => {
	const {call, json, cluster} = await openDoor(t);
	cluster.pod('web');
	const address = 'troupe://control/pods/default.web';
	cluster.answers.set(address, () =>
		failed('ERR_INVALID', {problems: [{path: 'spec.x', message: 'is not known', reason: 'FieldValueForbidden'}]}),
	);
	const invalid = await json<StatusBody>(422, 'PATCH', `${pods}/web`, {}, mergeType);
	t.is(invalid.message, 'Pod "web" is invalid: spec.x: is not known');
	t.deepEqual(invalid.details, {
		name: 'web',
		kind: 'Pod',
		causes: [{reason: 'FieldValueForbidden', message: 'is not known', field: 'spec.x'}],
	});
	cluster.answers.set(address, () => failed('ERR_BUSY', {address, waiting: 256}));
	const busy = await call('PATCH', `${pods}/web`, {}, mergeType);
	t.is(busy.status, 429);
	t.is(busy.headers['retry-after'], '1');
	cluster.answers.set(address, () => {
		cluster.drop('pods/default/web');
		return failed('ERR_ACTOR_STOPPED', {address});
	});
	t.is((await json<StatusBody>(404, 'PATCH', `${pods}/web`, {}, mergeType)).message, 'pods "web" not found');
});

test('an object is one row for those who ask for a table', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	type TableBody = {kind: string; apiVersion: string; rows: {cells: unknown[]; object: {kind: string; metadata: {name: string}}}[]};
	const table = await json<TableBody>(200, 'GET', `${pods}/web`, undefined, tableAccept);
	t.is(table.kind, 'Table');
	t.is(table.apiVersion, 'meta.k8s.io/v1');
	t.is(table.rows[0]?.cells[0], 'web');
	t.is(table.rows[0]?.object.kind, 'PartialObjectMetadata');
	const old = {accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'};
	t.is((await json<TableBody>(200, 'GET', `${pods}/web`, undefined, old)).apiVersion, 'meta.k8s.io/v1beta1');
});

test('names and namespaces that no object can have are never found, and reach no actor', async t => {
	const {call, cluster, bugs} = await openDoor(t);
	cluster.pod('web');
	for (const name of [
		'web%2Fx',
		'..',
		'%2e%2e%2fweb',
		'web%00',
		'WEB',
		'a'.repeat(300),
		'%E0%A4%A',
		'__proto__',
		'constructor',
		'%F0%9F%98%80',
	])
		for (const method of ['GET', 'DELETE']) t.is((await call(method, `${pods}/${name}`)).status, 404, `${method} ${name}`);
	for (const namespace of ['_', 'default.web', 'de%2Ffault', '..', 'DEFAULT'])
		t.is((await call('DELETE', `/api/v1/namespaces/${namespace}/pods/web`)).status, 404, namespace);
	t.deepEqual(cluster.asked, []);
	t.deepEqual(bugs, []);
});
