// The network that pods get when nobody says which: their own on a host whose agent is root, beside what else of Troupe is on that host, and beside pods
// that have that of the host. What was made for them goes with them, and the host is as it was.

import {execFileSync} from 'node:child_process';
import {readFileSync, readdirSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {pidOf} from '../../bench/rigs/cluster/pods.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {layNetwork, type Network} from '../../bench/rigs/fleet/network.js';
import {namesOfHome} from '../../cli/serving/node/pod-network.js';
import {homeOf} from '../../cli/files/home.js';
import {
	asking,
	answeringPod,
	askedOn,
	clusterIPOf,
	hostOf,
	leftOn,
	nft,
	podOf,
	untilAnswered,
	type RoutedHost,
} from '../../bench/rigs/fleet/routed-hosts.js';

const service = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name: 'answers'},
	spec: {selector: {app: 'answers'}, ports: [{port: 80, targetPort: 8000}]},
};

const free = ['--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];
const common = ['--detach', '--runtime=process', '--router=off'];

let count = 0;

/** A host of its own, whose programs find a way to any address, and which passes nothing on, whatever that of the tests does. */
function openHost(t: ExecutionContext): Network {
	const name = `td${process.pid}${count++}`;
	const network = layNetwork(t, name, ['h']);
	const [enter = '', ...words] = network.on('h');
	execFileSync(enter, [...words, 'sh', '-c', 'echo 0 > /proc/sys/net/ipv4/ip_forward']);
	execFileSync('ip', ['-n', `${name}h`, 'route', 'add', 'default', 'via', '100.64.0.200', 'dev', 'eth0']);
	return network;
}

async function apply({troupe}: RoutedHost, ...objects: readonly object[]): Promise<void> {
	const {code, err} = await troupe(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n'));
	if (code !== 0) throw new Error(err);
}

/** Once they are ready. */
async function addressesOf({fine}: RoutedHost, ...pods: readonly string[]): Promise<readonly string[]> {
	await fine('wait', ...pods.map(pod => `pod/${pod}`), '--for', 'condition=Ready', '--timeout', '60s');
	return Promise.all(pods.map(async pod => (await podOf({fine}, pod)).status?.podIP ?? ''));
}

const askedFrom = async ({fine}: RoutedHost, pod: string, url: string): Promise<string> =>
	(await fine('exec', pod, '--', process.execPath, '-e', asking, url)).trim();

const forwards = (host: RoutedHost): boolean => host.run('cat', '/proc/sys/net/ipv4/ip_forward').trim() === '1';

/** Of any home: what `leftOn` looks for, what is in iptables, and namespaces of this home. */
const leftOf = (host: RoutedHost, namespaces: string): readonly string[] => [
	...leftOn(host),
	...(host.run('iptables', '--list-rules').match(/TROUPE.*/g) ?? []),
	...readdirSync('/run/netns').filter(name => name.startsWith(namespaces)),
	...(forwards(host) ? ['ip_forward'] : []),
];

const namespacesOf = ({home}: RoutedHost): string => namesOfHome(homeOf(home.home).network).namespaces;

const subnetOf = (address: string): string => address.split('.').slice(0, 3).join('.');

test('two clusters of one host have different subnets, Services and names; one that goes leaves the other whole, and the last one nothing', async t => {
	t.timeout(180_000);
	const network = openHost(t);
	const [a, b] = [hostOf(t, network, 'h'), hostOf(t, network, 'h')];
	const said = await a.fine('up', ...common, ...free, '--node=a');
	t.regex(said, /^ {2}net {4}routed: pods have a network of their own; this host passes on packets for it \(net\.ipv4\.ip_forward\)$/m);
	await b.fine('up', ...common, ...free, '--node=b');
	await apply(a, service, answeringPod('a', 'a'));
	await apply(b, service, answeringPod('b', 'b'));
	const [ofA = ''] = await addressesOf(a, 'a');
	const [ofB = ''] = await addressesOf(b, 'b');
	t.true(ofA.startsWith('10.244.') && ofB.startsWith('10.244.'), `${ofA} ${ofB}`);
	t.not(subnetOf(ofA), subnetOf(ofB));
	const serves = async (host: RoutedHost, pod: string): Promise<void> => {
		const clusterIP = await clusterIPOf(host, 'answers');
		await untilAnswered(
			`the Service of ${pod} answers the host`,
			() => Promise.resolve(askedOn(host, `http://${clusterIP}/`)),
			new RegExp(`^${pod} `),
		);
		await untilAnswered(`it answers its pod by its name`, () => askedFrom(host, pod, 'http://answers/'), new RegExp(`^${pod} `));
	};
	await serves(a, 'a');
	await serves(b, 'b');

	const [ofHomeA, ofHomeB] = [namesOfHome(homeOf(a.home.home).network), namesOfHome(homeOf(b.home.home).network)];
	await a.fine('uninstall', '--yes');
	t.true(forwards(b), 'the host passes on packets for the other');
	const all = [
		b.run('ip', 'address'),
		b.run(nft, 'list', 'tables'),
		b.run('iptables', '--list-rules'),
		readdirSync('/run/netns').join(),
	].join('\n');
	for (const name of [ofHomeA.links, ofHomeA.label, ofHomeA.table, ofHomeA.offTable, ofHomeA.chain, ofHomeA.namespaces])
		t.false(all.includes(name), name);
	await serves(b, 'b');
	t.regex(askedOn(b, `http://${ofB}:8000/`), /^b /);
	await b.fine('down', '--pods');
	t.deepEqual(leftOf(b, ofHomeB.namespaces), []);
	await b.fine('up', ...common, ...free, '--node=b');
	await serves(b, 'b');
	t.notRegex(await b.fine('events'), /SandboxFailed/, 'the node has its address before its pods need it');
	await b.fine('down', '--pods');
});

test('agents of one machine that joined over loopback: their pods reach each other and are seen as who they are, and no way to them is missed', async t => {
	t.timeout(180_000);
	const network = openHost(t);
	const [server, one, two] = [hostOf(t, network, 'h'), hostOf(t, network, 'h'), hostOf(t, network, 'h')];
	const api = '127.0.0.1:6443';
	await server.fine('server', '--detach', `--api=${api}`, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0');
	const token = (await server.fine('token', 'create', '--join')).trim();
	for (const [host, node] of [
		[one, 'one'],
		[two, 'two'],
	] as const)
		t.regex(await host.fine('agent', ...common, `--join=https://${api}`, `--token=${token}`, `--node=${node}`), /^ {2}net {4}routed: /m);
	await apply(server, service, answeringPod('a', 'one'), answeringPod('b', 'two'));
	const [ofA = '', ofB = ''] = await addressesOf(server, 'a', 'b');
	t.not(subnetOf(ofA), subnetOf(ofB));
	for (const [from, own, to, address] of [
		['a', ofA, 'b', ofB],
		['b', ofB, 'a', ofA],
	] as const)
		await untilAnswered(
			`${to} answers ${from}`,
			() => askedFrom(server, from, `http://${address}:8000/`),
			new RegExp(`^${to} (::ffff:)?${own}$`),
		);
	const met = new Set<string>();
	await eventually(
		'the Service leads to pods of both',
		async () => {
			met.add((await askedFrom(server, 'a', 'http://answers/')).slice(0, 1));
			return met.has('a') && met.has('b');
		},
		() => [...met].join(),
		60_000,
	);
	const nodes = await server.fine('get', 'nodes', '-o', 'json');
	t.notRegex(nodes, /the network of pods:/);
	const namespaces = [one, two].map(namespacesOf);
	for (const host of [one, two]) await host.fine('uninstall', '--yes');
	t.deepEqual(
		namespaces.flatMap(each => leftOf(one, each)),
		[],
	);
});

test('pods that run keep process, address and network when new ones get another, there and back, and a Service leads to all of them', async t => {
	t.timeout(240_000);
	const network = openHost(t);
	const host = hostOf(t, network, 'h');
	const up = (...flags: readonly string[]): Promise<string> => host.fine('up', ...common, ...free, '--node=n', ...flags);
	const restart = async (...flags: readonly string[]): Promise<void> => {
		const {pid} = host.home.endpoints();
		process.kill(pid, 'SIGKILL');
		await up(...flags);
	};
	const look = async (...pods: readonly string[]): Promise<readonly unknown[]> =>
		Promise.all(
			pods.map(async name => {
				const {status} = await podOf(host, name);
				const [container] = status?.containerStatuses ?? [];
				return [name, status?.podIP, container?.containerID, container?.restartCount];
			}),
		);
	const meets = async (label: string, ask: () => Promise<string>, pods: readonly string[]): Promise<void> => {
		const met = new Set<string>();
		await eventually(
			label,
			async () => {
				met.add((await ask()).split(' ')[0] ?? '');
				return pods.every(pod => met.has(pod));
			},
			() => [...met].join(),
			60_000,
		);
	};

	t.regex(await up('--network=shared'), /^ {2}net {4}shared: pods have the network of this host$/m);
	// Each at an address of its own, since they share all ports.
	const bound = (name: string): object => {
		const pod = answeringPod(name, 'n') as {readonly spec: {readonly containers: readonly [{readonly command: readonly string[]}]}};
		const [container] = pod.spec.containers;
		const [node = '', flag = '', text = ''] = container.command;
		return {
			...pod,
			spec: {...pod.spec, containers: [{...container, command: [node, flag, text.replace('8000', '8000, process.env.POD_IP')]}]},
		};
	};
	await apply(host, service, bound('old'));
	const [ofOld = ''] = await addressesOf(host, 'old');
	t.regex(ofOld, /^127\./);
	const before = await look('old');
	await restart();
	await apply(host, bound('new'));
	const [ofNew = ''] = await addressesOf(host, 'new');
	t.regex(ofNew, /^10\.244\./);
	t.deepEqual(await look('old'), before);
	const clusterIP = await clusterIPOf(host, 'answers');
	const fromHost = (): Promise<string> => Promise.resolve(askedOn(host, `http://${clusterIP}/`));
	await meets('the host meets both', fromHost, ['old', 'new']);
	await meets('a pod with a network meets both', () => askedFrom(host, 'new', 'http://answers/'), ['old', 'new']);
	t.is(await askedFrom(host, 'new', `http://${ofOld}:8000/`), 'none: ECONNREFUSED', 'the loopback of a pod is its own');

	const both = await look('old', 'new');
	await restart('--network=shared');
	await apply(host, bound('newest'));
	const [ofNewest = ''] = await addressesOf(host, 'newest');
	t.regex(ofNewest, /^127\./);
	t.deepEqual(await look('old', 'new'), both);
	await meets('the host meets all', fromHost, ['old', 'new', 'newest']);
	await meets('by its name, too', () => askedFrom(host, 'new', 'http://answers/'), ['old', 'new', 'newest']);
	// A program that begins again is where it was.
	process.kill(pidOf(await podOf(host, 'new')) ?? 0, 'SIGKILL');
	await eventually(
		'it runs again',
		async () => ((await podOf(host, 'new')).status?.containerStatuses?.[0]?.restartCount ?? 0) === 1,
		undefined,
		30_000,
	);
	t.deepEqual(await addressesOf(host, 'new'), [ofNew]);
	t.regex(askedOn(host, `http://${ofNew}:8000/`), /^new /);

	const namespaces = namespacesOf(host);
	await host.fine('delete', 'pod', 'new');
	await eventually('it is gone', async () => (await host.troupe(['get', 'pod', 'new'])).code !== 0, undefined, 30_000);
	await restart('--network=shared');
	t.deepEqual(leftOf(host, namespaces), [], 'nothing is kept for pods that are gone');
	t.deepEqual(await addressesOf(host, 'old', 'newest'), [ofOld, ofNewest]);
});

test('nothing is left by a cluster that is killed while it makes pods', async t => {
	t.timeout(180_000);
	const network = openHost(t);
	const host = hostOf(t, network, 'h');
	const names = Array.from({length: 12}, (_, at) => `p${at}`);
	for (const [round, end] of [
		['down', '--pods'],
		['uninstall', '--yes'],
	].entries()) {
		await host.fine('up', ...common, ...free, '--node=n');
		const namespaces = namespacesOf(host);
		await apply(host, ...names.map(name => answeringPod(`${name}-${round}`, 'n')));
		await eventually(
			'some are made',
			() => readdirSync('/run/netns').filter(name => name.startsWith(namespaces)).length > 2,
			undefined,
			30_000,
		);
		process.kill(host.home.endpoints().pid, 'SIGKILL');
		t.true(readdirSync('/run/netns').some(name => name.startsWith(namespaces)));
		await host.fine(...end);
		t.deepEqual(leftOf(host, namespaces), [], end.join(' '));
	}
	t.throws(() => readFileSync(homeOf(host.home.home).network));
});

test('nothing is left by a cluster that was ended by a signal, and whose pods ran on', async t => {
	t.timeout(180_000);
	const network = openHost(t);
	const host = hostOf(t, network, 'h');
	for (const [round, end] of [
		['down', '--pods'],
		['uninstall', '--yes'],
	].entries()) {
		await host.fine('up', ...common, ...free, '--node=n');
		const namespaces = namespacesOf(host);
		const pod = `a${round}`;
		await apply(host, service, answeringPod(pod, 'n'));
		const [address = ''] = await addressesOf(host, pod);
		t.regex(await host.fine('down'), /pods run on/);
		t.regex(askedOn(host, `http://${address}:8000/`), new RegExp(`^${pod} `));
		t.regex(await host.fine(...end), /[12] programs? of pods stopped/);
		t.deepEqual(leftOf(host, namespaces), [], end.join(' '));
	}
});
