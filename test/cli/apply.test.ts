import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {aPod, aReplicaSet} from '../server/cluster.js';
import {folder, openCluster} from './_rig.js';

const pod = (name: string, more = ''): string =>
	`apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${more}spec:\n  containers:\n  - name: main\n    image: none\n    command: [sleep, "1"]\n`;

test('apply creates, leaves unchanged, and configures', async t => {
	const {troupe, cluster} = await openCluster(t);
	const apply = (replicas: number) => troupe(['apply', '-f', '-'], {input: JSON.stringify(aReplicaSet('web', replicas))});
	t.deepEqual(await apply(2), {code: 0, out: 'replicaset.apps/web created\n', err: ''});
	t.deepEqual(await apply(2), {code: 0, out: 'replicaset.apps/web unchanged\n', err: ''});
	t.deepEqual(await apply(3), {code: 0, out: 'replicaset.apps/web configured\n', err: ''});
	t.is((cluster.control.index.get('replicasets/default/web')?.spec as {replicas: number}).replicas, 3);
});

test('apply takes files, folders and stdin together, in that order', async t => {
	const {troupe} = await openCluster(t);
	const dir = await folder(t);
	await mkdir(path.join(dir, 'many'));
	await writeFile(path.join(dir, 'one.yaml'), pod('one'));
	await writeFile(path.join(dir, 'many/b.yml'), pod('b'));
	await writeFile(path.join(dir, 'many/a.json'), JSON.stringify(aPod('a')));
	await writeFile(path.join(dir, 'many/readme.txt'), 'not a manifest: [');
	const {code, out} = await troupe(['apply', '-f', 'one.yaml', '-f', 'many', '-f', '-'], {cwd: dir, input: pod('last')});
	t.deepEqual([code, out], [0, ['one', 'a', 'b', 'last'].map(name => `pod/${name} created\n`).join('')]);
});

test('apply tells every wrong field with file, line and column, and changes nothing', async t => {
	const {troupe, cluster} = await openCluster(t);
	const dir = await folder(t);
	const before = cluster.control.index.version;
	await writeFile(path.join(dir, 'bad.yaml'), `${pod('fine')}---\n${pod('Bad_Name').replace('image: none', 'image: none\n    imge: 3')}`);
	const {code, out, err} = await troupe(['apply', '-f', 'bad.yaml'], {cwd: dir});
	t.deepEqual([code, out], [1, '']);
	t.regex(err, /^error: bad\.yaml:14:3: metadata\.name: .+$/m);
	t.regex(err, /^error: bad\.yaml:19:5: spec\.containers\[0\]\.imge: unknown field "imge"; did you mean "image"\?$/m);
	t.is(cluster.control.index.version, before);
});

test('bad input of every sort is one clear line each and changes nothing', async t => {
	const {troupe, cluster} = await openCluster(t);
	const before = cluster.control.index.version;
	const cases: readonly (readonly [input: string, code: number, err: RegExp])[] = [
		[
			'kind: pod\napiVersion: v1\nmetadata: {name: a}\n',
			1,
			/^error: stdin:1:1: kind: there is no kind "pod" in "v1"; did you mean Pod\?\n$/,
		],
		['kind: Pood\napiVersion: v1\n', 1, /^error: stdin:1:1: kind: .+\n$/],
		['apiVersion: v1\n', 1, /^error: stdin:1:1: kind: is required\n$/],
		[
			'apiVersion: v1\nkind: Pod\nmetadata:\nname: a\n',
			1,
			/^error: stdin:3:1: metadata\.name: is required: .*"name" stands too far to the left$/m,
		],
		['a: [\n', 1, /^error: stdin:2:1: .+\n$/],
		[pod('a').replace('name: a', 'nam: a'), 1, /metadata/],
		...['1234', 'true'].map(
			name =>
				[
					pod(name).replace('image: none', 'image: none\n    imge: 3'),
					1,
					new RegExp(
						`^error: stdin:4:3: metadata\\.name: must be a string, got ${name}; put it in quotes: "${name}"\nerror: .+ unknown field "imge".*\n`,
					),
				] as const,
		),
		[
			pod('null').replace('image: none', 'imge: 3'),
			1,
			/metadata\.name: is required: the object is found by its name\n(.*\n)*.*unknown field "imge"/,
		],
		[
			'{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}',
			1,
			/spec\.containers: must be a list that is not empty, got an empty list\n/,
		],
		['{apiVersion: v1, kind: Secret, metadata: {name: 12}, data: {a: "?"}}', 1, /metadata\.name: must be a string, got 12;/],

		[`${pod('a')}---\n${pod('a')}`, 1, /^error: stdin:14:3: pod\/a is given twice, first in stdin:4:3\n$/],
		[pod('a', '  namespace: nowhere\n'), 3, /^error: stdin:5:3: namespaces "nowhere" not found.*\n$/],
		['', 2, /^error: -: there is no object in it\n$/],
		['\xff\xfe', 1, /stdin/],
	];
	for (const [input, code, err] of cases) {
		const ran = await troupe(['apply', '-f', '-'], {input});
		t.deepEqual([ran.code, ran.out], [code, ''], `${input}${ran.err}`);
		t.regex(ran.err, err);
	}
	t.is(cluster.control.index.version, before);
});

