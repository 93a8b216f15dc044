// Patches of the real kubectl: the three forms of `patch`, and the commands that send one. Needs kubectl 1.32 on the PATH.

import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {manifest, real, withKubectl} from '../_kubectl.js';

const deployment = {
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web', annotations: {'example.com/by': 'hand'}},
	spec: {
		replicas: 0,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				containers: [
					{name: 'web', image: 'web:1', command: ['sleep', '100000'], env: [{name: 'A', value: '1'}]},
					{name: 'log', image: 'log:1', command: ['sleep', '100000'], ports: [{containerPort: 80}]},
				],
			},
		},
	},
};

real('kubectl patch: strategic merges lists by their keys, merge replaces them, json changes places', async t => {
	const {cluster, fine, kubectl} = await withKubectl(t);
	await fine('create', '-f', manifest(cluster, deployment));
	const template = (containers: readonly object[]) => JSON.stringify({spec: {template: {spec: {containers}}}});
	const patch = (...words: readonly string[]) => fine('patch', 'deployment', 'web', ...words);
	const images = () => fine('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}');
	t.is(await patch('-p', template([{name: 'log', image: 'log:2'}])), 'deployment.apps/web patched\n');
	t.is(await images(), 'web:1 log:2');
	t.is(await patch('--type=strategic', '-p', template([{name: 'log', image: 'log:2'}])), 'deployment.apps/web patched (no change)\n');
	await patch('-p', template([{name: 'side', image: 'side:1', command: ['sleep', '1']}]));
	t.is(await images(), 'side:1 web:1 log:2');
	await patch(
		'-p',
		template([
			{name: 'side', $patch: 'delete'},
			{name: 'web', env: [{name: 'B', value: '2'}]},
		]),
	);
	const env = 'jsonpath={.spec.template.spec.containers[0].env[*].name}';
	t.is(await fine('get', 'deployment', 'web', '-o', env), 'B A');
	const replaced = [
		{op: 'test', path: '/spec/template/spec/containers/0/name', value: 'web'},
		{op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'web:2'},
	];
	t.is(await patch('--type=json', '-p', JSON.stringify(replaced)), 'deployment.apps/web patched\n');
	t.is(await images(), 'web:2 log:2');
	const failing = await kubectl(
		'patch',
		'deployment',
		'web',
		'--type=json',
		'-p',
		'[{"op":"test","path":"/metadata/name","value":"other"}]',
	);
	t.is(failing.code, 1);
	t.regex(failing.err, /^The Deployment "web" is invalid: patch\[0\]: .*testing value \/metadata\/name failed: test failed/);
	const keyless = await kubectl('patch', 'deployment', 'web', '-p', template([{image: 'x'}]));
	t.regex(keyless.err, /spec\.template\.spec\.containers\[0\]: .*has no name, by which items are told apart/);
	await patch('--type=merge', '-p', template([{name: 'only', image: 'only:1', command: ['sleep', '1']}]));
	t.is(await images(), 'only:1');
	t.is(
		await patch('--subresource=scale', '--type=json', '-p', '[{"op":"replace","path":"/spec/replicas","value":1}]'),
		'scale.autoscaling/web patched\n',
	);
	const own = await kubectl('patch', 'clusterconfig', 'cluster', '--type=strategic', '-p', '{"spec":{}}');
	t.regex(own.err, /application\/strategic-merge-patch\+json is not supported by/);
});

