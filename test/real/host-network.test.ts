// Pods of class process in the network of their host, among others that have networks of their own, on two hosts: Services lead to them, they are where the
// host is, and whom pods ask for names is what each of them says.

import {readFileSync} from 'node:fs';
import test from 'ava';
import {localAddressOf} from '../../actors/node/network/local-address.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import {
	answeringPod,
	askedFrom,
	askedOn,
	clusterIPOf,
	leftOn,
	openRoutedHosts,
	podOf,
	untilAnswered,
} from '../../bench/rigs/fleet/routed-hosts.js';

const service = (name: string, rest: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {selector: {app: 'answers'}, ports: [{port: 80, targetPort: 8000}], ...rest},
});

/** As `answeringPod`, with more in its spec. */
const answering = (name: string, node: string, rest: Partial<PodSpec>): object => {
	const pod = answeringPod(name, node) as {readonly spec: object};
	return {...pod, spec: {...pod.spec, ...rest}};
};

const waiting = (name: string, node: string, rest: Partial<PodSpec>): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {
		runtimeClassName: 'process',
		nodeSelector: {'kubernetes.io/hostname': node},
		terminationGracePeriodSeconds: 0,
		containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}],
		...rest,
	},
});

test.serial('a pod in the network of its host is where the host is, and Services lead to it from all hosts', async t => {
	t.timeout(240_000);
	const hosts = await openRoutedHosts(t, ['s', 'n1'], '--allow-privileged');
	const {first, all} = hosts;
	const [s, n1] = all;
	if (s === undefined || n1 === undefined) return t.fail();
	await hosts.apply(
		service('answers'),
		service('peers', {clusterIP: 'None'}),
		answering('a', 'n1', {hostNetwork: true, hostname: 'second', subdomain: 'peers'}),
		answering('b', 's', {hostname: 'first', subdomain: 'peers'}),
		waiting('c', 'n1', {hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet'}),
		waiting('d', 's', {
			dnsPolicy: 'None',
			dnsConfig: {nameservers: ['169.254.1.1'], searches: ['svc.cluster.local'], options: [{name: 'ndots', value: '3'}]},
			hostAliases: [{ip: '192.0.2.9', hostnames: ['me.example']}],
		}),
		waiting('e', 's', {dnsConfig: {searches: ['my.example'], options: [{name: 'ndots', value: '2'}]}}),
	);
	const addresses = await hosts.addresses('a', 'b', 'c', 'd', 'e');
	t.is(addresses.get('a'), n1.address);
	t.is(addresses.get('c'), n1.address);
	t.regex(addresses.get('b') ?? '', /^10\.244\./);
	const {spec, status} = await podOf(first, 'a');
	t.is(status?.hostIP, n1.address);
	t.is(spec?.containers[0]?.ports?.[0]?.hostPort, 8_000);
	t.is((await first.fine('exec', 'a', '--', 'readlink', '/proc/self/ns/net')).trim(), n1.run('readlink', '/proc/self/ns/net').trim());

	// Found by its host's address, by Services, and by names, from both hosts and from both networks.
	t.regex(await askedFrom(hosts, 'b', `http://${n1.address}:8000/`), /^a /);
	const clusterIP = await clusterIPOf(first, 'answers');
	const local = localAddressOf(clusterIP) ?? '';
	for (const who of ['a', 'b']) {
		await untilAnswered(`${who} answers a pod`, () => askedFrom(hosts, 'b', `http://${clusterIP}/`), new RegExp(`^${who} `));
		for (const host of [s, n1])
			await untilAnswered(`${who} answers ${host.name}`, () => Promise.resolve(askedOn(host, `http://${local}/`)), new RegExp(`^${who} `));
	}
	t.regex(await askedFrom(hosts, 'd', 'http://second.peers.default:8000/'), /^a /);
	t.regex(await askedFrom(hosts, 'd', 'http://first.peers.default:8000/'), /^b /);

	// Its port is taken on that host, for all who want it there.
	await hosts.apply(
		waiting('late', 'n1', {hostNetwork: true, containers: [{name: 'c', image: 'x', command: ['true'], ports: [{containerPort: 8_000}]}]}),
	);
	await untilAnswered('it waits for the port', () => first.fine('describe', 'pod', 'late'), /port.*8000|8000.*port/i);

	// Whom each asks for names.
	const resolvConf = (pod: string): Promise<string> => first.fine('exec', pod, '--', 'cat', '/etc/resolv.conf');
	t.is(await resolvConf('a'), readFileSync('/etc/resolv.conf', 'utf8'));
	t.regex(await resolvConf('c'), /^nameserver 127\.(?:3[2-9]|[45]\d|6[0-3])\.\d+\.\d+\nsearch default\.svc\.cluster\.local /);
	t.is(await resolvConf('d'), 'nameserver 169.254.1.1\nsearch svc.cluster.local\noptions ndots:3\n');
	t.regex(await resolvConf('e'), /^nameserver 169\.254\.1\.1\nsearch default\.svc\.cluster\.local .* my\.example\noptions ndots:2\n$/);
	t.regex(await askedFrom(hosts, 'c', 'http://answers/'), /^[ab] /);
	t.regex(await askedFrom(hosts, 'c', 'http://nosuch/'), /^none: (ENOTFOUND|EAI_AGAIN)$/);
	t.regex(await first.fine('exec', 'd', '--', 'getent', 'hosts', 'me.example'), /^192\.0\.2\.9 /);

	// The agent dies: all is as it was under the next one.
	process.kill(n1.home.endpoints().pid, 'SIGKILL');
	t.regex(askedOn(s, `http://${n1.address}:8000/`), /^a /);
	await n1.begin();
	t.deepEqual(await hosts.addresses('a', 'b', 'c', 'd', 'e'), addresses);
	t.is((await podOf(first, 'a')).status?.containerStatuses?.[0]?.restartCount, 0);
	await untilAnswered('the Service still leads to it', () => askedFrom(hosts, 'b', `http://${clusterIP}/`), /^a /);

	for (const host of [n1, s]) {
		await host.fine('down', '--pods');
		t.deepEqual(leftOn(host), [], host.name);
	}
});

test.serial('without leave a node with networks for pods takes no such pod, and says why', async t => {
	t.timeout(120_000);
	const hosts = await openRoutedHosts(t, ['s']);
	const {first} = hosts;
	await hosts.apply(waiting('a', 's', {hostNetwork: true}), answering('b', 's', {hostNetwork: true}));
	await untilAnswered(
		'no node is found for it',
		() => first.fine('describe', 'pod', 'a'),
		/s: lacks hostNetwork \(where pods have networks of their own, that of the node needs an agent with --allow-privileged\)/,
	);
	await untilAnswered(
		'a node that it names refuses it',
		() => first.fine('describe', 'pod', 'b'),
		/it asks for hostNetwork, and this node does not allow that \(--allow-privileged\)/,
	);
	t.is((await podOf(first, 'b')).status?.podIP, undefined);
});