test('values of a Secret that are no texts are refused with line and field, never dropped and never told', async t => {
	const {troupe, cluster} = await openCluster(t);
	const secret = (fields: string): string => `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n${fields}\n`;
	const cases: readonly (readonly [fields: string, err: RegExp])[] = [
		['stringData:\n  pw: geheim\n  n: 7777123', /^error: stdin:6:3: stringData\.n: must be a string, got a number; put it in quotes$/m],
		['stringData: {a: 7777123}', /^error: stdin:4:14: stringData\.a: must be a string/m],
		['stringData: {a: null, b: [geheim], e: true}', /^error: stdin:4:23: stringData\.b: .+\nerror: stdin:4:36: stringData\.e: /m],
		['stringData: [geheim]', /^error: stdin:4:1: stringData: must be an object, got a list$/m],
		['stringData: geheim', /^error: stdin:4:1: stringData: must be an object, got a string$/m],
		['data: {a: 7777123}', /^error: stdin:4:8: data\.a: must be a string/m],
		['data: geheim\nstringData: {a: x}', /^error: stdin:4:1: data: must be an object, got a string$/m],
	];
	const refused = async (): Promise<void> => {
		const before = cluster.control.index.version;
		for (const [fields, err] of cases) {
			const ran = await troupe(['apply', '-f', '-'], {input: secret(fields)});
			t.deepEqual([ran.code, ran.out], [1, ''], fields);
			t.regex(ran.err, err);
			t.notRegex(ran.err, /geheim|7777123/);
		}
		t.is(cluster.control.index.version, before);
	};
	await refused();
	t.is((await troupe(['apply', '-f', '-'], {input: secret('stringData: {pw: geheim}')})).out, 'secret/s created\n');
	await refused();
});

test('objects too large for an annotation are applied, and it is said what that costs', async t => {
	const {troupe} = await openCluster(t);
	for (const [kind, bytes] of [
		['ConfigMap', 300_000],
		['Secret', 195_000],
		['Secret', 260_000],
	] as const) {
		const field = kind === 'Secret' ? 'stringData' : 'data';
		const input = `apiVersion: v1\nkind: ${kind}\nmetadata: {name: large-${bytes}}\n${field}: {a: ${'x'.repeat(bytes)}}\n`;
		const first = await troupe(['apply', '-f', '-'], {input});
		t.regex(first.out, /created/, first.err);
		t.regex(first.err, /^note: stdin:1:1: too large for apply to remember: .+\n$/);
		t.regex((await troupe(['apply', '-f', '-'], {input})).out, /unchanged/);
	}
});

