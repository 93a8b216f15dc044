import test from 'ava';
import {kinds, apiVersionOf} from '../../api/catalogue.js';
import {openDoor, type StatusBody} from './door.js';

type Resource = {name: string; namespaced: boolean; kind: string; verbs: string[]; shortNames?: string[]};

test('the version is one that Kubernetes clients can read', async t => {
	const {json} = await openDoor(t);
	const version = await json<{minor: string; gitVersion: string}>(200, 'GET', '/version');
	t.is(version.minor, '32');
	t.is(version.gitVersion, 'v1.32.0-troupe.0.1.0');
});

test('every kind is found by plain discovery, with its parts', async t => {
	const {json} = await openDoor(t);
	t.deepEqual(await json(200, 'GET', '/api'), {kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: []});
	const {groups} = await json<{groups: {name: string; preferredVersion: {groupVersion: string}}[]}>(200, 'GET', '/apis');
	t.true(groups.some(({name, preferredVersion}) => name === 'apps' && preferredVersion.groupVersion === 'apps/v1'));
	for (const kind of kinds) {
		const root = kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`;
		const {resources} = await json<{resources: Resource[]}>(200, 'GET', root);
		t.true(resources.some(({name, kind: found}) => name === kind.plural && found === kind.kind));
		t.is(
			resources.some(({name}) => name === `${kind.plural}/scale`),
			kind.scalable === true,
		);
	}
	const {resources} = await json<{resources: Resource[]}>(200, 'GET', '/api/v1');
	t.deepEqual(resources.find(({name}) => name === 'events')?.verbs, ['get', 'list']);
	t.truthy(resources.find(({name}) => name === 'pods/log'));
	t.is((await json<{name: string}>(200, 'GET', '/apis/apps')).name, 'apps');
	t.is((await json<StatusBody>(404, 'GET', '/apis/metrics.k8s.io/v1')).reason, 'NotFound');
});

test('aggregated discovery is answered in the version that was asked for, and only when it was', async t => {
	const {call} = await openDoor(t);
	for (const version of ['v2', 'v2beta1']) {
		const accept = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
		for (const path of ['/api', '/apis']) {
			const answer = await call('GET', path, undefined, {accept: `${accept},application/json`});
			t.is(answer.headers['content-type'], accept);
			const body = JSON.parse(answer.text) as {kind: string; apiVersion: string; items: {versions: {resources: unknown[]}[]}[]};
			t.is(body.kind, 'APIGroupDiscoveryList');
			t.is(body.apiVersion, `apidiscovery.k8s.io/${version}`);
			t.true((body.items[0]?.versions[0]?.resources.length ?? 0) > 0);
		}
	}
	const newer = await call('GET', '/apis', undefined, {accept: 'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList'});
	t.is(newer.headers['content-type'], 'application/json');
});

test('an empty schema lets clients leave validation to the server', async t => {
	const {call} = await openDoor(t);
	const answer = await call('GET', '/openapi/v2');
	t.is(answer.status, 200);
	t.is(answer.text, '');
});

test('health is for everybody, everything else for those who are known', async t => {
	const {call, json} = await openDoor(t);
	const stranger = {authorization: ''};
	for (const path of ['/healthz', '/livez', '/readyz']) t.is((await call('GET', path, undefined, stranger)).text, 'ok');
	for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic admin', 'admin', 'Bearer admin extra'])
		for (const path of ['/version', '/api', '/api/v1/namespaces/default/pods', '/nothing']) {
			const answer = await call('GET', path, undefined, {authorization});
			t.is(answer.status, 401);
			t.like(JSON.parse(answer.text), {kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized', code: 401});
		}
	await json(200, 'GET', '/version', undefined, {authorization: 'bearer admin'});
});

test('a role that may read may not write, and is told so in the words of Kubernetes', async t => {
	const {json, cluster} = await openDoor(t);
	cluster.pod('web');
	const viewer = {authorization: 'Bearer viewer'};
	await json(200, 'GET', '/api/v1/namespaces/default/pods', undefined, viewer);
	const refused = await json<StatusBody>(403, 'DELETE', '/api/v1/namespaces/default/pods/web', undefined, viewer);
	t.is(refused.reason, 'Forbidden');
	t.is(refused.message, 'pods "web" is forbidden: User "eve" cannot delete resource "pods" in API group "" in the namespace "default"');
	const atCluster = await json<StatusBody>(403, 'POST', '/api/v1/namespaces', {}, viewer);
	t.is(atCluster.message, 'namespaces is forbidden: User "eve" cannot create resource "namespaces" in API group "" at the cluster scope');
	t.deepEqual(cluster.asked, []);
});
