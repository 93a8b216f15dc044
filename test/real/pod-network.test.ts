// Pods with networks of their own on three hosts: they reach each other, Services and what is outside, see who asks, and lose nothing by deaths of
// agents; what is made for them in a host's network goes with them.

import {execFileSync} from 'node:child_process';
import {readdirSync, realpathSync} from 'node:fs';
import test from 'ava';
import {namesOf, namespaceOf} from '../../agent/pod-network/names.js';
import {homeOf} from '../../cli/files/home.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {
	answeringPod,
	askedFrom,
	askedOn,
	clusterIPOf,
	leftOn,
	nft,
	openRoutedHosts,
	podOf,
	strangerOn,
	untilAnswered,
	type RoutedHost,
} from '../../bench/rigs/fleet/routed-hosts.js';

const service = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name: 'answers'},
	spec: {selector: {app: 'answers'}, ports: [{port: 80, targetPort: 8000}]},
};

/** Of pods of these hosts: the machine may have others. */
const namespacesOfPods = (hosts: readonly RoutedHost[]): readonly string[] => {
	const own = hosts.map(({home}) => namesOf(realpathSync(homeOf(home.home).network)).namespaces);
	return readdirSync('/run/netns').filter(name => own.some(prefix => name.startsWith(prefix)));
};

for (const overlay of ['vxlan', 'host-gw'] as const)
	test.serial(`three hosts over ${overlay}: pods reach pods of all hosts, Services and the host, and are seen as who they are`, async t => {
		t.timeout(150_000);
		const hosts = await openRoutedHosts(t, ['s', 'n1', 'n2'], `--overlay=${overlay}`);
		const {first, all, network} = hosts;
		const [s, n1, n2] = all;
		if (s === undefined || n1 === undefined || n2 === undefined) return t.fail();
		await hosts.apply(service, answeringPod('a', 's'), answeringPod('b', 'n1'), answeringPod('c', 'n2', {hostPort: 18_080}));
		const addresses = await hosts.addresses('a', 'b', 'c');
		t.is(new Set([...addresses.values()].map(address => address.split('.').slice(0, 3).join('.'))).size, 3, 'a subnet for each node');
		t.true([...addresses.values()].every(address => address.startsWith('10.244.')));
		t.is((await podOf(first, 'b')).status?.hostIP, n1.address);

		for (const from of addresses.keys())
			for (const [to, address] of addresses)
				await untilAnswered(
					`${to} answers ${from}`,
					() => askedFrom(hosts, from, `http://${address}:8000/`),
					new RegExp(`^${to} (::ffff:)?${addresses.get(from) ?? ''}$`),
				);
		const clusterIP = await clusterIPOf(first, 'answers');
		for (const from of addresses.keys())
			await untilAnswered(`the Service answers ${from}`, () => askedFrom(hosts, from, `http://${clusterIP}/`), /^[abc] /);
		t.regex(await first.fine('exec', 'b', '--', 'env'), new RegExp(`ANSWERS_SERVICE_HOST=${clusterIP.replaceAll('.', '\\.')}\n`));

		// By name, too, in pods; and from the host for itself.
		t.regex(await askedFrom(hosts, 'b', 'http://answers/'), /^[abc] /);
		t.regex(await askedFrom(hosts, 'c', 'http://answers.default.svc.cluster.local/'), /^[abc] /);
		t.regex(await askedFrom(hosts, 'c', 'http://nosuch.default.svc.cluster.local/'), /^none: (ENOTFOUND|EAI_AGAIN)$/);
		t.regex(
			await first.fine('exec', 'b', '--', 'cat', '/etc/resolv.conf'),
			/^nameserver 169\.254\.1\.1\nsearch default\.svc\.cluster\.local /,
		);

		// The host's own programs reach pods of all hosts, and its ports lead to the pod that has them.
		t.regex(askedOn(s, `http://${addresses.get('b') ?? ''}:8000/`), /^b /);
		t.regex(askedOn(s, `http://${n2.address}:18080/`), /^c /);
		t.regex(askedOn(n2, 'http://127.0.0.1:18080/'), /^c /);

		// What leaves the cluster has the address of the node; loopback of the host is nobody's but the host's.
		await strangerOn(t, network, 's', s.address, 9_000);
		t.regex(
			await askedFrom(hosts, 'b', `http://${s.address}:9000/`),
			new RegExp(`stranger (::ffff:)?${n1.address.replaceAll('.', '\\.')}$`),
		);
		await strangerOn(t, network, 's', '127.0.0.1', 9_001);
		t.is(askedOn(s, 'http://127.0.0.1:9001/'), 'stranger 127.0.0.1');
		t.regex(await askedFrom(hosts, 'a', 'http://127.0.0.1:9001/'), /^none: /);

		// The agent dies: its pods go on, and are as they were under the next one.
		process.kill(n1.home.endpoints().pid, 'SIGKILL');
		t.regex(askedOn(s, `http://${addresses.get('b') ?? ''}:8000/`), /^b /);
		// As if it had died while it made one.
		const stray = namespaceOf(namesOf(realpathSync(homeOf(n1.home.home).network)), 'stray');
		execFileSync('ip', ['netns', 'add', stray]);
		await n1.begin();
		t.false(namespacesOfPods(hosts.all).includes(stray));
		t.deepEqual(await hosts.addresses('a', 'b', 'c'), addresses);
		t.regex(await askedFrom(hosts, 'c', `http://${addresses.get('b') ?? ''}:8000/`), /^b /);
		t.is((await podOf(first, 'b')).status?.containerStatuses?.[0]?.restartCount, 0);

		// Other programs empty tables: what was there is there again.
		n1.run(nft, 'flush', 'ruleset');
		await eventually('the rules are there again', () => n1.run(nft, 'list', 'tables').includes('troupe-pods'), undefined, 30_000);

		// A node that goes takes the way to its pods along.
		const subnetOf = (pod: string): string => (addresses.get(pod) ?? '').replace(/\.\d+$/, '.0/24');
		t.true(s.run('ip', 'route').includes(subnetOf('c')));
		await n2.fine('down', '--pods');
		t.deepEqual(leftOn(n2), []);
		await first.fine('delete', 'node', 'n2');
		await eventually(
			'no way leads there any more',
			() => !s.run('ip', 'route').includes(subnetOf('c')),
			() => s.run('ip', 'route'),
			30_000,
		);

		for (const host of [n1, s]) {
			await host.fine('down', '--pods');
			t.deepEqual(leftOn(host), [], host.name);
		}
		t.deepEqual(namespacesOfPods(hosts.all), []);
	});
