// The table of nftables of a node's Services as text: what leads where, and that a change says what has changed and nothing else.

import test from 'ava';
import {partOf} from '../../../agent/network/nftables/served-rules.js';
import {forgetWords, staleFlows} from '../../../agent/network/nftables/stale-flows.js';
import {changeText, noContent, tableText, type Content} from '../../../agent/network/nftables/table.js';
import type {EndpointPlace, ServedPort} from '../../../agent/network/services/served-port.js';
import {namesOf} from '../../../agent/pod-network/names.js';
import {limits} from '../../../api/limits.js';

const names = namesOf('/var/lib/troupe/data/network');

const endpoints = (...lasts: readonly number[]): readonly EndpointPlace[] =>
	lasts.map(last => ({address: `10.244.1.${last}`, port: 8_000}));

function aPort(used: readonly EndpointPlace[], rest: Partial<ServedPort> = {}): ServedPort {
	return {
		key: 'default/web/TCP/80',
		namespace: 'default',
		service: 'web',
		protocol: 'TCP',
		places: [
			{kind: 'cluster', address: '10.96.0.1', port: 80},
			{kind: 'external', address: '192.0.2.1', port: 80},
			{kind: 'node', address: undefined, port: 30_080},
		],
		taken: [],
		inside: used,
		outside: used,
		isOutsideLocal: false,
		known: used,
		affinitySeconds: undefined,
		...rest,
	};
}

const content = (...ports: readonly ServedPort[]): Content => {
	const parts = ports.map(partOf);
	return {parts, addresses: new Set(parts.flatMap(({addresses}) => addresses))};
};

const change = (before: Content, after: Content): readonly string[] =>
	changeText(names, before, after)
		.replaceAll(names.services, 'T')
		.split('\n')
		.filter(line => line !== '');

test('all places of a port lead to one rule, which chooses by chance', t => {
	t.deepEqual(change(noContent, content(aPort(endpoints(1, 2)))), [
		'add chain inet T service/default/web/TCP/80',
		'add rule inet T service/default/web/TCP/80 meta l4proto tcp meta mark set meta mark | 0x2000 dnat ip to numgen random mod 2 map { 0 : 10.244.1.1 . 8000, 1 : 10.244.1.2 . 8000 }',
		'add element inet T addresses { 10.96.0.1 }',
		'add element inet T services { 10.96.0.1 . tcp . 80 : goto service/default/web/TCP/80 }',
		'add element inet T externals { 192.0.2.1 . tcp . 80 : goto service/default/web/TCP/80 }',
		'add element inet T ports { tcp . 30080 : goto service/default/web/TCP/80 }',
	]);
});

test('other endpoints are two lines, and nothing else is touched', t => {
	t.deepEqual(change(content(aPort(endpoints(1, 2))), content(aPort(endpoints(2)))), [
		'flush chain inet T service/default/web/TCP/80',
		'add rule inet T service/default/web/TCP/80 meta l4proto tcp meta mark set meta mark | 0x2000 dnat ip to 10.244.1.2:8000',
	]);
	t.deepEqual(change(content(aPort(endpoints(1))), content(aPort(endpoints(1)))), []);
});

test('what is gone leaves nothing: what leads to a chain goes before it', t => {
	const lines = change(content(aPort(endpoints(1))), noContent);
	t.true(lines.findIndex(line => line.startsWith('delete element')) < lines.findIndex(line => line.startsWith('delete chain')));
	t.deepEqual(
		lines.filter(line => !line.startsWith('delete element')),
		['flush chain inet T service/default/web/TCP/80', 'delete chain inet T service/default/web/TCP/80'],
	);
	t.is(lines.length, 6);
});

test('without endpoints an external address is refused, and the cluster’s own is by what it is', t => {
	const lines = change(content(aPort(endpoints(1))), content(aPort([])));
	t.deepEqual(lines, ['flush chain inet T service/default/web/TCP/80', 'add element inet T refused { 192.0.2.1 . tcp . 80 }']);
});

test('clients outside have a chain of their own where a policy leaves them other endpoints', t => {
	const text = tableText(names, ['192.0.2.9'], content(aPort(endpoints(1, 2), {outside: endpoints(1), isOutsideLocal: true})));
	t.regex(text, /ports \{ tcp \. 30080 : goto outside\/default\/web\/TCP\/80 \}/);
	t.regex(text, /services \{ 10\.96\.0\.1 \. tcp \. 80 : goto service\/default\/web\/TCP\/80 \}/);
	t.regex(text, /set node \{ [^}]*elements = \{ 192\.0\.2\.9 \};/);
});

test('where agents have to relay, the kernel leads to the process that asks them; outside that listens itself', t => {
	const relayed = [{address: '10.244.1.1', port: 8_000, via: 'far'}, ...endpoints(2)];
	t.deepEqual(change(noContent, content(aPort(relayed, {affinitySeconds: undefined}))), [
		'add chain inet T service/default/web/TCP/80',
		'add rule inet T service/default/web/TCP/80 meta l4proto tcp meta mark set meta mark | 0x2000 dnat ip to 127.224.0.1:80',
		'add element inet T addresses { 10.96.0.1 }',
		'add element inet T services { 10.96.0.1 . tcp . 80 : goto service/default/web/TCP/80 }',
	]);
});

