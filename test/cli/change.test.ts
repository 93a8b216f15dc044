import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import {aNode} from '../actors/_objects.js';
import {aReplicaSet} from '../server/cluster.js';
import {openCluster} from './_rig.js';

const lingering = {metadata: {finalizers: ['troupe.dev/hold']}};

test('delete names what it deleted', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a');
	cluster.pod('b');
	t.deepEqual(await troupe(['delete', 'pod', 'a', 'b']), {code: 0, out: 'pod "a" deleted\npod "b" deleted\n', err: ''});
	const {code, out, err} = await troupe(['delete', 'pod/a']);
	t.deepEqual([code, out, err], [3, '', 'error: pods "a" not found\n']);
	t.deepEqual(await troupe(['delete', 'pod/a', '--ignore-not-found']), {code: 0, out: '', err: ''});
});

test('delete -l, --all and -f choose', async t => {
	const {cluster, troupe} = await openCluster(t);
	for (const [name, app] of Object.entries({a: 'x', b: 'x', c: 'y', d: 'y'})) cluster.pod(name, {metadata: {labels: {app}}});
	t.is((await troupe(['delete', 'pods', '-l', 'app=x'])).out, 'pod "a" deleted\npod "b" deleted\n');
	const input = 'apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n';
	t.is((await troupe(['delete', '-f', '-'], {input})).out, 'pod "c" deleted\n');
	t.is((await troupe(['delete', 'pods', '--all'])).out, 'pod "d" deleted\n');
	t.deepEqual(await troupe(['delete', 'pods', '--all']), {code: 0, out: '', err: 'No resources found\n'});
});

test('delete -f takes a manifest for what apply takes it for, in the namespace that both agree on', async t => {
	const {troupe} = await openCluster(t);
	const old = 'apiVersion: v1\nkind: Job\nmetadata: {name: j}\nspec: {}\n';
	const {code, err} = await troupe(['delete', '-f', '-'], {input: old});
	t.deepEqual([code, err], [3, 'error: slurmjobs.troupe.dev "j" not found\n']);
	const input = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: dev}\n';
	const other = await troupe(['delete', '-f', '-', '-n', 'prod'], {input});
	t.deepEqual([other.code, other.err], [1, 'error: stdin:3:21: metadata.namespace: is "dev", but -n says "prod"\n']);
});

test('delete takes a namespace after what is in it', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a', {}, 'other');
	const input =
		'{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}}\n';
	t.deepEqual(await troupe(['delete', '-f', '-'], {input}), {code: 0, out: 'pod "a" deleted\nnamespace "other" deleted\n', err: ''});
	const asked = cluster.asked.filter(({message}) => message.type === 'delete').map(({to}) => to);
	t.deepEqual(asked, ['troupe://control/pods/other.a', 'troupe://control/namespaces/other']);
});

test('delete waits until the object is gone', async t => {
	const {cluster, start} = await openCluster(t);
	cluster.pod('slow', lingering);
	const deleting = start(['delete', 'pod', 'slow']);
	await deleting.says('deleted');
	t.truthy(cluster.control.index.get('pods/default/slow'));
	cluster.drop('pods/default/slow');
	t.deepEqual(await deleting.ended, {code: 0, out: 'pod "slow" deleted\n', err: ''});
});

test('delete is not fooled by a new object of the same name', async t => {
	const {cluster, start} = await openCluster(t);
	cluster.pod('again', lingering);
	const deleting = start(['delete', 'pod', 'again']);
	await deleting.says('deleted');
	cluster.drop('pods/default/again');
	cluster.pod('again');
	t.is((await deleting.ended).code, 0);
});

test('delete gives up waiting at its deadline, or does not wait at all', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('slow', lingering);
	t.is((await troupe(['delete', 'pod', 'slow', '--wait=false'])).code, 0);
	const {code, err} = await troupe(['delete', 'pod', 'slow', '--timeout', '300ms']);
	t.deepEqual([code, err], [1, 'error: timed out after 300ms waiting for pods slow to be gone\n']);
});

