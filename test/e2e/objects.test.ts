// Objects and what hangs on them: cascades, namespaces, older dialects, the examples, and exit codes that scripts rely on.

import {readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {kinds} from '../../api/catalogue.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {getOne, type List} from '../../cli/cluster/lists.js';
import {pathOf, resourceOf} from '../../cli/cluster/resources.js';
import {line} from '../../bench/rigs/command-line.js';
import {containerOf, isReady, phaseOf} from '../../bench/rigs/cluster/pods.js';
import {podOf, setOf} from '../../bench/rigs/cluster/manifests.js';
import {programsOf} from '../../bench/rigs/cluster/processes.js';
import {openFileHome} from './_rig.js';
import {eventually, until} from '../../bench/rigs/cluster/waiting.js';

const examples = path.resolve(import.meta.dirname, '../../../examples');

const {cluster, client} = openFileHome(test);

const readyIn = (sets: ReadonlyMap<string, ApiObject>, name: string): number =>
	(sets.get(name) as ReplicaSet | undefined)?.status?.readyReplicas ?? 0;
const namespaceOf = (name: string) => ({apiVersion: 'v1', kind: 'Namespace', metadata: {name}});

test('deleting a set takes its pods along, in the background, in the foreground, or not at all', async t => {
	const names = ['back', 'fore', 'alone'];
	await cluster.apply(...names.map(name => setOf(name, 2)));
	await until(client(), 'rs', 'all to be ready', sets => names.every(name => readyIn(sets, name) === 2));
	const podsOf = (pods: ReadonlyMap<string, ApiObject>, set: string) =>
		[...pods.values()].filter(({metadata}) => metadata.name.startsWith(`${set}-`));

	t.is(await cluster.fine('delete', 'rs/back'), 'replicaset.apps "back" deleted\n');
	await until(client(), 'pods', 'the pods to follow', pods => podsOf(pods, 'back').length === 0);

	await cluster.fine('delete', 'rs/fore', '--cascade', 'foreground');
	const left = await until(client(), 'pods', 'a list', pods => new Map(pods));
	t.deepEqual(podsOf(left, 'fore'), [], 'in the foreground the set goes last');

	await cluster.fine('delete', 'rs/alone', '--cascade', 'orphan');
	const orphans = await until(client(), 'pods', 'pods without an owner', pods => {
		const found = podsOf(pods, 'alone');
		return found.length === 2 && found.every(({metadata}) => metadata.ownerReferences === undefined) && found;
	});
	t.true(orphans.every(isReady));
	const uids = orphans.map(({metadata}) => metadata.uid).toSorted();
	await cluster.apply(setOf('alone', 3));
	const adopted = await until(client(), 'pods', 'a new set to adopt them', pods => {
		const found = podsOf(pods, 'alone');
		return found.length === 3 && found.every(({metadata}) => metadata.ownerReferences?.[0]?.kind === 'ReplicaSet') && found;
	});
	t.is(adopted.filter(({metadata}) => uids.includes(metadata.uid)).length, 2);
	await cluster.fine('delete', 'rs/alone');
});

test('a namespace takes along everything in it', async t => {
	await cluster.apply(
		namespaceOf('doomed'),
		setOf('web', 2, {namespace: 'doomed'}),
		podOf('lone', ['sleep', '100000'], {namespace: 'doomed'}),
	);
	const uids = await until(
		client(),
		'pods',
		'three pods in the namespace',
		pods => pods.size === 3 && [...pods.values()].every(isReady) && [...pods.values()].map(({metadata}) => metadata.uid),
		'doomed',
	);
	await eventually('three programs', () => programsOf(cluster.home).filter(({podUid}) => uids.includes(podUid ?? '')).length === 3);
	t.is((await cluster.troupe('delete', 'ns', 'default')).code, 6);
	await cluster.fine('delete', 'ns', 'doomed');
	t.is(programsOf(cluster.home).filter(({podUid}) => uids.includes(podUid ?? '')).length, 0);
	t.is(await cluster.fine('get', 'pods,rs', '-n', 'doomed', '-o', 'name'), '');
	t.is((await cluster.troupe('get', 'ns', 'doomed')).code, 3);
});

const ledgerOf = (pods: ReadonlyMap<string, ApiObject>): ApiObject | undefined =>
	[...pods.values()].find(({metadata}) => metadata.name.startsWith('ledger-'));

const hasNoPlace = (pod: ApiObject | undefined): boolean =>
	(pod as Pod | undefined)?.status?.conditions?.some(({type, reason}) => type === 'PodScheduled' && reason === 'Unschedulable') === true;

const readyOf = (pods: ReadonlyMap<string, ApiObject>, prefix: string): number =>
	[...pods].filter(([name, pod]) => name.startsWith(prefix) && isReady(pod)).length;

/** An example that bounds its namespace has one of its own. */
const namespaceFor = (file: string): string => (file === 'team.yaml' ? 'team' : 'examples');

/** What each example becomes: the pods it stands for, by name or by prefix, and how they are then. */
const becomes: {readonly [file: string]: (pods: ReadonlyMap<string, ApiObject>) => boolean} = {
	'autoscale.yaml': pods => readyOf(pods, 'busy-') === 1,
	'batch.yaml': pods => [...pods].filter(([name, pod]) => name.startsWith('squares-') && phaseOf(pod) === 'Succeeded').length === 6,
	'budget.yaml': pods => readyOf(pods, 'budgeted-') === 3,
	// Without root and without user namespaces the node has no volumes, and the pod says so.
	'claim.yaml': pods => isReady(pods.get('counter')) || hasNoPlace(pods.get('counter')),
	'config.yaml': pods => isReady(pods.get('greeter')),
	'crash.yaml': pods =>
		(containerOf(pods.get('crash'))?.restartCount ?? 0) >= 2 && containerOf(pods.get('crash'))?.lastState?.terminated?.exitCode === 3,
	'cron.yaml': pods => phaseOf([...pods].find(([name]) => name.startsWith('tick-now-'))?.[1]) === 'Succeeded',
	'daemonset.yaml': pods => readyOf(pods, 'load-') === 1,
	'deployment.yaml': pods => readyOf(pods, 'greeter-') === 3,
	'dialect-a.yaml': pods => isReady(pods.get('old-style')) && readyOf(pods, 'old-style-set-') === 2,
	'exclusive.yaml': pods => isReady(ledgerOf(pods)),
	// It is called.
	'function.yaml': pods => readyOf(pods, 'add-') === 1,
	// Where there is no GPU it says so, and waits.
	'gpu-job.yaml': pods => {
		const pod = [...pods].find(([name]) => name.startsWith('on-a-gpu-'))?.[1];
		return phaseOf(pod) === 'Succeeded' || hasNoPlace(pod);
	},
	'hello.yaml': pods => readyOf(pods, 'hello-') === 3,
	'job.yaml': pods => phaseOf(pods.get('count')) === 'Succeeded' && phaseOf(pods.get('try-again')) === 'Succeeded',
	'journals.yaml': pods => readyOf(pods, 'journal-') === 2 || hasNoPlace(pods.get('journal-0')),
	'pod.yaml': pods => isReady(pods.get('clock')),
	'policy.yaml': pods => readyOf(pods, 'store-') === 2,
	// Nothing runs until something waits.
	'queue.yaml': () => true,
	'routes.yaml': pods => readyOf(pods, 'news-') === 3,
	'service.yaml': pods => readyOf(pods, 'shop-') === 3,
	'sidecar.yaml': pods => phaseOf(pods.get('asker')) === 'Succeeded',
	'statefulset.yaml': pods => ['member-0', 'member-1', 'member-2'].every(name => isReady(pods.get(name))),
	'team.yaml': pods => isReady(pods.get('worker')),
	'volumes.yaml': pods => isReady(pods.get('reader')) || hasNoPlace(pods.get('reader')),
	// Nothing runs until a run of it is made.
	'workflow.yaml': () => true,
};

type Why = {readonly answer: string; readonly state: string};

/** What `why` answers about objects of the examples that are not as they should be, or not for ever. */
const troubled: readonly RegExp[] = [
	/^Pod crash crashes: its container crash exited with 3 after \d+ m?s(, (twice|\d+ times))?(; its last words: `started; this will not go well`)?\.$/,
	// Without root and without user namespaces the node has no volumes.
	/^(Pod|StatefulSet) .* has no node(: |; pod \S+: )0\/1 nodes fit: vm: lacks .*\.$/,
	/^StatefulSet journal waits for pod journal-0: it has no node; 0\/1 nodes fit: vm: lacks .*\.$/,
	/^PersistentVolumeClaim \S+ has no volume yet: its volume is made where its first pod goes, and pod \S+ has no node\.$/,
	// The node has no GPU.
	/^(Pod|Job) on-a-gpu.* 0\/1 nodes fit: vm: Insufficient nvidia\.com\/gpu: has 0, 1 asked for\.$/,
	// It has one pod, and allows none to go.
	/^PodDisruptionBudget \S+ allows no evictions: (\d+) of its \1 pods? (is|are) healthy, and \1 must be\.$/,
	// Nobody has said how long its queue is.
	/^HorizontalPodAutoscaler worker does not know what it scales by: .* no message came on "jobs\/waiting" in the last 60 s\.$/,
	/^ResourceQuota \S+ is used up: .* used\.$/,
];

/** Asks about every object of a namespace until each has an answer that may be. */
async function untilAnswered(namespace: string): Promise<readonly Why[]> {
	const told: Why[] = [];
	for (const {plural, namespaced} of kinds) {
		if (!namespaced) continue;
		const {items} = (await client().json({path: pathOf(resourceOf(plural), namespace)})) as List;
		for (const {metadata} of items ?? []) {
			let why: Why | undefined;
			await eventually(
				`why ${plural}/${metadata.name} has an answer that may be`,
				async () => {
					why = (await client().json({path: `/troupe/v1/why/${plural}/${namespace}/${metadata.name}`})) as Why;
					const {answer, state} = why;
					return ['fine', 'over', 'gone'].includes(state) || troubled.some(each => each.test(answer));
				},
				() => why?.answer ?? '',
			);
			if (why !== undefined) told.push(why);
		}
	}
	return told;
}

test('every example becomes what it says, and why it is so is answered of each of its objects', async t => {
	t.timeout(50_000);
	const files = readdirSync(examples).filter(name => name.endsWith('.yaml'));
	t.deepEqual(files.toSorted(), Object.keys(becomes).toSorted(), 'an example that is not tried here');
	await cluster.apply(namespaceOf('examples'), namespaceOf('team'));
	const applied = await Promise.all(
		files.map(file => line(['apply', '-n', namespaceFor(file), '-f', path.join(examples, file)], {home: cluster.home})),
	);
	t.deepEqual(
		applied.map(({code}) => code),
		files.map(() => 0),
		applied.map(({err}) => err).join(''),
	);
	t.regex(
		applied[files.indexOf('dialect-a.yaml')]?.err ?? '',
		/^note: .*dialect A Pod read as v1 Pod: .*\nnote: .*dialect A Replicaset read as apps\/v1 ReplicaSet\n$/,
	);
	await cluster.fine('create', 'job', 'tick-now', '--from', 'cronjob/tick', '-n', 'examples');
	t.is(await cluster.fine('execute', 'examples/add', '{"x": 1, "y": 2}'), '{"sum":3}\n');
	for (const file of files) await until(client(), 'pods', file, becomes[file] ?? (() => false), namespaceFor(file));
	t.is(await cluster.fine('logs', '-n', 'examples', 'count'), '1\n2\n3\n4\n5\n');
	const told = [...(await untilAnswered('examples')), ...(await untilAnswered('team'))];
	t.true(told.length > files.length);
	t.true(told.some(({answer}) => answer.startsWith('Pod crash crashes: ')));
	const greeting = 'good morning, all is green; the password has 28 characters, the address 51\n';
	await eventually('the greeter greets', async () => (await cluster.fine('logs', '-n', 'examples', 'greeter')) === greeting);
	const ledger = await until(client(), 'pods', 'the ledger', ledgerOf, 'examples');
	t.regex(await cluster.fine('logs', '-n', 'examples', ledger.metadata.name), /^the only writer, number \d+\n$/);
	const served = await until(
		client(),
		'pods',
		'addresses',
		pods => [...pods.values()].filter(({metadata}) => metadata.name.startsWith('hello-')),
		'examples',
	);
	for (const {metadata, status} of served) {
		const url = `http://${(status as {podIP?: string}).podIP}:8080/`;
		let body = '';
		await eventually(
			`${url} answers`,
			async () => {
				body = await fetch(url, {headers: {connection: 'close'}, signal: AbortSignal.timeout(5_000)}).then(answer => answer.text(), String);
				return body === `hello from ${metadata.name}\n`;
			},
			() => body,
		);
	}
	await cluster.fine('delete', 'ns', 'examples', 'team', '--timeout=40s');
});

test('objects are made, compared, changed by several hands, edited and replaced', async t => {
	const troupe = (args: readonly string[], input: object = {}, env: Readonly<Record<string, string>> = {}) =>
		line(args, {home: cluster.home, input: JSON.stringify(input), env});
	const set = (replicas: number, env: readonly object[]) => {
		const made = setOf('many-hands', replicas);
		const [container] = made.spec.template.spec.containers;
		return {...made, spec: {...made.spec, template: {...made.spec.template, spec: {containers: [{...container, env}]}}}};
	};
	const one = [{name: 'A', value: '1'}];
	const look = () => getOne(client(), resourceOf('rs'), 'default', 'many-hands') as Promise<ReplicaSet>;
	t.is((await troupe(['create', '-f', '-', '--dry-run=server'], set(0, one))).out, 'replicaset.apps/many-hands created (server dry run)\n');
	t.is((await troupe(['replace', '-f', '-'], set(0, one))).code, 3, 'a dry run keeps nothing');
	t.is((await troupe(['create', '-f', '-'], set(0, one))).out, 'replicaset.apps/many-hands created\n');
	t.is((await troupe(['create', '-f', '-'], set(0, one))).code, 4);
	t.is((await troupe(['apply', '-f', '-'], set(0, one))).code, 0);
	const {metadata} = await look();
	const difference = await troupe(['diff', '-f', '-'], set(0, [{name: 'A', value: '2'}]));
	t.is(difference.code, 1);
	t.regex(difference.out, /^- +value: "1"\n\+ +value: "2"$/m);
	t.is((await troupe(['diff', '-f', '-'], set(0, one))).code, 0);
	t.is((await troupe(['delete', 'rs/many-hands', '--dry-run=server'])).code, 0);
	t.is((await troupe(['label', 'rs/many-hands', 'a=b', '--dry-run=server'])).code, 0);
	t.deepEqual((await look()).metadata, metadata, 'looking and trying change nothing, not even the version');

	const [theirs] = set(0, [...one, {name: 'THEIRS', value: '9'}]).spec.template.spec.containers;
	await client().json({
		method: 'PATCH',
		path: pathOf(resourceOf('rs'), 'default', 'many-hands'),
		body: {spec: {template: {spec: {containers: [theirs]}}}} as unknown as JsonObject,
		contentType: 'application/merge-patch+json',
	});
	t.is((await troupe(['apply', '-f', '-'], set(0, [{name: 'A', value: '2'}]))).out, 'replicaset.apps/many-hands configured\n');
	t.deepEqual((await look()).spec?.template.spec.containers[0]?.env, [
		{name: 'A', value: '2'},
		{name: 'THEIRS', value: '9'},
	]);
	t.is((await troupe(['edit', 'rs/many-hands'], {}, {EDITOR: 'sed -i s/THEIRS/OURS/'})).out, 'replicaset.apps/many-hands edited\n');
	t.regex((await troupe(['edit', 'rs/many-hands'], {}, {EDITOR: 'sed -i s/template:/tempalte:/'})).err, /did you mean "template"/);
	t.is((await look()).spec?.template.spec.containers[0]?.env?.[1]?.name, 'OURS');
	const stale = {...set(0, one), metadata: {name: 'many-hands', resourceVersion: metadata.resourceVersion}};
	t.is((await troupe(['replace', '-f', '-'], stale)).code, 4);
	t.is((await troupe(['replace', '--force', '-f', '-'], set(0, one))).out, 'replicaset.apps/many-hands replaced\n');
	t.not((await look()).metadata.uid, metadata.uid);
	t.is((await troupe(['delete', 'rs/many-hands', '-o', 'name'])).out, 'replicaset.apps/many-hands\n');
});

test('exit codes say what went wrong, in one line', async t => {
	await cluster.apply(podOf('coded', ['sleep', '100000']));
	const conflicting = JSON.stringify({...podOf('coded', ['sleep', '1']), metadata: {name: 'coded', resourceVersion: '1'}});
	const cases: readonly (readonly [number, RegExp, readonly string[], string?])[] = [
		[0, /^$/, ['get', 'pod', 'coded']],
		[
			1,
			/^error: stdin:1:\d+: spec\.containers\[0\]\.name: /m,
			['apply', '-f', '-'],
			'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"image": "x", "command": ["x"]}]}}',
		],
		[2, /^error: unknown command "gett"; did you mean "get"\?\n$/, ['gett', 'pods']],
		[2, /^error: unknown kind "pds"; did you mean "pods"\?\n$/, ['get', 'pds']],
		[3, /^error: pods "nobody" not found\n$/, ['get', 'pod', 'nobody']],
		[4, /^error: .*"coded".*modified/, ['apply', '-f', '-'], conflicting],
		[5, /^error: there is no file .*; is the cluster running\?/, ['get', 'pods', '--kubeconfig', path.join(cluster.folder, 'none')]],
		[6, /^error: namespaces "default" is forbidden: /, ['delete', 'ns', 'default']],
	];
	for (const [code, message, args, input] of cases) {
		const ran = await cluster.start(args, input).ended;
		t.is(ran.code, code, `troupe ${args.join(' ')}: ${ran.err}${ran.out}`);
		t.regex(ran.err, message, `troupe ${args.join(' ')}`);
		t.is(ran.err.split('\n').length, code === 0 ? 1 : 2, ran.err);
	}
});
