import test from 'ava';
import {createNetworkIndex} from '../../../agent/network/index/network-index.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import {createServiceTable} from '../../../agent/network/services/service-table.js';
import type {ServedDifference} from '../../../agent/network/services/served-port.js';
import {objectKey} from '../../../api/keys.js';
import {aNode, aService, aSlice, noService, notReady, ready, terminating} from './_network-objects.js';

const web = aService('web', {clusterIP: '10.96.0.1', ports: [{port: 80}]});
const webPorts = [{port: 8080, protocol: 'TCP'}] as const;

function world() {
	const index = createNetworkIndex();
	const table = createServiceTable(index, 'here');
	const heard: ServedDifference[][] = [];
	table.onChange(changed => void heard.push([...changed]));
	const only = () => [...table.all()];
	const inside = () => only().map(({inside: used}) => used.map(({address, port}) => `${address}:${port}`));
	return {index, table, heard, only, inside};
}

test('ready endpoints are used, in every order in which objects come', t => {
	const objects = [web, aSlice('web', [ready('10.0.0.1'), notReady('10.0.0.2')], [...webPorts])];
	for (const order of [objects, [...objects].reverse()]) {
		const {index, inside} = world();
		for (const object of order) index.change([object]);
		t.deepEqual(inside(), [['10.0.0.1:8080']]);
	}
});

test('terminating endpoints that serve are used only where no ready one is left', t => {
	const {index, inside} = world();
	index.change([web, aSlice('web', [terminating('10.0.0.1'), terminating('10.0.0.2', false), ready('10.0.0.3')], [...webPorts])]);
	t.deepEqual(inside(), [['10.0.0.3:8080']]);
	index.change([aSlice('web', [terminating('10.0.0.1'), terminating('10.0.0.2', false), notReady('10.0.0.3')], [...webPorts])]);
	t.deepEqual(inside(), [['10.0.0.1:8080']]);
});

test('endpoints of other nodes are used once those are routed, and what is left out says why', t => {
	const {index, table, inside} = world();
	index.change([web, aSlice('web', [ready('10.0.1.1', 'there'), ready('127.64.0.1', 'there')], [...webPorts])]);
	t.deepEqual(inside(), [[]]);
	t.deepEqual(
		table.leftOut('default', 'web').map(({reason}) => reason),
		['pods of node "there" are reached on that node alone', '127.64.0.1 is of one host alone, and it is not on this node'],
	);
	index.change([aNode('there', 'routed', '10.0.2.0/24')]);
	t.deepEqual(inside(), [[]], 'an address of Docker, or of before it had that subnet');
	index.change([aNode('there', 'routed', '10.0.1.0/24')]);
	t.deepEqual(inside(), [['10.0.1.1:8080']]);
	index.change([{key: objectKey('nodes', undefined, 'there'), object: undefined}]);
	t.deepEqual(inside(), [[]]);
});

const behindNat = (name: string): NetworkChange => {
	const change = aNode(name, 'shared');
	return change.object?.type === 'node' ? {...change, object: {...change.object, reach: 'relayed'}} : change;
};
const podOn = (address: string, nodeName: string) => ({...ready(address, nodeName), targetRef: {kind: 'Pod', name: 'p', uid: 'u'}});

test('pods of a node behind NAT, and for it those of others, are reached by TCP through the agents, also where addresses are the same', t => {
	const {index, table, only} = world();
	const ports = [{port: 80}, {port: 53, protocol: 'UDP', name: 'dns'}] as const;
	const endpoints = [podOn('127.64.0.1', 'there'), podOn('127.64.0.1', 'here'), ready('10.9.9.9', 'there'), podOn('127.64.0.2', 'away')];
	const both = [...webPorts, {port: 53, protocol: 'UDP', name: 'dns'}] as const;
	index.change([
		aService('web', {clusterIP: '10.96.0.1', ports: [...ports]}),
		aSlice('web', endpoints, [...both]),
		aNode('here', 'shared'),
		aNode('away', 'shared'),
	]);
	const here = {address: '127.64.0.1', port: 8080};
	t.deepEqual(only()[0]?.inside, [here]);
	index.change([behindNat('there')]);
	t.deepEqual(only()[0]?.inside, [here, {...here, via: 'there'}]);
	t.deepEqual(only()[1]?.inside, [{...here, port: 53}]);
	t.deepEqual(
		table.leftOut('default', 'web').map(({reason}) => reason),
		[
			'it is on node "there", and no pod: connections behind NAT are relayed to pods alone',
			'127.64.0.2 is of one host alone, and it is not on this node',
			'it is on node "there", which is reached by TCP alone: that node or this one is behind NAT, and UDP is not relayed',
		],
	);
	index.change([behindNat('here'), aNode('there', 'shared')]);
	t.deepEqual(only()[0]?.inside, [here, {...here, via: 'there'}, {address: '127.64.0.2', port: 8080, via: 'away'}]);
	index.change([aService('web', {clusterIP: '10.96.0.1', internalTrafficPolicy: 'Local', ports: [...ports]})]);
	t.deepEqual(only()[0]?.inside, [here]);
});