test('with affinity the clients of an endpoint go with it, and those of others stay', t => {
	const kept = {affinitySeconds: 600};
	const lines = change(content(aPort(endpoints(1, 2), kept)), content(aPort(endpoints(2), kept)));
	t.deepEqual(
		lines.filter(line => !line.startsWith('add rule')),
		[
			'flush chain inet T service/default/web/TCP/80',
			'flush chain inet T endpoint/default/web/TCP/80/10.244.1.1/8000',
			'delete chain inet T endpoint/default/web/TCP/80/10.244.1.1/8000',
			'delete set inet T clients/default/web/TCP/80/10.244.1.1/8000/600',
		],
	);
});

test('an address that moves from one Service to another is led there in the same change', t => {
	const other = {key: 'default/other/TCP/80', service: 'other'};
	const lines = change(content(aPort(endpoints(1))), content(aPort(endpoints(2), other)));
	t.true(lines.includes('add element inet T services { 10.96.0.1 . tcp . 80 : goto service/default/other/TCP/80 }'));
	t.false(
		lines.some(line => line.includes(' addresses ')),
		'it is refused throughout',
	);
});

test('names of the longest Services fit the kernel', t => {
	const key = `${'n'.repeat(63)}/${'s'.repeat(63)}/TCP/65535`;
	const {chains, sets} = partOf(aPort([{address: '255.255.255.255', port: 65_535}], {key, affinitySeconds: 86_400}));
	for (const name of [...chains.keys(), ...sets.keys()]) t.true(name.length < 256);
});

test('flows of datagrams are forgotten when their endpoint is none any more, or when there was none', t => {
	const udp = {protocol: 'UDP', key: 'default/web/UDP/80', places: [{kind: 'node', address: undefined, port: 30_080}]} as const;
	const difference = (before: readonly EndpointPlace[], after: readonly EndpointPlace[]) =>
		staleFlows([{key: udp.key, before: aPort(before, udp), after: aPort(after, udp)}]);
	const at = {protocol: 'UDP', address: undefined, port: 30_080} as const;
	t.deepEqual(difference(endpoints(1, 2), endpoints(2, 3)), [{...at, endpoint: {address: '10.244.1.1', port: 8_000}}]);
	t.deepEqual(difference(endpoints(1), endpoints(1, 2)), []);
	t.deepEqual(difference(endpoints(1), [{address: '10.244.1.1', port: 9_000}]), [{...at, endpoint: {address: '10.244.1.1', port: 8_000}}]);
	t.deepEqual(difference([], endpoints(1)), [{...at, endpoint: undefined}]);
	const many = endpoints(...Array.from({length: limits.staleFlowCalls + 1}, (_, i) => i + 1));
	t.deepEqual(difference(many, endpoints(200)), [{...at, endpoint: undefined}]);
	t.deepEqual(
		forgetWords({protocol: 'UDP', address: '10.96.0.1', port: 53, endpoint: {address: '10.244.1.1', port: 5_353}}).join(' '),
		'--delete --proto udp --orig-dst 10.96.0.1 --orig-port-dst 53 --reply-src 10.244.1.1 --reply-port-src 5353',
	);
});

test('of connections only attempts are forgotten: once for each endpoint that is gone, or all of them', t => {
	const difference = (before: readonly EndpointPlace[], after: readonly EndpointPlace[] | undefined, key = 'k') => ({
		key,
		before: aPort(before),
		after: after === undefined ? undefined : aPort(after),
	});
	t.deepEqual(staleFlows([difference(endpoints(1, 2), endpoints(2)), difference(endpoints(1), undefined, 'other')]), [
		{protocol: 'TCP', endpoint: {address: '10.244.1.1', port: 8_000}},
	]);
	t.deepEqual(staleFlows([difference(endpoints(1), endpoints(1, 2)), difference([], endpoints(1))]), []);
	const many = endpoints(...Array.from({length: limits.staleFlowCalls + 1}, (_, i) => i + 1));
	t.deepEqual(staleFlows([difference(many, [])]), [{protocol: 'TCP', endpoint: undefined}]);
	t.deepEqual(
		forgetWords({protocol: 'TCP', endpoint: {address: '10.244.1.1', port: 8_000}}).join(' '),
		'--delete --proto tcp --state SYN_SENT --reply-src 10.244.1.1 --reply-port-src 8000',
	);
	t.is(forgetWords({protocol: 'TCP', endpoint: undefined}).join(' '), '--delete --proto tcp --state SYN_SENT --dst-nat');
	const [first] = endpoints(1);
	if (first === undefined) return t.fail();
	t.deepEqual(
		staleFlows([difference([first], [{...first, port: 9_000}])]),
		[{protocol: 'TCP', endpoint: first}],
		'another port is another endpoint',
	);
});
