// `expose`: a Service for the pods of an object, in kubectl's words.

import test, {type ExecutionContext} from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {openCluster} from './_rig.js';

const container = {name: 'c', image: 'node', command: ['sleep', '9'], ports: [{containerPort: 8000}, {containerPort: 53, protocol: 'UDP'}]};

const objects = [
	{
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {name: 'web', labels: {team: 'a'}},
		spec: {selector: {matchLabels: {app: 'web'}}, template: {metadata: {labels: {app: 'web'}}, spec: {containers: [container]}}},
	},
	{apiVersion: 'v1', kind: 'Pod', metadata: {name: 'bare'}, spec: {containers: [{...container, ports: []}]}},
	{apiVersion: 'v1', kind: 'Pod', metadata: {name: 'db', labels: {app: 'db'}}, spec: {containers: [{...container, ports: []}]}},
];

async function open(t: ExecutionContext) {
	const opened = await openCluster(t);
	const troupe = (args: readonly string[], input?: string) => line(args, {home: opened.home, ...(input === undefined ? {} : {input})});
	const {code, err} = await troupe(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n'));
	t.is(code, 0, err);
	return {...opened, troupe};
}

test('a deployment is exposed at a port, or at those that its containers name', async t => {
	const {cluster, troupe} = await open(t);
	t.deepEqual(await troupe(['expose', 'deployment/web', '--port', '80', '--target-port', '8000', '--type=NodePort']), {
		code: 0,
		out: 'service/web exposed\n',
		err: '',
	});
	t.like(cluster.control.index.get('services/default/web'), {
		metadata: {labels: {team: 'a'}},
		spec: {type: 'NodePort', selector: {app: 'web'}, ports: [{port: 80, targetPort: 8000, protocol: 'TCP'}]},
	});
	t.is((await troupe(['expose', 'deployment', 'web', '--name', 'all', '--cluster-ip=None'])).out, 'service/all exposed\n');
	t.like(cluster.control.index.get('services/default/all'), {
		spec: {
			clusterIP: 'None',
			ports: [
				{name: 'port-1', port: 8000, targetPort: 8000, protocol: 'TCP'},
				{name: 'port-2', port: 53, targetPort: 53, protocol: 'UDP'},
			],
		},
	});
	t.is((await troupe(['expose', 'service/web', '--name', 'again', '--target-port', 'http'])).code, 0);
	t.like(cluster.control.index.get('services/default/again'), {spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 'http'}]}});
});

test('what cannot be exposed says why, and nothing is made', async t => {
	const {cluster, troupe} = await open(t);
	const refused = async (...args: readonly string[]): Promise<string> => {
		const {code, err} = await troupe(['expose', ...args]);
		t.not(code, 0, args.join(' '));
		return err;
	};
	t.regex(await refused('pod/bare', '--port', '80'), /pod\/bare has no labels, so no Service can choose it/);
	t.regex(await refused('pod/db'), /pod\/db names no port; --port says at which/);
	t.regex(await refused('deployment/web', '--type', 'Else'), /--type must be ClusterIP, NodePort, LoadBalancer, got "Else"/);
	t.regex(await refused('configmap/x', '--port', '80'), /a configmap has no pods/);
	t.regex(await refused('deployment/nosuch', '--port', '80'), /nosuch/);
	t.regex(await refused('deployment/web', '--port', '70000'), /spec\.ports\[0\]\.port/);
	t.regex(await refused('deployment', 'web', 'more'), /expose takes one object/);
	t.regex(await refused(), /expose what\?/);
	t.deepEqual(
		[...cluster.control.index.list('services')].map(({metadata}) => metadata.name),
		[],
	);
	const dry = await troupe(['expose', 'pod/db', '--port=5432', '--dry-run=client', '-o', 'json']);
	t.like(JSON.parse(dry.out), {kind: 'Service', spec: {selector: {app: 'db'}, ports: [{port: 5432}]}});
});
