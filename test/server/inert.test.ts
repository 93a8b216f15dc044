// Objects that nothing acts on: whoever writes one is told so by a Warning header, and by nothing else.

import test from 'ava';
import {manifests, older} from '../api/_manifests.js';
import {openDoor} from './door.js';

const path = '/apis/troupe.dev/v1/namespaces/default/slurmjobs';
const warning = '299 - "slurmjob/cuda is kept, but nothing acts on it yet: this version has no SlurmJob controller"';

test('a job of a cluster elsewhere is made, changed, read and deleted; its writers are warned', async t => {
	const {call, json} = await openDoor(t);
	const created = await call('POST', path, manifests.SlurmJob);
	t.is(created.status, 201);
	t.is(created.headers['warning'], warning);
	const merge = {'content-type': 'application/merge-patch+json'};
	const patched = await call('PATCH', `${path}/cuda`, {metadata: {labels: {a: 'b'}}}, merge);
	t.is(patched.headers['warning'], warning);
	t.is((await call('PUT', `${path}/cuda`, manifests.SlurmJob)).headers['warning'], warning);
	t.is((await call('GET', `${path}/cuda`)).headers['warning'], undefined);
	t.like(await json(200, 'GET', path), {items: [{metadata: {name: 'cuda'}}]});
	await json(200, 'DELETE', `${path}/cuda`);
	await json(404, 'GET', `${path}/cuda`);
});

test('what is refused, and what something acts on, warns of nothing', async t => {
	const {call} = await openDoor(t);
	const refused = await call('POST', path, {...manifests.SlurmJob, spec: {}});
	t.is(refused.status, 422);
	t.is(refused.headers['warning'], undefined);
	const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}};
	t.is((await call('POST', '/api/v1/namespaces/default/configmaps', map)).headers['warning'], undefined);
});

test('an older dialect and a missing controller are two warnings', async t => {
	const {call} = await openDoor(t);
	const [said, ...more] = ((await call('POST', path, older.job)).headers['warning'] ?? '').split(', 299 - ');
	t.regex(said ?? '', /^299 - "dialect A Job read as/);
	t.deepEqual(more, ['"slurmjob/cuda is kept, but nothing acts on it yet: this version has no SlurmJob controller"']);
});

test('a file mode in YAML is octal, as everywhere in Kubernetes', async t => {
	const {call} = await openDoor(t);
	const yaml = `apiVersion: v1
kind: Pod
metadata: {name: modes}
spec:
  containers: [{name: a, image: b, command: [c]}]
  volumes: [{name: v, configMap: {name: c, defaultMode: 0400}}]
`;
	const answer = await call('POST', '/api/v1/namespaces/default/pods?dryRun=All', yaml, {'content-type': 'application/yaml'});
	t.is(answer.status, 201);
	t.like(JSON.parse(answer.text), {spec: {volumes: [{configMap: {defaultMode: 0o400}}]}});
});
