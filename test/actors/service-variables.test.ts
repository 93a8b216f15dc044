// Variables of Services: their names and values as in Kubernetes, for pods that reach them.

import test from 'ava';
import {serviceVariables} from '../../actors/node/containers/service-variables.js';
import {limits} from '../../api/limits.js';
import type {ServiceSpec} from '../../api/kinds/service.js';
import type {Known} from '../../system/index/object-index.js';

const copyOf = (namespace: string, name: string, spec: ServiceSpec) => ({
	apiVersion: 'node.troupe.dev/v1',
	kind: 'NamedObject',
	metadata: {name, namespace, uid: `services/${namespace}/${name}`, resourceVersion: '', generation: 1, creationTimestamp: ''},
	spec: {version: '1', named: {type: 'network', object: {type: 'service', namespace, name, spec}}},
});

const knownOf = (...copies: readonly ReturnType<typeof copyOf>[]): Known =>
	({
		list: (plural: string, namespace?: string) =>
			plural === 'services' ? copies.filter(({metadata}) => metadata.namespace === namespace) : [],
	}) as unknown as Known;

const clusterIP = '10.101.160.1';
const hostIP = '127.0.0.1';

test('host and ports, by number, by name and as links', t => {
	const known = knownOf(
		copyOf('default', 'my-web', {
			clusterIP,
			ports: [
				{name: 'http-api', port: 8180},
				{name: 'dns', port: 53, protocol: 'UDP'},
			],
		}),
		copyOf('other', 'db', {clusterIP, ports: [{port: 5432}]}),
	);
	t.deepEqual(serviceVariables(known, 'default', {podIP: '127.0.3.4', hostIP}), [
		['MY_WEB_SERVICE_HOST', '127.229.160.1'],
		['MY_WEB_SERVICE_PORT', '8180'],
		['MY_WEB_SERVICE_PORT_HTTP_API', '8180'],
		['MY_WEB_SERVICE_PORT_DNS', '53'],
		['MY_WEB_PORT', 'tcp://127.229.160.1:8180'],
		['MY_WEB_PORT_8180_TCP', 'tcp://127.229.160.1:8180'],
		['MY_WEB_PORT_8180_TCP_PROTO', 'tcp'],
		['MY_WEB_PORT_8180_TCP_PORT', '8180'],
		['MY_WEB_PORT_8180_TCP_ADDR', '127.229.160.1'],
		['MY_WEB_PORT_53_UDP', 'udp://127.229.160.1:53'],
		['MY_WEB_PORT_53_UDP_PROTO', 'udp'],
		['MY_WEB_PORT_53_UDP_PORT', '53'],
		['MY_WEB_PORT_53_UDP_ADDR', '127.229.160.1'],
	]);
});

test('a pod of the pod network is told the address of the Service itself', t => {
	const known = knownOf(copyOf('default', 'web', {clusterIP, ports: [{port: 80}]}));
	const sandbox = {podIP: '10.244.3.7', hostIP, isRouted: true} as const;
	t.deepEqual(serviceVariables(known, 'default', sandbox).slice(0, 2), [
		['WEB_SERVICE_HOST', clusterIP],
		['WEB_SERVICE_PORT', '80'],
	]);
	t.deepEqual(serviceVariables(knownOf(copyOf('default', 'bare', {clusterIP: 'None', ports: [{port: 80}]})), 'default', sandbox), []);
});

test('none for a pod that does not reach them, and of a Service without an address or ports', t => {
	const web = copyOf('default', 'web', {clusterIP, ports: [{port: 80}]});
	t.deepEqual(serviceVariables(knownOf(web), 'default', {podIP: '172.17.0.2', hostIP}), []);
	const without = [
		copyOf('default', 'headless', {clusterIP: 'None', ports: [{port: 80}]}),
		copyOf('default', 'elsewhere', {type: 'ExternalName', externalName: 'example.com'}),
		copyOf('default', 'bare', {clusterIP}),
	];
	t.deepEqual(serviceVariables(knownOf(...without), 'default', {podIP: '127.0.3.4', hostIP}), []);
});

test('of very many those that are first by name', t => {
	const names = Array.from({length: limits.serviceVariables + 10}, (_, i) => `s${String(i).padStart(4, '0')}`);
	const known = knownOf(...names.reverse().map(name => copyOf('default', name, {clusterIP, ports: [{port: 80}]})));
	const hosts = serviceVariables(known, 'default', {podIP: '127.0.3.4', hostIP}).filter(([name]) => name.endsWith('_SERVICE_HOST'));
	t.is(hosts.length, limits.serviceVariables);
	t.is(hosts[0]?.[0], 'S0000_SERVICE_HOST');
});