real('kubectl set, apply, edit, annotate and taint: what sends lists and directives', async t => {
	const {cluster, fine} = await withKubectl(t);
	await fine('apply', '-f', manifest(cluster, deployment));
	const read = (path: string) => fine('get', 'deployment', 'web', '-o', `jsonpath={${path}}`);
	t.is(await fine('set', 'image', 'deployment/web', 'web=web:3', 'log=log:3'), 'deployment.apps/web image updated\n');
	t.is(await read('.spec.template.spec.containers[*].image'), 'web:3 log:3');
	t.is(await fine('set', 'env', 'deployment/web', 'A-', 'B=b', '-c', 'web'), 'deployment.apps/web env updated\n');
	t.is(await read('.spec.template.spec.containers[0].env'), '[{"name":"B","value":"b"}]');
	t.is(
		await fine('set', 'resources', 'deployment/web', '-c', 'log', '--limits=cpu=1'),
		'deployment.apps/web resource requirements updated\n',
	);
	t.is(await read('.spec.template.spec.containers[1].resources.limits'), '{"cpu":"1"}');

	const {template, ...spec} = deployment.spec;
	const [first, second] = template.spec.containers;
	const turned = {
		...template,
		spec: {
			containers: [
				{...second, ports: [{containerPort: 81}]},
				{...first, image: 'web:4'},
			],
		},
	};
	const changed = {...deployment, spec: {...spec, template: turned, strategy: {type: 'Recreate'}}};
	t.is(await fine('apply', '-f', manifest(cluster, changed)), 'deployment.apps/web configured\n');
	t.is(await read('.spec.template.spec.containers[*].name'), 'log web');
	t.is(await read('.spec.template.spec.containers[*].image'), 'log:1 web:4');
	t.is(await read('.spec.template.spec.containers[0].ports[*].containerPort'), '81');
	t.is(await read('.spec.strategy'), '{"type":"Recreate"}');
	const version = await read('.metadata.resourceVersion');
	await fine('apply', '-f', manifest(cluster, changed));
	t.is(await read('.metadata.resourceVersion'), version);

	t.is(await fine('annotate', 'deployment', 'web', 'example.com/by-', 'example.com/at=noon'), 'deployment.apps/web annotated\n');
	t.is(await read('.metadata.annotations.example\\.com/at'), 'noon');
	t.is(await fine('label', 'deployment', 'web', 'tier=front'), 'deployment.apps/web labeled\n');
	t.is(await fine('taint', 'nodes', 'vm', 'lab=yes:NoSchedule', 'other=yes:NoSchedule'), 'node/vm tainted\n');
	t.is(await fine('taint', 'nodes', 'vm', 'lab-'), 'node/vm untainted\n');
	t.is(await fine('get', 'node', 'vm', '-o', 'jsonpath={.spec.taints[*].key}'), 'other');
});

real('kubectl rollout undo: a JSON patch takes a Deployment back, a strategic one a StatefulSet', async t => {
	const {cluster, fine} = await withKubectl(t);
	const {selector, template} = deployment.spec;
	// A port would be taken from the new pod by the old one: there is one node.
	const containers = template.spec.containers.map(({name, image, command}) => ({name, image, command}));
	const spec = {selector, template: {...template, spec: {terminationGracePeriodSeconds: 1, containers}}};
	const both = {
		apiVersion: 'v1',
		kind: 'List',
		items: [
			{...deployment, spec: {...spec, replicas: 1}},
			{
				...deployment,
				kind: 'StatefulSet',
				metadata: {name: 'db'},
				spec: {...spec, replicas: 1, serviceName: 'db'},
			},
		],
	};
	await fine('apply', '-f', manifest(cluster, both));
	for (const name of ['deployment/web', 'statefulset/db']) {
		const template = () => fine('get', name, '-o', 'jsonpath={.spec.template}');
		const before = await template();
		await fine('rollout', 'status', name, '--timeout=60s');
		await fine('set', 'image', name, 'log=log:2');
		await fine('set', 'env', name, 'B=b');
		await fine('rollout', 'status', name, '--timeout=60s');
		t.not(await template(), before);
		t.regex(await fine('rollout', 'undo', name, '--to-revision=1'), /rolled back/);
		// kubectl writes the resources of a container that has none.
		t.is((await template()).replaceAll(',"resources":{}', ''), before);
		await eventually('the first revision is the newest again', async () => !/^1 /m.test(await fine('rollout', 'history', name)));
	}
});
