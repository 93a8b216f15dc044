// `describe service`: who serves it, and why others do not.

import test from 'ava';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import {describeService} from '../../cli/describe/service.js';
import {aContainer, committed} from '../api/_objects.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');

const service = (spec: object, status: object = {loadBalancer: {}}): Service =>
	committed({apiVersion: 'v1', kind: 'Service', metadata: {name: 'web', namespace: 'default'}, spec}, status) as Service;

const aPod = (name: string, status: object, spec: object = {}): Pod => {
	const pod = committed(
		{apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace: 'default'}, spec: {nodeName: 'n1', containers: [aContainer()], ...spec}},
		status,
	) as Pod;
	return {...pod, metadata: {...pod.metadata, uid: `uid-${name}`}};
};

const endpoint = (name: string, address: string, conditions: object) => ({
	addresses: [address],
	conditions,
	nodeName: 'n1',
	targetRef: {kind: 'Pod', name, uid: `uid-${name}`},
});

const slice = (...endpoints: readonly object[]): EndpointSlice =>
	({addressType: 'IPv4', endpoints, ports: [{name: 'http', port: 8000}]}) as unknown as EndpointSlice;

const page = (
	spec: object,
	slices: readonly EndpointSlice[],
	pods: readonly Pod[],
	status?: object,
	nodes: readonly NodeObject[] = [],
): string => describeService(service(spec, status), slices, pods, nodes, nowMs, text => text.length);

test('where it listens, and who serves', t => {
	const spec = {
		type: 'LoadBalancer',
		selector: {app: 'web'},
		clusterIP: '10.96.0.7',
		ports: [{name: 'http', port: 80, targetPort: 'web', nodePort: 30_080, protocol: 'TCP'}],
	};
	const text = page(spec, [slice(endpoint('a', '10.244.1.7', {ready: true}))], [], {loadBalancer: {ingress: [{ip: '192.0.2.1'}]}});
	t.regex(text, /^Selector: +app=web\nType: +LoadBalancer\nIP: +10\.96\.0\.7\nLoadBalancer Ingress: +192\.0\.2\.1\n/m);
	t.regex(text, /^Port: +http {2}80\/TCP\nTargetPort: +web\/TCP\nNodePort: +http {2}30080\/TCP\n/m);
	t.regex(text, /^Endpoints:\n +ADDRESS +POD +NODE\n +10\.244\.1\.7:8000 +a +n1\n/m);
	t.notRegex(text, /Left Out/);
});

test('a pod behind NAT is left out of UDP for other nodes, and of nothing else', t => {
	const node = (reach: string): NodeObject =>
		({...committed({apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1'}}, {network: {pods: 'routed', reach}})}) as NodeObject;
	const slices = [slice(endpoint('a', '10.244.1.7', {ready: true}))];
	const over = (protocol: string): object => ({selector: {app: 'web'}, clusterIP: '10.96.0.7', ports: [{port: 53, protocol}]});
	t.regex(page(over('UDP'), slices, [], undefined, [node('relayed')]), /Left Out:\n.*\n +a +n1 +for other nodes, over UDP: .* not relayed/);
	for (const [protocol, reach] of [
		['UDP', 'direct'],
		['TCP', 'relayed'],
	] as const)
		t.notRegex(page(over(protocol), slices, [], undefined, [node(reach)]), /Left Out/);
});

test('each pod that does not serve says why', t => {
	const unready = {
		phase: 'Running',
		podIP: '10.244.1.8',
		conditions: [{type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'c'}],
	};
	const heard = {phase: 'Running', podIP: '10.244.1.9', conditions: [{type: 'Ready', status: 'True'}]};
	const pods = [
		aPod('unready', unready),
		aPod('silent', heard),
		aPod('going', heard),
		aPod('ended', {phase: 'Succeeded'}),
		aPod('waits', {phase: 'Pending'}, {nodeName: undefined}),
		aPod('starts', {phase: 'Pending'}),
		aPod('nameless', heard),
	];
	const slices = [
		slice(
			endpoint('unready', '10.244.1.8', {ready: false}),
			endpoint('silent', '10.244.1.9', {ready: false}),
			endpoint('going', '10.244.1.9', {ready: false, serving: true, terminating: true}),
		),
	];
	const text = page({selector: {app: 'web'}, ports: [{port: 80, targetPort: 'web'}]}, slices, pods);
	t.regex(text, /^Endpoints: +<none>\nLeft Out:\n/m);
	for (const line of [
		/unready +n1 +it is not ready: ContainersNotReady: c/,
		/silent +n1 +its node is not heard/,
		/going +n1 +it is terminating; what it has begun ends well/,
		/ended +n1 +it has ended \(Succeeded\)/,
		/waits +<none> +it has no node yet: troupe why pod waits/,
		/starts +n1 +it has no address yet/,
		/nameless +n1 +none of its containers names a port "web"/,
	])
		t.regex(text, line);
});

test('a Service without a selector has the slices of its users', t => {
	const bare = {addressType: 'IPv4', endpoints: [{addresses: ['192.0.2.9']}], ports: [{port: 5432}]} as unknown as EndpointSlice;
	t.regex(page({ports: [{port: 5432}]}, [bare], []), /^Selector: +<none>\n[^]*192\.0\.2\.9:5432 +<none>/m);
});
