// The table of nftables for pods, and the lines for ip(8) and bridge(8), as texts: what is in them, and that nothing of a pod's is taken for more.

import test from 'ava';
import {parseSubnet, type Subnet} from '../../../api/ipv4.js';
import {cableLines, insideLines} from '../../../agent/pod-network/link-commands.js';
import {linkOf, namesOf, nodeAddress, overlayMac, podOf, namespaceOf} from '../../../agent/pod-network/names.js';
import {noWays, wayLines, waysTo} from '../../../agent/pod-network/peers.js';
import {chainText, rulesText} from '../../../agent/pod-network/rules.js';

const names = namesOf('/var/lib/troupe/data/network');
const subnet = (text: string): Subnet => parseSubnet(text) ?? {first: 0, size: 0};
const own = subnet('10.244.3.0/24');

test('names fit the kernel, and are of one agent', t => {
	t.true([linkOf(names, '10.244.255.254'), names.overlay].every(name => name.length <= 15));
	t.true(`TROUPE-PODS-${'x'.repeat(4)}`.length <= 28 && names.chain.length <= 28, 'as iptables has it');
	t.notDeepEqual(namesOf('/home/another'), names);
	t.is(podOf(names, namespaceOf(names, 'a-uid')), 'a-uid');
	t.is(podOf(namesOf('/home/another'), namespaceOf(names, 'a-uid')), undefined);
	t.not(linkOf(names, '10.244.3.7'), linkOf(names, '10.244.4.7'));
});

test('ports of the host lead to a pod, and its resolver is found where pods send everything', t => {
	const pods = [
		{
			uid: 'u',
			address: '10.244.3.7',
			hostPorts: [
				{containerPort: 80, hostPort: 8080, hostIP: undefined, protocol: 'TCP'},
				{containerPort: 53, hostPort: 53, hostIP: '192.0.2.1', protocol: 'UDP'},
			],
		},
	] as const;
	const text = rulesText(names, {
		subnet: '10.244.3.0/24',
		subnets: ['10.244.3.0/24', '10.244.4.0/24'],
		pods,
		doors: [{protocol: 'udp', port: 53, at: {host: '127.0.0.1', port: 8053}}],
		policies: [],
	});
	t.true(text.includes(`\t\tip daddr ${names.resolver} udp dport 53 dnat ip to 127.0.0.1:8053\n`), 'programs of the host find it, too');
	t.regex(text, /^\t\tiifname "\S+\*" ip daddr 169\.254\.1\.1 udp dport 53 dnat ip to 127\.0\.0\.1:8053$/m);
	t.regex(text, /^\t\tmeta nfproto ipv4 meta l4proto tcp th dport 8080 dnat ip to 10\.244\.3\.7:80$/m);
	t.regex(text, /^\t\tip daddr 192\.0\.2\.1 meta nfproto ipv4 meta l4proto udp th dport 53 dnat ip to 10\.244\.3\.7:53$/m);
	t.true(text.includes(`set ends { type ifname . ipv4_addr; elements = { "${linkOf(names, '10.244.3.7')}" . 10.244.3.7 }; }`));
	t.is(text.split('\n').filter(line => line.includes('127.0.0.0/8 drop')).length, 1);
	const empty = rulesText(names, {subnet: undefined, subnets: [], pods: [], doors: [], policies: []});
	t.deepEqual(
		empty.split('\n').filter(line => line.includes('elements')),
		[],
	);
});

test('the chain of iptables lets through what is of pods, and nothing else', t => {
	t.deepEqual(
		chainText(names)
			.split('\n')
			.filter(line => line.startsWith('-A')),
		[`-A ${names.chain} -i ${names.links}+ -j ACCEPT`, `-A ${names.chain} -o ${names.links}+ -j ACCEPT`],
	);
});

test('a pod gets one address, and a way by the host', t => {
	const link = {uid: 'u', address: '10.244.3.7', mtu: 1_450, from: nodeAddress(own)};
	const [namespace, cable, up, route] = cableLines(names, link, undefined);
	t.regex(namespace ?? '', /^netns add troupe-[0-9a-f]{4}-u$/);
	t.regex(cableLines(names, link, 7)[0] ?? '', /^netns attach troupe-[0-9a-f]{4}-u 7$/);
	t.regex(cable ?? '', /mtu 1450 .* type veth peer name eth0 mtu 1450 netns troupe-[0-9a-f]{4}-u$/);
	t.is(up, `link set ${linkOf(names, link.address)} up`);
	t.regex(route ?? '', /^route replace 10\.244\.3\.7\/32 dev \S+ scope link src 10\.244\.3\.0 proto \d+$/);
	t.true(insideLines(link).includes('address add 10.244.3.7/32 dev eth0'));
});

test('ways follow nodes; one whose subnet is taken has none', t => {
	const peers = [
		{subnet: subnet('10.244.4.0/24'), address: '192.0.2.4'},
		{subnet: subnet('10.244.4.0/24'), address: '192.0.2.5'},
		{subnet: subnet('10.244.3.0/24'), address: '192.0.2.6'},
	];
	const over = waysTo('vxlan', own, peers);
	t.deepEqual([...over.routes], [['10.244.4.0/24', 'via 10.244.4.0']]);
	t.deepEqual([...over.ends], [[overlayMac(subnet('10.244.4.0/24')), '192.0.2.4']]);
	t.deepEqual([...waysTo('host-gw', own, peers).routes], [['10.244.4.0/24', 'via 192.0.2.4']]);
	t.deepEqual(waysTo('none', own, peers), noWays);

	const {ip, bridge} = wayLines(names, 'vxlan', own, waysTo('vxlan', own, []), over);
	t.deepEqual(ip, [`route del 10.244.4.0/24 proto ${names.protocol}`, `neighbour del 10.244.4.0 dev ${names.overlay}`]);
	t.is(bridge.length, 1);
	t.regex(
		wayLines(names, 'vxlan', own, over, noWays).ip.join('\n'),
		/route replace 10\.244\.4\.0\/24 via 10\.244\.4\.0 dev \S+ onlink src 10\.244\.3\.0/,
	);
	t.regex(
		wayLines(names, 'host-gw', own, waysTo('host-gw', own, peers), noWays).ip.join('\n'),
		/^route replace 10\.244\.4\.0\/24 via 192\.0\.2\.4 proto \d+$/,
	);
});

test('the MAC of an overlay is one of no maker, and of its subnet alone', t => {
	t.is(overlayMac(own), '0e:54:0a:f4:03:00');
	t.is(Number.parseInt(overlayMac(own).slice(0, 2), 16) & 3, 2, 'locally administered, of one station');
});
