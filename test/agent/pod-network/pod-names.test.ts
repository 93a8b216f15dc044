// The resolv.conf and hosts of pods: whom each dnsPolicy leads to, and what dnsConfig adds, by the rules and within the bounds of Kubernetes.

import test from 'ava';
import type {PodDns} from '../../../actors/node/runtime/runtime-port.js';
import {hostsOf, podNamesOf, resolvConfOf, type NamesWish} from '../../../agent/pod-network/pod-names.js';

const host = '# of the host\nnameserver 127.0.0.53\nnameserver 192.0.2.1\nsearch corp.example\noptions edns0 ndots:2\n';

const dns = (policy: PodDns['policy'], rest: Partial<PodDns> = {}): PodDns => ({
	policy,
	nameservers: [],
	searches: [],
	options: [],
	...rest,
});

/** In a pod with a network of its own, unless something else is said. */
const confOf = (wish: Partial<NamesWish>, text = host): string | undefined => {
	const names = podNamesOf({namespace: 'shop', hostNetwork: false, seesLoopback: false, resolver: '169.254.1.1', ...wish}, text);
	return names === undefined ? undefined : resolvConfOf(names);
};

const cluster = 'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\noptions ndots:5\n';

test('the node is asked, for names of the namespace first', t => {
	t.is(confOf({}), `nameserver 169.254.1.1\n${cluster}`);
	t.is(
		confOf({}, '# nothing\nnameserver 192.0.2.1\n'),
		'nameserver 169.254.1.1\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n',
	);
});

test("of the host's domains the last line counts, and what is none is left out", t => {
	const text = 'domain old.example\nsearch a.example b.example\tx;y c.example d.example\n';
	t.regex(confOf({}, text) ?? '', / cluster\.local a\.example b\.example c\.example\n/);
});

test('in the network of the host ClusterFirst is whom the host asks, and ClusterFirstWithHostNet the cluster', t => {
	const onHost = {hostNetwork: true, seesLoopback: true, resolver: '127.53.1.2'};
	t.is(confOf(onHost), undefined);
	t.is(confOf({...onHost, dns: dns('ClusterFirst')}), undefined);
	t.is(confOf({...onHost, dns: dns('ClusterFirstWithHostNet')}), `nameserver 127.53.1.2\n${cluster}`);
	t.is(confOf({dns: dns('ClusterFirstWithHostNet')}), `nameserver 169.254.1.1\n${cluster}`);
});

test('a pod for which the cluster has no resolver asks whom its host asks, and so does one with Default', t => {
	t.is(confOf({resolver: undefined}), undefined);
	t.is(confOf({resolver: undefined, dns: dns('ClusterFirstWithHostNet')}), undefined);
	t.is(confOf({dns: dns('Default')}), undefined);
});

test("what dnsConfig says comes behind; an option is the pod's where both have it; nothing is there twice", t => {
	const added = {
		nameservers: ['192.0.2.9', '169.254.1.1'],
		searches: ['corp.example', 'my.example'],
		options: ['ndots:1', 'timeout:2', 'rotate'],
	};
	t.is(
		confOf({dns: dns('ClusterFirst', added)}),
		'nameserver 169.254.1.1\nnameserver 192.0.2.9\n' +
			'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example my.example\noptions ndots:1 timeout:2 rotate\n',
	);
	t.is(
		confOf({dns: dns('None', added)}),
		'nameserver 192.0.2.9\nnameserver 169.254.1.1\nsearch corp.example my.example\noptions ndots:1 timeout:2 rotate\n',
	);
	t.is(confOf({dns: dns('None', {nameservers: ['2001:db8::1']})}), 'nameserver 2001:db8::1\n');
});

test('what Default adds to is what the host has, but for servers that are not there in another network', t => {
	const added = dns('Default', {searches: ['my.example']});
	const rest = 'search corp.example my.example\noptions edns0 ndots:2\n';
	t.is(confOf({dns: added}), `nameserver 192.0.2.1\n${rest}`);
	t.is(confOf({dns: added, seesLoopback: true}), `nameserver 127.0.0.53\nnameserver 192.0.2.1\n${rest}`);
});

test('no more is written than a resolv.conf may have, from the first', t => {
	const many = (count: number, name: string): string[] => Array.from({length: count}, (_each, i) => `${name}${i}`);
	const lines = (confOf({dns: dns('ClusterFirst', {nameservers: many(3, '192.0.2.1'), searches: many(32, 'd')})}) ?? '').split('\n');
	t.deepEqual(
		lines.slice(0, 3),
		['169.254.1.1', '192.0.2.10', '192.0.2.11'].map(server => `nameserver ${server}`),
	);
	t.is(lines[3]?.split(' ').length, 33);
	const long = `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(60)}`;
	const [, searched = ''] = (confOf({dns: dns('None', {searches: many(10, `${long}.d`)})}) ?? '').split('search ');
	t.true(searched.trim().length <= 2_048 && searched.split(' ').length === 8, searched);
});

test('names of hosts come behind those of the host itself', t => {
	const aliases = [
		{ip: '10.1.2.3', hostnames: ['db', 'db.example']},
		{ip: '10.1.2.4', hostnames: []},
	];
	t.is(hostsOf('127.0.0.1\tlocalhost\n\n', aliases), '127.0.0.1\tlocalhost\n\n# hostAliases of the pod\n10.1.2.3\tdb\tdb.example\n');
});
