// NetworkPolicies on three hosts: who reaches whom, on one host and across hosts, before and after policies, labels, pods and agents change.

import test from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {
	answeringPod,
	asking,
	clusterIPOf,
	nft,
	openRoutedHosts,
	podOf,
	untilAnswered,
	type RoutedHost,
} from '../../bench/rigs/fleet/routed-hosts.js';
import type {NetworkPolicy} from '../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../api/kinds/node.js';

/** Answers with its name at several ports, of which the first has one. */
const answering = `for (const port of [8000, 8001, 8002, 8005]) require('http').createServer((_, answer) => answer.end(process.env.POD_NAME)).listen(port)`;

const pod = (name: string, node: string, labels: object, program = answering, namespace = 'default'): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, namespace, labels},
	spec: {
		runtimeClassName: 'process',
		nodeName: node,
		terminationGracePeriodSeconds: 0,
		containers: [
			{
				name: 'c',
				image: 'node',
				command: [process.execPath, '-e', program],
				ports: [{name: 'http', containerPort: 8000}],
				...(program === answering ? {readinessProbe: {httpGet: {port: 8000}, periodSeconds: 1}} : {}),
			},
		],
	},
});

const policy = (name: string, spec: object): object => ({
	apiVersion: 'networking.k8s.io/v1',
	kind: 'NetworkPolicy',
	metadata: {name},
	spec,
});

const web = {podSelector: {matchLabels: {app: 'web'}}};
const friends = {podSelector: {matchLabels: {role: 'friend'}}};
const none = /^none: EHOSTUNREACH$/;