test('a namespace and what is in it can come in one file', async t => {
	const {troupe} = await openCluster(t);
	const input = `apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n${pod('a', '  namespace: fresh\n')}`;
	t.deepEqual(await troupe(['apply', '-f', '-'], {input}), {code: 0, out: 'namespace/fresh created\npod/a created\n', err: ''});
	const bad = input.replaceAll('fresh', 'second').replace('image: none', 'imge: none');
	const ran = await troupe(['apply', '-f', '-'], {input: bad});
	t.is(ran.code, 1);
	t.regex(ran.err, /stdin:13:5: spec\.containers\[0\]\.imge: unknown field/);
});

test('another dialect is understood, said in one line, and its errors are in its own words', async t => {
	const {troupe, cluster} = await openCluster(t);
	const old = pod('old').replace('image: none', 'image: none\n    ImagePullPolicy: Always');
	const {code, out, err} = await troupe(['apply', '-f', '-'], {input: old});
	t.deepEqual([code, out], [0, 'pod/old created\n']);
	t.regex(err, /^note: stdin:1:1: dialect A Pod read as v1 Pod: containers\[0\]\.imagePullPolicy\n$/);
	t.truthy(cluster.control.index.get('pods/default/old'));
	const wrong = await troupe(['apply', '-f', '-'], {input: old.replace('old', 'older').replace('Always', 'Sometimes')});
	t.is(wrong.code, 1);
	t.regex(wrong.err, /^error: stdin:9:5: spec\.containers\[0\]\.ImagePullPolicy: .*"Sometimes"/m);
});

test('-n must agree with what the manifest says', async t => {
	const {troupe} = await openCluster(t);
	const ran = await troupe(['apply', '-n', 'other', '-f', '-'], {input: pod('a', '  namespace: default\n')});
	t.deepEqual([ran.code, ran.err], [1, 'error: stdin:5:3: metadata.namespace: is "default", but -n says "other"\n']);
	t.is((await troupe(['apply', '-n', 'other', '-f', '-'], {input: pod('a')})).out, 'pod/a created\n');
	t.is((await troupe(['get', 'pods', '-n', 'other', '-o', 'name'])).out, 'pod/a\n');
});

test('applying what is being deleted is worth a warning', async t => {
	const {troupe, cluster} = await openCluster(t);
	cluster.pod('a', {metadata: {finalizers: ['troupe.dev/hold']}});
	await troupe(['delete', 'pod', 'a', '--wait=false']);
	t.regex(
		(await troupe(['apply', '-f', '-'], {input: JSON.stringify(aPod('a'))})).err,
		/^warning: pod\/a is being deleted; apply again when it is gone\n$/,
	);
});

test('--dry-run checks and writes nothing', async t => {
	const {troupe, cluster} = await openCluster(t);
	const before = cluster.control.index.version;
	t.is((await troupe(['apply', '--dry-run', '-f', '-'], {input: pod('a')})).out, 'pod/a created (dry run)\n');
	t.is(cluster.control.index.version, before);
});

test('files that are not there are wrong usage', async t => {
	const {troupe} = await openCluster(t);
	t.deepEqual(await troupe(['apply', '-f', 'nope.yaml']), {code: 2, out: '', err: 'error: nope.yaml: there is no such file\n'});
	t.is((await troupe(['apply'])).code, 2);
	t.regex((await troupe(['apply', 'x.yaml'])).err, /apply takes files with -f, as in: troupe apply -f x\.yaml/);
});

const flow = (state: string): string =>
	`apiVersion: troupe.dev/v1\nkind: Workflow\nmetadata: {name: flow}\nspec:\n  definition:\n    StartAt: A\n    States:\n      A: ${state}\n`;

