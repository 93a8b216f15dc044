// The real kubectl against a whole real cluster, with the kubeconfig that the cluster writes. Needs kubectl 1.32 on the PATH.

import path from 'node:path';
import {podOf, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {programsOf} from '../../../bench/rigs/cluster/processes.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {manifest, real, withKubectl} from '../_kubectl.js';

const examples = path.resolve(import.meta.dirname, '../../../../examples');

real('it finds out what there is', async t => {
	const {fine} = await withKubectl(t);
	t.regex(await fine('version'), /Server Version: v1\.32\./);
	const resources = await fine('api-resources');
	for (const [name, group, kind] of [
		['namespaces', 'v1', 'Namespace'],
		['nodes', 'v1', 'Node'],
		['pods', 'v1', 'Pod'],
		['replicasets', 'apps/v1', 'ReplicaSet'],
		['configmaps', 'v1', 'ConfigMap'],
		['secrets', 'v1', 'Secret'],
		['clusterconfigs', 'troupe.dev/v1', 'ClusterConfig'],
	])
		t.regex(resources, new RegExp(`^${name} .* ${group} +(true|false) +${kind} *$`, 'm'));
	t.regex(await fine('get', 'nodes'), /^vm +Ready /m);
	t.regex(await fine('describe', 'node', 'vm'), /Name: +vm\n[^]*SharedNetwork/);
	t.regex(await fine('get', 'ns'), /^default +Active /m);
});

real('a set is created, applied, scaled, described, watched and deleted, and its pods follow', async t => {
	const {cluster, fine, start, kubectl} = await withKubectl(t);
	const file = path.join(examples, 'hello.yaml');
	const watching = start('get', 'pods', '-w');
	t.is(await fine('create', '-f', file), 'replicaset.apps/hello created\n');
	t.regex((await kubectl('create', '-f', file)).err, /\(AlreadyExists\).*replicasets\.apps "hello" already exists/);
	t.regex(
		await fine('wait', '--for=condition=Ready', 'pod', '-l', 'app=hello', '--timeout=20s'),
		/^(pod\/hello-\w{5} condition met\n){3}$/,
	);
	await watching.says(/(^hello-\w{5} +1\/1 +Running [^]*){3}/m);
	await eventually('the set says so', async () => /^hello +3 +3 +3 /m.test((await kubectl('get', 'rs')).out));
	t.is((await fine('get', 'pods', '-o', 'name')).split('\n').length, 4);
	t.regex(await fine('get', 'pods', '-o', 'wide'), /127\.\d+\.\d+\.\d+ +vm /);
	t.regex(await fine('get', 'rs', 'hello', '-o', 'yaml'), /kind: ReplicaSet[^]*readyReplicas: 3/);
	t.regex(await fine('describe', 'rs', 'hello'), /Replicas: +3 current \/ 3 desired\nPods Status: +3 Running/);
	t.is(await fine('scale', 'rs/hello', '--replicas=5'), 'replicaset.apps/hello scaled\n');
	await eventually(
		'there are five',
		async () => (await kubectl('get', 'rs', 'hello', '-o', 'jsonpath={.status.readyReplicas}')).out === '5',
	);
	await eventually('five programs', () => programsOf(cluster.home).length === 5);
	t.regex(await fine('get', 'all'), /pod\/hello-[^]*replicaset\.apps\/hello /);
	t.is(await fine('delete', 'rs', 'hello'), 'replicaset.apps "hello" deleted\n');
	await fine('wait', '--for=delete', 'pod', '-l', 'app=hello', '--timeout=20s');
	await eventually('nothing runs', () => programsOf(cluster.home).length === 0);
	watching.kill('SIGTERM');
	const shown = await watching.ended;
	t.regex(shown.out, /^hello-\w{5} +\d\/1 +Terminating /m);
	t.is(shown.err, '');
});

real('apply makes what is not there and finds it unchanged; a namespace goes with all that is in it', async t => {
	const {cluster, fine, kubectl} = await withKubectl(t);
	t.is(await fine('apply', '-f', manifest(cluster, setOf('web', 2))), 'replicaset.apps/web created\n');
	t.is(await fine('apply', '-f', manifest(cluster, setOf('web', 2))), 'replicaset.apps/web unchanged\n');
	await eventually('two run', () => programsOf(cluster.home).length === 2);
	const wrong = await kubectl('apply', '-f', manifest(cluster, {...setOf('web', 2), spec: {...setOf('web', 2).spec, replicas: 'many'}}));
	t.not(wrong.code, 0);
	t.regex(wrong.err, /replicas/);
	t.is(await fine('label', 'rs', 'web', 'tier=front'), 'replicaset.apps/web labeled\n');
	t.is(await fine('get', 'rs', '-l', 'tier=front', '-o', 'name'), 'replicaset.apps/web\n');
	t.is(
		await fine('create', '-f', manifest(cluster, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'other'}})),
		'namespace/other created\n',
	);
	t.is(await fine('-n', 'other', 'apply', '-f', manifest(cluster, podOf('lone', ['sleep', '100000']))), 'pod/lone created\n');
	await fine('-n', 'other', 'wait', '--for=condition=Ready', 'pod/lone', '--timeout=20s');
	t.is(await fine('delete', 'namespace', 'other', '--timeout=30s'), 'namespace "other" deleted\n');
	t.regex((await kubectl('-n', 'other', 'get', 'pod', 'lone')).err, /NotFound/);
	t.is(programsOf(cluster.home).length, 2);
});