test.serial('policies hold for pods of one host and of several, from their beginning on, and whatever changes', async t => {
	t.timeout(900_000);
	const hosts = await openRoutedHosts(t, ['s', 'n1', 'n2']);
	const {first} = hosts;
	const [, n1] = hosts.all as readonly [RoutedHost, RoutedHost, RoutedHost];
	await hosts.apply(
		{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'team'}},
		pod('web', 'n1', {app: 'web'}),
		pod('near', 'n1', {role: 'friend'}),
		pod('far', 'n2', {role: 'friend'}),
		pod('other', 'n2', {role: 'stranger'}),
		pod('guest', 'n2', {role: 'stranger'}, answering, 'team'),
		{apiVersion: 'v1', kind: 'Service', metadata: {name: 'web'}, spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 'http'}]}},
	);
	let addresses = await hosts.addresses('web', 'near', 'far', 'other');
	await first.fine('-n', 'team', 'wait', 'pod/guest', '--for', 'condition=Ready', '--timeout', '40s');
	const url = (name: string, port = 8000): string => `http://${addresses.get(name) ?? ''}:${port}/`;
	const ask = async (from: string, to: string): Promise<string> => {
		const namespace = from === 'guest' ? ['-n', 'team'] : [];
		const {code, out, err} = await first.troupe([...namespace, 'exec', from, '--', process.execPath, '-e', asking, to]);
		// An agent that has just begun may not be heard yet.
		return code === 0 ? out.trim() : `not asked: ${err}`;
	};
	const askOn = (host: RoutedHost, to: string): string => host.run(process.execPath, '-e', asking, to).trim();
	const is = (from: string, to: string, wanted: RegExp): Promise<void> => untilAnswered(`${from} asks ${to}`, () => ask(from, to), wanted);
	const all = ['near', 'far', 'other', 'guest'];

	// Without a policy all is open; with one that names nobody, all but the own node is closed.
	for (const from of all) await is(from, url('web'), /^web$/);
	await hosts.apply(policy('web', {...web}));
	for (const from of all) await is(from, url('web'), none);
	t.is(askOn(n1, url('web')), 'web', 'its own node asks whether it is ready');
	await is('web', url('far'), /^far$/);

	// By the label of pods, on the same host and from another one; by that of a namespace.
	await hosts.apply(policy('friends', {...web, ingress: [{from: [friends]}]}));
	for (const from of ['near', 'far']) await is(from, url('web'), /^web$/);
	for (const from of ['other', 'guest']) await is(from, url('web'), none);
	await first.fine('label', 'pod', 'other', 'role=friend', '--overwrite');
	await is('other', url('web'), /^web$/);
	await first.fine('label', 'pod', 'other', 'role=stranger', '--overwrite');
	await is('other', url('web'), none);
	const team = {namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': 'team'}}};
	await hosts.apply(policy('team', {...web, ingress: [{from: [team]}]}));
	await is('guest', url('web'), /^web$/);
	await is('other', url('web'), none);
	await hosts.apply(policy('team', {...web, ingress: [{from: [{namespaceSelector: {matchLabels: {kind: 'team'}}}]}]}));
	await is('guest', url('web'), none);
	await first.fine('label', 'namespace', 'team', 'kind=team');
	await is('guest', url('web'), /^web$/);
	await first.fine('delete', 'networkpolicy', 'team', 'friends');
	await is('guest', url('web'), none);

	// By addresses, some of which are left out; by numbers and names of ports.
	const far = addresses.get('far') ?? '';
	const block = {cidr: far.replace(/\.\d+$/, '.0/24'), except: [`${far}/32`]};
	await hosts.apply(policy('some', {...web, ingress: [{from: [{ipBlock: block}], ports: [{port: 'http'}, {port: 8001, endPort: 8002}]}]}));
	for (const port of [8000, 8001, 8002]) await is('other', url('web', port), /^web$/);
	t.regex(await ask('other', url('web', 8005)), none);
	t.regex(await ask('far', url('web')), none);
	t.regex(await ask('near', url('web')), none);
	await hosts.apply(policy('some', {...web, ingress: [{from: [friends]}]}));
	await is('far', url('web'), /^web$/);

	// Another pod in its place, with another address, is covered from its first moment.
	await first.fine('delete', 'pod', 'web');
	await hosts.apply(pod('web', 'n1', {app: 'web'}));
	const before = url('web');
	addresses = await hosts.addresses('web', 'near', 'far', 'other');
	t.not(url('web'), before);
	t.regex(await ask('other', url('web')), none);
	await is('far', url('web'), /^web$/);

	// What a pod may reach: names, and what is named; not the rest, and not its node. From the first instruction of a new one on.
	const dns = {namespaceSelector: {}, podSelector: {matchLabels: {'k8s-app': 'kube-dns'}}};
	const ports = [{port: 53, protocol: 'UDP'}, {port: 53}];
	const closed = {podSelector: {matchLabels: {closed: 'yes'}}, policyTypes: ['Egress'], egress: [{to: [dns], ports}]};
	await hosts.apply(policy('closed', closed));
	const hasty = `const http = require('http'); setInterval(() => http.get('${url('near')}', () => console.log('through')).on('error', ({code}) => console.log(code)), 5)`;
	await hosts.apply(pod('hasty', 'n1', {closed: 'yes'}, hasty));
	await first.fine('label', 'pod', 'far', 'closed=yes');
	await is('far', url('web'), none);
	await is('far', url('other'), none);
	await is('far', `http://${hosts.all[2]?.address ?? ''}:8472/`, none);
	const lookup = `require('dns').promises.lookup('web').then(({address}) => console.log(address), ({code}) => console.log(code))`;
	t.is((await first.fine('exec', 'far', '--', process.execPath, '-e', lookup)).trim(), await clusterIPOf(first, 'web'));
	await hosts.apply(policy('closed', {...closed, egress: [...closed.egress, {to: [web], ports: [{port: 'http'}]}]}));
	await is('far', url('web'), /^web$/);
	t.regex(await ask('far', url('web', 8001)), none);
	t.is(await ask('other', url('far')), 'far', 'it is reached as before');
	// The kernel tells one sender no more often than once a second, after the first few times.
	await eventually('the hasty pod has tried', async () => (await first.fine('logs', 'hasty')).split('\n').length > 10);
	t.deepEqual([...new Set((await first.fine('logs', 'hasty')).trim().split('\n'))], ['EHOSTUNREACH']);

	// Through a Service the endpoint sees who asks, where rules of the kernel lead there.
	const node = JSON.parse(await first.fine('get', 'node', 'n2', '-o', 'json')) as NodeObject;
	if (node.status?.network?.services === 'nftables') {
		const service = `http://${await clusterIPOf(first, 'web')}/`;
		await is('far', service, /^web$/);
		await is('near', service, /^web$/);
		await is('other', service, none);
	}

	// The agent dies: nothing opens, neither then nor while the next one begins.
	process.kill(n1.home.endpoints().pid, 'SIGKILL');
	t.regex(await ask('other', url('web')), none);
	t.is(await ask('far', url('web')), 'web');
	const seen = new Set<string>();
	const begun = n1.begin().then(() => true);
	for (let isBegun = false; !isBegun; isBegun = await Promise.race([begun, Promise.resolve(false)]))
		seen.add(await ask('other', url('web')));
	t.deepEqual([...seen], ['none: EHOSTUNREACH']);
	await is('far', url('web'), /^web$/);

	const said = (await podOf(first, 'web')).status?.phase;
	t.is(said, 'Running');
	const {status} = JSON.parse(await first.fine('get', 'netpol', 'web', '-o', 'json')) as NetworkPolicy;
	t.like(status?.conditions?.[0], {type: 'Enforced', status: 'True'});

	// Without policies all is open again, and nothing of them is left.
	await first.fine('delete', 'networkpolicy', '--all');
	for (const from of all) await is(from, url('web'), /^web$/);
	await eventually('nothing of policies is left', () => !n1.run(nft, 'list', 'ruleset').includes('policies'));
});

test.serial('where pods share the network of their node a policy says that it is not enforced', async t => {
	t.timeout(300_000);
	const hosts = await openRoutedHosts(t, ['s', 'n1']);
	const [first, n1] = hosts.all as readonly [RoutedHost, RoutedHost];
	await n1.fine('down');
	await n1.fine('agent', '--detach', '--runtime=process', '--network=shared');
	await hosts.apply(answeringPod('a', 'n1'), policy('closed', {podSelector: {}}));
	const condition = async (): Promise<string> => first.fine('describe', 'networkpolicy', 'closed');
	await untilAnswered('it says so', condition, /Enforced +False +SharedNetwork +not enforced on node n1, where[^]*Warning +SharedNetwork/);
	await first.fine('delete', 'pod', 'a');
	await untilAnswered('it is enforced', condition, /Enforced +True/);
	t.pass();
});
