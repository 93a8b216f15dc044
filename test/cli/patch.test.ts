// `troupe patch`: the three forms, where the patch comes from, and what is said of it.

import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {aReplicaSet} from '../server/cluster.js';
import {folder, openCluster} from './_rig.js';

const set = JSON.stringify(aReplicaSet('web', 2));

async function withSet(t: Parameters<typeof openCluster>[0]) {
	const rig = await openCluster(t);
	t.is((await rig.troupe(['create', '-f', '-'], {input: set})).code, 0);
	const containers = () =>
		(rig.cluster.control.index.get('replicasets/default/web')?.spec as {template: {spec: {containers: object[]}}}).template.spec.containers;
	return {
		...rig,
		containers,
		replicas: () => (rig.cluster.control.index.get('replicasets/default/web')?.spec as {replicas: number}).replicas,
	};
}

test('patch: strategic without a word, merge and json by name, in JSON and in YAML, from words and from a file', async t => {
	const {troupe, containers, replicas} = await withSet(t);
	const strategic = ['patch', 'rs', 'web', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"b"}]}}}}'];
	t.deepEqual(await troupe(strategic), {code: 0, out: 'replicaset.apps/web patched\n', err: ''});
	t.like(containers()[0], {name: 'main', image: 'b', command: ['sleep', '1000']});
	t.is((await troupe(strategic)).out, 'replicaset.apps/web patched (no change)\n');
	t.is((await troupe(['patch', 'rs/web', '--type=merge', '-p', 'spec: {replicas: 5}'])).out, 'replicaset.apps/web patched\n');
	t.is(replicas(), 5);
	const file = path.join(await folder(t), 'patch.yaml');
	await writeFile(file, '- {op: test, path: /spec/replicas, value: 5}\n- {op: replace, path: /spec/replicas, value: 3}\n');
	t.is((await troupe(['patch', 'rs/web', '--type=json', '--patch-file', file])).out, 'replicaset.apps/web patched\n');
	t.is(replicas(), 3);
	const again = await troupe(['patch', 'rs/web', '--type=json', '--patch-file', file]);
	t.deepEqual([again.code, again.out], [1, '']);
	t.regex(again.err, /patch\[0\]: testing value \/spec\/replicas failed: test failed/);
});

test('patch: a subresource, a dry run, a form of output, several objects, files, kinds of our own', async t => {
	const {troupe, replicas, cluster} = await withSet(t);
	const scale = ['patch', 'rs/web', '--subresource=scale', '-p', '{"spec":{"replicas":7}}'];
	t.is((await troupe([...scale, '--dry-run=server'])).out, 'scale.autoscaling/web patched (server dry run)\n');
	t.is(replicas(), 2);
	t.is((await troupe(scale)).out, 'scale.autoscaling/web patched\n');
	t.is(replicas(), 7);
	const shown = await troupe([...scale, '-o', 'json']);
	t.like(JSON.parse(shown.out), {kind: 'Scale', apiVersion: 'autoscaling/v1', spec: {replicas: 7}});
	for (const name of ['a', 'b']) cluster.pod(name, {metadata: {labels: {app: 'x'}}});
	const label = ['-p', '{"metadata":{"labels":{"tier":"front"}}}'];
	t.is((await troupe(['patch', 'pods', '-l', 'app=x', ...label])).out, 'pod/a patched\npod/b patched\n');
	t.is((await troupe(['patch', '-f', '-', ...label], {input: set})).out, 'replicaset.apps/web patched\n');
	const some = await troupe(['patch', 'pods', 'a', 'c', ...label]);
	t.deepEqual([some.code, some.out], [3, 'pod/a patched (no change)\n']);
	cluster.put({
		apiVersion: 'troupe.dev/v1',
		kind: 'ClusterConfig',
		metadata: {name: 'cluster', uid: 'u', resourceVersion: '0', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
		spec: {},
	});
	t.is(
		(await troupe(['patch', 'clusterconfig/cluster', '-p', '{"metadata":{"labels":{"a":"b"}}}'])).out,
		'clusterconfig.troupe.dev/cluster patched\n',
	);
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
	[['pod', 'a'], /give the patch with -p or --patch-file/],
	[['pod', 'a', '-p', '{}', '--patch-file', 'x'], /give the patch only once/],
	[['pod', 'a', '-p', '{'], /the patch is no YAML: line 1/],
	[['pod', 'a', '-p', '[]'], /must be an object, got a list; a list of operations goes with --type json/],
	[['pod', 'a', '-p', 'text'], /must be an object, got "text"/],
	[['pod', 'a', '--type=json', '-p', '{}'], /a JSON patch is a list of operations/],
	[['pod', 'a', '--type=json', '-p', '[{"op":"set","path":"/a"}]'], /patch\[0\]: op must be one of/],
	[['pod', 'a', '--type=smart', '-p', '{}'], /--type must be strategic, merge, json, got "smart"/],
	[['pod', 'a', '--patch-file', '/nowhere'], /\/nowhere: there is no such file/],
	[['pods', '-p', '{}'], /patch which pods\? give names, -l, or --all/],
	[['pod', 'a', '--subresource=scale', '-p', '{}'], /a pod has no replicas/],
];

test('patch refuses what makes no sense, before a cluster is asked where it can', async t => {
	const {troupe} = await openCluster(t);
	for (const [words, says] of wrong) {
		const {code, out, err} = await troupe(['patch', ...words]);
		t.deepEqual([code, out], [2, ''], words.join(' '));
		t.regex(err, says);
	}
});
