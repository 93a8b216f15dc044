// Services: Kubernetes' defaults, what an update keeps and drops, refusals, and the column of outside addresses.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {ipv4Number} from '../../api/ipv4.js';
import type {Service, ServiceSpec} from '../../api/kinds/service.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {Json, JsonObject} from '../../api/object.js';
import {addressesOf, portsOf} from '../../api/service-range.js';
import {cells, committed, problemsOf} from './_objects.js';

const aService = (spec: JsonObject): JsonObject => ({apiVersion: 'v1', kind: 'Service', metadata: {name: 'web'}, spec});

const http = {name: 'http', port: 80};

const specOf = (manifest: unknown): ServiceSpec | string => {
	const admitted = admitCreate(manifest);
	return admitted.ok ? (admitted.value.spec as ServiceSpec) : admitted.error.message;
};

test('a plain service has the defaults of Kubernetes', t => {
	t.deepEqual(specOf(aService({ports: [{port: 80}]})), {
		type: 'ClusterIP',
		ports: [{port: 80, protocol: 'TCP', targetPort: 80}],
		sessionAffinity: 'None',
		internalTrafficPolicy: 'Cluster',
		ipFamilies: ['IPv4'],
		ipFamilyPolicy: 'SingleStack',
	});
});

test('a load balancer has node ports and takes traffic of all nodes', t => {
	t.like(specOf(aService({type: 'LoadBalancer', ports: [http]})), {allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster'});
});

test('a service without an address says so twice, and may have no ports', t => {
	t.like(specOf(aService({clusterIP: 'None', selector: {app: 'web'}})), {clusterIP: 'None', clusterIPs: ['None']});
});

test('the name of another host has no address', t => {
	const spec = specOf(aService({type: 'ExternalName', externalName: 'db.example.com'}));
	t.deepEqual(spec, {type: 'ExternalName', externalName: 'db.example.com', sessionAffinity: 'None'});
});

test('affinity to clients lasts for three hours', t => {
	t.like(specOf(aService({ports: [http], sessionAffinity: 'ClientIP'})), {sessionAffinityConfig: {clientIP: {timeoutSeconds: 10_800}}});
});

const refusals: readonly [title: string, spec: JsonObject, problem: string][] = [
	['a name of no host', {type: 'ExternalName'}, 'spec.externalName: is required where type is ExternalName'],
	[
		'a host name in capitals',
		{type: 'ExternalName', externalName: 'DB'},
		'spec.externalName: must be a host name in lower-case letters, got "DB"',
	],
	['a host name of another type', {ports: [http], externalName: 'a.b'}, 'spec.externalName: needs type: ExternalName'],
	[
		'an address of a name',
		{type: 'ExternalName', externalName: 'a', clusterIP: '10.96.0.1'},
		'spec.clusterIP: must not be set where type is ExternalName',
	],
	[
		'node ports without an address',
		{type: 'NodePort', clusterIP: 'None', ports: [http]},
		'spec.clusterIP: must not be "None" where type is NodePort',
	],
	[
		'loopback as an outside address',
		{ports: [http], externalIPs: ['127.0.0.1']},
		'must not be loopback, link-local, multicast or unspecified',
	],
	['an outside address of IPv6', {ports: [http], externalIPs: ['fd00::1']}, 'spec.externalIPs[0]: addresses of IPv6 are not supported yet'],
	[
		'a policy for traffic that cannot come',
		{ports: [http], externalTrafficPolicy: 'Local'},
		'spec.externalTrafficPolicy: needs type: NodePort, type: LoadBalancer or externalIPs',
	],
	[
		'node ports of a load balancer that is none',
		{ports: [http], allocateLoadBalancerNodePorts: false},
		'spec.allocateLoadBalancerNodePorts: needs type: LoadBalancer',
	],
	['two families', {ports: [http], ipFamilyPolicy: 'RequireDualStack'}, '"RequireDualStack" is not supported yet'],
	['IPv6', {ports: [http], ipFamilies: ['IPv6']}, 'spec.ipFamilies[0]: "IPv6" is not supported yet; "IPv4" is'],
	['an address twice', {ports: [http], clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.2']}, 'spec.clusterIPs: must begin with clusterIP'],
	['sources of a load balancer', {type: 'LoadBalancer', ports: [http], loadBalancerSourceRanges: ['10.0.0.0/8']}, 'is not supported yet'],
	['a port for checks of health', {type: 'LoadBalancer', ports: [http], healthCheckNodePort: 30_001}, 'is not supported yet'],
];

for (const [title, spec, problem] of refusals) {
	test(`refused: ${title}`, t => {
		t.true(
			problemsOf(aService(spec)).some(each => each.includes(problem)),
			problemsOf(aService(spec)).join('\n'),
		);
	});
}

test('members of whatever type are refused in words', t => {
	for (const value of [null, 1, 'a', [], {}, [null], [1], [[]]] as Json[]) {
		for (const field of ['type', 'ports', 'clusterIP', 'clusterIPs', 'externalIPs', 'externalName', 'selector', 'ipFamilies']) {
			t.notThrows(() => problemsOf(aService({ports: [http], [field]: value})));
		}
	}
});

// ---- updates -------------------------------------------------------------------------------------------------------------

const given = committed(
	aService({
		type: 'NodePort',
		clusterIP: '10.96.0.7',
		ports: [{...http, nodePort: 30_007}],
	}),
);

const after = (patch: JsonObject): ServiceSpec | string => {
	const admitted = admitUpdate(mergePatch(given as unknown as JsonObject, patch), given);
	return admitted.ok ? (admitted.value.spec as ServiceSpec) : admitted.error.message;
};

test('who replaces a service without naming its addresses leaves it those', t => {
	const admitted = admitUpdate(aService({type: 'NodePort', ports: [{name: 'http', port: 80, targetPort: 8080}]}), given);
	t.like(admitted.ok ? admitted.value.spec : undefined, {
		clusterIP: '10.96.0.7',
		clusterIPs: ['10.96.0.7'],
		ports: [{nodePort: 30_007, targetPort: 8080}],
	});
});

test('a service that takes no node ports any more loses them', t => {
	t.like(after({spec: {type: 'ClusterIP'}}), {clusterIP: '10.96.0.7', ports: [{...http, protocol: 'TCP', targetPort: 80}]});
	t.false(JSON.stringify(after({spec: {type: 'ClusterIP'}})).includes('nodePort'));
	t.false(JSON.stringify(after({spec: {type: 'ClusterIP'}})).includes('externalTrafficPolicy'));
});

test('one that becomes a name loses its address, and one that has an address keeps it', t => {
	const named = after({spec: {type: 'ExternalName', externalName: 'a.b', ports: null}});
	t.deepEqual(named, {type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None'});
	t.regex(JSON.stringify(after({spec: {clusterIP: '10.96.0.8'}})), /spec.clusterIP: cannot be changed: it is ..10.96.0.7/);
});

// ---- what is shown -------------------------------------------------------------------------------------------------------

const outside = (spec: JsonObject, status?: Service['status']): unknown => cells('services', committed(aService(spec), status))[3];

test('outside addresses are those of its status, of its spec, or the name', t => {
	t.is(outside({type: 'ExternalName', externalName: 'a.b'}), 'a.b');
	t.is(outside({ports: [http], externalIPs: ['10.0.0.1', '10.0.0.2']}), '10.0.0.1,10.0.0.2');
	t.is(outside({type: 'LoadBalancer', ports: [http]}), '<pending>');
	t.is(outside({type: 'LoadBalancer', ports: [http]}, {loadBalancer: {ingress: [{ip: '10.0.0.9'}]}}), '10.0.0.9');
	t.is(outside({type: 'NodePort', ports: [http]}), '<none>');
});

test('ranges are read as numbers, and others are none', t => {
	t.deepEqual(addressesOf('10.96.0.0/12'), {first: ipv4Number('10.96.0.1'), last: ipv4Number('10.111.255.254')});
	t.deepEqual(portsOf('30000-32767'), {first: 30_000, last: 32_767});
	for (const text of ['10.96.0.0', '10.96.0.0/8', '10.96.0.0/29', '10.96.0.1/12', '10.96.0.0/12/1', 'x/12', '10.96.0.0/'])
		t.is(addressesOf(text), undefined, text);
	for (const text of ['0-1', '2-1', '1-65536', '80', '1-2-3', '']) t.is(portsOf(text), undefined, text);
});

test('the ranges of a cluster are checked when they are written', t => {
	const config = (network: JsonObject): JsonObject => ({
		apiVersion: 'troupe.dev/v1',
		kind: 'ClusterConfig',
		metadata: {name: 'cluster'},
		spec: {network},
	});
	t.deepEqual(problemsOf(config({serviceCIDR: '10.0.0.0/16', nodePorts: '1000-2000'})), []);
	t.deepEqual(problemsOf(config({serviceCIDR: '10.0.0.0/8', nodePorts: '9'})), [
		'spec.network.serviceCIDR: must be a subnet of IPv4 from /9 to /28 such as "10.96.0.0/12", got "10.0.0.0/8"',
		'spec.network.nodePorts: must be a range of ports such as "30000-32767", got "9"',
	]);
});
