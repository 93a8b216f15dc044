// What the writer of an object is warned of by a header, and what it is not.

import test from 'ava';
import {manifests, older} from '../api/_manifests.js';
import {openDoor} from './door.js';

const path = '/apis/troupe.dev/v1/namespaces/default/slurmjobs';

test('what is refused, and what is taken as it stands, warns of nothing', async t => {
	const {call} = await openDoor(t);
	const refused = await call('POST', path, {...manifests.SlurmJob, spec: {}});
	t.is(refused.status, 422);
	t.is(refused.headers['warning'], undefined);
	const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}};
	t.is((await call('POST', '/api/v1/namespaces/default/configmaps', map)).headers['warning'], undefined);
});

test('an older dialect is a warning', async t => {
	const {call} = await openDoor(t);
	t.regex((await call('POST', path, older.job)).headers['warning'] ?? '', /^299 - "dialect A Job read as/);
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