test('nulls of a workflow are kept by create, apply and replace', async t => {
	const {troupe, cluster} = await openCluster(t);
	const states = (): unknown =>
		(cluster.control.index.get('workflows/default/flow')?.spec as {definition: {States: {A: unknown}}}).definition.States.A;
	const write = async (verb: string, state: string, became: string) => {
		const {code, out, err} = await troupe([verb, '-f', '-'], {input: flow(state)});
		t.deepEqual([code, out, err], [0, `workflow.troupe.dev/flow ${became}\n`, '']);
	};
	await write('apply', '{Type: Task, Resource: a, ResultPath: null, End: true}', 'created');
	t.deepEqual(states(), {Type: 'Task', Resource: 'a', ResultPath: null, End: true});
	await write('apply', '{Type: Task, Resource: a, InputPath: null, ResultPath: null, End: true}', 'configured');
	t.deepEqual(states(), {Type: 'Task', Resource: 'a', ResultPath: null, InputPath: null, End: true});
	await write('apply', '{Type: Task, Resource: a, InputPath: null, ResultPath: null, End: true}', 'unchanged');
	await write('replace', '{Type: Task, Resource: b, OutputPath: null, End: true}', 'replaced');
	t.deepEqual(states(), {Type: 'Task', Resource: 'b', OutputPath: null, End: true});
	await write('apply', '{Type: Succeed}', 'configured');
	t.deepEqual(states(), {Type: 'Succeed'});
});

test('a workflow of nodes is applied as a definition, and what is wrong with it is told where the file has it', async t => {
	const {troupe, cluster} = await openCluster(t);
	const graph = (next: string): string =>
		`apiVersion: troupe.dev/v1\nkind: Workflow\nmetadata: {name: flow}\nspec:\n  startAt: a\n  nodes:\n    a: {type: Task, next: ${next}}\n    b: {type: Task}\n`;
	const wrong = await troupe(['apply', '-f', '-'], {input: graph('c')});
	t.deepEqual(wrong, {code: 1, out: '', err: 'error: stdin:7:21: spec.nodes.a.next: there is no node "c"; did you mean "a"?\n'});
	t.deepEqual(await troupe(['apply', '-f', '-'], {input: graph('b')}), {
		code: 0,
		out: 'workflow.troupe.dev/flow created\n',
		err: 'note: stdin:1:1: Workflow of nodes read as troupe.dev/v1 Workflow: definition\n',
	});
	t.regex((await troupe(['apply', '-f', '-'], {input: graph('b')})).out, /unchanged/);
	t.deepEqual(Object.keys(cluster.control.index.get('workflows/default/flow')?.spec as object), ['definition']);
	const bad = await troupe(['apply', '-f', '-'], {input: flow('{Type: Task, Resource: "activty:ask", End: true}')});
	t.is(bad.code, 1);
	t.regex(bad.err, /^error: stdin:8:\d+: spec\.definition\.States\.A\.Resource: .*did you mean "activity"\?\n$/);
});

test('runs are made, shown by their columns and their phase, and not among all', async t => {
	const {troupe} = await openCluster(t);
	const run = (name: string, more: object = {}) =>
		JSON.stringify({apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name}, spec: {workflow: 'flow', ...more}});
	for (const name of ['one', 'two'])
		t.regex((await troupe(['create', '-f', '-'], {input: run(name, {input: {a: null}})})).out, /^run\.troupe\.dev\/\w+ created\n$/);
	t.regex(
		(await troupe(['get', 'runs'])).out,
		/^NAME +WORKFLOW +STATUS +AT +STEPS +DURATION +AGE\none +flow +Pending +<none> +0 +<none> +\d+s\ntwo +/,
	);
	t.regex((await troupe(['get', 'runs', '--field-selector', 'status.phase=Pending,spec.workflow=flow'])).out, /\none .*\ntwo /);
	t.regex((await troupe(['get', 'runs', '-l', 'troupe.dev/workflow=flow', '-o', 'name'])).out, /one\n.*two\n$/);
	t.notRegex((await troupe(['get', 'all'])).out, /run\.troupe/);
	t.regex((await troupe(['get', 'run', 'one', '-o', 'yaml'])).out, /\n {4}a: null\n/);
	const changed = await troupe(['apply', '-f', '-'], {input: run('one', {input: {a: 1}})});
	t.is(changed.code, 1);
	t.regex(changed.err, /spec\.input: cannot be changed/);
});
