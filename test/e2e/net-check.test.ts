// `troupe net check` on a whole cluster whose pods share the network of their node: a good way, and two that are not.

import test from 'ava';
import {podOf} from '../../bench/rigs/cluster/manifests.js';
import {openHome} from './_rig.js';

const serving = (port: number): readonly string[] => [
	process.execPath,
	'-e',
	`require('http').createServer((_, answer) => answer.end('well')).listen(${port}, process.env.POD_IP)`,
];

const serviceOf = (name: string, port: object): object => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {selector: {app: 'web'}, ports: [{port: 8_180, ...port}]},
});

type Told = {
	readonly ok: boolean;
	readonly hops: readonly {readonly hop: string; readonly state: string; readonly seen: string; readonly todo?: string}[];
};

test('the way to a Service, to a pod and by a route is walked, and the hop that fails is named', async t => {
	t.timeout(180_000);
	const cluster = openHome(t);
	await cluster.up('--store=memory', '--router=127.0.0.93:18093', '--dns=127.0.0.93:18053');
	const ready = {readinessProbe: {httpGet: {port: 8_000}, periodSeconds: 1}};
	const web = podOf('web', serving(8_000), {labels: {app: 'web'}}) as unknown as {spec: {containers: readonly object[]}};
	const [container = {}] = web.spec.containers;
	const named = {...container, ports: [{name: 'http', containerPort: 8_000}], ...ready};
	const dns = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Dns',
		metadata: {name: 'shop'},
		spec: {host: 'shop.test', paths: [{subPath: '/', svcName: 'web', svcPort: 8_180}]},
	};
	await cluster.apply({...web, spec: {...web.spec, containers: [named]}}, podOf('asker', ['sleep', '600']));
	await cluster.apply(
		serviceOf('web', {targetPort: 'http'}),
		serviceOf('typo', {targetPort: 'htpp'}),
		serviceOf('empty', {targetPort: 9}),
		dns,
	);
	await cluster.fine('wait', 'pod/web', 'pod/asker', '--for', 'condition=Ready', '--timeout', '60s');
	const check = async (...words: readonly string[]): Promise<Told & {readonly code: number | null}> => {
		const {code, out, err} = await cluster.troupe('net', 'check', ...words, '-o', 'json');
		t.is(err, '');
		return {...(JSON.parse(out) as Told), code};
	};
	const wellFrom = async (from: string, to: string, ...hops: readonly string[]): Promise<void> => {
		const told = await check(from, to);
		t.deepEqual([told.code, told.ok], [0, true], JSON.stringify(told));
		for (const hop of hops)
			t.is(told.hops.find(each => each.hop === hop)?.state, 'ok', `${hop} of ${from} to ${to}: ${JSON.stringify(told)}`);
	};
	for (const from of ['pod/asker', 'node/vm'])
		await wellFrom(from, 'service/web:8180', 'endpoints', 'name', 'node has', 'leads to', 'connect', 'address');
	await wellFrom('pod/asker', 'pod/web:8000', 'to', 'ready', 'connect');
	await wellFrom('pod/asker', 'shop.test/', 'route', 'name', 'connect', 'router');

	const fails = async (to: string, hop: string, seen: RegExp, todo: RegExp): Promise<void> => {
		const told = await check('pod/asker', to);
		const last = told.hops.at(-1);
		t.deepEqual([told.code, last?.hop, last?.state], [1, hop, 'failed'], JSON.stringify(told));
		t.regex(last?.seen ?? '', seen);
		t.regex(last?.todo ?? '', todo);
	};
	await fails('service/typo', 'endpoints', /web: none of its containers names a port "htpp"/, /targetPort may be http/);
	await fails('service/empty', 'connect', /:9 of pod web: refused, nothing listens there/, /must listen at port 9/);
	await fails('service/wbe', 'service', /not found/, /get services/);

	const {code, out} = await cluster.troupe('net', 'check', 'pod/asker', 'service/empty');
	t.is(code, 1);
	t.regex(out, /^ok {7}from {8}pod asker runs on node vm/);
	t.regex(out, /\nfailed {3}connect {5}\S+ of pod web: refused, nothing listens there\n {21}→ its program must listen[^\n]*\n$/);
	t.is((await cluster.troupe('net', 'check', 'deployment/web', 'service/web')).code, 2);
});