real('logs, events and the life of a pod', async t => {
	const {cluster, fine, start} = await withKubectl(t);
	const talker = ['sh', '-c', 'echo one; echo two; trap "echo bye; exit 3" USR1; while :; do sleep 0.05; done'];
	t.is(await fine('create', '-f', manifest(cluster, podOf('talker', talker))), 'pod/talker created\n');
	await fine('wait', '--for=condition=Ready', 'pod/talker', '--timeout=20s');
	const following = start('logs', '-f', 'talker');
	await following.says(/one\ntwo\n/);
	t.is(await fine('logs', 'talker', '--tail=1'), 'two\n');
	const [program] = programsOf(cluster.home);
	process.kill(program?.pid ?? 0, 'SIGUSR1');
	t.is((await following.ended).out, 'one\ntwo\nbye\n');
	await eventually('it was restarted', async () =>
		/^1$/.test(await fine('get', 'pod', 'talker', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')),
	);
	t.is(await fine('logs', 'talker', '--previous'), 'one\ntwo\nbye\n');
	const described = await fine('describe', 'pod', 'talker');
	t.regex(described, /Last State: +Terminated\n +Reason: +Error\n +Message: +one\n(?:.*\n)*? +Exit Code: +3\n/);
	for (const reason of ['Scheduled', 'Started', 'Crashed']) t.regex(described, new RegExp(`(Normal|Warning) +${reason} `));
	t.regex(await fine('get', 'events'), /Crashed +pod\/talker +container main, attempt 0, ended: exit 3/);
	t.is(await fine('delete', 'pod', 'talker', '--grace-period=1'), 'pod "talker" deleted\n');
	t.deepEqual(programsOf(cluster.home), []);
});

real('Secrets and ConfigMaps are created, applied, read, changed and described; what is refused is not echoed', async t => {
	const {cluster, fine, kubectl} = await withKubectl(t);
	const encoded = (text: string): string => Buffer.from(text).toString('base64');
	const secret = (fields: object) => manifest(cluster, {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'db'}, ...fields});
	t.is(await fine('create', '-f', secret({stringData: {password: 'first'}})), 'secret/db created\n');
	t.is(await fine('get', 'secret', 'db', '-o', 'jsonpath={.data.password}'), encoded('first'));
	t.is(await fine('delete', 'secret', 'db'), 'secret "db" deleted\n');
	t.is(await fine('apply', '-f', secret({data: {password: encoded('second')}})), 'secret/db created\n');
	t.is(await fine('apply', '-f', secret({data: {password: encoded('second')}})), 'secret/db unchanged\n');
	const yaml = await fine('get', 'secret', 'db', '-o', 'yaml');
	t.regex(yaml, new RegExp(`^data:\n  password: ${encoded('second')}$`, 'm'));
	t.regex(yaml, /last-applied-configuration: \|\n +\{"apiVersion":"v1","data":\{"password":"/);
	t.is(await fine('patch', 'secret', 'db', '--type=merge', '-p', '{"stringData":{"password":"third"}}'), 'secret/db patched\n');
	t.is(await fine('get', 'secret', 'db', '-o', 'jsonpath={.data.password}'), encoded('third'));
	t.regex(await fine('get', 'secrets'), /^NAME +TYPE +DATA +AGE\ndb +Opaque +1 /);
	t.regex(await fine('describe', 'secret', 'db'), /Type: +Opaque\n\nData\n====\npassword: +5 bytes/);
	const refused = await kubectl('create', '-f', secret({metadata: {name: 'other'}, data: {password: 'not-base64!'}}));
	t.regex(refused.err, /data\.password: .*must be base64/);
	t.notRegex(refused.err + refused.out, /not-base64!/);

	const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'settings'}, data: {colour: 'green'}};
	t.is(await fine('apply', '-f', manifest(cluster, map)), 'configmap/settings created\n');
	t.is(await fine('get', 'cm', 'settings', '-o', 'jsonpath={.data.colour}'), 'green');
	t.regex(await fine('get', 'cm'), /^NAME +DATA +AGE\nsettings +1 /);
	t.regex(await fine('describe', 'cm', 'settings'), /Data\n====\ncolour:\n----\ngreen\n/);
	t.is(await fine('patch', 'cm', 'settings', '--type=merge', '-p', '{"immutable":true}'), 'configmap/settings patched\n');
	t.regex((await kubectl('patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"colour":"red"}}')).err, /data: .*immutable/);
});