test('delete hands on grace and cascade, and refuses what contradicts itself', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a');
	await troupe(['delete', 'pod', 'a', '--now', '--cascade=foreground']);
	const message = cluster.asked.find(({message}) => message.type === 'delete')?.message;
	t.like(message, {graceSeconds: 1, propagation: 'Foreground'});
	const wrong: readonly (readonly [readonly string[], RegExp])[] = [
		[['pod', 'a', '--grace-period', '0'], /add --force if that is meant/],
		[['pod', 'a', '--grace-period', '5', '--now'], /give one of them/],
		[['pod', 'a', '--grace-period=-3'], /whole number of seconds, got -3/],
		[['pod', 'a', '--cascade', 'all'], /--cascade must be background, foreground, orphan, got "all"/],
		[['pods'], /which pods\? give names, -l, or --all/],
		[['pod', 'a', '--all'], /give one of them/],
		[['pod', 'a', '--timeout', 'soon'], /--timeout must be a time such as 30s or 2m, got "soon"/],
	];
	for (const [args, expected] of wrong) {
		const {code, err} = await troupe(['delete', ...args]);
		t.is(code, 2, args.join(' '));
		t.regex(err, expected);
	}
});

test('--force deletes with no grace, whatever still runs', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('stuck', lingering);
	t.is((await troupe(['delete', 'pod', 'stuck', '--force'])).out, 'pod "stuck" force deleted\n');
	t.is(cluster.control.index.get('pods/default/stuck'), undefined);
});

const status = (object: ApiObject | undefined, ready: number): ApiObject => {
	if (object === undefined) throw new Error('there is no such object');
	return {...object, status: {replicas: ready, readyReplicas: ready, observedGeneration: object.metadata.generation}};
};

test('scale sets the replicas, and with --wait waits until they are ready', async t => {
	const {cluster, troupe, start} = await openCluster(t);
	await troupe(['apply', '-f', '-'], {input: JSON.stringify(aReplicaSet('web', 1))});
	t.deepEqual(await troupe(['scale', 'rs/web', '--replicas', '4']), {code: 0, out: 'replicaset.apps/web scaled\n', err: ''});
	const key = 'replicasets/default/web';
	t.like(cluster.control.index.get(key)?.spec, {replicas: 4});
	const waiting = start(['scale', 'rs', 'web', '--replicas=2', '--wait']);
	await waiting.says('scaled');
	cluster.put(status(cluster.control.index.get(key), 1));
	cluster.put(status(cluster.control.index.get(key), 2));
	t.is((await waiting.ended).code, 0);
});

test('scale refuses what cannot be scaled', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a');
	const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
		[['rs/web'], 2, /--replicas is missing/],
		[['rs/web', '--replicas', 'many'], 2, /--replicas must be a number/],
		[['rs/web', '--replicas', '1.5'], 2, /whole number from 0 on, got 1\.5/],
		[['rs', '--replicas', '1'], 2, /scale needs a name/],
		[['pod/a', '--replicas', '1'], 2, /a pod has no replicas; scale the object that makes it$/m],
		[['ds/a', '--replicas', '1'], 2, /a daemonset has no replicas$/m],
		[['rs/nope', '--replicas', '1'], 3, /replicasets\.apps "nope" not found/],
	];
	for (const [args, code, expected] of wrong) {
		const ran = await troupe(['scale', ...args]);
		t.is(ran.code, code, args.join(' '));
		t.regex(ran.err, expected);
	}
});