test('addresses that are of one host are only used for pods of this node', t => {
	const {index, inside} = world();
	index.change([web, aSlice('web', [{addresses: ['127.0.0.1']}, ready('127.64.0.1')], [...webPorts])]);
	t.deepEqual(inside(), [['127.64.0.1:8080']]);
});

test('traffic policies differ inside and outside', t => {
	const {index, only} = world();
	const endpoints = aSlice('web', [ready('10.0.0.1'), ready('10.0.1.1', 'there')], [...webPorts]);
	const spec = {clusterIP: '10.96.0.1', type: 'NodePort', ports: [{port: 80, nodePort: 30_080}]} as const;
	index.change([
		aNode('there', 'routed', '10.0.1.0/24'),
		endpoints,
		aService('web', {...spec, ports: [...spec.ports], externalTrafficPolicy: 'Local'}),
	]);
	const [served] = only();
	t.deepEqual([served?.inside.length, served?.outside.length], [2, 1]);
	index.change([aService('web', {...spec, ports: [...spec.ports], internalTrafficPolicy: 'Local'})]);
	const [changed] = only();
	t.deepEqual([changed?.inside.length, changed?.outside.length], [1, 2]);
});

test('places follow from the type of the Service; headless ones and names of others have none', t => {
	const {index, only} = world();
	const kinds = () => only().map(({places}) => places.map(({kind, address = '*', port}) => `${kind} ${address}:${port}`));
	const ports = [{port: 80, nodePort: 30_080}];
	index.change([aService('web', {type: 'LoadBalancer', clusterIP: '10.96.0.1', externalIPs: ['192.0.2.1', 'x'], ports})]);
	t.deepEqual(kinds(), [['cluster 10.96.0.1:80', 'external 192.0.2.1:80', 'node *:30080', 'balancer *:80']]);
	index.change([aService('web', {type: 'ClusterIP', clusterIP: 'None', ports})]);
	t.deepEqual(kinds(), []);
	index.change([aService('web', {type: 'ExternalName', ports})]);
	t.deepEqual(kinds(), []);
	index.change([
		{
			key: objectKey('services', 'kube-system', 'kube-dns'),
			object: {...(web.object as object), namespace: 'kube-system', name: 'kube-dns'} as never,
		},
	]);
	t.deepEqual(kinds(), [], 'where the DNS of the node answers itself');
});

test('named ports lead to the ports of that name and protocol, over several slices', t => {
	const {index, only} = world();
	index.change([
		aService('web', {
			clusterIP: '10.96.0.1',
			ports: [
				{name: 'http', port: 80},
				{name: 'dns', port: 53, protocol: 'UDP'},
				{name: 'sctp', port: 9, protocol: 'SCTP'},
			],
		}),
		aSlice(
			'web',
			[ready('10.0.0.1')],
			[
				{name: 'http', port: 8080},
				{name: 'dns', port: 5353, protocol: 'UDP'},
			],
		),
		aSlice('web', [ready('10.0.0.2'), ready('10.0.0.1')], [{name: 'http', port: 9090}], 'web-bbbbb'),
	]);
	t.deepEqual(
		only().map(({protocol, inside}) => [protocol, inside.map(({address, port}) => `${address}:${port}`)]),
		[
			['TCP', ['10.0.0.1:8080', '10.0.0.1:9090', '10.0.0.2:9090']],
			['UDP', ['10.0.0.1:5353']],
		],
	);
});

test('listeners hear of ports that are others than before, each once a pass, and of nothing else', t => {
	const {index, heard} = world();
	index.change([web, aSlice('web', [ready('10.0.0.1')], [...webPorts])]);
	t.deepEqual(
		heard.map(changed => changed.map(({key, before, after}) => [key, before === undefined, after?.inside.length])),
		[[['default/web/TCP/80', true, 1]]],
	);
	index.change([aSlice('web', [ready('10.0.0.1')], [...webPorts])]);
	index.change([aNode('there', 'shared')]);
	t.is(heard.length, 1, 'the same once more is no change');
	index.change([noService('web')]);
	t.is(heard[1]?.[0]?.after, undefined);
});

test('a place that two Services ask for is the first one’s until it lets go', t => {
	const {index, table} = world();
	const asking = (name: string, clusterIP: string) => aService(name, {clusterIP, externalIPs: ['192.0.2.1'], ports: [{port: 80}]});
	index.change([asking('one', '10.96.0.1')]);
	index.change([asking('another', '10.96.0.2')]);
	t.deepEqual(table.get('default/another/TCP/80')?.taken, [{place: {kind: 'external', address: '192.0.2.1', port: 80}, by: 'default/one'}]);
	index.change([noService('one')]);
	t.deepEqual(table.get('default/another/TCP/80')?.taken, []);
	t.is(table.get('default/another/TCP/80')?.places.length, 2);
});