test('config shows settings, changes one, and says what would be right', async t => {
	const {cluster, troupe} = await openCluster(t);
	const input = 'apiVersion: troupe.dev/v1\nkind: ClusterConfig\nmetadata: {name: cluster}\nspec: {scheduler: {strategy: least-pods}}\n';
	await troupe(['apply', '-f', '-'], {input});
	t.is(
		(await troupe(['config', 'get'])).out,
		'scheduler.strategy least-pods\nruntime.default process\nnodes.grace 5s\nworkflows.httpHosts <none>\nslurm.hosts <none>\nautoscaling.prometheusHosts <none>\n',
	);
	t.deepEqual(await troupe(['config', 'set', 'scheduler.strategy', 'round-robin']), {
		code: 0,
		out: 'scheduler.strategy round-robin\n',
		err: '',
	});
	t.is((await troupe(['config', 'get', 'scheduler.strategy'])).out, 'round-robin\n');
	t.like(cluster.control.index.get('clusterconfigs/_/cluster')?.spec, {scheduler: {strategy: 'round-robin'}});
	t.is((await troupe(['config', 'set', 'runtime.default', 'docker'])).out, 'runtime.default docker\n');
	t.is((await troupe(['config', 'get', 'runtime.default'])).out, 'docker\n');
	const wrong = await troupe(['config', 'set', 'runtime.default', 'podman']);
	t.regex(wrong.err, /^error: runtime\.default: must be one of process, docker, got "podman"/m);
	t.is((await troupe(['config', 'set', 'workflows.httpHosts', 'api.example.com, *.example.org'])).code, 0);
	t.like(cluster.control.index.get('clusterconfigs/_/cluster')?.spec, {workflows: {httpHosts: ['api.example.com', '*.example.org']}});
	t.is((await troupe(['config', 'get', 'workflows.httpHosts'])).out, 'api.example.com,*.example.org\n');
	t.is((await troupe(['config', 'set', 'workflows.httpHosts', ''])).code, 0);
	t.is((await troupe(['config', 'get', 'workflows.httpHosts'])).out, '<none>\n');
	const noHost = await troupe(['config', 'set', 'workflows.httpHosts', 'https://api.example.com']);
	t.regex(noHost.err, /^error: workflows\.httpHosts\[0\]: must be a host, such as .*, got "https:\/\/api\.example\.com"/m);
	t.is((await troupe(['config', 'get', 'nope'])).code, 3);
	t.is((await troupe(['config', 'sett', 'a', 'b'])).code, 2);
	t.is((await troupe(['config', 'set', 'a'])).code, 2);
});

test('node confirm-lost says what it did, and why it did not', async t => {
	const {cluster, troupe} = await openCluster(t);
	const node = cluster.put(aNode());
	cluster.answers.set('troupe://control/detector', () => succeeded(node));
	t.deepEqual(await troupe(['node', 'confirm-lost', 'node-a']), {
		code: 0,
		out: 'node/node-a confirmed as lost; its pods are replaced\n',
		err: '',
	});
	cluster.answers.set('troupe://control/detector', () =>
		failed('ERR_CONFLICT', {resource: 'nodes', name: 'node-a', message: 'it is heard, 20 ms ago at last'}),
	);
	const refused = await troupe(['node', 'confirm-lost', 'node-a']);
	t.is(refused.code, 4);
	t.regex(refused.err, /node-a.*it is heard, 20 ms ago at last/);
	t.is((await troupe(['node', 'confirm-lost', 'nope'])).code, 3);
	for (const args of [['node'], ['node', 'confirm-lots', 'x'], ['node', 'confirm-lost'], ['node', 'confirm-lost', 'a', 'b']])
		t.is((await troupe(args)).code, 2);
	t.regex((await troupe(['node', 'confirm-lots'])).err, /did you mean "?confirm-lost/);
});

test('get nodes tells a node that is heard, one that is not, and one that is lost', async t => {
	const {cluster, troupe} = await openCluster(t);
	const unknown = {conditions: [{type: 'Ready', status: 'Unknown', reason: 'NodeSuspect'}]} as const;
	cluster.put(aNode({name: 'a'}));
	cluster.put(aNode({name: 'b', status: unknown}));
	cluster.put(aNode({name: 'c', status: unknown, spec: {taints: [{key: 'node.kubernetes.io/unreachable', effect: 'NoExecute'}]}}));
	const {out} = await troupe(['get', 'nodes']);
	t.deepEqual(
		out
			.split('\n')
			.slice(1, 4)
			.map(line => line.split(/ +/).slice(0, 2)),
		[
			['a', 'Ready'],
			['b', 'Unknown'],
			['c', 'NotReady'],
		],
	);
});

test('get pods does not show as running what nobody hears of', async t => {
	const {cluster, troupe} = await openCluster(t);
	const pod = cluster.pod('web');
	const state = {name: 'main', ready: true, restartCount: 0, image: 'x', imageID: '', state: {running: {}}};
	const lost = {type: 'Ready', status: 'False', reason: 'NodeLost'};
	cluster.put({...pod, status: {phase: 'Running', containerStatuses: [state], conditions: [lost]}});
	t.regex((await troupe(['get', 'pods'])).out, /^web +1\/1 +Unknown /m);
});
